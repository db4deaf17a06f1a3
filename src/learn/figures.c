/* The table of figures. Exact arithmetic over shapes and the map is SOURCE_COMPUTED; what the
 * memory model simulates is SOURCE_MODEL; latencies have the source that the question asks for. */
#include "src/learn/figures.h"

#include "kernels/codec.h"
#include "src/state/bits.h"
#include "src/state/live_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const figure_arrays[ARRAY_COUNT] = {"all",     "features", "depth", "indices",
                                                "weights", "output",   "ranks", "gradients"};

__attribute__((format(printf, 2, 3))) static Reading unknown(const FigureQuery *query,
                                                             const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(query->why, query->why_size, format, args);
    va_end(args);
    return (Reading){0};
}

static Reading computed(double value) {
    return reading(value, SOURCE_COMPUTED);
}

/* A figure that one expression gives. */
#define FIGURE(name, ...)                                                                          \
    static Reading name(const FigureQuery *query) {                                                \
        (void)query;                                                                               \
        return __VA_ARGS__;                                                                        \
    }

static const BevKernel *kernel_of(const FigureQuery *query) {
    return query->kernel ? query->kernel : query->live->job.config.kernel;
}

static BevDtype dtype_of(const FigureQuery *query) {
    return query->dtype < 0 ? query->live->job.config.dtype : (BevDtype)query->dtype;
}

/* ---- latency --------------------------------------------------------------------------------- */

static const PredictedKernel *known_to_model(const FigureQuery *query) {
    const MemoryModel *model = query->live->model;
    Gpu gpu = state_gpu(query->state);
    const PredictedKernel *kernel = model ? model_of_kernel(model, kernel_of(query), &gpu) : NULL;
    if (!kernel)
        unknown(query, "the memory model does not know %s here", kernel_of(query)->title);
    return kernel;
}

static bool predicted(const FigureQuery *query, Prediction *p) {
    const State *state = query->state;
    const PredictedKernel *kernel = known_to_model(query);
    if (kernel)
        *p = model_predict(query->live->model, kernel, state->gpu, &state->edit);
    return kernel != NULL;
}

#define PREDICTED(name, value)                                                                     \
    static Reading name(const FigureQuery *query) {                                                \
        Prediction p;                                                                              \
        return predicted(query, &p) ? reading(value, SOURCE_MODEL) : (Reading){0};                 \
    }
PREDICTED(modelled_us, p.latency_us)
PREDICTED(dram_us, p.term_us[TERM_DRAM])
PREDICTED(l2_us, p.term_us[TERM_L2])
PREDICTED(issue_us, p.term_us[TERM_ISSUE])
PREDICTED(chain_us, p.term_us[TERM_CHAIN])
PREDICTED(dram, p.dram_read_bytes + p.dram_write_bytes)

static Reading latency(const FigureQuery *query) {
    if (query->timings == SOURCE_MODEL && kernel_of(query)->where == BEV_CPU)
        return unknown(query, "%s was not timed, and the model knows GPUs only",
                       kernel_of(query)->title);
    if (query->timings == SOURCE_MODEL)
        return modelled_us(query);
    const LiveKernel *row = live_known_kernel(query->live, kernel_of(query));
    Reading median = row ? row->median_us : (Reading){0};
    bool doubtful = query->timings == SOURCE_MEASURED && live_latency(query->live, row).doubtful;
    /* Measured medians that have not settled when all are there give way to recorded ones. */
    if (row && query->timings == SOURCE_RECORDED && query->live->complete)
        median = row->recorded_us;
    if (median.source == query->timings && !median.stale && !doubtful)
        return median;
    return unknown(query, "%s was not %s here", kernel_of(query)->title,
                   source_names[query->timings]);
}

static Reading prepare(const FigureQuery *query) {
    const LiveKernel *row = live_known_kernel(query->live, kernel_of(query));
    if (row && row->prepare_us.source == query->timings && !row->prepare_us.stale)
        return row->prepare_us;
    return unknown(query, "the preparation of %s was not %s", kernel_of(query)->title,
                   source_names[query->timings]);
}

/* A figure of another machine that stands beside the kernel's row. */
static Reading of_row(const FigureQuery *query, size_t offset, const char *what) {
    const LiveKernel *row = live_known_kernel(query->live, kernel_of(query));
    const Reading *got = row ? (const Reading *)((const char *)row + offset) : NULL;
    if (got && got->source != SOURCE_UNKNOWN)
        return *got;
    return unknown(query, "%s of %s was not %s", what, kernel_of(query)->title,
                   strcmp(what, "the latency") ? "recorded" : "published");
}

FIGURE(cold, of_row(query, offsetof(LiveKernel, cold_us), "the cold launch"))
FIGURE(single, of_row(query, offsetof(LiveKernel, single_us), "the single launch"))
FIGURE(published_us,
       of_row(query, offsetof(LiveKernel, published_us[query->state->gpu]), "the latency"))

static Reading warm(const FigureQuery *query) {
    const LiveKernel *row = live_known_kernel(query->live, kernel_of(query));
    if (row && row->recorded_us.source)
        return row->recorded_us;
    return unknown(query, "%s is not recorded here", kernel_of(query)->title);
}

FIGURE(clear, query->live->clear_us.source ? query->live->clear_us
                                           : unknown(query, "the clear was not recorded"))

/* ---- memory ---------------------------------------------------------------------------------- */

static Reading l2_hits(const FigureQuery *query) {
    Prediction p;
    if (!predicted(query, &p))
        return (Reading){0};
    if (isnan(p.hit_rate))
        return unknown(query, "%s looks nothing up in L2", kernel_of(query)->title);
    return reading(p.hit_rate * 100, SOURCE_MODEL);
}

static Reading sectors(const FigureQuery *query) {
    const PredictedKernel *kernel = known_to_model(query);
    return kernel ? reading(kernel->l2_sectors, SOURCE_MODEL) : (Reading){0};
}

/* The selection's problem with the shape and the map of the frame, for formulas, in the direction
 * of the kernel that is asked about. */
static bool problem_of(const FigureQuery *query, BevProblem *problem) {
    const LiveFrame *frame = &query->live->frame;
    if (!frame->map) {
        unknown(query, "no scene is loaded");
        return false;
    }
    const KernelConfig *config = &query->live->job.config;
    *problem = bev_bare_problem(&frame->shape, frame->map, kernel_of(query)->direction,
                                config->dtype, config->align);
    return true;
}

static double of_array(const BevTraffic *traffic, FigureArray array) {
    switch (array) {
    case ARRAY_FEATURES:
        return traffic->feat;
    case ARRAY_DEPTH:
        return traffic->depth;
    case ARRAY_INDICES:
        return traffic->index;
    case ARRAY_WEIGHTS:
        return traffic->weight;
    case ARRAY_OUTPUT:
        return traffic->out_read + traffic->out_write;
    case ARRAY_GRADIENTS:
        return traffic->grad_read + traffic->grad_write;
    default:
        return bev_traffic_total(*traffic);
    }
}

/* The reason why no formula gives the kernel's requests on this problem; NULL: a formula does. */
static const char *without_formula(const BevKernel *kernel, const BevProblem *problem) {
    const char *refused = bev_refuses(kernel, problem);
    bool has_accesses = kernel->access.owner != BEV_OWNS_NOTHING;
    return refused ? refused : kernel->bytes || has_accesses ? NULL : "its accesses are not known";
}

static Reading requested(const FigureQuery *query) {
    BevProblem problem;
    const BevKernel *kernel = kernel_of(query);
    if (!problem_of(query, &problem))
        return (Reading){0};
    const char *why = without_formula(kernel, &problem);
    if (why)
        return unknown(query, "%s: %s", kernel->title, why);
    if (query->array == ARRAY_RANKS && kernel->access.owner == BEV_OWNS_NOTHING)
        return unknown(query, "%s: its accesses are not known", kernel->title);
    if (query->array == ARRAY_RANKS)
        return computed(bev_rank_bytes(kernel, &problem));
    const BevTraffic traffic = bev_traffic(kernel, &problem);
    if (isnan(bev_traffic_total(traffic)))
        return unknown(query, "%s: no memory to count in the map", kernel->title);
    return computed(of_array(&traffic, query->array));
}

static Reading atomics(const FigureQuery *query) {
    BevProblem problem;
    if (!problem_of(query, &problem))
        return (Reading){0};
    const char *why = without_formula(kernel_of(query), &problem);
    if (why)
        return unknown(query, "%s: %s", kernel_of(query)->title, why);
    return computed(bev_traffic(kernel_of(query), &problem).atomics);
}

static Reading footprint(const FigureQuery *query) {
    const BevFootprint *f = &query->live->memory.footprint;
    if (!query->live->memory.known)
        return unknown(query, "no scene is loaded");
    const BevTraffic parts = {.feat = f->feat,
                              .depth = f->depth,
                              .index = f->index,
                              .weight = f->weight,
                              .out_write = f->out,
                              .grad_write = f->grads};
    return computed(of_array(&parts, query->array));
}

FIGURE(gather, query->live->memory.known
                   ? computed(of_array(&query->live->memory.gather, query->array))
                   : unknown(query, "no scene is loaded"))

static Reading rounded(const FigureQuery *query) {
    BevDtype dtype = dtype_of(query);
    return computed(bev_code_value(dtype, bev_code(dtype, (float)query->number)));
}

/* ---- the page of bits ------------------------------------------------------------------------ */

FIGURE(code_number, computed(state_bits(query->state).code))

static Reading code_holds(const FigureQuery *query) {
    BitsPage page = state_bits(query->state);
    double value = bev_code_value(page.dtype, page.code);
    return isnan(value) ? unknown(query, "the bits are NaN") : computed(value);
}

static Reading code_after(const FigureQuery *query) {
    enum { NUMBER, INFINITE, NAN_CODE, NO_CODE };
    BitsPage page = state_bits(query->state);
    uint32_t next;
    if (bits_next(page.dtype, page.code, 1, &next))
        return computed(isinf(bev_code_value(page.dtype, next)) ? INFINITE : NUMBER);
    return computed(bits_then_nan(page.dtype, page.code) ? NAN_CODE : NO_CODE);
}

static Reading moved_m(const FigureQuery *query) {
    const LiveDifference *difference = &query->live->difference;
    if (difference->known && isfinite(difference->moved_m))
        return computed(difference->moved_m);
    return unknown(query, "no comparison with a rig is on");
}

/* A figure of the chosen GPU: the data sheet's, or the learner's change. */
static Reading of_gpu(const FigureQuery *query, double value) {
    bool changed = gpu_edit_any(&query->state->edit);
    return reading(value, changed ? SOURCE_COMPUTED : SOURCE_PUBLISHED);
}

FIGURE(l2_bytes, of_gpu(query, state_gpu(query->state).l2_bytes))
FIGURE(dram_gbps, of_gpu(query, state_gpu(query->state).dram_gbps))
FIGURE(sms, of_gpu(query, state_gpu(query->state).sms))
FIGURE(bits, computed(bev_dtypes[dtype_of(query)].bits))

/* ---- the map --------------------------------------------------------------------------------- */

static const ScatterStats *stats_of(const FigureQuery *query) {
    if (query->live->intervals.known)
        return &query->live->intervals.stats;
    unknown(query, "no scene is loaded");
    return NULL;
}

#define OF_MAP(name, field)                                                                        \
    static Reading name(const FigureQuery *query) {                                                \
        const ScatterStats *stats = stats_of(query);                                               \
        return stats ? computed((double)(field)) : (Reading){0};                                   \
    }
OF_MAP(points, stats->points)
OF_MAP(intervals, stats->intervals)
OF_MAP(longest, stats->longest)
OF_MAP(median_length, stats->median)
OF_MAP(p99_length, stats->p99)
OF_MAP(cells, stats->cells)
OF_MAP(empty_cells, stats->cells - stats->intervals)
OF_MAP(mean_length, stats->intervals ? (double)stats->points / (double)stats->intervals : 0)
#undef OF_MAP

#define OF_SHAPE(name, field)                                                                      \
    static Reading name(const FigureQuery *query) {                                                \
        const BevShape *shape = &query->live->frame.shape;                                         \
        return shape->nx ? computed((double)(field)) : unknown(query, "no scene is loaded");       \
    }
OF_SHAPE(channels, shape->channels)
OF_SHAPE(cameras, shape->cameras)
OF_SHAPE(depth_bins, shape->depth_bins)
OF_SHAPE(pixels, shape->cameras * shape->feat_h * shape->feat_w)
OF_SHAPE(pairs, shape->cameras * shape->feat_h * shape->feat_w * shape->depth_bins)
#undef OF_SHAPE

/* Of the pinned cell, or the one under the cursor. */
FIGURE(cell_points, query->live->probe.cell < 0 ? unknown(query, "no cell is chosen")
                                                : computed((double)query->live->probe.points))

/* Cells whose pooled values differ from the baseline's, in any bit: of the kernels that were asked
 * for, not of one that stands in, and of two pictures. */
static Reading moved_cells(const FigureQuery *query) {
    const LiveData *live = query->live;
    if (!live->difference.known)
        return unknown(query, "no comparison with the baseline is on");
    if (live->stand_in)
        return unknown(query, "%s pooled the picture in place of a slower kernel",
                       live->stand_in->title);
    if (live->difference.alike)
        return unknown(query, "the same picture is on both sides");
    return computed((double)live->difference.cells);
}

/* ---- the adjoint identity -------------------------------------------------------------------- */

static Reading inner_product(const FigureQuery *query, const float *a, const float *b,
                             int64_t count) {
    const LiveGradients *gradients = &query->live->frame.gradients;
    if (!gradients->grad_depth || !a || !b)
        return unknown(query, "%s",
                       gradients->text && gradients->text[0] ? gradients->text
                                                             : "the display looks forward");
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return computed(sum);
}

/* Without a loss on some cells the grid shows the gradient of all of them. */
static Reading adjoint_grid(const FigureQuery *query) {
    const LiveFrame *frame = &query->live->frame;
    const GridLoss *loss = frame->gradients.loss;
    const float *grad_out = loss && loss->grad_out ? loss->grad_out : frame->pooled;
    return inner_product(query, frame->pooled, grad_out, frame->nx * frame->ny * frame->channels);
}

static Reading adjoint_depth(const FigureQuery *query) {
    const LiveFrame *frame = &query->live->frame;
    const BevShape *s = &frame->shape;
    return inner_product(query, frame->features ? frame->features->depth : NULL,
                         frame->gradients.grad_depth,
                         s->cameras * s->feat_h * s->feat_w * s->depth_bins);
}

static Reading adjoint_features(const FigureQuery *query) {
    const LiveFrame *frame = &query->live->frame;
    const BevShape *s = &frame->shape;
    return inner_product(query, frame->features ? frame->features->feat : NULL,
                         frame->gradients.grad_feat,
                         s->cameras * s->feat_h * s->feat_w * s->channels);
}

/* ---- accuracy -------------------------------------------------------------------------------- */

static const LiveAccuracy *accuracy_of(const FigureQuery *query) {
    const LiveAccuracy *accuracy = &query->live->accuracy[dtype_of(query)];
    if (accuracy->source != SOURCE_UNKNOWN && !accuracy->stale)
        return accuracy;
    unknown(query, "%s was not checked", bev_dtypes[dtype_of(query)].title);
    return NULL;
}

#define OF_ACCURACY(name, field)                                                                   \
    static Reading name(const FigureQuery *query) {                                                \
        const LiveAccuracy *accuracy = accuracy_of(query);                                         \
        return accuracy ? reading((double)(field), accuracy->source) : (Reading){0};               \
    }
OF_ACCURACY(max_abs, accuracy->max_abs)
OF_ACCURACY(cosine, accuracy->cosine)
OF_ACCURACY(rel_l2, accuracy->rel_l2)
OF_ACCURACY(channels_l2, accuracy->channels_l2)
OF_ACCURACY(nan_count, accuracy->nan_count + accuracy->left_out)
OF_ACCURACY(gate_a, accuracy->gate_a == LIVE_PASS)
OF_ACCURACY(gate_b, accuracy->gate_b == LIVE_PASS)
OF_ACCURACY(gate_c, accuracy->gate_c == LIVE_PASS)
OF_ACCURACY(published_gate, accuracy->atol_1e2 == LIVE_PASS)
#undef OF_ACCURACY

/* ---- the state, units ------------------------------------------------------------------------ */

FIGURE(temperature, computed(query->live->job.temperature))
FIGURE(time_s, computed(query->live->job.time_s))
FIGURE(one_byte, computed(1))
FIGURE(megabyte, computed(1e6))
FIGURE(mebibyte, computed(1 << 20))

/* clang-format off */
const FigureRow figures[] = {
    {"latency", TAKES_KERNEL, MEASURE_US, true, true, "median of a warm launch: measured here, else recorded, else by the model", latency},
    {"prepare", TAKES_KERNEL, MEASURE_US, true, false, "what must be built once before launches", prepare},
    {"model_us", TAKES_KERNEL, MEASURE_US, false, true, "latency that the model predicts on the chosen GPU and L2", modelled_us},
    {"dram_us", TAKES_KERNEL, MEASURE_US, false, true, "its DRAM term", dram_us},
    {"l2_us", TAKES_KERNEL, MEASURE_US, false, true, "its L2 term", l2_us},
    {"issue_us", TAKES_KERNEL, MEASURE_US, false, true, "its issue term", issue_us},
    {"chain_us", TAKES_KERNEL, MEASURE_US, false, true, "its chain term: the longest interval, step by step", chain_us},
    {"l2_hits", TAKES_KERNEL, MEASURE_PERCENT, false, true, "hits of sectors looked up in L2", l2_hits},
    {"dram", TAKES_KERNEL, MEASURE_BYTES, false, true, "bytes from and to DRAM", dram},
    {"sectors", TAKES_KERNEL, MEASURE_COUNT, false, true, "L2 sectors of 32 bytes", sectors},
    {"requested", TAKES_KERNEL_AND_ARRAY, MEASURE_BYTES, false, false, "bytes that threads ask for, caches not considered", requested},
    {"atomics", TAKES_KERNEL, MEASURE_COUNT, false, false, "atomic additions; backward BLOCK makes at most so many", atomics},
    {"footprint", TAKES_ARRAY, MEASURE_BYTES, false, false, "bytes of the arrays, each once", footprint},
    {"gather", TAKES_ARRAY, MEASURE_BYTES, false, false, "gather traffic, the published way of counting", gather},
    {"l2_bytes", TAKES_NOTHING, MEASURE_CACHE, false, false, "L2 of the chosen GPU", l2_bytes},
    {"dram_gbps", TAKES_NOTHING, MEASURE_GBPS, false, false, "DRAM bandwidth of the chosen GPU", dram_gbps},
    {"sms", TAKES_NOTHING, MEASURE_COUNT, false, false, "multiprocessors of the chosen GPU", sms},
    {"bits", TAKES_FORMAT, MEASURE_COUNT, false, false, "bits of an element", bits},
    {"points", TAKES_NOTHING, MEASURE_COUNT, false, false, "points inside the grid", points},
    {"intervals", TAKES_NOTHING, MEASURE_COUNT, false, false, "cells that hold a point", intervals},
    {"longest", TAKES_NOTHING, MEASURE_COUNT, false, false, "points of the fullest cell", longest},
    {"median_length", TAKES_NOTHING, MEASURE_COUNT, false, false, "median length of the intervals", median_length},
    {"mean_length", TAKES_NOTHING, MEASURE_NONE, false, false, "points an interval", mean_length},
    {"p99_length", TAKES_NOTHING, MEASURE_COUNT, false, false, "99th percentile of the lengths", p99_length},
    {"cells", TAKES_NOTHING, MEASURE_COUNT, false, false, "cells of the grid", cells},
    {"empty_cells", TAKES_NOTHING, MEASURE_COUNT, false, false, "cells without a point", empty_cells},
    {"channels", TAKES_NOTHING, MEASURE_COUNT, false, false, "feature channels C", channels},
    {"cameras", TAKES_NOTHING, MEASURE_COUNT, false, false, "cameras of the rig", cameras},
    {"depth_bins", TAKES_NOTHING, MEASURE_COUNT, false, false, "depth bins of a pixel", depth_bins},
    {"pixels", TAKES_NOTHING, MEASURE_COUNT, false, false, "feature pixels of all cameras", pixels},
    {"pairs", TAKES_NOTHING, MEASURE_COUNT, false, false, "pixels times depth bins", pairs},
    {"cell_points", TAKES_NOTHING, MEASURE_COUNT, false, false, "points of the chosen cell", cell_points},
    {"cold_us", TAKES_KERNEL, MEASURE_US, false, false, "recorded with caches flushed before", cold},
    {"single_us", TAKES_KERNEL, MEASURE_US, false, false, "recorded as one launch from the host", single},
    {"warm_us", TAKES_KERNEL, MEASURE_US, false, false, "recorded warm, in a graph", warm},
    {"clear_us", TAKES_NOTHING, MEASURE_US, false, false, "recorded: a clear of the output alone", clear},
    {"published_us", TAKES_KERNEL, MEASURE_US, false, false, "what the article says, on the chosen GPU", published_us},
    {"rounded", TAKES_FORMAT_AND_NUMBER, MEASURE_NONE, false, false, "a number as the format's codes hold it, without scales", rounded},
    {"code", TAKES_NOTHING, MEASURE_NONE, false, false, "the code on the page of bits, as a whole number", code_number},
    {"code_value", TAKES_NOTHING, MEASURE_NONE, false, false, "its value", code_holds},
    {"code_after", TAKES_NOTHING, MEASURE_NONE, false, false, "what follows it: 0 a number, 1 infinity, 2 NaN, 3 no code", code_after},
    {"adjoint_grid", TAKES_NOTHING, MEASURE_NONE, false, false, "backward: sum of what is pooled times its gradient", adjoint_grid},
    {"adjoint_depth", TAKES_NOTHING, MEASURE_NONE, false, false, "backward: sum of the depths times their gradients", adjoint_depth},
    {"adjoint_features", TAKES_NOTHING, MEASURE_NONE, false, false, "backward: sum of the features times their gradients", adjoint_features},
    {"moved_m", TAKES_NOTHING, MEASURE_METRES, false, false, "how far calibration moves a point 40 m in front", moved_m},
    {"moved_cells", TAKES_NOTHING, MEASURE_COUNT, false, false, "cells that differ from the baseline", moved_cells},
    {"max_abs", TAKES_FORMAT, MEASURE_ERROR, false, false, "largest error against FP64", max_abs},
    {"cosine", TAKES_FORMAT, MEASURE_NONE, false, false, "cosine with FP64", cosine},
    {"rel_l2", TAKES_FORMAT, MEASURE_ERROR, false, false, "relative error, L2 norm", rel_l2},
    {"channels_l2", TAKES_FORMAT, MEASURE_ERROR, false, false, "relative error of each channel, their root mean square", channels_l2},
    {"nan_count", TAKES_FORMAT, MEASURE_COUNT, false, false, "outputs that are NaN, or should not be finite", nan_count},
    {"gate_a", TAKES_FORMAT, MEASURE_TRUTH, false, false, "gate A passes", gate_a},
    {"gate_b", TAKES_FORMAT, MEASURE_TRUTH, false, false, "gate B passes", gate_b},
    {"gate_c", TAKES_FORMAT, MEASURE_TRUTH, false, false, "gate C passes", gate_c},
    {"published_gate", TAKES_FORMAT, MEASURE_TRUTH, false, false, "largest error at most 1e-2", published_gate},
    {"temperature", TAKES_NOTHING, MEASURE_NONE, false, false, "depth temperature", temperature},
    {"byte", TAKES_NOTHING, MEASURE_BYTES, false, false, "a unit: 12 * points * byte", one_byte},
    {"MB", TAKES_NOTHING, MEASURE_BYTES, false, false, "a unit, 1,000,000 bytes: footprint() / MB", megabyte},
    {"MiB", TAKES_NOTHING, MEASURE_BYTES, false, false, "a unit, 2^20 bytes", mebibyte},
    {"time", TAKES_NOTHING, MEASURE_NONE, false, false, "moment of the scene in seconds", time_s},
};
/* clang-format on */
const int figure_count = sizeof figures / sizeof *figures;

int figure_find(const char *name) {
    for (int i = 0; i < figure_count; i++)
        if (!strcmp(figures[i].name, name))
            return i;
    return -1;
}
