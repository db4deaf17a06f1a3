/* SPDX-License-Identifier: MIT */
/* Parses the text of a lesson into steps and pages. lesson_question.c parses the questions. */
#include "src/learn/lesson_internal.h"
#include "src/learn/lesson_run.h"

#include "src/base/data.h"
#include "src/base/nearest.h"
#include "src/state/glossary.h"
#include "src/state/keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_CHARACTERS = 620, MAX_SECONDS = 5 };
static const double DRAW_SECONDS = 0.4; /* a frame of a drawing */

/* ---- steps ----------------------------------------------------------------------------------- */

/* Appends a step. There is room: a row adds one step at most, and read_row() refuses a full
 * lesson. */
static LessonStep *add_step(Reader *reader, LessonKind kind, const char *text) {
    LessonStep *step = &reader->lesson->steps[reader->lesson->step_count++];
    *step = (LessonStep){.kind = kind, .line = reader->line, .text = text};
    return step;
}

static bool read_title(Reader *reader, char *rest) {
    if (reader->lesson->title)
        return reader_refuse(reader, "one is enough", "a second title");
    if (!*rest || strlen(rest) >= sizeof((LessonPane *)0)->title)
        return reader_refuse(reader, "", "a title has 1 to %zu characters",
                             sizeof((LessonPane *)0)->title - 1);
    reader->lesson->title = rest;
    return true;
}

static bool read_minutes(Reader *reader, char *rest) {
    int minutes;
    char more[2];
    if (sscanf(rest, "%d %1s", &minutes, more) != 1 || minutes < 1 || minutes > 60)
        return reader_refuse(reader, "", "minutes takes a number from 1 to 60, not \"%s\"", rest);
    reader->lesson->minutes = minutes;
    return true;
}

static bool read_say(Reader *reader, char *rest) {
    return reader_text(reader, rest) && add_step(reader, LESSON_SAY, rest);
}

static bool read_term(Reader *reader, char *rest) {
    char hint[96];
    const GlossaryRow *row = glossary_find(rest);
    glossary_hint(rest, "bevscope glossary lists them", hint, sizeof hint);
    if (!row)
        return reader_refuse(reader, hint, "not in the glossary: \"%s\"", rest);
    add_step(reader, LESSON_TERM, rest)->number = (int)(row - glossary);
    return true;
}

static bool read_point(Reader *reader, char *rest) {
    const char *at = reader_word(&rest);
    if (strcmp(at, "at") != 0 || !*rest)
        return reader_refuse(reader, "for example: point at kernels", "points at nothing");
    for (int i = 1; i < PANEL_COUNT; i++)
        if (!strcmp(lesson_panels[i], rest)) {
            add_step(reader, LESSON_POINT, rest)->number = i;
            return true;
        }
    char hint[256];
    nearest_hint(rest, lesson_panels + 1, PANEL_COUNT - 1, NULL, hint, sizeof hint);
    return reader_refuse(reader, hint, "no panel is called \"%s\"", rest);
}

static bool read_mark(Reader *reader, char *rest) {
    const char *name = reader_word(&rest);
    if (!*name || *rest || strchr(name, ':'))
        return reader_refuse(reader, "for example: mark latency", "mark takes one word");
    return add_step(reader, LESSON_MARK, name);
}

/* Returns the index of the name. A new name is added. A `let` may define a name again. */
static int name_index(NameTable *names, const char *name) {
    int found = name_find(names, name);
    if (found >= 0 || names->count == EXPRESSION_NAMES)
        return found;
    snprintf(names->names[names->count], EXPRESSION_NAME, "%s", name);
    return names->count++;
}

static bool is_reserved(const char *name) {
    static const char *const words[] = {"min", "max", "and", "or", "not", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], name))
            return true;
    return false;
}

static bool read_let(Reader *reader, char *rest) {
    Expression expression;
    const char *name = reader_word(&rest);
    size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (!*name || name[letters] || letters >= EXPRESSION_NAME || strchr("0123456789", *name))
        return reader_refuse(reader, "small letters, digits and _", "\"%s\" is no name", name);
    if (figure_find(name) >= 0 || is_reserved(name))
        return reader_refuse(reader, "choose another name", "\"%s\" means something else", name);
    if (*rest != '=')
        return reader_refuse(reader, "", "write: let %s = EXPRESSION", name);
    if (!reader_expression(reader, rest + 1, &expression))
        return false;
    int index = name_index(&reader->lesson->names, name);
    if (index < 0)
        return reader_refuse(reader, "", "more than %d names", EXPRESSION_NAMES);
    LessonStep *step = add_step(reader, LESSON_LET, name);
    step->number = index;
    step->expression = expression;
    return true;
}

static bool read_animate(Reader *reader, char *rest) {
    const char *word = reader_word(&rest);
    double from, to, seconds;
    int frames;
    char more[2], line[96];
    if (sscanf(rest, "%lf %lf %d %lf %1s", &from, &to, &frames, &seconds, more) != 4 ||
        !isfinite(from) || !isfinite(to))
        return reader_refuse(reader, "for example: animate temperature 1 4 10 0.2",
                             "animate takes a control, from, to, frames and seconds");
    if (frames < 2 || frames > LESSON_FRAMES || !(seconds >= 0 && seconds <= MAX_SECONDS))
        return reader_refuse(reader, "", "an animation has 2 to %d frames of 0 to %d seconds each",
                             LESSON_FRAMES, MAX_SECONDS);
    snprintf(line, sizeof line, "%s %g", word, from);
    if (!reader_control(reader, line))
        return false;
    LessonStep *step = add_step(reader, LESSON_ANIMATE, "");
    step->word = word;
    step->from = from;
    step->to = to;
    step->frames = frames;
    step->seconds = seconds;
    return true;
}

static bool read_draw(Reader *reader, char *rest) {
    char hint[128];
    for (int i = 0; i < DRAW_COUNT; i++)
        if (!strcmp(lesson_drawings[i], rest)) {
            LessonStep *step = add_step(reader, LESSON_DRAW, rest);
            step->number = i;
            step->frames = lesson_drawing_frames((LessonDrawing)i);
            step->seconds = DRAW_SECONDS;
            return true;
        }
    nearest_hint(rest, lesson_drawings, DRAW_COUNT, NULL, hint, sizeof hint);
    return reader_refuse(reader, hint, "no drawing is called \"%s\"", rest);
}

static bool read_ask(Reader *reader, char *rest) {
    Lesson *lesson = reader->lesson;
    if (!reader_text(reader, rest))
        return false;
    if (lesson->question_count == LESSON_QUESTIONS)
        return reader_refuse(reader, "make two lessons of it", "more than %d questions",
                             LESSON_QUESTIONS);
    add_step(reader, LESSON_QUESTION, rest)->number = lesson->question_count;
    reader->open = &lesson->questions[lesson->question_count++];
    *reader->open = (LessonQuestion){.line = reader->line, .text = rest};
    return true;
}

static bool read_source(Reader *reader, char *rest) {
    if (!reader_code(reader, rest))
        return false;
    add_step(reader, LESSON_SOURCE, "")->number = reader->lesson->code_count - 1;
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const LessonRow lesson_rows[] = {
    {"title", read_title},     {"minutes", read_minutes}, {"say", read_say},
    {"term", read_term},       {"point", read_point},     {"let", read_let},
    {"animate", read_animate}, {"ask", read_ask},         {"mark", read_mark},
    {"draw", read_draw},       {"source", read_source},   {NULL, NULL}};

/* Returns the table's row for the word; NULL: the table has none. */
static const LessonRow *row_of_word(const LessonRow *row, const char *word) {
    while (row->word && strcmp(row->word, word) != 0)
        row++;
    return row->word ? row : NULL;
}

static bool refuse_word(Reader *reader, const char *word) {
    const char *words[ACTION_COUNT + 32];
    size_t count = 0;
    for (const LessonRow *row = lesson_rows; row->word; row++)
        words[count++] = row->word;
    for (const LessonRow *row = question_rows; row->word; row++)
        words[count++] = row->word;
    for (int i = 0; i < ACTION_COUNT; i++)
        words[count++] = keys[i].word;
    char hint[128];
    nearest_hint(word, words, count, "samples/lessons/README.md lists them", hint, sizeof hint);
    return reader_refuse(reader, hint, "no word of lessons is called \"%s\"", word);
}

static bool read_word(Reader *reader, char *line) {
    char *rest = line + strcspn(line, " \t"), word[32];
    snprintf(word, sizeof word, "%.*s", (int)(rest - line), line);
    rest += strspn(rest, " \t");
    const LessonRow *of_lesson = row_of_word(lesson_rows, word);
    const LessonRow *of_question = row_of_word(question_rows, word);
    if (reader->open && of_question)
        return of_question->read(reader, rest);
    if (reader->open && !reader_close_question(reader))
        return false;
    if (of_lesson)
        return of_lesson->read(reader, rest);
    if (of_question)
        return reader_refuse(reader, "it belongs under the row `ask` of a question",
                             "\"%s\" without a question", word);
    if (!keys_of_word(word))
        return refuse_word(reader, word);
    return reader_control(reader, line) && add_step(reader, LESSON_CONTROL, line);
}

/* Reads one row of the lesson: a word and its text, continuation lines joined. */
static bool read_row(Reader *reader, char *line) {
    if (!read_word(reader, line))
        return false;
    return reader->lesson->step_count <= LESSON_STEPS ||
           reader_refuse(reader, "make two lessons of it", "more than %d steps", LESSON_STEPS);
}

/* Cuts off the comment and the blanks at the end. A comment begins the line or follows a blank. */
static void trim_comment(char *line) {
    for (char *at = line; *at; at++)
        if (*at == '#' && (at == line || at[-1] == ' ' || at[-1] == '\t')) {
            *at = '\0';
            break;
        }
    size_t length = strlen(line);
    while (length && strchr(" \t\r", line[length - 1]))
        line[--length] = '\0';
}

/* Appends the continuation `line` to `row`, after one blank. Both are parts of the same buffer. */
static void join_lines(char *row, const char *line) {
    char *end = row + strlen(row);
    line += strspn(line, " \t");
    *end++ = ' ';
    memmove(end, line, strlen(line) + 1);
}

static bool read_rows(Reader *reader, char *text) {
    char *row = NULL;
    int number = 0;
    for (char *line; (line = strsep(&text, "\n"));) {
        number++;
        trim_comment(line);
        bool goes_on = *line == ' ' || *line == '\t';
        if (!line[strspn(line, " \t")])
            continue;
        if (goes_on && !row) {
            reader->line = number;
            return reader_refuse(reader, "an indented line continues the one before",
                                 "the first line is indented");
        }
        if (goes_on) {
            join_lines(row, line);
            continue;
        }
        if (row && !read_row(reader, row))
            return false;
        row = line;
        reader->line = number;
    }
    return (!row || read_row(reader, row)) && (!reader->open || reader_close_question(reader));
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Whether the page that begins with step `first` ends before step `at`. */
static bool page_ends(const Lesson *lesson, int first, int at) {
    int characters = 0, pointed = 0;
    for (int i = first; i < at; i++) {
        const LessonStep *step = &lesson->steps[i];
        characters += step->kind == LESSON_SAY ? (int)strlen(step->text) : 0;
        characters += step->kind == LESSON_TERM || step->kind == LESSON_SOURCE ? 120 : 0;
        pointed |= step->kind == LESSON_POINT;
        if (step->kind == LESSON_QUESTION || step->kind == LESSON_ANIMATE || step->frames > 1)
            return true;
    }
    const LessonStep *next = &lesson->steps[at];
    return characters &&
           (next->kind == LESSON_CONTROL || next->kind == LESSON_LET || next->kind == LESSON_MARK ||
            (next->kind == LESSON_POINT && pointed) ||
            (next->kind == LESSON_SAY && characters + (int)strlen(next->text) > PAGE_CHARACTERS));
}

static void make_pages(Lesson *lesson) {
    for (int first = 0; first < lesson->step_count;) {
        int at = first + 1;
        while (at < lesson->step_count && !page_ends(lesson, first, at))
            at++;
        lesson->pages[lesson->page_count++] = (LessonPage){first, at - first};
        if (lesson->steps[at - 1].kind == LESSON_QUESTION)
            lesson->asking_pages = lesson->page_count;
        first = at;
    }
}

int lesson_page(const Lesson *lesson, const char *mark) {
    for (int page = 0; page < lesson->page_count; page++)
        for (int i = 0; i < lesson->pages[page].count; i++) {
            const LessonStep *step = &lesson->steps[lesson->pages[page].first + i];
            if (step->kind == LESSON_MARK && !strcmp(step->text, mark))
                return page;
        }
    return -1;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Returns the line of the first byte that is not text; 0: all bytes are text. */
static int binary_line(const char *text, size_t length) {
    int line = 1;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        line += byte == '\n';
        if ((byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r') || byte >= 0x7f)
            return line;
    }
    return 0;
}

static bool allocate_steps(Lesson *lesson, const char *text, size_t length) {
    lesson->bytes = calloc(1, length + 2);
    lesson->steps = calloc(LESSON_STEPS + 1, sizeof *lesson->steps);
    lesson->pages = calloc(LESSON_STEPS, sizeof *lesson->pages);
    lesson->questions = calloc(LESSON_QUESTIONS, sizeof *lesson->questions);
    lesson->codes = calloc(LESSON_SOURCES, sizeof *lesson->codes);
    if (lesson->bytes)
        memcpy(lesson->bytes, text, length);
    return lesson->bytes && lesson->steps && lesson->pages && lesson->questions && lesson->codes;
}

static bool check_lesson(Reader *reader) {
    const Lesson *lesson = reader->lesson;
    reader->line = 1;
    if (!lesson->title)
        return reader_refuse(reader, "for example: title Whose bytes?", "the lesson has no title");
    return lesson->step_count > 0 ||
           reader_refuse(reader, "begin with say or ask", "the lesson has no steps");
}

bool lesson_parse(const char *text, size_t length, const char *where, Lesson *lesson, Err *err) {
    Reader reader = {.lesson = lesson, .where = where, .err = err};
    *lesson = (Lesson){.minutes = 3};
    bool ok;
    reader.line = binary_line(text, length);
    if (length > LESSON_BYTES)
        ok = err_set(err, ERR_FAILED, where, "make several lessons of it",
                     "has %zu bytes; a lesson has at most %d", length, LESSON_BYTES);
    else if (reader.line)
        ok = reader_refuse(&reader, "a lesson is plain ASCII text",
                           "a byte that no text in ASCII has");
    else if (!allocate_steps(lesson, text, length))
        ok = err_set(err, ERR_FAILED, where, "", "out of memory");
    else
        ok = read_rows(&reader, lesson->bytes) && check_lesson(&reader);
    if (ok)
        make_pages(lesson);
    else
        lesson_free(lesson);
    return ok;
}

void lesson_free(Lesson *lesson) {
    if (!lesson)
        return;
    for (int i = 0; i < lesson->code_count; i++)
        free(lesson->codes[i].text);
    free(lesson->codes);
    free(lesson->questions);
    free(lesson->pages);
    free(lesson->steps);
    free(lesson->bytes);
    free(lesson->pool.ops);
    *lesson = (Lesson){.bytes = NULL};
}

bool lesson_load(const char *path, Lesson *lesson, Err *err) {
    char *text;
    size_t length;
    *lesson = (Lesson){.bytes = NULL};
    if (!data_read(path, LESSON_BYTES, &text, &length, err))
        return false;
    bool ok = lesson_parse(text, length, path, lesson, err);
    free(text);
    if (!ok)
        return false;
    data_stem(path, lesson->name, sizeof lesson->name);
    return lesson_read_codes(lesson, path, err) || (lesson_free(lesson), false);
}
