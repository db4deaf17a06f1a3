/* SPDX-License-Identifier: MIT */
/* The course: the list of lessons in samples/lessons, and the learner's progress in each. */
#pragma once

#include "kernels/err.h"

#include <stddef.h>

enum { COURSE_LESSONS = 64, COURSE_NAME = 64, COURSE_IDEA = 128, COURSE_PATH = 4096 };

typedef struct {
    int count;
    char names[COURSE_LESSONS][COURSE_NAME]; /* of files, without folder and suffix; sorted */
    char ideas[COURSE_LESSONS][COURSE_IDEA]; /* the first lines of these files; "": unknown */
} Course;

/* Lists the installed lessons. The list is empty where the folder is missing. */
void course_read(Course *course);

/* Finds a lesson and writes its path. `word` is a number ("2", "02"), a name ("02-whose-bytes",
 * "whose-bytes") or the path of a file. An error names the nearest lesson. */
bool course_find(const Course *course, const char *word, char *path, size_t size, Err *err);

/* Returns the lesson that follows `name` in the course; NULL: none does. */
const char *course_after(const Course *course, const char *name);

/* ---- progress -------------------------------------------------------------------------------- */

typedef struct {
    char name[COURSE_NAME];
    int page, pages; /* the page to go on with, from 0; pages of the lesson when it was saved */
    int answered;    /* questions on the pages in front of this one were counted */
    int right, asked;
    bool done; /* was taken to its end at least once */
} CourseProgressRow;

enum { COURSE_PROGRESS_ROWS = 256 };

typedef struct {
    int count;
    CourseProgressRow rows[COURSE_PROGRESS_ROWS];
} CourseProgress;

/* Writes the path: $XDG_STATE_HOME/bevscope/progress, else ~/.local/state/bevscope/progress.
 * Returns false where neither XDG_STATE_HOME nor HOME is set. */
bool course_progress_path(char *path, size_t size);

/* Reads the file of progress. A file that is missing or cannot be read counts as empty. Damaged
 * lines are left out. */
void course_progress_read(CourseProgress *progress);

/* Makes the folder of the file at `path`, with all folders above it. */
bool course_progress_folder(const char *path, Err *err);

/* Reads the file again, replaces one lesson's row and writes the file at once. Makes its folder. */
bool course_progress_save(const CourseProgressRow *row, Err *err);

/* Returns the row of a lesson; NULL: the lesson was never begun. */
const CourseProgressRow *course_progress_find(const CourseProgress *progress, const char *name);

/* Returns the lesson to take next: one that was begun, else the first that is not done. Where all
 * are done, returns the first lesson. NULL: there are no lessons. */
const char *course_next(const Course *course, const CourseProgress *progress);
