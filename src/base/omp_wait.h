/* SPDX-License-Identifier: MIT */
/* How OpenMP teams wait for work: actively (spinning) or passively (sleeping).
 *
 * libgomp's threads spin for milliseconds. With more threads in teams than cores in the machine,
 * they sleep almost at once. Pictures need passive teams, as the screens are drawn beside the team
 * that makes the next picture. Launches that are timed in a row need active teams, as in
 * `bevscope bench`: waking a team for each launch takes up to a fifth longer. So an OmpWait owns a
 * team of two that does nothing. While this team exists, all other teams wait passively. With one
 * core, or another OpenMP library, an OmpWait has no effect. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

typedef struct OmpWait OmpWait;

/* Starts a thread that soon forms the team: OpenMP waits passively. False: no memory, or no
 * thread. */
bool omp_wait_open(OmpWait **omp_wait, Err *err);
void omp_wait_close(OmpWait *omp_wait); /* accepts NULL */

/* Dismisses the team and waits until it has gone. From now on other teams wait actively. */
void omp_wait_active(OmpWait *omp_wait);

/* Forms the team again. Does not wait until it exists. */
void omp_wait_passive(OmpWait *omp_wait);

/* Ends the calling thread's team until its next parallel work. libgomp then does not count it. */
void omp_wait_dismiss_team(void);
