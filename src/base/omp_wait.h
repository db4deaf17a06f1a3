/* SPDX-License-Identifier: MIT */
/* How OpenMP teams wait for work: actively (spinning) or passively (sleeping).
 *
 * libgomp's threads spin for milliseconds. With more threads in teams than cores in the machine,
 * the threads sleep almost at once. Pictures need passive teams, because the screens are drawn
 * beside the team that makes the next picture. Launches that are timed in a row need active teams,
 * as in `bevscope bench`: waking a team for each launch takes up to a fifth longer. So a thread
 * that owns an idle team of two makes libgomp count more threads than cores. While this thread
 * exists, all other teams wait passively. On one core, or with another OpenMP library, the thread
 * has no effect. */
#pragma once

#include "src/base/worker.h"

/* Starts the thread that owns the team, on an open worker. Does not wait until the team exists.
 * Without a thread teams stay active. */
void omp_wait_passive(Worker *idle_team);

/* Ends the thread of omp_wait_passive and its team. From now on other teams wait actively. */
void omp_wait_active(Worker *idle_team);

/* Ends the calling thread's team until the thread's next parallel work. libgomp then does not count
 * the team's threads. */
void omp_wait_dismiss_team(void);
