/* How OpenMP teams wait for work: actively (spinning) or passively (sleeping).
 *
 * libgomp's threads spin for milliseconds, unless the program has more threads in teams than the
 * machine has cores: then they sleep almost at once. Pictures want passive teams, as the screens
 * are drawn beside the team that makes the next picture. Launches that are timed in a row want
 * active ones, as in `bevscope bench`: waking a team for each launch takes up to a fifth longer. So
 * an OmpWait owns a team of two that does nothing: while it exists, all other teams wait passively.
 * With one core, or another OpenMP library, it has no effect. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

typedef struct OmpWait OmpWait;

/* Forms the team soon after, on a thread of its own: the policy is passive. False: no memory, no
 * thread. */
bool omp_wait_open(OmpWait **omp_wait, Err *err);
void omp_wait_close(OmpWait *omp_wait); /* accepts NULL */

/* Dismisses the team and waits until it has gone: from now on other teams spin. */
void omp_wait_active(OmpWait *omp_wait);

/* Forms the team again; does not wait for it. */
void omp_wait_passive(OmpWait *omp_wait);

/* Ends the calling thread's team until its next work, so that the team does not count. */
void omp_wait_dismiss_team(void);
