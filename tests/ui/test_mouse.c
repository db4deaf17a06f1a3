/* SPDX-License-Identifier: MIT */
/* The mouse in the terminal: what was drawn is what a click finds, presses and releases become the
 * window's events, and nothing that a terminal may report leads out of the grid. */
#include "src/ui/pointer.h"
#include "tests/support/screen.h"

static Pointer pointer;
static Event event; /* of the report that was followed last */

static Area spots_area(int spot) {
    const Box *box = &spots.list[spot].box;
    return (Area){(int)box->x, (int)box->y, (int)box->w, (int)box->h};
}

static Area bev_area(void) {
    const Box *box = &spots.bev;
    return (Area){(int)box->x, (int)box->y, (int)box->w, (int)box->h};
}

static void begin_drawn(int columns, int rows) {
    begin(columns, rows);
    pointer = (Pointer){.doing = POINTER_UP};
    draw();
}

static bool follow(int kind, int column, int row, int steps) {
    const MouseReport report = {kind, column, row, steps};
    event = (Event){.kind = EVENT_TICK};
    return term_pointer_follow(&pointer, &report, &spots, &state, NULL, &event);
}

static bool chooses(int kind, int column, int row, int pixel) {
    const MouseReport report = {kind, column, row, 0};
    return term_pointer_follow(&pointer, &report, &spots, &state, &live, &event) &&
           event.kind == EVENT_PIXEL && event.x == pixel;
}

static bool click(int column, int row) {
    return !follow(MOUSE_PRESS, column, row, 0) && follow(MOUSE_RELEASE, column, row, 0);
}

/* The cell coordinates under the middle of a sign. */
static void cell_under(int column, int row, double *x, double *y) {
    double right = (column + 0.5 - spots.bev.x) / spots.bev.w;
    double down = (row + 0.5 - spots.bev.y) / spots.bev.h;
    *y = spots.y_hi - right * (spots.y_hi - spots.y_lo);
    *x = spots.x_hi - down * (spots.x_hi - spots.x_lo);
}

/* What the event does, drawn. */
static void act(void) {
    state_step(&state, &event);
    draw();
}

/* The text of a row of the screen from a column on; the signs beyond ASCII are left out. */
static void text_at(int column, int row, char *text, size_t size) {
    size_t length = 0;
    for (int x = column; x < cells.columns && length + 1 < size; x++)
        if (cells_at(&cells, x, row)->glyph < 0x80)
            text[length++] = (char)cells_at(&cells, x, row)->glyph;
    text[length] = '\0';
}

static const char *title_of(const char *name) {
    for (int i = 0; i < FIXTURE_KERNELS; i++)
        if (!strcmp(fixture_kernels[i].name, name))
            return fixture_kernels[i].title;
    return "none";
}

/* Whether a line of a script gives the command; the palette opens at any words. */
static bool is_command(const Command *command) {
    char line[160];
    Command parsed;
    snprintf(line, sizeof line, "%s %s", keys[command->action].word, command->argument);
    return !command->argument[0] || command->action == ACTION_COMMANDS ||
           keys_parse(line, &parsed, NULL);
}

static void test_places(void) {
    int kernels = 0, hints = 0, wrong = 0;
    for (int columns = 60; columns <= 220; columns += 40)
        for (int rows = 24; rows <= 64; rows += 10) {
            begin_drawn(columns, rows);
            for (int i = 0; i < spots.count; i++) {
                const Area at = spots_area(i);
                const Command wanted = spots.list[i].command;
                bool hint = wanted.step == 1 && keys[wanted.action].label;
                char text[300];
                text_at(at.x, at.y, text, sizeof text);
                bool kernel = wanted.action == ACTION_KERNEL && !hint;
                const Gpu *gpu = wanted.action == ACTION_GPU ? gpu_find(wanted.argument) : NULL;
                const char *name = hint     ? keys[wanted.action].label
                                   : kernel ? title_of(wanted.argument)
                                   : gpu    ? gpu->title
                                            : "";
                const char *found = strstr(text, name);
                wrong += !found || found - text > at.w || !is_command(&wanted);
                wrong += !click(at.x + at.w - 1, at.y) || event.kind != EVENT_COMMAND ||
                         event.command.action != wanted.action ||
                         strcmp(event.command.argument, wanted.argument) != 0;
                hints += hint;
                kernels += wanted.action == ACTION_KERNEL && !hint;
            }
        }
    tap_ok(!wrong && kernels > 50 && hints > 100,
           "%d kernels and %d hints stand where they can be clicked, %d do not", kernels, hints,
           wrong);
    begin_drawn(120, 40);
    tap_ok(!click(0, 0) && !click(119, 39), "elsewhere a click does nothing");
    const Area first = spots_area(0), second = spots_area(1);
    follow(MOUSE_PRESS, first.x, first.y, 0);
    tap_ok(!follow(MOUSE_RELEASE, second.x, second.y, 0) && first.y == second.y,
           "pressed on one hint and released on another: neither");
    draw_after("help");
    const Box over = spots.over;
    int answers = 0;
    for (int y = (int)over.y; y < over.y + over.h; y++)
        for (int x = (int)over.x; x < over.x + over.w; x++)
            answers += click(x, y);
    tap_ok(over.h > 20 && !answers, "under the help nothing is clicked (%d places)", answers);
}

static void test_cursor(void) {
    int wrong = 0, tried = 0;
    for (int zoom = 1; zoom <= 2; zoom++) { /* a cell takes less than a column */
        begin_drawn(120, 40);
        draw_after("zoom %d", zoom);
        const Area bev = bev_area();
        for (int row = bev.y; row < bev.y + bev.h; row += 3)
            for (int column = bev.x; column < bev.x + bev.w; column += 5) {
                state.cursor_shown = false;
                bool right = click(column, row) && event.kind == EVENT_HOVER;
                act();
                wrong += !right || cells_at(&cells, column, row)->glyph != 0x253c;
                tried++;
            }
    }
    tap_ok(!wrong && tried > 100, "%d clicks on the BEV: the cursor appears there", tried);
    const Area bev = bev_area();
    click(bev.x + 3, bev.y + 3);
    state_step(&state, &event);
    tap_ok(event.kind == EVENT_HOVER && !state.pinned && strstr(said(), "cell "),
           "the first click pins nothing, and the log names the cell: %s", said());
    click(bev.x + 3, bev.y + 3);
    state_step(&state, &event);
    tap_ok(event.kind == EVENT_CLICK && state.pinned, "the second one pins");
    click(bev.x + 3, bev.y + 3);
    state_step(&state, &event);
    tap_ok(event.kind == EVENT_CLICK && !state.pinned, "the third one lets go");
}

static void test_drag(void) {
    double x, y, moved_x, moved_y;
    begin_drawn(120, 40);
    draw_after("zoom 4");
    const Area bev = bev_area();
    int column = bev.x + bev.w / 2, row = bev.y + bev.h / 2;
    cell_under(column, row, &x, &y);
    follow(MOUSE_PRESS, column, row, 0);
    tap_ok(!follow(MOUSE_MOVE, column, row, 0), "a move within a sign is none");
    tap_ok(follow(MOUSE_MOVE, column + 4, row + 2, 0) && event.kind == EVENT_DRAG, "a drag moves");
    act();
    cell_under(column + 4, row + 2, &moved_x, &moved_y);
    tap_ok(fabs(moved_x - x) < 1e-6 && fabs(moved_y - y) < 1e-6, "the cell stays under the mouse");
    tap_ok(!follow(MOUSE_RELEASE, column + 4, row + 2, 0) && !state.cursor_shown,
           "the end of a drag is no click");
    tap_ok(!follow(MOUSE_MOVE, column, row, 0), "nothing is dragged any more");
}

static void test_wheel(void) {
    double x, y, after_x, after_y;
    begin_drawn(120, 40);
    const Area bev = bev_area();
    int column = bev.x + bev.w / 3, row = bev.y + bev.h / 3;
    cell_under(column, row, &x, &y);
    tap_ok(follow(MOUSE_WHEEL, column, row, 1) && event.kind == EVENT_WHEEL,
           "the wheel zooms over the BEV");
    act();
    cell_under(column, row, &after_x, &after_y);
    tap_ok(state.viewport.zoom > 1 && fabs(after_x - x) < 1e-6 && fabs(after_y - y) < 1e-6,
           "about the cell under the mouse");
    tap_ok(!follow(MOUSE_WHEEL, 0, 0, 1), "elsewhere it does nothing");
}

/* Pushes the line between the two pictures from the middle to a fifth before the right edge. */
static void test_wipe(void) {
    Err err;
    begin_drawn(120, 40);
    tap_need(image_init(&picture.bev.baseline, 200, 200, &err), "a second picture");
    state.compare = COMPARE_WIPE;
    draw();
    const Area bev = bev_area();
    int to = bev.x + bev.w * 8 / 10, row = bev.y + 2, from = (int)spots.wipe_x;
    follow(MOUSE_PRESS, from, row, 0);
    bool wiped = follow(MOUSE_MOVE, to, row, 0) && event.kind == EVENT_WIPE;
    act();
    tap_ok(wiped && from != to && fabs(spots.wipe_x - to) <= 1,
           "the wipe follows the mouse from column %d to %g", from, spots.wipe_x);
    image_free(&picture.bev.baseline);
    picture.bev.baseline = (Image){.w = 0};
}

static void test_time(void) {
    begin_drawn(120, 40);
    state.scene.has_world = true;
    state.scene.moment_s = 0.5;
    state.scene.moments = 41;
    draw();
    const Box bar = spots.time;
    tap_need(bar.w > 10 && spots.to_s == 20, "a clip of 20 s has a time bar");
    bool pressed = follow(MOUSE_PRESS, (int)(bar.x + bar.w / 2), (int)bar.y, 0);
    state_step(&state, &event);
    tap_ok(pressed && event.command.action == ACTION_STEP && fabs(state.job.time_s - 10) < 0.5 &&
               !state.playing,
           "a press in its middle: %.2f s", state.job.time_s);
    bool moved = follow(MOUSE_MOVE, (int)(bar.x + bar.w), (int)bar.y + 3, 0);
    state_step(&state, &event);
    tap_ok(moved && state.job.time_s == 20, "a drag beyond its end: the last moment, %.2f s",
           state.job.time_s);
    tap_ok(!follow(MOUSE_RELEASE, (int)bar.x, (int)bar.y, 0), "letting go does nothing");
    state.scene.moment_s = state.scene.has_world = 0;
    draw();
    tap_ok(spots.time.w == 0, "where nothing moves there is none");
}

/* Nothing, an outline at once, the tooltip 400 ms later, however often the picture is drawn. */
static void test_hover(void) {
    Hover hover = {.over = false};
    begin_drawn(120, 40);
    draw_after("all on");
    const Spots *clicks = &spots;
    const Area row = spots_area(0), other = spots_area(1);
    tap_ok(hover_move(&hover, clicks, row.x, row.y) && hover.over && hover.box.y == row.y,
           "what the mouse comes to is outlined");
    bool early = hover_due(&hover, 1000) || hover_due(&hover, 1399);
    bool again = hover_move(&hover, clicks, row.x + 1, row.y);
    tap_ok(!early && !again && tip_due_in_ms(&hover, 1300) == 100 && hover_due(&hover, 1400) &&
               hover.told && !hover_due(&hover, 1500) && isinf(tip_due_in_ms(&hover, 1500)),
           "and told 400 ms later, once");
    const Box *rate = NULL; /* of a kernel's row, which is about its latency */
    for (int i = 0; i < clicks->figure_count; i++)
        if (clicks->figures[i].origin.topic == ORIGIN_BANDWIDTH &&
            spots_at(clicks, clicks->figures[i].box.x, clicks->figures[i].box.y))
            rate = &clicks->figures[i].box;
    const Box *line = rate ? spots_box(clicks, rate->x, rate->y) : NULL;
    tap_ok(line && hover_move(&hover, clicks, line->x, line->y) &&
               !hover_move(&hover, clicks, line->x + 1, line->y) &&
               hover_move(&hover, clicks, rate->x, rate->y) && hover.box.x == line->x,
           "another figure of the same row is told, too");
    tap_ok(hover_move(&hover, clicks, other.x, other.y) && !hover.told && hover.over,
           "another one begins anew");
    draw_after("all off");
    tap_ok(hover_move(&hover, clicks, spots.bev.x + 5, spots.bev.y + 5) && !hover.over &&
               !hover_due(&hover, 9000) && !hover_end(&hover),
           "over the BEV there is nothing to outline");
}

static void test_pixel(void) {
    static float none;
    begin_drawn(120, 40);
    live.frame.gradients.grad_feat = &none;
    live.frame.rig = NULL;
    live.frame.shape = (BevShape){.cameras = 2, .feat_w = 5, .feat_h = 4};
    spots.cameras[1] = (Box){4, 20, 10, 4};
    tap_ok(chooses(MOUSE_PRESS, 6, 21, 26), "a press on a camera chooses its pixel");
    tap_ok(chooses(MOUSE_MOVE, 8, 22, 32), "and so does a drag");
    tap_ok(!chooses(MOUSE_MOVE, 14, 22, 32) && !chooses(MOUSE_MOVE, 6, 24, 32),
           "beside the camera there is none");
    tap_ok(!follow(MOUSE_RELEASE, 60, 2, 0), "released elsewhere: nothing");
    live.frame.gradients.grad_feat = NULL;
}

static void test_random(void) {
    enum { REPORTS = 10000 };
    int applied = 0, wrong = 0;
    srand(3);
    begin_drawn(120, 40);
    for (int i = 0; i < REPORTS; i++) {
        int column = rand() % 140 - 5, row = rand() % 50 - 5;
        if (i % 2) {
            const Area bev = bev_area();
            column = bev.x + rand() % bev.w;
            row = bev.y + rand() % bev.h;
        } else if (i % 50 == 0)
            column = rand() - 1000;
        if (!follow(rand() % 6, column, row, rand() % 2 ? 1 : -1))
            continue;
        applied++;
        wrong += event.kind != EVENT_COMMAND && !(isfinite(event.x) && isfinite(event.y));
        if (event.kind != EVENT_COMMAND)
            state_step(&state, &event);
        const Viewport *view = &state.viewport;
        wrong += !(view->zoom >= 1 && view->center_x >= 0 && view->center_x <= 200 &&
                   view->center_y >= 0 && view->center_y <= 200);
        wrong += state.cursor_shown && (state.cursor_x < 0 || state.cursor_x >= 200 ||
                                        state.cursor_y < 0 || state.cursor_y >= 200);
        if (i % 20 == 0)
            draw();
    }
    tap_ok(!wrong && applied > REPORTS / 5, "%d random reports, %d of them act: all in the grid",
           REPORTS, applied);
}

SCREEN_SUITE(mouse) {
    test_places();
    test_cursor();
    test_drag();
    test_wheel();
    test_wipe();
    test_pixel();
    test_time();
    test_hover();
    test_random();
}
