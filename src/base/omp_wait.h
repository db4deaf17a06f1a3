/* How teams of threads wait for work. libgomp's spin for milliseconds, unless there are more
 * threads in teams than cores: then they sleep almost at once. Pictures want the latter, as screens
 * are drawn beside the team that makes the next one; launches that are timed in a row want the
 * former, as in `bevscope bench`: a team that is woken for each takes up to a fifth longer. A
 * OmpWait is a team of two that does nothing but be there. Without it, or with another OpenMP
 * library, all is as that library has it. */
#ifndef BEV_OMP_WAIT_H
#define BEV_OMP_WAIT_H

#include "kernels/err.h"

#include <stdbool.h>

typedef struct OmpWait OmpWait;

/* The team is there soon after, on a thread of its own. False: no memory, no thread. */
bool omp_wait_open(OmpWait **calm, Err *err);
void omp_wait_close(OmpWait *calm); /* accepts NULL */

/* Waits until the team has gone: from now on others may spin. */
void omp_wait_active(OmpWait *calm);

/* The team comes back; does not wait for it. */
void omp_wait_passive(OmpWait *calm);

#endif
