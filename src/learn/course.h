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
    int answered;    /* questions on the pages in front of this one were counted */
    int right, asked;
    bool done; /* was taken to its end at least once */
} CourseProgressRow;

enum { COURSE_PROGRESS_ROWS = 256 };

typedef struct {
    int count;
    CourseProgressRow rows[COURSE_PROGRESS_ROWS];
} CourseProgress;

/* Reads the file of progress. A file that is missing or cannot be read counts as empty. Damaged
 * lines are left out. The next call overwrites the rows: only the main thread takes lessons. */
const CourseProgress *course_progress(void);

/* Reads the file again, replaces one lesson's row and writes the file at once. */
bool course_progress_save(const CourseProgressRow *row, Err *err);

/* Returns the row of a lesson; NULL: the lesson was never begun. */
const CourseProgressRow *course_progress_find(const CourseProgress *progress, const char *name);

/* Returns the lesson to take next: one that was begun, else the first that is not done. Where all
 * are done, returns the first lesson. NULL: there are no lessons. */
const char *course_next(const Course *course, const CourseProgress *progress);

/* ---- the quiz -------------------------------------------------------------------------------- */

/* Ten questions, drawn from the files of the lessons. At most half of them are questions that the
 * learner missed before. A right answer removes a question from the missed ones. */

enum { QUIZ_QUESTIONS = 10, QUIZ_MISSED_MOST = 5, QUIZ_MISSED_ROWS = 256 };

extern const char quiz_word[]; /* opens the quiz in place of a lesson's name: "quiz" */

/* The identity of a question: its lesson's name and a hash of its text. */
typedef struct {
    char lesson[COURSE_NAME];
    uint64_t text;
} QuizKey;

/* The missed questions, the oldest first, as in the file `missed` beside the progress. */
typedef struct {
    int count;
    QuizKey rows[QUIZ_MISSED_ROWS];
} QuizMissed;

/* Reads the file of missed questions. Damaged lines are left out. The next call overwrites the
 * rows. */
const QuizMissed *quiz_missed(void);

/* Notes the question as missed, or forgets it after a right answer. The file is written only where
 * its content changes. */
bool quiz_missed_note(const Lesson *lesson, const LessonQuestion *question, bool right, Err *err);

typedef struct {
    char lesson[COURSE_NAME], topic[80]; /* topic: the lesson's title */
    int page;                            /* the page of the question */
    bool missed;                         /* whether the learner missed it before */
    bool answered;                       /* whether it was answered or left out */
    LessonVerdict verdict;
} QuizItem;

typedef struct {
    QuizItem items[QUIZ_QUESTIONS];
    int count, at;
    uint64_t seed;
    bool over;
} Quiz;

/* Draws the questions. The same seed, lessons and missed questions give the same quiz. Lessons that
 * cannot be read are left out. */
bool quiz_draw(Quiz *quiz, const Course *course, const QuizMissed *missed, uint64_t seed, Err *err);

/* Stores the verdict on the current question; VERDICT_NONE: the learner left it out. */
void quiz_answer(Quiz *quiz, LessonVerdict verdict);

/* Goes on to the next question. Returns false where there is none: the quiz is over. */
bool quiz_next(Quiz *quiz);

/* Adds number and score of the quiz to the pane of its question. After the end, the pane
 * shows the score by topic. */
void quiz_show(const Quiz *quiz, LessonPane *pane);
