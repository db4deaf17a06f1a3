/* SPDX-License-Identifier: MIT */
/* The quiz: ten questions, drawn from the files of the lessons. At most half of them are questions
 * that the learner missed before. A right answer removes a question from the missed ones. */
#pragma once

#include "src/learn/course.h"
#include "src/learn/lesson_run.h"

enum { QUIZ_QUESTIONS = 10, QUIZ_MISSED_MOST = 5, QUIZ_MISSED_ROWS = 256 };

extern const char quiz_word[]; /* opens the quiz in place of a lesson's name: "quiz" */

/* ---- questions missed ------------------------------------------------------------------------ */

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

/* Reads the file of missed questions. Damaged lines are left out. */
void quiz_missed_read(QuizMissed *missed);

/* Notes the question as missed, or forgets it after a right answer. The file is written only where
 * its content changes. */
bool quiz_missed_note(const Lesson *lesson, const LessonQuestion *question, bool right, Err *err);

/* ---- the quiz -------------------------------------------------------------------------------- */

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
