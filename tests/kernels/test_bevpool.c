/* SPDX-License-Identifier: MIT */
/* The tables, the reference against a pooling done by hand, and the figures of the traffic models,
 * from shapes alone. */
#include "kernels/bevpool.h"
#include "tests/kernels/canonical.h"
#include "tests/support/tap.h"

#include <math.h>

/* Launches here, or says how its accesses go. V3 has the accesses of its forms. */
static bool row_complete(const BevKernel *v) {
    bool modelled =
        v->bytes || v->pools || v->skips || v->access.owner || (v->small_l2 && v->large_l2);
    bool launches = v->launch || v->where == BEV_CUDA;
    return v->name && v->name[0] && v->title && v->title[0] && v->idea && v->idea[0] && launches &&
           modelled && v->dtypes && v->aligns && !v->prepare == !v->release &&
           !bev_unavailable(v) == (v->launch != NULL);
}

/* How many rows of a backend and direction there are, of stage POOL, and are marked. */
typedef struct {
    int rows, defaults, baselines;
} Marks;

static bool marked_once(const Marks *marks) {
    return marks->rows == 0 || (marks->defaults == 1 && marks->baselines == 1);
}

TAP_SUITE(bevpool_kernels) {
    int rows = 0, complete = 0, found = 0, counterparts = 0, named = 0, views[BEV_CUDA + 1] = {0};
    Marks marks[BEV_CUDA + 1][BEV_DIRECTION_COUNT] = {0};
    for (; bev_kernels[rows]; rows++) {
        const BevKernel *row = bev_kernels[rows];
        complete += row_complete(row);
        found += bev_kernel_find(row->name) == row;
        Marks *of = &marks[row->where][row->direction];
        bool pools = row->stage == BEV_POOL;
        of->rows += pools;
        of->defaults += pools && row->is_default;
        of->baselines += pools && row->is_baseline;
        views[row->where] += !pools && row->is_baseline && row->direction == BEV_FORWARD;
        named += row->counterpart != NULL;
        counterparts += row->counterpart &&
                        bev_counterpart(row, BEV_CUDA) == bev_kernel_find(row->counterpart) &&
                        bev_counterpart(bev_kernel_find(row->counterpart), BEV_CPU) == row;
    }
    tap_ok(rows >= 4 && complete == rows, "%d of %d rows are complete", complete, rows);
    tap_ok(found == rows, "every row is found by its name, which no other has");
    tap_ok(!bev_kernel_find("cpu_v4x") && !bev_kernel_find(""), "unknown names are not found");
    tap_ok(!strcmp(bev_kernels[0]->name, "reference"), "lessons begin with the reference");
    tap_ok(named > 0 && counterparts == named, "%d of %d rows have the counterpart that they name",
           counterparts, named);
    bool once = marks[BEV_CPU][BEV_FORWARD].rows && marks[BEV_CPU][BEV_BACKWARD].rows;
    for (int where = 0; where <= BEV_CUDA; where++)
        for (int direction = 0; direction < BEV_DIRECTION_COUNT; direction++)
            once = once && marked_once(&marks[where][direction]);
    tap_ok(once, "each backend has one default and one baseline in each direction");
    tap_ok(bev_default(BEV_CPU, BEV_BACKWARD)->direction == BEV_BACKWARD &&
               bev_default(BEV_CPU, BEV_FORWARD)->direction == BEV_FORWARD,
           "and each direction finds its own");
    tap_ok(views[BEV_CPU] == 1 && views[BEV_CUDA] == 1, "each has one to compare views with");
}

TAP_SUITE(bevpool_ladder) {
    const BevKernel *ladder[BEV_RUNGS];
    for (int where = BEV_CPU; where <= BEV_CUDA; where++)
        tap_ok(bev_ladder((BevWhere)where, BEV_FORWARD, ladder) == BEV_RUNGS &&
                   ladder[0]->is_baseline && ladder[BEV_RUNGS - 1]->is_default,
               "the ladder goes from the baseline to the default: backend %d", where);
    tap_ok(!strcmp(ladder[0]->published, "V2") && !strcmp(ladder[1]->published, "V2+DO") &&
               !strcmp(ladder[2]->published, "V3"),
           "its first three rungs are the article's");
}

TAP_SUITE(bevpool_unsupported) {
    BevKernel row = *bev_kernels[0];
    row.dtypes = 1u << BEV_FP16;
    row.aligns = 1u << BEV_NEAREST;
    BevProblem problem = {.dtype = BEV_FP16, .align = BEV_NEAREST};
    bool fits = !bev_unsupported(&row, &problem);
    problem.dtype = BEV_FP8;
    bool format = bev_unsupported(&row, &problem) != NULL;
    problem.dtype = BEV_FP16;
    problem.align = BEV_LATTICE;
    tap_ok(fits && format && bev_unsupported(&row, &problem),
           "a row refuses formats and aligns it has no kernel for");
    problem.align = BEV_NEAREST;
    row.launch = NULL;
    tap_ok(!bev_refuses(&row, &problem) && bev_unsupported(&row, &problem),
           "a row without code here fits the problem, but cannot run it");
}

/* Two pixels, two bins, two channels, a grid of 3 x 1; cell 1 stays empty. */
TAP_SUITE(bevpool_reference) {
    float depth[4] = {0.25f, 0.5f, 0.75f, 0.5f}; /* bin 0: pixels 0, 1; bin 1: pixels 0, 1 */
    float feat[4] = {1, -2, 10, 20};             /* pixel 0; pixel 1 */
    int32_t ranks_depth[3] = {0, 3, 2}, ranks_feat[3] = {0, 1, 0}, ranks_bev[3] = {0, 0, 2};
    int32_t starts[2] = {0, 2}, lengths[2] = {2, 1};
    float weights[3] = {1, 0.5f, 0.25f};
    double out[6], sums[6];
    BevProblem problem = {
        .shape = {1, 2, 1, 2, 2, 3, 1},
        .map = {3, 2, ranks_depth, ranks_feat, ranks_bev, starts, lengths, NULL},
        .depth = {BEV_FP32, 1, 4, depth, NULL, 1},
        .feat = {BEV_FP32, 2, 2, feat, NULL, 1},
    };
    const double want[6] = {0.25 + 5, -0.5 + 10, 0, 0, 0.75, -1.5};
    const double want_sums[6] = {5.25, 10.5, 0, 0, 0.75, 1.5};
    bev_reference(&problem, out, sums);
    tap_ok(!memcmp(out, want, sizeof want) && !memcmp(sums, want_sums, sizeof want),
           "the reference is the pooling done by hand");
    const double weighted[6] = {0.25 + 2.5, -0.5 + 5, 0, 0, 0.1875, -0.375};
    problem.map.weights = weights;
    bev_reference(&problem, out, NULL);
    tap_ok(!memcmp(out, weighted, sizeof weighted), "and with weights");
}

/* V2+DO takes the feature's number from the depth's, and says so where a map has others. */
TAP_SUITE(bevpool_division_refuses) {
    float values[8] = {0};
    int32_t ranks_depth[2] = {1, 6}, ranks_feat[2] = {1, 2}, ranks_bev[2] = {0, 0};
    int32_t starts[1] = {0}, lengths[1] = {2};
    BevProblem problem = {
        .shape = {2, 2, 1, 2, 1, 1, 1}, /* 2 cameras, 2 bins, 2 pixels */
        .map = {2, 1, ranks_depth, ranks_feat, ranks_bev, starts, lengths, NULL},
        .depth = {BEV_FP32, 1, 8, values, NULL, 1},
        .feat = {BEV_FP32, 4, 1, values, NULL, 1},
        .out = {BEV_FP32, 1, 1, values, NULL, 1},
    };
    const BevKernel *kernel = bev_kernel_find("cpu_v2_do");
    BevPlan *plan = NULL;
    Err err = {.what = ""};
    bool accepted = kernel->prepare(&problem, &plan, &err);
    kernel->release(plan);
    plan = NULL;
    ranks_feat[1] = 3;
    bool refused = !kernel->prepare(&problem, &plan, &err);
    tap_ok(accepted && refused && !plan && strstr(err.what, "ranks_feat[1] is 3"),
           "V2+DO refuses features that do not follow from depths: %s", err.what);
}

/* Equal to the figure as published, with its number of decimals, in 10^6 bytes. */
static bool is_mb(double bytes, double mb, int decimals) {
    double unit = pow(10, -decimals);
    bool same = fabs(bytes * 1e-6 - mb) <= unit / 2;
    if (!same)
        tap_note("%.4f MB, not %.*f", bytes * 1e-6, decimals, mb);
    return same;
}

TAP_SUITE(bevpool_gather) {
    BevProblem problem = canonical(BEV_FP16);
    BevTraffic gather = bev_gather_traffic(&problem, 32);
    tap_ok(is_mb(bev_traffic_total(gather), 49.2, 1) && is_mb(gather.feat, 33.4, 1) &&
               is_mb(gather.out_write, 12.8, 1) && is_mb(gather.index, 2.51, 2) &&
               is_mb(gather.depth, 0.42, 2),
           "gather traffic: 49.2 MB in all, as published");
    float weight;
    problem.map.weights = &weight;
    BevTraffic weighted = bev_gather_traffic(&problem, 32);
    tap_ok(weighted.weight == 4.0 * 209009 &&
               bev_traffic_total(weighted) == bev_traffic_total(gather) + weighted.weight,
           "weights are 4 bytes a point more");
}

TAP_SUITE(bevpool_footprint) {
    BevProblem problem = canonical(BEV_FP16);
    BevFootprint f = bev_footprint(&problem);
    tap_ok(is_mb(f.feat, 0.68, 2) && is_mb(f.depth, 0.50, 2) && is_mb(f.index, 2.64, 2) &&
               is_mb(f.out, 6.4, 1),
           "footprint in FP16: features 0.68, depth 0.50, indices 2.64, output 6.4 MB");
    tap_ok(is_mb(bev_footprint_total(f), 10, 0), "10 MB in all");
    tap_ok(f.depth > bev_gather_traffic(&problem, 16).depth,
           "depth is the whole array: points read less of it");
    problem.out.dtype = BEV_FP32;
    tap_ok(is_mb(bev_footprint_total(bev_footprint(&problem)), 17, 0), "17 with FP32 output");
    problem = canonical(BEV_NVFP4);
    tap_ok(bev_footprint(&problem).feat == 6 * 16 * 44 * (40 + 5),
           "an NVFP4 row of 80 is 40 bytes of codes and 5 of scales");
}

static BevTraffic traffic_of(const char *name, const BevProblem *problem) {
    return bev_traffic(bev_kernel_find(name), problem);
}

TAP_SUITE(bevpool_models) {
    BevProblem problem = canonical(BEV_FP16);
    BevTraffic v2 = traffic_of("cpu_v2_bevdet", &problem), v3 = traffic_of("cpu_v3", &problem);
    BevTraffic article = traffic_of("cpu_v2", &problem);
    BevTraffic v2_do = traffic_of("cpu_v2_do", &problem), v4 = traffic_of("cpu_v4", &problem);
    tap_ok(is_mb(v2.index, 25.1, 1) && is_mb(v3.index, 2.51, 2),
           "index traffic: V2 (BEVDet) 25.1 MB, V3 2.51 MB");
    tap_ok(article.index == v2.index && article.atomics == 209009.0 * 80 && v2.atomics == 0,
           "V2 of the article reads as many, and adds each product by an atomic");
    tap_ok(v2_do.index == 4.0 * 209009 + 12.0 * 16007,
           "V2+DO: one rank a point, one record a cell");
    tap_ok(
        isnan(v4.index) && v4.feat == v3.feat && v4.out_write == v3.out_write,
        "V4's index traffic is unknown without the map's arrays; features it asks a nearer cache "
        "for");
    tap_ok(isnan(bev_traffic_total(traffic_of("v4", &problem))) &&
               isnan(bev_rank_bytes(bev_kernel_find("v4"), &problem)),
           "and so are all bytes of V4 on a GPU");
    tap_ok(v3.out_write == 6.4e6 && v2.out_write == 6.4e6 + 16007 * 160.0 &&
               v2_do.out_write == v2.out_write,
           "V3 writes every cell once, V2 and V2+DO those with points twice");
    problem.out.row_len = problem.feat.row_len = problem.shape.channels = 7;
    tap_ok(traffic_of("cpu_v2_bevdet", &problem).index == 12.0 * 209009, "7 channels are one tile");
}
