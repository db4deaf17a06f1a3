/* SPDX-License-Identifier: MIT */
/* The course: the lessons in samples/lessons, the learner's progress in each, and the quiz. */
#pragma once

#include "src/learn/lesson_run.h"

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
    int answered;    /* the questions of the first `answered` pages were counted */
    int right, asked;
    bool done; /* was taken to its end at least once */
} CourseProgressRow;

/* Reads the row of a lesson from the file of progress. Without a row, `pages` is 0: the lesson was
 * never begun. Damaged lines, and a file that cannot be read, count as missing. */
CourseProgressRow course_progress(const char *name);

/* Replaces the lesson's line in the file of progress. */
bool course_progress_save(const CourseProgressRow *row, Err *err);

/* Returns the lesson to take next: a lesson that was begun, or else the first lesson that is not
 * done. If all lessons are done, this is the first lesson. NULL: there are no lessons. */
const char *course_next(const Course *course);

/* ---- the quiz -------------------------------------------------------------------------------- */

/* A quiz has QUIZ_QUESTIONS questions, drawn from the files of the lessons. At most
 * QUIZ_MISSED_MOST questions are questions that the learner has missed before. After a right answer
 * a question no longer counts as missed. */
enum { QUIZ_QUESTIONS = 10, QUIZ_MISSED_MOST = 5 };

extern const char quiz_word[]; /* opens the quiz in place of a lesson's name: "quiz" */

/* Notes a missed question in the file `missed`. After a right answer forgets the question again. */
bool quiz_missed_note(const Lesson *lesson, const LessonQuestion *question, bool right, Err *err);

typedef struct {
    char lesson[COURSE_NAME], topic[80]; /* topic: the lesson's title */
    int page;                            /* the page of the question */
    bool missed;                         /* whether the learner missed it before */
    LessonVerdict verdict; /* VERDICT_NONE: skipped; VERDICT_VOID: not judged, or not yet asked */
} QuizItem;

typedef struct {
    QuizItem items[QUIZ_QUESTIONS];
    int count, at; /* the question that is asked; `count`: the quiz is over */
    uint64_t seed;
} Quiz;

/* Draws the questions. The same seed, lessons and missed questions give the same quiz. `remembers`
 * false: no question counts as missed. Lessons that cannot be read are left out. */
bool quiz_draw(Quiz *quiz, const Course *course, bool remembers, uint64_t seed, Err *err);

/* Adds number and score to the pane of a question. After the end it shows the score by topic. */
void quiz_show(const Quiz *quiz, LessonPane *pane);
