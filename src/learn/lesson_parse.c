/* SPDX-License-Identifier: MIT */
/* Parses the text of a lesson into steps, questions and pages. */
#include "src/learn/lesson_run.h"

#include "src/base/data.h"
#include "src/base/nearest.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    Lesson *lesson;
    const char *where;
    int line;             /* of the word that is read now */
    LessonQuestion *open; /* the question that rows still belong to; NULL: none */
    Err *err;
} Reader;

/* ---- parts of rows --------------------------------------------------------------------------- */

/* Reports an error in the line that is read now. Returns false. */
__attribute__((format(printf, 3, 4))) static bool reader_refuse(Reader *reader, const char *hint,
                                                                const char *format, ...) {
    char where[256], what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(where, sizeof where, "%.200s:%d", reader->where, reader->line);
    return err_set(reader->err, ERR_FAILED, where, hint, "%s", what);
}

/* Cuts the first word off *rest and returns the word; "" where there is none. */
static char *reader_word(char **rest) {
    char *word = *rest + strspn(*rest, " \t");
    size_t length = strcspn(word, " \t");
    *rest = word + length;
    if (**rest)
        *(*rest)++ = '\0';
    *rest += strspn(*rest, " \t");
    return word;
}

static bool reader_expression(Reader *reader, const char *text) {
    Evaluation check = {.names = &reader->lesson->names};
    Value unused;
    if (!expression_value(text, &check, &unused))
        return reader_refuse(reader, "", "%s", check.why);
    reader->lesson->model_kernels |= check.model_kernels;
    return true;
}

/* Checks the expressions in the braces of a text, and reports the first mistake. */
static bool reader_text(Reader *reader, const char *text) {
    char inner[256];
    if (!*text)
        return reader_refuse(reader, "", "a text is missing");
    for (const char *at = text; (at = strchr(at, '{'));) {
        const char *end = strchr(at, '}');
        if (!end || end - at >= (int)sizeof inner)
            return reader_refuse(reader, "an expression ends with }", "a { is not closed");
        snprintf(inner, sizeof inner, "%.*s", (int)(end - at - 1), at + 1);
        if (!reader_expression(reader, inner))
            return false;
        at = end;
    }
    return true;
}

/* Checks a control with its argument, written as in a script. */
static bool reader_control(Reader *reader, const char *text) {
    Command command;
    Err wrong;
    if (!keys_parse(text, &command, &wrong))
        return reader_refuse(reader, "", "%s", wrong.what);
    const KeyRow *row = &keys[command.action];
    if (row->group == GROUP_LESSON || row->action == ACTION_QUIT || row->action == ACTION_RECORD ||
        row->action == ACTION_UNDO)
        return reader_refuse(reader, "leave that to the learner", "a lesson may not use \"%s\"",
                             row->word);
    return true;
}

/* Returns the place of the name in the list; -1, after a report: the list lacks it. */
static int reader_place(Reader *reader, const char *what, const char *const *names, int count,
                        const char *name) {
    char hint[256];
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return i;
    nearest_hint(name, names, (size_t)count, NULL, hint, sizeof hint);
    reader_refuse(reader, hint, "no %s is called \"%s\"", what, name);
    return -1;
}

/* Appends a step. A row adds at most one step, and read_row() refuses a full lesson. */
static bool add_step(Reader *reader, LessonStep step) {
    reader->lesson->steps[reader->lesson->step_count++] = step;
    return true;
}

/* ---- lines of source, found by a text of their first line ------------------------------------ */

enum { SOURCE_BYTES = 1 << 20 };

/* Copies `code->lines` lines of `source`, from the first line that contains `first`. */
static bool take_lines(LessonCode *code, const char *source, const char *first) {
    const char *begin = strstr(source, first), *end = begin;
    if (!begin)
        return false;
    while (begin > source && begin[-1] != '\n')
        begin--;
    end += strcspn(end, "\n");
    for (int i = 1; i < code->lines && *end; i++)
        end += 1 + strcspn(end + 1, "\n");
    code->line = 1;
    for (const char *at = source; at < begin; at++)
        code->line += *at == '\n';
    code->text = strndup(begin, (size_t)(end - begin));
    return code->text;
}

/* Reads `FILE "TEXT" LINES`: lines of source, for the open question or as a step. */
static bool read_source(Reader *reader, char *rest) {
    static const char form[] = "for example: source kernels/cuda/v2.cu \"for (int\" 6";
    Lesson *lesson = reader->lesson;
    LessonQuestion *question = reader->open;
    char *file = reader_word(&rest), *end = *rest == '"' ? strchr(rest + 1, '"') : NULL, more[2];
    char path[4096], *source;
    size_t length;
    Err unread;
    LessonCode code = {.file = file};
    if (!end || end == rest + 1)
        return reader_refuse(reader, form,
                             "source takes a file, a text in quotes and a number of lines");
    *end = '\0';
    if (sscanf(end + 1, "%d %1s", &code.lines, more) != 1 || code.lines < 1 ||
        code.lines > LESSON_CODE_LINES)
        return reader_refuse(reader, form, "source shows 1 to %d lines", LESSON_CODE_LINES);
    if ((strncmp(file, "kernels/", 8) != 0 && strncmp(file, "samples/", 8) != 0) ||
        strstr(file, ".."))
        return reader_refuse(reader, "name a file below kernels/ or samples/",
                             "\"%s\" is no source of this program", file);
    if (lesson->code_count == LESSON_SOURCES)
        return reader_refuse(reader, "", "more than %d sources", LESSON_SOURCES);
    if (question && question->code_count == LESSON_CODES)
        return reader_refuse(reader, "", "more than %d sources", LESSON_CODES);
    if (!data_path(file, path, sizeof path, &unread) ||
        !data_read(path, SOURCE_BYTES, &source, &length, &unread))
        return reader_refuse(reader, "name a file below kernels/ or samples/",
                             "there is no source %s", file);
    bool found = take_lines(&code, source, rest + 1);
    free(source);
    if (!found)
        return reader_refuse(reader, "copy a part of the first line to show",
                             "no line of %s has the text \"%.80s\"", file, rest + 1);
    lesson->codes[lesson->code_count] = code;
    if (question)
        question->codes[question->code_count++] = lesson->code_count;
    else
        add_step(reader, (LessonStep){.kind = LESSON_SOURCE, .number = lesson->code_count});
    lesson->code_count++;
    return true;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Sets the kind of answer. A second, different kind is refused. */
static bool set_kind(Reader *reader, LessonAsks asks) {
    LessonQuestion *question = reader->open;
    bool free_to_set =
        question->asks == ASKS_NOTHING || (asks == ASKS_CHOICE && question->asks == ASKS_CHOICE);
    if (!free_to_set)
        return reader_refuse(reader, "choose, number or order: one of them",
                             "the question asks for two kinds of answer");
    question->asks = asks;
    return true;
}

static bool read_once(Reader *reader, const char **text, char *rest) {
    if (*text)
        return reader_refuse(reader, "one sentence is enough", "a second row of this kind");
    *text = rest;
    return reader_text(reader, rest);
}

/* Reads "TEXT if EXPRESSION". A choice without a condition is always wrong. */
static bool read_choose(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    char *condition = NULL;
    if (!set_kind(reader, ASKS_CHOICE))
        return false;
    if (question->choice_count == LESSON_CHOICES)
        return reader_refuse(reader, "", "more than %d choices", LESSON_CHOICES);
    for (char *at = rest; (at = strstr(at, " if ")); at += 4)
        condition = at; /* the last " if ", because the text may have this word, too */
    if (condition)
        *condition = '\0';
    for (size_t length = strlen(rest); length && rest[length - 1] == ' ';)
        rest[--length] = '\0';
    LessonChoice *choice = &question->choices[question->choice_count++];
    choice->text = rest;
    if (!*rest)
        return reader_refuse(reader, "", "the choice has no text");
    choice->value = condition ? condition + 4 : "false";
    return reader_expression(reader, choice->value);
}

static bool read_wrong(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    if (question->asks != ASKS_CHOICE)
        return reader_refuse(reader, "a number has hint", "wrong stands below a choose");
    return read_once(reader, &question->choices[question->choice_count - 1].wrong, rest);
}

static bool read_number(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    int used = 0;
    if (!set_kind(reader, ASKS_NUMBER))
        return false;
    if (sscanf(rest, "%lf %lf %n", &question->lo, &question->hi, &used) != 2 ||
        !isfinite(question->lo) || !isfinite(question->hi))
        return reader_refuse(reader, "for example: number 1 100 times",
                             "number takes the least and the greatest answer, and a unit");
    if (question->lo >= question->hi)
        return reader_refuse(reader, "the least answer comes first",
                             "the range from %g to %g is the wrong way round", question->lo,
                             question->hi);
    question->unit = rest + used;
    return true;
}

/* Reads the kernels to order and their figure: "v1 v2 v3 by FIGURE". */
static bool read_order(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    char *by = strstr(rest, " by ");
    if (!set_kind(reader, ASKS_ORDER))
        return false;
    if (!by)
        return reader_refuse(reader, "for example: order v4 v3 v2 by latency",
                             "order does not say by which figure");
    *by = '\0';
    by += 4 + strspn(by + 4, " \t");
    int row = figure_find(by);
    if (row >= 0 && !(figures[row].takes & TAKES_KERNEL))
        return reader_refuse(reader, "order by latency, for example", "%s is no figure of kernels",
                             by);
    while (*rest) {
        const char *name = reader_word(&rest);
        int at = question->choice_count++;
        if (at == LESSON_ORDER)
            return reader_refuse(reader, "", "more than %d kernels to order", LESSON_ORDER);
        char *figure = question->figures[at];
        snprintf(figure, sizeof question->figures[at], "%.40s(%.40s)", by, name);
        if (!reader_expression(reader, figure))
            return false;
        question->choices[at] =
            (LessonChoice){.text = bev_kernel_find(name)->title, .value = figure};
    }
    return true;
}

/* Reads the expected number and its tolerance: "EXPRESSION within 10 %". */
static bool read_expect(Reader *reader, char *rest) {
    LessonQuestion *question = reader->open;
    char *within = strstr(rest, " within "), sign[2] = "", more[2];
    if (question->expected)
        return reader_refuse(reader, "", "a second expect");
    if (!within)
        return reader_refuse(reader, "for example: expect points within 5 %",
                             "expect does not say within what");
    *within = '\0';
    int found = sscanf(within + 8, "%lf %1s %1s", &question->within, sign, more);
    question->percent = sign[0] == '%';
    if (found != 1 + question->percent || !isfinite(question->within) || question->within < 0)
        return reader_refuse(reader, "", "within takes a number or a number and %%, not \"%s\"",
                             within + 8);
    question->expected = rest;
    return reader_expression(reader, rest);
}

static bool add_row(Reader *reader, LessonTexts *list, int most, const char *text) {
    if (list->count == most)
        return reader_refuse(reader, "", "more than %d of these rows", most);
    list->rows[list->count++] = text;
    return true;
}

static bool read_run(Reader *reader, char *rest) {
    return reader_control(reader, rest) &&
           add_step(reader, (LessonStep){.kind = LESSON_RUN, .text = rest});
}

static bool read_again(Reader *reader, char *rest) {
    return reader_control(reader, rest) &&
           add_row(reader, &reader->open->again, LESSON_WORDS, rest);
}

static bool read_show(Reader *reader, char *rest) {
    return reader_text(reader, rest) && add_row(reader, &reader->open->show, LESSON_SHOWS, rest);
}

static bool read_why(Reader *reader, char *rest) {
    return read_once(reader, &reader->open->why, rest);
}

static bool read_hint(Reader *reader, char *rest) {
    return read_once(reader, &reader->open->hint, rest);
}

/* Checks the conditions of choices: where none depends on a figure, exactly one must be true. */
static bool check_conditions(Reader *reader) {
    const LessonQuestion *question = reader->open;
    int right = 0;
    for (int i = 0; i < question->choice_count; i++) {
        Evaluation check = {.names = &reader->lesson->names};
        Value value;
        expression_value(question->choices[i].value, &check, &value);
        if (check.varies)
            return true;
        right += value.number != 0;
    }
    return right == 1 || reader_refuse(reader, "write `if true` behind the right one",
                                       "%d of the conditions are true, not one", right);
}

/* Checks the open question after its last row, and closes it. True, too, if no question is open. */
static bool close_question(Reader *reader) {
    const LessonQuestion *question = reader->open;
    int line = reader->line;
    bool ok = true;
    if (!question)
        return true;
    reader->line = question->line; /* errors name this line */
    if (question->asks == ASKS_NOTHING)
        ok = reader_refuse(reader, "add choose, number or order", "the question has no answers");
    else if (question->asks == ASKS_NUMBER && !question->expected)
        ok = reader_refuse(reader, "add: expect EXPRESSION within 10 %",
                           "nothing says which number is right");
    else if (question->asks != ASKS_NUMBER && question->expected)
        ok = reader_refuse(reader, "it belongs to number", "expect without number");
    else if (question->asks != ASKS_NUMBER && question->choice_count < 2)
        ok = reader_refuse(reader, "", "the question has one answer only");
    else if (question->asks == ASKS_CHOICE && question->hint)
        ok = reader_refuse(reader, "write `wrong` below each choose", "a choice takes no hint");
    else if (question->asks == ASKS_CHOICE)
        ok = check_conditions(reader);
    reader->line = line;
    reader->open = NULL;
    return ok;
}

/* ---- steps ----------------------------------------------------------------------------------- */

enum { PAGE_CHARACTERS = 620, MAX_SECONDS = 5 };
static const double DRAW_SECONDS = 0.4; /* a frame of a drawing */

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
    return reader_text(reader, rest) &&
           add_step(reader, (LessonStep){.kind = LESSON_SAY, .text = rest});
}

static bool read_term(Reader *reader, char *rest) {
    char hint[96];
    const GlossaryRow *row = glossary_find(rest);
    glossary_hint(rest, "bevscope glossary lists them", hint, sizeof hint);
    if (!row)
        return reader_refuse(reader, hint, "not in the glossary: \"%s\"", rest);
    return add_step(reader, (LessonStep){.kind = LESSON_TERM, .number = (int)(row - glossary)});
}

static bool read_point(Reader *reader, char *rest) {
    const char *at = reader_word(&rest);
    if (strcmp(at, "at") != 0 || !*rest)
        return reader_refuse(reader, "for example: point at kernels", "points at nothing");
    int panel = 1 + reader_place(reader, "panel", lesson_panels + 1, PANEL_COUNT - 1, rest);
    return panel && add_step(reader, (LessonStep){.kind = LESSON_POINT, .number = panel});
}

static bool read_mark(Reader *reader, char *rest) {
    const char *name = reader_word(&rest);
    if (!*name || *rest || strchr(name, ':'))
        return reader_refuse(reader, "for example: mark latency", "mark takes one word");
    return add_step(reader, (LessonStep){.kind = LESSON_MARK, .text = name});
}

/* Reads "NAME = EXPRESSION". A row may define a name again. */
static bool read_let(Reader *reader, char *rest) {
    static const char reserved[] = " min max and or not true false ";
    const char *name = reader_word(&rest);
    size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (!*name || name[letters] || letters >= EXPRESSION_NAME || strchr("0123456789", *name))
        return reader_refuse(reader, "small letters, digits and _", "\"%s\" is no name", name);
    if (figure_find(name) >= 0 || strstr(reserved, short_text(" %s ", name).text))
        return reader_refuse(reader, "choose another name", "\"%s\" means something else", name);
    if (*rest != '=')
        return reader_refuse(reader, "", "write: let %s = EXPRESSION", name);
    if (!reader_expression(reader, rest + 1))
        return false;
    NameTable *names = &reader->lesson->names;
    int index = name_find(names, name);
    if (index < 0 && names->count == EXPRESSION_NAMES)
        return reader_refuse(reader, "", "more than %d names", EXPRESSION_NAMES);
    if (index < 0)
        snprintf(names->names[index = names->count++], EXPRESSION_NAME, "%s", name);
    return add_step(reader, (LessonStep){.kind = LESSON_LET, .number = index, .text = rest + 1});
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
    const LessonStep step = {LESSON_ANIMATE, 0, "", word, from, to, seconds, frames};
    return reader_control(reader, line) && add_step(reader, step);
}

static bool read_draw(Reader *reader, char *rest) {
    int drawing = reader_place(reader, "drawing", lesson_drawings, DRAW_COUNT, rest);
    LessonStep step = {.kind = LESSON_DRAW, .number = drawing, .seconds = DRAW_SECONDS};
    step.frames = lesson_drawing_frames((LessonDrawing)drawing);
    return drawing >= 0 && add_step(reader, step);
}

static bool read_ask(Reader *reader, char *rest) {
    Lesson *lesson = reader->lesson;
    if (!reader_text(reader, rest))
        return false;
    if (lesson->question_count == LESSON_QUESTIONS)
        return reader_refuse(reader, "make two lessons of it", "more than %d questions",
                             LESSON_QUESTIONS);
    add_step(reader,
             (LessonStep){.kind = LESSON_QUESTION, .number = lesson->question_count, .text = rest});
    reader->open = &lesson->questions[lesson->question_count++];
    *reader->open =
        (LessonQuestion){.line = reader->line, .step = lesson->step_count - 1, .text = rest};
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The words of lessons and of open questions, and what reads the rest of their lines. */
static const struct LessonRow {
    const char *word;
    enum { OF_LESSON = 1, OF_QUESTION = 2, OF_BOTH = OF_LESSON | OF_QUESTION } of;
    bool (*read)(Reader *reader, char *rest);
} lesson_rows[] = {
    {"title", OF_LESSON, read_title},   {"minutes", OF_LESSON, read_minutes},
    {"say", OF_LESSON, read_say},       {"term", OF_LESSON, read_term},
    {"point", OF_LESSON, read_point},   {"let", OF_LESSON, read_let},
    {"ask", OF_LESSON, read_ask},       {"animate", OF_LESSON, read_animate},
    {"mark", OF_LESSON, read_mark},     {"draw", OF_LESSON, read_draw},
    {"source", OF_BOTH, read_source},   {"choose", OF_QUESTION, read_choose},
    {"wrong", OF_QUESTION, read_wrong}, {"number", OF_QUESTION, read_number},
    {"order", OF_QUESTION, read_order}, {"expect", OF_QUESTION, read_expect},
    {"run", OF_QUESTION, read_run},     {"again", OF_QUESTION, read_again},
    {"show", OF_QUESTION, read_show},   {"why", OF_QUESTION, read_why},
    {"hint", OF_QUESTION, read_hint},
};
enum { LESSON_ROWS = sizeof lesson_rows / sizeof *lesson_rows };

static bool refuse_word(Reader *reader, const char *word) {
    const char *words[ACTION_COUNT + LESSON_ROWS];
    size_t count = 0;
    for (int i = 0; i < LESSON_ROWS; i++)
        words[count++] = lesson_rows[i].word;
    for (int i = 0; i < ACTION_COUNT; i++)
        words[count++] = keys[i].word;
    char hint[128];
    nearest_hint(word, words, count, "samples/lessons/README.md lists them", hint, sizeof hint);
    return reader_refuse(reader, hint, "no word of lessons is called \"%s\"", word);
}

/* Reads a row by its first word. A word that is not of questions closes the open question. */
static bool read_word(Reader *reader, char *line) {
    char *rest = line + strcspn(line, " \t"), word[32];
    snprintf(word, sizeof word, "%.*s", (int)(rest - line), line);
    rest += strspn(rest, " \t");
    const struct LessonRow *row = lesson_rows, *end = lesson_rows + LESSON_ROWS;
    while (row < end && strcmp(row->word, word))
        row++;
    if (row < end && reader->open && row->of & OF_QUESTION)
        return row->read(reader, rest);
    if (!close_question(reader))
        return false;
    if (row < end && row->of & OF_LESSON)
        return row->read(reader, rest);
    if (row < end)
        return reader_refuse(reader, "it belongs under the row `ask` of a question",
                             "\"%s\" without a question", word);
    if (!keys_of_word(word))
        return refuse_word(reader, word);
    return reader_control(reader, line) &&
           add_step(reader, (LessonStep){.kind = LESSON_CONTROL, .text = line});
}

/* Reads one row of the lesson: a word and its text, continuation lines joined. */
static bool read_row(Reader *reader, char *line) {
    return read_word(reader, line) &&
           (reader->lesson->step_count <= LESSON_STEPS ||
            reader_refuse(reader, "make two lessons of it", "more than %d steps", LESSON_STEPS));
}

/* Cuts off a comment and the blanks at the end. A comment begins with # after a blank, or first. */
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
        if (goes_on && row) {
            join_lines(row, line);
            continue;
        }
        if (row && !read_row(reader, row))
            return false;
        row = line;
        reader->line = number;
        if (goes_on)
            return reader_refuse(reader, "an indented line continues the one before",
                                 "the first line is indented");
    }
    return (!row || read_row(reader, row)) && close_question(reader);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Whether the page that begins with step `first` ends before step `at`. Only RUN steps follow a
 * question on its page, and nothing follows an animation. A page without text goes on. */
static bool page_ends(const Lesson *lesson, int first, int at) {
    const LessonStep *next = &lesson->steps[at];
    enum { TERM_CHARACTERS = 120 }; /* a term or source takes as much room */
    int characters = 0;             /* the text of the page so far */
    bool pointed = false;
    for (int i = first; i < at; i++) {
        const LessonStep *step = &lesson->steps[i];
        if (step->kind == LESSON_SAY)
            characters += (int)strlen(step->text);
        else if (step->kind == LESSON_TERM || step->kind == LESSON_SOURCE)
            characters += TERM_CHARACTERS;
        pointed |= step->kind == LESSON_POINT;
        if (step->kind == LESSON_QUESTION)
            return next->kind != LESSON_RUN;
        if (step->kind == LESSON_ANIMATE || step->frames > 1)
            return true;
    }
    if (!characters)
        return false;
    if (next->kind == LESSON_SAY)
        return characters + (int)strlen(next->text) > PAGE_CHARACTERS;
    return next->kind == LESSON_CONTROL || next->kind == LESSON_LET || next->kind == LESSON_MARK ||
           (next->kind == LESSON_POINT && pointed);
}

static void make_pages(Lesson *lesson) {
    for (int first = 0, at; first < lesson->step_count; first = at) {
        LessonPage *page = &lesson->pages[lesson->page_count++];
        for (at = first + 1; at < lesson->step_count && !page_ends(lesson, first, at);)
            at++;
        *page = (LessonPage){.first = first, .count = at - first};
        for (int i = first; i < at; i++)
            if (lesson->steps[i].kind == LESSON_QUESTION) {
                page->question = &lesson->questions[lesson->steps[i].number];
                lesson->asking_pages = lesson->page_count;
            }
    }
}

int lesson_page(const Lesson *lesson, const char *mark) {
    for (int i = 0, page = 0; i < lesson->step_count; i++) {
        const int end_of_page = lesson->pages[page].first + lesson->pages[page].count;
        page += i == end_of_page;
        if (lesson->steps[i].kind == LESSON_MARK && !strcmp(lesson->steps[i].text, mark))
            return page;
    }
    return -1;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Returns the line of the first byte that is not text; 0: all bytes are text. */
static int binary_line(const char *text, size_t length) {
    int line = 1;
    for (size_t i = 0; i < length; i++) {
        const char byte = text[i];
        const bool is_blank = byte == '\n' || byte == '\t' || byte == '\r';
        line += byte == '\n';
        if (!is_blank && (byte < ' ' || byte > '~')) /* also bytes that are negative as a char */
            return line;
    }
    return 0;
}

static bool check_lesson(Reader *reader) {
    const Lesson *lesson = reader->lesson;
    reader->line = 1;
    if (!lesson->title)
        return reader_refuse(reader, "for example: title Whose bytes?", "the lesson has no title");
    return lesson->step_count > 0 ||
           reader_refuse(reader, "begin with say or ask", "the lesson has no steps");
}

Lesson *lesson_parse(const char *text, size_t length, const char *where, Err *err) {
    Lesson *lesson = calloc(1, sizeof *lesson);
    Reader reader = {.lesson = lesson, .where = where, .err = err};
    bool ok;
    if (!lesson) {
        err_no_memory(err, where, "");
        return NULL;
    }
    lesson->minutes = 3;
    reader.line = binary_line(text, length);
    if (length > LESSON_BYTES)
        ok = err_set(err, ERR_FAILED, where, "make several lessons of it",
                     "has %zu bytes; a lesson has at most %d", length, LESSON_BYTES);
    else if (reader.line)
        ok = reader_refuse(&reader, "a lesson is plain ASCII text",
                           "a byte that no text in ASCII has");
    else {
        memcpy(lesson->bytes, text, length);
        ok = read_rows(&reader, lesson->bytes) && check_lesson(&reader);
    }
    if (ok) {
        make_pages(lesson);
        return lesson;
    }
    lesson_free(lesson);
    return NULL;
}

void lesson_free(Lesson *lesson) {
    for (int i = 0; lesson && i < lesson->code_count; i++)
        free(lesson->codes[i].text);
    free(lesson);
}

Lesson *lesson_load(const char *path, Err *err) {
    char *text;
    size_t length;
    if (!data_read(path, LESSON_BYTES, &text, &length, err))
        return NULL;
    Lesson *lesson = lesson_parse(text, length, path, err);
    free(text);
    if (lesson)
        data_stem(path, lesson->name, sizeof lesson->name);
    return lesson;
}
