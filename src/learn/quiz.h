/* The quiz: ten questions of the course, drawn from the lessons' own files. Half of them at most
 * are questions that were missed before; a right answer forgets a missed one. A state machine
 * without clock: the App says how many seconds have passed. */
#pragma once

#include "src/learn/course.h"
#include "src/learn/lesson_run.h"

enum { QUIZ_QUESTIONS = 10, QUIZ_MISSED_MOST = 5, QUIZ_SECONDS = 240, QUIZ_MISSED_ROWS = 256 };

extern const char quiz_word[]; /* opens the quiz in place of a lesson's name: "quiz" */

/* ---- questions missed ------------------------------------------------------------------------ */

/* A question: the lesson's name, and a hash of its text. Other words make it another question. */
typedef struct {
    char lesson[COURSE_NAME];
    uint64_t text;
} QuizKey;

/* In the file `missed` beside the course's progress, the oldest first. */
typedef struct {
    int count;
    QuizKey rows[QUIZ_MISSED_ROWS];
} QuizMissed;

/* Damaged lines are left out. */
void quiz_missed_read(QuizMissed *missed);

/* Remembers the question of the lesson, or forgets it after a right answer. Writes the file only
 * where that changes it. */
bool quiz_missed_note(const Lesson *lesson, const LessonQuestion *question, bool right, Err *err);

/* ---- the quiz -------------------------------------------------------------------------------- */

typedef struct {
    char lesson[COURSE_NAME], topic[80]; /* topic: the lesson's title */
    int page;                            /* of the question */
    bool missed;                         /* in an earlier answer */
    bool answered;                       /* or left out */
    LessonVerdict verdict;
} QuizItem;

typedef struct {
    QuizItem items[QUIZ_QUESTIONS];
    int count, at;
    double seconds; /* left; they pass while a question is open */
    uint64_t seed;
    bool over;
} Quiz;

/* Draws the questions: the same for the same seed, lessons and missed questions. Lessons that
 * cannot be read are left out. */
bool quiz_draw(Quiz *quiz, const Course *course, const QuizMissed *missed, uint64_t seed, Err *err);

/* Time passed while a question was open. True: the time is up, the quiz is over now. */
bool quiz_pass(Quiz *quiz, double seconds);

/* The verdict on the question of now; VERDICT_NONE: it was left out. */
void quiz_answer(Quiz *quiz, LessonVerdict verdict);

/* Goes on to the next question. False: there is none, the quiz is over. */
bool quiz_next(Quiz *quiz);

/* Turns the pane of the question's lesson into one of the quiz: number, score, clock; where the
 * quiz is over, the score by topic. */
void quiz_show(const Quiz *quiz, LessonPane *pane);
