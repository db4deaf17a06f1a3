/* The dashboard at every size: nothing drawn twice, nothing cut, panels fold in their order. */
#include "src/state/glossary.h"
#include "src/state/help.h"
#include "tests/support/live_fixture.h"
#include "tests/view/screen.h"
#include "tests/support/tap.h"

static void test_all_sizes(void) {
    static const char *const words[] = {"page both",      "page dashboard",    "page bev",
                                        "help",           "chart working-set", "chart mrc",
                                        "chart roofline", "glossary"};
    const int word_count = sizeof words / sizeof *words;
    int drawn = 0, collisions = 0, cuts = 0;
    for (int columns = 1; columns <= 240; columns += columns < 40 ? 3 : 7)
        for (int rows = 1; rows <= 80; rows += rows < 10 ? 2 : 3)
            for (int word = 0; word < word_count; word++, drawn++) {
                begin(columns, rows);
                live.model = fixture_model();
                use(words[word]);
                draw();
                collisions += cells.collisions;
                bool room = columns >= 80 && rows >= 24;
                if (room && cells.cuts)
                    tap_note("%d x %d, %s: %d texts cut", columns, rows, words[word], cells.cuts);
                cuts += room ? cells.cuts : 0;
            }
    tap_ok(drawn > 1000 && !collisions, "%d screens: nothing is drawn twice (%d)", drawn,
           collisions);
    tap_ok(!cuts, "from 80 x 24 on nothing is cut (%d)", cuts);
}

/* On its pages each word and each text of the glossary is seen once. */
static void test_glossary(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};
    for (int i = 0; i < 3; i++) {
        int words = 0, pages = help_glossary(sizes[i][0], sizes[i][1]).pages;
        begin(sizes[i][0], sizes[i][1]);
        for (int page = 0; page < pages; page++) {
            use("glossary");
            draw();
            for (int row = 0; row < glossary_count; row++) {
                char begins[GLOSSARY_INDENT + 12];
                snprintf(begins, sizeof begins, "%-*s%.10s", GLOSSARY_INDENT, glossary[row].word,
                         glossary[row].text);
                words += shows(begins);
            }
        }
        tap_ok(words == glossary_count && state.help,
               "%d x %d: %d words of the glossary on %d pages", sizes[i][0], sizes[i][1], words,
               pages);
    }
}

/* A larger screen has all columns that a smaller one has. */
static void test_accuracy_columns(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}, {200, 60}};
    int complete = 0;
    for (int i = 0; i < 4; i++) {
        begin(sizes[i][0], sizes[i][1]);
        use("page dashboard");
        draw();
        complete += shows("max abs") && shows("at 1e-2");
        use("page both");
        draw();
        complete += i == 0 || !shows("Accuracy of") || (shows("max abs") && shows("at 1e-2"));
    }
    tap_ok(complete == 8, "the accuracy keeps its columns (%d)", complete);
}

/* The height at which each panel is gone, from the tallest screen down. */
static void test_folding(void) {
    static const char *const titles[] = {"Pipeline,",          "Intervals",       "Accuracy of",
                                         "Working set versus", "Reads that miss", "Kernels,"};
    enum { TITLES = sizeof titles / sizeof *titles };
    int gone[TITLES] = {0};
    for (int rows = 60; rows >= 10; rows--) {
        begin(90, rows);
        live.model = fixture_model();
        use("page dashboard");
        use("chart mrc");
        draw();
        for (int i = 0; i < TITLES; i++)
            if (!gone[i] && !shows(titles[i]))
                gone[i] = rows;
    }
    bool ordered = true;
    for (int i = 1; i < TITLES; i++)
        ordered &= gone[i - 1] > gone[i];
    tap_ok(ordered, "panels fold in their order: at %d, %d, %d, %d, %d, %d rows", gone[0], gone[1],
           gone[2], gone[3], gone[4], gone[5]);
}

static void test_small_kernel_table(void) {
    begin(80, 24);
    use("page dashboard");
    draw();
    tap_ok(shows(" V4 ") && shows(" V2  "),
           "where not all kernels fit, selection and baseline are there");
}

TAP_SUITE(dashboard_sizes) {
    screen_open();
    test_all_sizes();
    test_glossary();
    test_accuracy_columns();
    test_folding();
    test_small_kernel_table();
    screen_close();
}
