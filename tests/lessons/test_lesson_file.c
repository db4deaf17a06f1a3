/* Files of lessons: what is wrong is refused with its line, whatever the bytes are. */
#include "tests/lessons/lesson_text.h"
#include "tests/support/tap.h"

/* A text, the line that its error names, and a part of the error. */
typedef struct {
    const char *text;
    int line;
    const char *part;
} Bad;

#define ASK "title t\nask q\n"

static const Bad bad[] = {
    {"", 1, "no title"},
    {"title t\n", 1, "no steps"},
    {"title t\ntitle u\nsay x\n", 2, "second title"},
    {"  say x\n", 1, "first line is indented"},
    {"title t\nsya x\n", 2, "did you mean say?"},
    {"title t\nsay\n", 2, "text is missing"},
    {"title t\nsay a {points\n", 2, "not closed"},
    {"title t\nsay a {pionts}\n", 2, "did you mean points?"},
    {"title t\nsay a {points points}\n", 2, "does not belong"},
    {"title t\nsay {latency(v9)}\n", 2, "no kernel is called \"v9\""},
    {"title t\nsay {requested(v2, indexes)}\n", 2, "did you mean indices?"},
    {"title t\nsay {max_abs(fp12)}\n", 2, "no number format"},
    {"title t\nsay {points(v2)}\n", 2, "too many arguments"},
    {"title t\nsay {(points}\n", 2, ") is missing"},
    {"title t\nsay {min(points)}\n", 2, "two values"},
    {"title t\nsay {1 +}\n", 2, "value is missing"},
    {"title t\nminutes 0\nsay x\n", 2, "from 1 to 60"},
    {"title t\npoint at\n", 2, "points at nothing"},
    {"title t\npoint kernels\n", 2, "points at nothing"},
    {"title t\npoint at kernel\n", 2, "did you mean kernels?"},
    {"title t\nterm intervall\n", 2, "did you mean interval?"},
    {"title t\nlet points = 1\n", 2, "means something else"},
    {"title t\nlet 2a = 1\n", 2, "is no name"},
    {"title t\nlet a 1\n", 2, "let a = EXPRESSION"},
    {"title t\nsay {a}\nlet a = 1\n", 2, "no figure or name"},
    {"title t\nanimate temperature 1 4 10\n", 2, "from, to, frames and seconds"},
    {"title t\nanimate temperature 1 4 1000 0.1\n", 2, "2 to 200 frames"},
    {"title t\nanimate temperture 1 4 10 0.1\n", 2, "did you mean temperature?"},
    {"title t\nanimate repair 1 4 10 0.1\n", 2, "takes no argument"},
    {"title t\nkernel v2 v3\nsay x\n", 2, "at most one argument"},
    {"title t\nquit\nsay x\n", 2, "may not use \"quit\""},
    {"title t\nlesson 2\nsay x\n", 2, "may not use \"lesson\""},
    {"title t\nwhy because\n", 2, "without a question"},
    {ASK, 2, "no answers"},
    {ASK "choose a if true\n", 2, "one answer only"},
    {ASK "choose a if true\nchoose b if 1 < 2\n", 2, "2 of the conditions are true"},
    {ASK "choose a\nchoose b\n", 2, "0 of the conditions are true"},
    {ASK "choose a if true\nnumber 1 2\n", 4, "two kinds of answer"},
    {ASK "number 5 1\n", 3, "wrong way round"},
    {ASK "number 1 five\n", 3, "least and the greatest"},
    {ASK "number 1 5\n", 2, "nothing says which number"},
    {ASK "number 1 5\nexpect points\n", 4, "within what"},
    {ASK "number 1 5\nexpect points within many\n", 4, "within takes"},
    {ASK "number 1 5\nexpect points within -1\n", 4, "within takes"},
    {ASK "order v2 v3\n", 3, "by which figure"},
    {ASK "order v2 v33 by latency\n", 3, "no kernel is called"},
    {ASK "order v2 v3 by points\n", 3, "no figure of kernels"},
    {ASK "order v2 by latency\n", 2, "one answer only"},
    {ASK "choose a if true\nchoose b\nwhy 1\nwhy 2\n", 6, "second row"},
    {ASK "choose a if true\nchoose b\nrun kernell v2\n", 5, "did you mean kernel?"},
    {ASK "choose a if true\nchoose b\nsource kernels/cuda/v2.cu for 3\n", 5, "text in quotes"},
    {ASK "choose a if true\nchoose b\nsource kernels/v2.cu \"x\" 99\n", 5, "1 to 12 lines"},
    {ASK "choose a if true\nchoose b\nsource ../etc/passwd \"x\" 2\n", 5, "no source"},
    {ASK "choose a if true\nchoose b\nsource kernels/../x \"x\" 2\n", 5, "no source"},
    {"title t\nsay a\001b\n", 2, "ASCII"},
    {"title t\nsay na\303\257ve\n", 2, "ASCII"},
};

static void test_bad_files(void) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Err err = {0};
        char line[800], where[32];
        bool refused = !parse(bad[i].text, &err);
        err_line(&err, line, sizeof line);
        snprintf(where, sizeof where, "x.lesson:%d: ", bad[i].line);
        if (!tap_ok(refused && strstr(line, bad[i].part) && !strncmp(line, where, strlen(where)),
                    "refused: %s in line %d", bad[i].part, bad[i].line))
            tap_note("%s", refused ? line : "it was read");
    }
}

/* `row`, so many times, after a title. */
static char *many(const char *row, int times) {
    char *text = malloc(16 + (strlen(row) + 1) * (size_t)times);
    tap_need(text != NULL, "memory");
    char *at = text + sprintf(text, "title t\n");
    for (int i = 0; i < times; i++)
        at += sprintf(at, "%s\n", row);
    return text;
}

static void test_large_files(void) {
    static const struct {
        const char *row;
        int times;
        const char *part;
    } large[] = {{"say x", 401, "more than 400 steps"},
                 {"say xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                  1000, "at most 65536"},
                 {"ask q\nnumber 1 2\nexpect 1 within 0", 41, "more than 40 questions"}};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        Err err = {0};
        char line[800], *text = many(large[i].row, large[i].times);
        bool refused = !parse(text, &err);
        err_line(&err, line, sizeof line);
        tap_ok(refused && strstr(line, large[i].part), "refused: %s", line);
        free(text);
    }
    Err err;
    char deep[300] = "title t\nsay {";
    memset(deep + strlen(deep), '(', 100);
    strcat(deep, "1}");
    tap_ok(!parse(deep, &err) && strstr(err.what, "nested too deeply"), "refused: %s", err.what);
}

/* Whatever the bytes are, the parser reads or refuses them; nothing is lost or read outside. */
static void test_noise(void) {
    static const char good[] =
        "title t\nscene toy\nsay a {points} b\nlet n = points\nask q\nchoose a if n > 1\n"
        "choose b if n <= 1\nwhy w {n}\nask r\nnumber 1 9 x\nexpect n within 5 %\nagain kernel v2\n"
        "ask o\norder v2 v3 by latency\nanimate temperature 1 2 3 0.1\nterm interval\n";
    unsigned seed = 1;
    int read = 0, refused = 0;
    for (int round = 0; round < 20000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        size_t length = sizeof good - 1;
        for (int change = 0; change < 1 + round % 4; change++) {
            seed = seed * 1664525u + 1013904223u;
            size_t at = (seed >> 8) % length;
            if (seed >> 30 == 0)
                memmove(text + at, text + at + 1, length-- - at);
            else
                text[at] = seed >> 31 ? (char)(seed >> 3) : good[(seed >> 5) % (sizeof good - 1)];
        }
        Err err = {0};
        lesson_free(&lesson);
        bool ok = lesson_parse(text, length, "x.lesson", &lesson, &err);
        read += ok;
        refused += !ok && err.what[0] && err.where[0];
    }
    tap_ok(read + refused == 20000 && read > 500 && refused > 5000,
           "20,000 mutations: %d read, %d refused with a reason", read, refused);
}

TAP_SUITE(lesson_file) {
    test_bad_files();
    test_large_files();
    test_noise();
    lesson_free(&lesson);
}
