/* A lesson on the dashboard: golden screens, and the question seen at every size. */
#include "tests/support/live_fixture.h"
#include "tests/view/screen.h"
#include "tests/support/tap.h"

/* A lesson with a row of each kind. */
static void open_lesson(LessonPanel point) {
    LessonPane *pane = &state.lesson;
    *pane = (LessonPane){.open = true,
                         .title = "Ten times the indices",
                         .step = 3,
                         .steps = 9,
                         .right = 1,
                         .asked = 2,
                         .point = point,
                         .asks = ASKS_CHOICE};
    PaneText *body = &pane->body;
    pane_add(
        body, PANE_TEXT, false,
        "V2 as published works through the channels in tiles, and reads the indices of a point "
        "again for each of them.");
    pane_add(body, PANE_QUESTION, false, "Which kernel reads each index once?");
    pane_add(body, PANE_CHOICE, false, "1  V2, because its threads share the indices of a cell");
    pane_add(body, PANE_CHOICE, true, "2  V2+DO, because depth is the outer loop");
    pane_add(body, PANE_RIGHT, false, "Right: V2+DO");
    pane_add(body, PANE_SHOW, false, "V2 requests 25.1 MB, V2+DO 2.51 MB.");
    pane_add(body, PANE_WHY, false, "One pass over the points feeds all channels.");
    pane_add(body, PANE_SOURCE, false, "kernels/cuda/v2.cu, line 36");
    pane_add(body, PANE_CODE, false, "  36      for (int t = start; t < end; t++)");
    pane_add(body, PANE_KEYS, false, "Enter: next, (: back, B: close");
}

static void test_lesson(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};
    for (int i = 0; i < 3; i++) {
        char name[64];
        begin(sizes[i][0], sizes[i][1]);
        open_lesson(PANEL_KERNELS);
        draw();
        snprintf(name, sizeof name, "lesson-%dx%d", sizes[i][0], sizes[i][1]);
        check_golden(name);
    }
    begin(80, 24);
    open_lesson(PANEL_NONE);
    cells.color = false;
    cells.ascii = true;
    draw();
    tap_ok(only_ascii() && no_colors(), "a lesson without colour, in ASCII");
    check_golden("lesson-80x24-plain");
    use("page bev");
    draw();
    tap_ok(!shows("Which kernel"), "on a small screen the other pages are as always");
    begin(120, 40);
    open_lesson(PANEL_BEV);
    use("page dashboard");
    draw();
    tap_ok(shows("Which kernel") && shows("\u250f") && shows("BEV, "),
           "the panel that it points at is there, in a frame");
}

/* Whatever it points at, on whatever screen: nothing overlaps, the question is seen. */
static void test_lesson_sizes(void) {
    int screens = 0, bad = 0, hidden = 0;
    for (int columns = 60; columns <= 240; columns += 20)
        for (int rows = 20; rows <= 64; rows += 4)
            for (int point = 0; point < PANEL_COUNT; point++, screens++) {
                begin(columns, rows);
                open_lesson((LessonPanel)point);
                draw();
                if (cells.collisions && bad < 6)
                    tap_note("%dx%d %s: %d", columns, rows, lesson_panels[point], cells.collisions);
                bad += cells.collisions > 0;
                hidden += !shows("Right: V2+DO");
            }
    tap_ok(!bad && !hidden, "%d screens with a lesson: %d overlap, %d do not show it", screens, bad,
           hidden);
}

TAP_SUITE(dashboard_lesson) {
    screen_open();
    test_lesson();
    test_lesson_sizes();
    screen_close();
}
