/* The course: the lessons in samples/lessons, and how far the learner has come. */
#pragma once

#include "kernels/err.h"

#include <stddef.h>

enum { COURSE_LESSONS = 64, COURSE_NAME = 64, COURSE_PATH = 4096 };

typedef struct {
    int count;
    char names[COURSE_LESSONS][COURSE_NAME]; /* of files, without folder and suffix; sorted */
} Course;

/* The installed lessons; none where the folder is missing. */
void course_read(Course *course);

/* The path of a lesson: by number ("2", "02"), by name ("02-whose-bytes", "whose-bytes"), or the
 * path of a file. Errors name the nearest one. */
bool course_find(const Course *course, const char *word, char *path, size_t size, Err *err);

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

/* $XDG_STATE_HOME/bevscope/progress, else ~/.local/state/bevscope/progress. False: neither variable
 * is set. */
bool course_progress_path(char *path, size_t size);

/* Reads the file; a missing file is empty. Damaged lines are left out, with a line in `complaint`
 * (may be NULL); "": none. */
void course_progress_read(CourseProgress *progress, char *complaint, size_t size);

/* Makes the folder of the file, and those above it. */
bool course_progress_folder(const char *path, Err *err);

/* Reads the file again, replaces one row and writes it, in one piece. Makes the folder. */
bool course_progress_save(const CourseProgressRow *row, Err *err);

/* The row of a lesson; NULL: never taken. */
const CourseProgressRow *course_progress_find(const CourseProgress *progress, const char *name);

/* The lesson to take next: a begun one, else the first that is not done; the first where all are
 * done. NULL: no lessons. */
const char *course_next(const Course *course, const CourseProgress *progress);
