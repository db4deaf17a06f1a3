/* SPDX-License-Identifier: MIT */
/* Grids with height: which cell a picture shows. Kernels on them: test_operator_gates.c. */
#include "src/accuracy/fp64.h"
#include "src/live/pipeline.h"
#include "src/scene/scatter.h"
#include "src/scene/slice.h"
#include "tests/support/folder.h"
#include "tests/support/refused.h"
#include "tests/support/scenes.h"

#include <math.h>

static const char *path; /* of the scene that a test wrote */

/* Every cell of the grid is behind one cell of the picture, and slice_place finds it. */
static void test_runs(void) {
    const BevShape shape = {.nx = 7, .ny = 5 * 4, .nz = 4, .channels = 1};
    for (int kind = SLICE_SIDE; kind < 4; kind++) {
        Slice slice = slice_of(&shape, kind);
        int seen[7 * 5 * 4] = {0}, wrong = 0, total = 0;
        for (int64_t place = 0; place < slice.nx * slice.ny; place++) {
            SliceRun run = slice_run(&slice, place);
            for (int64_t i = 0; i < run.count; i++) {
                int64_t cell = run.first + i * run.step;
                seen[cell]++;
                total++;
                wrong += slice_place(&slice, cell) != place;
            }
        }
        for (int cell = 0; cell < 140; cell++)
            wrong += seen[cell] > 1 || (!seen[cell] && slice_place(&slice, cell) >= 0);
        const ShortText name = slice_name(kind);
        tap_ok(!wrong && total == (kind < 0 ? 140 : 35) && slice.nx == (kind == SLICE_SIDE ? 4 : 7),
               "slice %s: %lld x %lld cells of the picture show %d of 140", name.text,
               (long long)slice.nx, (long long)slice.ny, total);
    }
    tap_ok(slice_of(&shape, 4).slice == SLICE_MAX && slice_of(&shape, -3).slice == SLICE_MAX,
           "a slice that is not there shows the maximum");
}

static void test_strongest(void) {
    const BevShape shape = {.nx = 1, .ny = 3, .nz = 3, .channels = 1};
    int32_t bev[3] = {0, 1, 2}, starts[3] = {0, 1, 2}, lengths[3] = {1, 1, 1}, shown = -1;
    const BevMap map = {3, 3, NULL, NULL, bev, starts, lengths, NULL, NULL, NULL};
    const Slice max = slice_of(&shape, SLICE_MAX), low = slice_of(&shape, 0);
    float values[3] = {2, -5, 3}, infinite[3] = {2, 1, INFINITY}, none[3] = {2, NAN, 30};
    slice_choose(&max, &map, 1, values, &shown);
    tap_ok(shown == 1 && slice_strongest(&max, 0, &map, 1, values) == 1,
           "the maximum shows the largest norm");
    tap_ok(slice_strongest(&max, 0, &map, 1, infinite) == 2 &&
               slice_strongest(&max, 0, &map, 1, none) == 1,
           "infinity and NaN are not hidden by it");
    slice_choose(&low, &map, 1, values, &shown);
    tap_ok(shown == 0, "a slice shows its own cell");
    tap_ok(slice_strongest(&max, 0, NULL, 1, values) == 1, "without a map all are compared");
    lengths[2] = 7;
    tap_ok(slice_strongest(&max, 0, &map, 1, NULL) == 2, "without values: the most points");
}

static void test_words(void) {
    const BevShape shape = {.nx = 200, .ny = 200 * 16, .nz = 16};
    const Grid grid = {-40, 40, -40, 40, -1, 5.4, 200, 200, 16, 0};
    const Slice third = slice_of(&shape, 3), side = slice_of(&shape, SLICE_SIDE);
    int slice = -9;
    const ShortText text = slice_describe(&third, &grid);
    tap_ok(!strcmp(text.text, "slice 3 of 16, z 0.2 to 0.6 m"), "described as \"%s\"", text.text);
    tap_ok(slice_parse("side", 16, &slice) && slice == SLICE_SIDE &&
               slice_parse("15", 16, &slice) && slice == 15 && !slice_parse("16", 16, &slice) &&
               !slice_parse("-1", 16, &slice) && !slice_parse("3x", 16, &slice) &&
               !slice_parse("", 16, &slice),
           "max, side and 0 to 15 are read, nothing else");
    Grid turned = slice_grid(&side, &grid);
    tap_ok(turned.x_min_m == -1 && turned.x_max_m == 5.4 && turned.nx == 16 && turned.ny == 200 &&
               slice_stretch(&side, &turned) == 5 && slice_stretch(&third, &grid) == 1,
           "from the side: z up, x across, heights five times");
    tap_ok(!strcmp(cell_place(&shape, (9 * 200 + 130) * 200 + 64, ",").text, "64,130,9"),
           "a cell is named by x, y and z");
}

/* The largest norm of the grid's cells that lie behind a cell of the picture. */
static double largest_norm(const LiveFrame *frame, const Slice *slice, int64_t place) {
    SliceRun run = slice_run(slice, place);
    double most = 0;
    for (int64_t i = 0; i < run.count; i++) {
        const float *row = frame->pooled + (run.first + i * run.step) * frame->channels;
        double sum = 0;
        for (int64_t c = 0; c < frame->channels; c++)
            sum += (double)row[c] * row[c];
        most = fmax(most, sqrt(sum));
    }
    return most;
}

/* The display probes the cell of the grid that the picture shows, in every kind of slice. */
static void test_probe(void) {
    static const char *const names[] = {"color"};
    const char *const scenes[] = {path};
    const StateMenu menu = {.scenes = {scenes, 1},
                            .views = {names, 1},
                            .error_view = -1,
                            .channel_view = -1,
                            .colormaps = {names, 1},
                            .where = 1u << BEV_CPU};
    static LiveData live;
    State state;
    Pipeline *pipeline;
    state_init(&state, &menu, 0);
    need(pipeline_open(&pipeline, &err), &err);
    for (int kind = SLICE_SIDE; kind < 7; kind++) {
        int wrong = 0, filled = 0;
        state.job.slice = kind;
        for (int place = 0; place < (kind == SLICE_SIDE ? 21 : 15); place++) {
            state.job.probe_cell = place;
            state.job.serial++;
            need(pipeline_run(pipeline, &state, (PipelineNeeds){0}, &live, &err) == PIPELINE_DONE,
                 &err);
            Slice slice = live_slice(&live.frame, kind);
            double want = largest_norm(&live.frame, &slice, place);
            wrong += slice_place(&slice, live.probe.cell) != place ||
                     fabs(live.probe.value - want) > 1e-6;
            filled += want > 0;
        }
        const ShortText name = slice_name(kind);
        tap_ok(!wrong,
               "slice %s: every cell of the picture is probed where it is strongest (%d filled)",
               name.text, filled);
    }
    pipeline_close(pipeline);
}

TAP_SUITE(height) {
    folder_open();
    path = in_folder("scene.json");
    write_tall_toy(path);
    test_probe();
    test_runs();
    test_strongest();
    test_words();
    unlink(path);
    folder_close();
}
