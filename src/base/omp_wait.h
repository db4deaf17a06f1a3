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

#include "src/base/worker.h"

typedef struct {
    Worker worker; /* its thread holds the team */
    bool passive;
} OmpWait;

/* Starts a thread that soon forms the team: other teams wait passively. Without a thread they go on
 * to wait actively. */
void omp_wait_passive(OmpWait *omp_wait);

/* Ends the team. From now on other teams wait actively, as with a zeroed OmpWait. */
void omp_wait_active(OmpWait *omp_wait);
