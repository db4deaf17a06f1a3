/* SPDX-License-Identifier: MIT */
#include "src/learn/course.h"

#include "src/base/data.h"
#include "src/base/hash.h"
#include "src/base/nearest.h"
#include "src/base/random.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".lesson";

static int is_lesson(const struct dirent *entry) {
    return data_has_suffix(entry->d_name, suffix) && strlen(entry->d_name) < COURSE_NAME;
}

/* Reads the comment that a lesson's file begins with: "# Loops swapped: fewer bytes, ...". */
static void read_idea(const char *folder, const char *name, char idea[COURSE_IDEA]) {
    char path[2 * COURSE_PATH];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "# %127[^\n]", idea) != 1)
        idea[0] = '\0';
    if (file)
        fclose(file);
}

void course_read(Course *course) {
    char path[COURSE_PATH];
    struct dirent **files = NULL;
    bool there = data_path("samples/lessons", path, sizeof path, NULL);
    int count = there ? scandir(path, &files, is_lesson, alphasort) : -1;
    *course = (Course){.count = 0};
    for (int i = 0; i < count && i < COURSE_LESSONS; i++) {
        course->count++;
        data_stem(files[i]->d_name, course->names[i], COURSE_NAME);
        read_idea(path, course->names[i], course->ideas[i]);
    }
    for (int i = 0; i < count; i++)
        free(files[i]);
    free(files);
}

/* Whether the word names the lesson: "2", "02", or the text after the number, "whose-bytes". */
static bool names_lesson(const char *name, const char *word) {
    char *end, *word_end;
    long number = strtol(name, &end, 10), asked = strtol(word, &word_end, 10);
    const bool numbered = end != name && *end == '-';
    const bool is_number = word_end != word && !*word_end;
    if (numbered && is_number && number == asked)
        return true;
    return !strcmp(name, word) || (numbered && !strcmp(end + 1, word));
}

bool course_find(const Course *course, const char *word, char *path, size_t size, Err *err) {
    const char *names[COURSE_LESSONS];
    char relative[COURSE_NAME + 32], hint[160] = "no lesson is installed";
    for (int i = 0; i < course->count; i++) {
        names[i] = course->names[i];
        if (!names_lesson(names[i], word))
            continue;
        snprintf(relative, sizeof relative, "samples/lessons/%s%s", names[i], suffix);
        return data_path(relative, path, size, err);
    }
    if (strpbrk(word, "./") && access(word, F_OK) == 0) {
        snprintf(path, size, "%s", word);
        return true;
    }
    if (course->count)
        nearest_hint(word, names, (size_t)course->count, "bevscope learn lists them", hint,
                     sizeof hint);
    return err_set(err, ERR_USAGE, word, hint, "no such lesson");
}

const char *course_after(const Course *course, const char *name) {
    for (int i = 0; i + 1 < course->count; i++)
        if (!strcmp(course->names[i], name))
            return course->names[i + 1];
    return NULL;
}

const char *course_next(const Course *course) {
    const char *fresh = NULL;
    for (int i = 0; i < course->count; i++) {
        const CourseProgressRow row = course_progress(course->names[i]);
        if (row.page > 0)
            return course->names[i];
        if (!fresh && !row.done)
            fresh = course->names[i];
    }
    const char *first = course->count ? course->names[0] : NULL;
    return fresh ? fresh : first;
}

/* ---- what is remembered: files of lines ------------------------------------------------------ */

/* Writes the path $XDG_STATE_HOME/bevscope/NAME, else ~/.local/state/bevscope/NAME. Returns false
 * where neither XDG_STATE_HOME nor HOME is set. */
static bool state_path(const char *name, char path[COURSE_PATH]) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return snprintf(path, COURSE_PATH, "%s/bevscope/%s", state, name) < COURSE_PATH;
    return home && home[0] &&
           snprintf(path, COURSE_PATH, "%s/.local/state/bevscope/%s", home, name) < COURSE_PATH;
}

static char *read_file(const char *name) {
    enum { MOST_BYTES = 1 << 16 };
    char path[COURSE_PATH], *text;
    size_t length;
    Err unread;
    if (!state_path(name, path) || !data_read(path, MOST_BYTES, &text, &length, &unread))
        return NULL;
    return text;
}

static bool make_folders(const char *path, Err *err) {
    char folder[COURSE_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return err_set(err, ERR_FAILED, folder, "progress is not kept", "cannot be made: %s",
                           strerror(errno));
        *slash = '/';
    }
    return true;
}

/* Whether the text has the line. `text` NULL: there is no text. */
static bool has_line(const char *text, const char *line) {
    const char *found = text ? strstr(text, line) : NULL;
    while (found && found > text && found[-1] != '\n')
        found = strstr(found + 1, line);
    return found;
}

/* Removes the lines that begin with `key` from the file, and adds `line` at its end; "": adds
 * nothing. A file of more than MOST_LINES lines loses its oldest lines. */
static bool put_line(const char *name, const char *key, const char *line, Err *err) {
    enum { MOST_LINES = 256 };
    char path[COURSE_PATH];
    int lines = 1; /* from here to the end, with the line that is added */
    MemoryStream out;
    if (!memory_stream_open(&out, err))
        return false;
    char *text = read_file(name);
    for (const char *at = text; at && (at = strchr(at, '\n')); at++)
        lines++;
    for (char *rest = text, *old; (old = strsep(&rest, "\n")); lines--) {
        const bool has_key = strncmp(old, key, strcspn(key, "\n")) == 0;
        if (*old && !has_key && lines <= MOST_LINES)
            fprintf(out.stream, "%s\n", old);
    }
    fputs(line, out.stream);
    free(text);
    if (!memory_stream_close(&out, name, err))
        return false;
    bool ok =
        state_path(name, path)
            ? make_folders(path, err) && data_write(path, out.bytes, out.length, err)
            : err_set(err, ERR_FAILED, "progress", "set HOME", "there is no folder to keep it in");
    free(out.bytes);
    return ok;
}

/* ---- progress, as lines: name, page, pages, answered, right, asked, done --------------------- */

static const char progress_file[] = "progress";

static bool read_progress_line(const char *line, CourseProgressRow *row) {
    int done;
    char more[2];
    if (sscanf(line, "%63s %d %d %d %d %d %d %1s", row->name, &row->page, &row->pages,
               &row->answered, &row->right, &row->asked, &done, more) != 7)
        return false;
    row->done = done == 1;
    const bool pages_fit = row->page >= 0 && row->page <= row->pages && row->answered >= 0 &&
                           row->answered <= row->pages;
    const bool score_fits = row->right >= 0 && row->right <= row->asked;
    return pages_fit && score_fits && (done == 0 || done == 1);
}

CourseProgressRow course_progress(const char *name) {
    CourseProgressRow found = {.pages = 0}, row;
    char *text = read_file(progress_file);
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
        if (read_progress_line(line, &row) && !strcmp(row.name, name))
            found = row;
    free(text);
    return found;
}

bool course_progress_save(const CourseProgressRow *row, Err *err) {
    char key[COURSE_NAME + 1], line[2 * COURSE_NAME];
    snprintf(key, sizeof key, "%s ", row->name);
    snprintf(line, sizeof line, "%s%d %d %d %d %d %d\n", key, row->page, row->pages, row->answered,
             row->right, row->asked, (int)row->done);
    return put_line(progress_file, key, line, err);
}

/* ---- the quiz: questions missed, as lines: the lesson, a hash of the question's text --------- */

const char quiz_word[] = "quiz";
static const char missed_file[] = "missed";

static ShortText missed_line(const Lesson *lesson, const LessonQuestion *question) {
    ShortText line;
    snprintf(line.text, sizeof line.text, "%s %016" PRIx64 "\n", lesson->name,
             hash_text(HASH_BEGIN, question->text));
    return line;
}

bool quiz_missed_note(const Lesson *lesson, const LessonQuestion *question, bool right, Err *err) {
    const ShortText line = missed_line(lesson, question);
    char *text = read_file(missed_file);
    bool known = has_line(text, line.text);
    free(text);
    const bool stays = known != right; /* missed and known, or right and unknown */
    return stays || put_line(missed_file, line.text, right ? "" : line.text, err);
}

/* ---- drawing --------------------------------------------------------------------------------- */

enum { ALL_QUESTIONS = COURSE_LESSONS * LESSON_QUESTIONS };

/* Appends the questions of a lesson to the list of `count` questions. Returns the new count. */
static int add_questions(QuizItem *all, int count, const Lesson *lesson, const char *missed) {
    for (int page = 0; page < lesson->page_count; page++) {
        const LessonQuestion *question = lesson->pages[page].question;
        if (!question || count == ALL_QUESTIONS)
            continue;
        QuizItem *item = &all[count++];
        *item = (QuizItem){.page = page,
                           .missed = has_line(missed, missed_line(lesson, question).text),
                           .verdict = VERDICT_VOID};
        snprintf(item->lesson, sizeof item->lesson, "%s", lesson->name);
        snprintf(item->topic, sizeof item->topic, "%s", lesson->title);
    }
    return count;
}

static int read_questions(QuizItem *all, const Course *course, const char *missed) {
    int count = 0;
    for (int i = 0; i < course->count; i++) {
        char path[COURSE_PATH];
        Err unread;
        Lesson *lesson = course_find(course, course->names[i], path, sizeof path, &unread)
                             ? lesson_load(path, &unread)
                             : NULL;
        if (lesson)
            count = add_questions(all, count, lesson, missed);
        lesson_free(lesson);
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

static void take_questions(Quiz *quiz, const QuizItem *all, int count, bool missed, int most) {
    for (int i = 0; i < count && quiz->count < most; i++)
        if (all[i].missed == missed)
            quiz->items[quiz->count++] = all[i];
}

bool quiz_draw(Quiz *quiz, const Course *course, bool remembers, uint64_t seed, Err *err) {
    uint64_t random = seed;
    QuizItem *all = malloc(ALL_QUESTIONS * sizeof *all);
    if (!all)
        return err_no_memory(err, quiz_word, "");
    *quiz = (Quiz){.seed = seed};
    char *missed = remembers ? read_file(missed_file) : NULL;
    int count = read_questions(all, course, missed);
    free(missed);
    shuffle_items(all, count, &random);
    take_questions(quiz, all, count, true, QUIZ_MISSED_MOST);
    take_questions(quiz, all, count, false, QUIZ_QUESTIONS);
    shuffle_items(quiz->items, quiz->count, &random);
    free(all);
    return quiz->count > 0 || err_set(err, ERR_FAILED, quiz_word, "samples/lessons has the course",
                                      "there is no lesson with a question");
}

/* ---- what is shown --------------------------------------------------------------------------- */

typedef struct {
    int right, asked;
} Score;

/* Returns the score of a topic; NULL: of all. Answers that cannot be judged do not count. */
static Score score_of(const Quiz *quiz, const char *topic) {
    Score score = {0};
    for (int i = 0; i < quiz->count; i++) {
        const QuizItem *item = &quiz->items[i];
        if (topic && strcmp(topic, item->topic) != 0)
            continue;
        score.asked += item->verdict != VERDICT_VOID;
        score.right += item->verdict == VERDICT_RIGHT;
    }
    return score;
}

/* Adds one row for each topic: its score, and the lesson to take again. */
static void add_topics(const Quiz *quiz, PaneText *body) {
    for (int i = 0; i < quiz->count; i++) {
        const QuizItem *item = &quiz->items[i];
        const Score score = score_of(quiz, item->topic);
        int first = 0; /* the first question of the topic, which adds the topic's row */
        while (strcmp(quiz->items[first].topic, item->topic))
            first++;
        if (first < i)
            continue;
        if (!score.asked)
            pane_add(body, PANE_CHOICE, false, "n/a     %s: cannot be judged here", item->topic);
        else if (score.right == score.asked)
            pane_add(body, PANE_CHOICE, false, "%d of %d  %s", score.right, score.asked,
                     item->topic);
        else
            pane_add(body, PANE_CHOICE, false, "%d of %d  %s: bevscope learn %d", score.right,
                     score.asked, item->topic, atoi(item->lesson));
    }
}

void quiz_show(const Quiz *quiz, LessonPane *pane) {
    const QuizItem *item = &quiz->items[quiz->at];
    const bool over = quiz->at == quiz->count;
    const Score score = score_of(quiz, NULL);
    PaneText *body = &pane->body;
    if (over) {
        *pane = (LessonPane){.open = true, .ended = true, .title = "Quiz", .step = quiz->count};
        pane_add(body, PANE_TEXT, false, "%d of %d right. By topic:", score.right, score.asked);
        add_topics(quiz, body);
        pane_add(body, PANE_TEXT, false,
                 "What was missed is asked again in a later quiz. This one was --seed %" PRIu64 ".",
                 quiz->seed);
        pane_add(body, PANE_KEYS, false, "%s closes the quiz", key_of(ACTION_LESSON).name);
    } else {
        pane->step = quiz->at + 1;
        snprintf(pane->title, sizeof pane->title, "Quiz: %.60s", item->topic);
    }
    pane->steps = quiz->count;
    pane->right = score.right;
    pane->asked = score.asked;
}
