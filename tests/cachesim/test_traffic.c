/* SPDX-License-Identifier: MIT */
/* V4's bytes by formula against bytes by counting: scenes with columns, with few, and other
 * operators, in all formats and aligns. */
#include "src/base/random.h"
#include "src/cachesim/trace_internal.h"
#include "tests/support/judged.h"
#include "tests/cachesim/trace_check.h"

static Err err; /* why a step failed */

/* Of tiles the formula is exact. Of pieces it is an average over the places that a piece's threads
 * have in their warps. */
static double nearness(const BevAccess *form) {
    return form->owner == BEV_OWNS_TILE ? 1e-9 : 0.02;
}

static bool same_bytes(const BevKernel *v4, const BevProblem *problem, const TraceCounts *counts) {
    const TraceCount *read = counts->read, *write = counts->write;
    BevTraffic formula = bev_traffic(v4, problem);
    double near = nearness(counts->form), ranks = bev_rank_bytes(v4, problem);
    const Figure figures[] = {
        {"features", formula.feat, read[TRACE_FEAT].bytes, near},
        {"depth", formula.depth, read[TRACE_DEPTH].bytes + write[TRACE_DEPTH].bytes, near},
        {"weights", formula.weight, read[TRACE_WEIGHT].bytes, near},
        {"ranks", ranks, read[TRACE_RANKS].bytes, near},
        {"owners", formula.index - ranks, read[TRACE_OWNERS].bytes, near},
        {"writes", formula.out_write, write[TRACE_OUT].bytes + write[TRACE_SUMS].bytes, 1e-9},
        {"sums", formula.out_read, read[TRACE_SUMS].bytes, 1e-9},
    };
    bool same = true;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!close_to(figures[i].value, figures[i].expected, figures[i].tolerance)) {
            tap_note("%s by formula", figures[i].what);
            same = false;
        }
    return same;
}

static void test_problem(const char *scene, Workload *workload, BevDtype dtype, BevAlign align) {
    HostProblem problem;
    const BevKernel *v4 = bev_kernel_find("v4");
    need(workload_problem(workload, dtype, align, &problem, &err), &err);
    TraceCounts counts = count("v4", &problem.view);
    bool tiles = counts.form->owner == BEV_OWNS_TILE;
    tap_ok(same_bytes(v4, &problem.view, &counts), "%s %s %s: %s", scene, bev_dtypes[dtype].name,
           bev_aligns[align].name, tiles ? "tiles" : "pieces");
    problem_free(&problem);
}

static void test_scene(const char *scene, unsigned dtypes) {
    Workload workload;
    need(workload_open(&workload, scene, NULL, &err), &err);
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
            if (dtypes & bev_kernel_find("v4")->dtypes & 1u << dtype &&
                workload_has_align(&workload, (BevAlign)align))
                test_problem(scene, &workload, (BevDtype)dtype, (BevAlign)align);
    workload_close(&workload);
}

/* On the CPU an entry is a run of image rows. Two columns of three pixels, one bin: cell 1 sees the
 * whole first column, cell 2 the first and the last pixel of the second. */
static void test_entries(void) {
    int32_t ranks[] = {0, 2, 4, 1, 5}, cells[] = {1, 1, 1, 2, 2}, starts[] = {0, 3},
            lengths[] = {3, 2};
    float weights[5] = {1, 1, 1, 1, 1};
    BevProblem problem = {
        .shape = {1, 1, 3, 2, 8, 3, 1},
        .map = {5, 2, ranks, ranks, cells, starts, lengths, NULL},
        .depth = {.rows = 1, .row_len = 6},
        .feat = {.rows = 6, .row_len = 8},
        .out = {.rows = 3, .row_len = 8},
    };
    const BevKernel *v4 = bev_kernel_find("cpu_v4");
    tap_ok(bev_traffic(v4, &problem).index == 3 * 16 + 2 * 8, "three entries and two cells");
    problem.map.weights = weights;
    tap_ok(bev_traffic(v4, &problem).index == 3 * 16 + 2 * 8, "weighted the same");
    problem.map.points = problem.map.intervals = 0;
    tap_ok(bev_traffic(v4, &problem).index == 0 &&
               bev_traffic(bev_kernel_find("v4"), &problem).feat == 0,
           "without points nothing is read");
}

/* Each tile gets its warps, each warp a step, each channel a block, and nothing else that is
 * allowed would be faster by the same estimate. */
static void test_deal(void) {
    uint64_t seed = 17;
    int bad = 0, pairs = 0, twos = 0;
    for (int round = 0; round < 200; round++) {
        int tile_steps[MANY_STEPS + 1] = {0}, tiles = 0, scheduled = 0, workers = 0;
        float weight = 1;
        BevProblem problem = {.dtype = (BevDtype)(round % BEV_DTYPE_COUNT), /* those of V4 */
                              .shape.channels = round % 4 ? 64 * (round % 4) : 80,
                              .map.weights = round % 3 ? NULL : &weight};
        V4Load load = {&problem, 0, round % 2, BEV_MULTIPROCESSORS};
        for (int64_t i = 1 + random_below(&seed, 3000); i > 0; i--, tiles++) {
            int64_t most = random_below(&seed, 40) ? 12 : MANY_STEPS;
            int count = 1 + (int)random_below(&seed, most);
            tile_steps[count]++;
            load.steps += count;
        }
        V4Schedule best = v4_best_schedule(tile_steps, &load);
        double time = v4_tiles_time(tile_steps, &best, &load);
        for (int k = 0; k <= PAIR_CLASS; k++) {
            scheduled += best.counts[k];
            workers += best.counts[k] << k;
        }
        bad += scheduled != tiles || workers != best.workers;
        bad += best.passes * v4_block_channels(&problem, best.groups) != problem.shape.channels;
        bad += best.counts[PAIR_CLASS] && (round % 2 == 0 || best.counts[PAIR_CLASS] > PAIRS);
        for (int count = 1; count <= MANY_STEPS; count++)
            bad += tile_steps[count] && count < 1 << class_of(count, best.portion, best.largest);
        for (int i = 0; i < 2 * PORTIONS; i++) {
            V4Schedule other = v4_schedule(tile_steps, &load, portion_of(i / 2), 1 + i % 2);
            bad += v4_groups_allowed(&problem, 1 + i % 2) &&
                   v4_tiles_time(tile_steps, &other, &load) < time;
        }
        pairs += best.counts[PAIR_CLASS] > 0;
        twos += best.groups == 2;
    }
    tap_ok(bad == 0, "200 maps are scheduled whole and at the least time: %d wrong", bad);
    tap_ok(pairs > 10, "%d of them have tiles with two blocks", pairs);
    tap_ok(twos > 3, "in %d a block takes two groups of channels", twos);
}

/* What V4 makes of a scene. */
static void note_form(Workload *workload, BevDtype dtype, bool seen[2][2]) {
    HostProblem problem;
    TileDraft draft;
    need(workload_problem(workload, dtype, BEV_NEAREST, &problem, &err), &err);
    need(tile_draft_make(&problem.view, BEV_MULTIPROCESSORS, &draft), &err);
    seen[draft.transposed][draft.schedule.groups - 1] = true;
    tile_draft_free(&draft);
    problem_free(&problem);
}

/* tests/gpu.sh runs V4 on these scenes, with 128 channels but for the last, so that each form of
 * its kernel is run. In FP32 a block takes two groups of them, always. */
static void test_forms(void) {
    static const char *const scenes[] = {"canonical", "large", "hires", "xlarge", "wide_c256"};
    bool seen[BEV_DTYPE_COUNT][2][2] = {0};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        Workload workload;
        Job options = job_plain();
        options.channels = strcmp(scenes[i], "wide_c256") ? 128 : 0;
        need(workload_open(&workload, scenes[i], &options, &err), &err);
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
            note_form(&workload, (BevDtype)dtype, seen[dtype]);
        workload_close(&workload);
    }
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        bool one = seen[dtype][0][0] && seen[dtype][1][0];
        tap_ok(seen[dtype][0][1] && seen[dtype][1][1] && (one || dtype == BEV_FP32),
               "%s: depth gathered and transposed, a block with each number of groups",
               bev_dtypes[dtype].name);
    }
}

/* The cases that bring tiles before the sanitizers do so. */
static void test_columns(void) {
    int found = 0;
    for (int i = 0; i < case_count(); i++) {
        const char *name = case_at(i).name;
        for (int align = 0; !strncmp(name, "columns", 7) && align <= BEV_BILINEAR; align++) {
            CaseData data = open_case(name, (BevAlign)align, 1, 1);
            HostProblem problem = case_problem(&data, BEV_FP16, (BevAlign)align);
            TileDraft draft;
            need(tile_draft_make(&problem.view, BEV_MULTIPROCESSORS, &draft), &err);
            bool pairs = draft.schedule.counts[PAIR_CLASS] > 0;
            tap_ok(draft.serves && draft.transposed == (align == BEV_BILINEAR) &&
                       pairs == draft.transposed,
                   "%s, %s: tiles%s", name, bev_aligns[align].name,
                   pairs ? ", some with two blocks" : "");
            tile_draft_free(&draft);
            problem_free(&problem);
            case_free(&data);
            found++;
        }
    }
    tap_ok(found == 4, "%d of them", found);
}

TAP_SUITE(traffic) {
    test_entries();
    test_deal();
    test_columns();
    test_scene("canonical", 1u << BEV_FP16);
    test_scene("toy", (1u << BEV_DTYPE_COUNT) - 1);
}

TAP_HARD_SUITE(traffic_scenes) {
    /* Of xlarge and hires the depth is transposed also where the map has no weights; hires has
     * tiles with two blocks. */
    static const char *const in_fp16[] = {"highway",   "target",    "intersection", "large",
                                          "wide_c128", "wide_c256", "xlarge",       "hires"};
    static const char *const in_all[] = {"asymmetric", "embedding_bag", "histogram", "segments",
                                         "voxelize"};
    test_forms();
    for (size_t i = 0; i < sizeof in_fp16 / sizeof *in_fp16; i++)
        test_scene(in_fp16[i], 1u << BEV_FP16);
    test_scene("parking", 1u << BEV_FP16 | 1u << BEV_FP32);
    for (size_t i = 0; i < sizeof in_all / sizeof *in_all; i++)
        test_scene(in_all[i], (1u << BEV_DTYPE_COUNT) - 1);
    test_scene("occupancy", 1u << BEV_FP8);
}
