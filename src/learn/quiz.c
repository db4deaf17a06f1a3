/* SPDX-License-Identifier: MIT */
#include "src/learn/quiz.h"

#include "src/base/data.h"
#include "src/base/hash.h"
#include "src/base/random.h"
#include "src/state/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char quiz_word[] = "quiz";

/* ---- questions missed ------------------------------------------------------------------------ */

enum { MISSED_BYTES = 1 << 16, MISSED_LINE = COURSE_NAME + 24 };

static QuizKey key_of_question(const char *lesson, const LessonQuestion *question) {
    QuizKey key = {.text = hash_text(HASH_BEGIN, question->text)};
    snprintf(key.lesson, sizeof key.lesson, "%s", lesson);
    return key;
}

static int find_missed(const QuizMissed *missed, const QuizKey *key) {
    for (int i = 0; i < missed->count; i++)
        if (missed->rows[i].text == key->text && !strcmp(missed->rows[i].lesson, key->lesson))
            return i;
    return -1;
}

static bool missed_path(char *path, size_t size) {
    char *slash;
    if (!course_progress_path(path, size) || !(slash = strrchr(path, '/')))
        return false;
    return snprintf(slash + 1, size - (size_t)(slash + 1 - path), "missed") < COURSE_NAME;
}

void quiz_missed_read(QuizMissed *missed) {
    char path[COURSE_PATH], *text, more[2];
    size_t length;
    Err unread;
    missed->count = 0;
    if (!missed_path(path, sizeof path) || !data_read(path, MISSED_BYTES, &text, &length, &unread))
        return;
    for (char *rest = text, *line;
         missed->count < QUIZ_MISSED_ROWS && (line = strsep(&rest, "\n"));) {
        QuizKey *row = &missed->rows[missed->count];
        missed->count += sscanf(line, "%63s %" SCNx64 " %1s", row->lesson, &row->text, more) == 2;
    }
    free(text);
}

static bool write_missed(const QuizMissed *missed, Err *err) {
    static char text[QUIZ_MISSED_ROWS * MISSED_LINE];
    char path[COURSE_PATH];
    size_t used = 0;
    if (!missed_path(path, sizeof path))
        return err_set(err, ERR_FAILED, "progress", "set HOME", "there is no folder to keep it in");
    for (int i = 0; i < missed->count; i++)
        used += (size_t)snprintf(text + used, MISSED_LINE, "%s %016" PRIx64 "\n",
                                 missed->rows[i].lesson, missed->rows[i].text);
    return course_progress_folder(path, err) && data_write(path, text, used, err);
}

bool quiz_missed_note(const Lesson *lesson, const LessonQuestion *question, bool right, Err *err) {
    static QuizMissed missed; /* large; only the main thread takes lessons */
    const QuizKey key = key_of_question(lesson->name, question);
    quiz_missed_read(&missed);
    int at = find_missed(&missed, &key);
    if (right == (at < 0))
        return true;
    if (right || missed.count == QUIZ_MISSED_ROWS) {
        at = right ? at : 0;
        memmove(&missed.rows[at], &missed.rows[at + 1],
                (size_t)(missed.count - at - 1) * sizeof *missed.rows);
        missed.count--;
    }
    if (!right)
        missed.rows[missed.count++] = key;
    return write_missed(&missed, err);
}

/* ---- drawing --------------------------------------------------------------------------------- */

enum { ALL_QUESTIONS = COURSE_LESSONS * LESSON_QUESTIONS };

static int add_questions(QuizItem *all, int count, const Lesson *lesson, const QuizMissed *missed) {
    for (int page = 0; page < lesson->page_count; page++) {
        const LessonPage *of = &lesson->pages[page];
        const LessonStep *last = &lesson->steps[of->first + of->count - 1];
        if (last->kind != LESSON_QUESTION || count == ALL_QUESTIONS)
            continue;
        const QuizKey key = key_of_question(lesson->name, &lesson->questions[last->number]);
        QuizItem *item = &all[count++];
        *item = (QuizItem){.page = page, .missed = find_missed(missed, &key) >= 0};
        snprintf(item->lesson, sizeof item->lesson, "%s", lesson->name);
        snprintf(item->topic, sizeof item->topic, "%s", lesson->title);
    }
    return count;
}

static int read_questions(QuizItem *all, const Course *course, const QuizMissed *missed) {
    int count = 0;
    for (int i = 0; i < course->count; i++) {
        char path[COURSE_PATH];
        Lesson lesson;
        Err unread;
        if (!course_find(course, course->names[i], path, sizeof path, &unread) ||
            !lesson_load(path, &lesson, &unread))
            continue;
        count = add_questions(all, count, &lesson, missed);
        lesson_free(&lesson);
    }
    return count;
}

static void shuffle_items(QuizItem *items, int count, uint64_t *random) {
    for (int i = count - 1; i > 0; i--) {
        int other = (int)random_below(random, i + 1);
        const QuizItem kept = items[i];
        items[i] = items[other];
        items[other] = kept;
    }
}

/* Takes questions from `all`, either missed or others, until the quiz has `most` questions. */
static void take_questions(Quiz *quiz, const QuizItem *all, int count, bool missed, int most) {
    for (int i = 0; i < count && quiz->count < most; i++)
        if (all[i].missed == missed)
            quiz->items[quiz->count++] = all[i];
}

bool quiz_draw(Quiz *quiz, const Course *course, const QuizMissed *missed, uint64_t seed,
               Err *err) {
    uint64_t random = seed;
    QuizItem *all = malloc(ALL_QUESTIONS * sizeof *all);
    if (!all)
        return err_set(err, ERR_FAILED, quiz_word, "", "out of memory");
    *quiz = (Quiz){.seed = seed};
    int count = read_questions(all, course, missed);
    shuffle_items(all, count, &random);
    take_questions(quiz, all, count, true, QUIZ_MISSED_MOST);
    take_questions(quiz, all, count, false, QUIZ_QUESTIONS);
    shuffle_items(quiz->items, quiz->count, &random);
    free(all);
    return quiz->count > 0 || err_set(err, ERR_FAILED, quiz_word, "samples/lessons has the course",
                                      "there is no lesson with a question");
}

/* ---- taking it ------------------------------------------------------------------------------- */

void quiz_answer(Quiz *quiz, LessonVerdict verdict) {
    QuizItem *item = &quiz->items[quiz->at];
    item->answered = true;
    item->verdict = verdict;
}

bool quiz_next(Quiz *quiz) {
    quiz->over = quiz->over || ++quiz->at == quiz->count;
    return !quiz->over;
}

/* ---- what is shown --------------------------------------------------------------------------- */

typedef struct {
    int right, asked;
} Score;

/* Returns the score of a topic; NULL: of all topics. Questions that this machine cannot judge do
 * not count. */
static Score score_of(const Quiz *quiz, const char *topic) {
    Score score = {0};
    for (int i = 0; i < quiz->count; i++) {
        const QuizItem *item = &quiz->items[i];
        bool counts = item->answered && item->verdict != VERDICT_VOID;
        if (topic && strcmp(topic, item->topic) != 0)
            continue;
        score.asked += counts;
        score.right += counts && item->verdict == VERDICT_RIGHT;
    }
    return score;
}

static bool is_first_of_topic(const Quiz *quiz, int i) {
    for (int before = 0; before < i; before++)
        if (!strcmp(quiz->items[before].topic, quiz->items[i].topic))
            return false;
    return true;
}

/* Adds one row for each topic: its score, and the lesson to take again. */
static void add_topics(const Quiz *quiz, PaneText *body) {
    char text[240];
    for (int i = 0; i < quiz->count; i++) {
        const QuizItem *item = &quiz->items[i];
        const Score score = score_of(quiz, item->topic);
        if (!is_first_of_topic(quiz, i))
            continue;
        if (!score.asked)
            snprintf(text, sizeof text, "n/a     %s: cannot be judged here", item->topic);
        else if (score.right == score.asked)
            snprintf(text, sizeof text, "%d of %d  %s", score.right, score.asked, item->topic);
        else
            snprintf(text, sizeof text, "%d of %d  %s: bevscope learn %d", score.right, score.asked,
                     item->topic, atoi(item->lesson));
        pane_add(body, PANE_CHOICE, false, text);
    }
}

static void show_score(const Quiz *quiz, LessonPane *pane) {
    PaneText *body = &pane->body;
    const Score score = score_of(quiz, NULL);
    char text[200];
    *pane = (LessonPane){.open = true, .ended = true};
    snprintf(text, sizeof text, "%d of %d right. By topic:", score.right, score.asked);
    pane_add(body, PANE_TEXT, false, text);
    add_topics(quiz, body);
    snprintf(text, sizeof text,
             "What was missed is asked again in a later quiz. This one was --seed %" PRIu64 ".",
             quiz->seed);
    pane_add(body, PANE_TEXT, false, text);
    snprintf(text, sizeof text, "%s closes the quiz", key_of(ACTION_LESSON).name);
    pane_add(body, PANE_KEYS, false, text);
}

void quiz_show(const Quiz *quiz, LessonPane *pane) {
    const QuizItem *item = &quiz->items[quiz->at];
    if (quiz->over)
        show_score(quiz, pane);
    const Score score = score_of(quiz, NULL);
    pane->step = quiz->over ? quiz->count : quiz->at + 1;
    pane->steps = quiz->count;
    pane->right = score.right;
    pane->asked = score.asked;
    snprintf(pane->title, sizeof pane->title, "Quiz%s%.60s", quiz->over ? "" : ": ",
             quiz->over ? "" : item->topic);
}
