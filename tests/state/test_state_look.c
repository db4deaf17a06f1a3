/* SPDX-License-Identifier: MIT */
/* Controls that look closer: slices of a grid with height, zoom. The others: tests/state/scripts.
 */
#include "tests/state/state_fixture.h"

#include <math.h>

/* A grid of 3 slices of 200 x 100 cells. */
STATE_SUITE(state_look_slices) {
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
