/* SPDX-License-Identifier: MIT */
/* Controls that look closer: comparing, the cursor, slices of a grid with height, zoom. */
#include "tests/state/state_fixture.h"

#include <math.h>

STATE_SUITE(state_look_compare) {
    after("kernel v3",
          !strcmp(job->baseline.kernel->name, "cpu_v2") && job->baseline.dtype == job->config.dtype,
          "the baseline is V2 at the same format");
    after("dtype fp8; baseline on; dtype fp16; kernel v2_do",
          !strcmp(job->baseline.kernel->name, "cpu_v3") && job->baseline.dtype == BEV_FP8,
          "pinned, it stays");
    tap_ok(runs("compare wipe") && job->pool_baseline, "comparing needs its picture");
    repeat(20, "wipe");
    tap_ok(state.wipe == 1, "the wipe ends at the edge");
    after("compare off", !job->pool_baseline, "and no longer when it ends");
    use("baseline off");
    after("view norm; error", state.view == 3, "the error view");
    use("error");
    after("compare difference; error", state.compare == COMPARE_WIPE && state.view == 3,
          "errors are seen, where the difference would hide them");
    after("error; compare off", state.view == 1 && !job->pool_baseline, "and all is as before");
}

STATE_SUITE(state_look_cursor) {
    tap_ok(state_probe_cell(&state) == -1, "nothing is probed at first");
    after("cursor-x",
          state.cursor_shown && state.cursor_x == 100 && job->probe_cell == 50 * 200 + 100,
          "the first press shows the cursor, in the middle");
    after("cursor-x; cursor-y -", state.cursor_x == 101 && state.cursor_y == 49,
          "then it moves: x forward, y left");
    tap_ok(strstr(said(), "cell 101, 49: x +0.8 m, y -0.3 m") != NULL, "and says where");
    use("cursor-x 999");
    after("pin-cell; cursor-x 3", state_probe_cell(&state) == 49 * 200 + 199,
          "a pinned cell stays the one looked at");
    after("escape", !state.pinned && state_probe_cell(&state) >= 0,
          "Esc lets go, the cursor stays");
    tap_ok(runs("escape") && state_probe_cell(&state) == -1, "and goes as well");
    tap_ok(!use("escape"), "then there is nothing left to leave");
    use("cursor-x 3");
    tap_ok(step(EVENT_PIXEL, .x = 700) == STEP_REDRAW && state.pixel == 700 &&
               step(EVENT_PIXEL, .x = 700) == 0,
           "a pixel under the mouse is drawn, once");
    step(EVENT_HOVER, .x = 3, .y = 5);
    tap_ok(state.pixel == -1, "the mouse over a cell is over no pixel");
    tap_ok(step(EVENT_HOVER, .x = -1, .y = 5) & STEP_RUN && state_probe_cell(&state) == -1,
           "the mouse left the grid");
    step(EVENT_CLICK, .x = 7.9, .y = 5.1);
    tap_ok(state.pinned && state.pin_x == 7 && state.pin_y == 5, "a click pins");
    step(EVENT_CLICK, .x = 7.2, .y = 5.8);
    tap_ok(!state.pinned, "a second one lets go");
    tap_ok(!(step(EVENT_HOVER, .x = 7.4, .y = 5.4) & STEP_RUN),
           "the same cell again asks for nothing");
}

/* A grid of 3 slices of 200 x 100 cells. */
STATE_SUITE(state_look_slices) {
    after("slice 2", says("slice: this grid is flat, one layer of cells"), "a flat grid says so");
    SceneFacts scene = make_scene();
    scene.cells_x = 200;
    scene.rows = 100;
    scene.slices = 3;
    scene.whole = scene.grid;
    scene.whole.z_min_m = -1;
    scene.whole.z_max_m = 5;
    scene.whole.nz = 3;
    step(EVENT_FRAME, .scene = &scene);
    use("cursor-x 130");
    unsigned bits = use("slice 1");
    tap_ok(says("slice 1 of 3, z 1 to 3 m") && bits & STEP_RUN && bits & STEP_LOOK &&
               job->slice == 1 && state.scene.nx == 200 && state.cursor_x == 130,
           "a slice is chosen, with its height; the cursor stays");
    tap_ok(!strcmp(state_cell_place(&state, (2 * 100 + 7) * 200 + 5).text, "5, 7, 2"),
           "its cells are named by x, y and z");
    after("slice side",
          state.scene.nx == 3 && state.scene.ny == 200 && state.scene.grid.x_max_m == 5 &&
              job->probe_cell == -1 && !state.cursor_shown,
          "from the side the picture has other cells: z up, x to the left");
    after("slice 3", says("slice: '3' is none of max, side, 0 to 2") && job->slice == SLICE_SIDE,
          "a slice that is not there is refused");
    int order[5];
    for (int i = 0; i < 5; i++, use("slice"))
        order[i] = job->slice;
    tap_ok(order[0] == SLICE_SIDE && job->slice == SLICE_SIDE && order[1] == SLICE_MAX &&
               order[2] == 0 && order[4] == 2,
           "the key goes around: side, max, 0, 1, 2");
    step(EVENT_FRAME, .scene = &(SceneFacts){.nx = 4, .ny = 3});
    tap_ok(state.scene.nx == 4 && state.scene.ny == 3 && state_slice(&state).slices == 1,
           "a flat scene after it is whole");
}

/* Where the cell coordinate x lies in the view, 0..1. */
static double seen_at(double x) {
    double width = (double)state.scene.nx / state.viewport.zoom;
    return (x - state.viewport.center_x) / width + 0.5;
}

STATE_SUITE(state_look_zoom) {
    unsigned begins = use("zoom 2"), goes_on = use("zoom 3"), ends = use("zoom 1");
    tap_ok(begins & STEP_LOOK && !(goes_on & STEP_LOOK) && ends & STEP_LOOK,
           "a zoom that begins or ends asks for the cells as they are, or filled");
    double before = seen_at(120);
    for (int i = 0; i < 5; i++)
        step(EVENT_WHEEL, .x = 120, .y = 50, .steps = 1);
    tap_ok(state.viewport.zoom > 2 && fabs(seen_at(120) - before) < 1e-9,
           "the wheel zooms about the point under the mouse");
    step(EVENT_DRAG, .x = 1000, .y = 0);
    tap_ok(fabs(state.viewport.center_x - 100 / state.viewport.zoom) < 1e-9,
           "dragging ends at the grid's edge");
    use("cursor-x 199");
    double at = seen_at(199.5);
    tap_ok(at > 0 && at < 1, "the view follows the cursor");
}
