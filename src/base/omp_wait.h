/* SPDX-License-Identifier: MIT */
/* How OpenMP teams wait for work: actively (spinning) or passively (sleeping).
 *
 * libgomp's threads spin for milliseconds. With more threads in teams than cores in the machine,
 * they sleep almost at once. Pictures need passive teams, as the screens are drawn beside the team
 * that makes the next picture. Launches that are timed in a row need active teams, as in
 * `bevscope bench`: waking a team for each launch takes up to a fifth longer. So a thread owns a
 * team of two that does nothing. While this thread exists, all other teams wait passively. On one
 * core, or with another OpenMP library, the thread has no effect. */
#pragma once

#include "src/base/worker.h"

/* Starts the thread that owns the team, on an open worker. Does not wait until the team exists.
 * Without a thread teams stay active. */
void omp_wait_passive(Worker *idle_team);

/* Ends that thread, and its team with it. From now on other teams wait actively. */
void omp_wait_active(Worker *idle_team);

/* Ends the calling thread's team until its next parallel work. libgomp then does not count it. */
void omp_wait_dismiss_team(void);
