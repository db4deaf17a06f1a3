/* SPDX-License-Identifier: MIT */
/* The table of figures that lessons can ask for. Exact arithmetic over shapes and the map is
 * SOURCE_COMPUTED. The memory model is SOURCE_MODEL. A question chooses the source of latencies. */
#include "src/learn/expression.h"

#include "kernels/codec.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *const figure_arrays[ARRAY_COUNT] = {"all",     "features", "depth", "indices",
                                                "weights", "output",   "ranks", "gradients"};

__attribute__((format(printf, 2, 3))) static Reading unknown(Evaluation *query, const char *format,
                                                             ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(query->why, sizeof query->why, format, args);
    va_end(args);
    return (Reading){0};
}

static Reading computed(double value) {
    return reading(value, SOURCE_COMPUTED);
}

static const BevKernel *kernel_of(Evaluation *query) {
    return query->kernel ? query->kernel : query->live->job.config.kernel;
}

static BevDtype dtype_of(Evaluation *query) {
    return query->dtype < 0 ? query->live->job.config.dtype : (BevDtype)query->dtype;
}

/* ---- latency --------------------------------------------------------------------------------- */

/* Returns the model's row of a kernel. An estimate and the model of an earlier map count as
 * unknown: the full simulation may judge otherwise. */
static const PredictedKernel *known_to_model(Evaluation *query) {
    const MemoryModel *model = query->live->model;
    Gpu gpu = state_gpu(query->state);
    const PredictedKernel *kernel = model ? model_of_kernel(model, kernel_of(query), &gpu) : NULL;
    if (kernel && (kernel->estimate || query->live->model_of_before))
        kernel = NULL;
    if (!kernel)
        unknown(query, "the memory model does not know %s here", kernel_of(query)->title);
    return kernel;
}

/* Returns the kernel's prediction on the chosen GPU; its figures are NaN where there is none. */
static Prediction predicted(Evaluation *query) {
    const State *state = query->state;
    const PredictedKernel *kernel = known_to_model(query);
    if (kernel)
        return model_predict(query->live->model, kernel, state->gpu, &state->edit);
    return (Prediction){.latency_us = NAN, .term_us = {NAN, NAN, NAN, NAN}, .dram_read_bytes = NAN};
}

static Reading modelled(double value) {
    return isnan(value) ? (Reading){0} : reading(value, SOURCE_MODEL);
}

/* Returns the latency of the query's kernel by the source `query->timings`, and by no other. */
static Reading latency(Evaluation *query) {
    if (query->timings == SOURCE_MODEL && kernel_of(query)->where == BEV_CPU)
        return unknown(query, "%s was not timed, and the model knows GPUs only",
                       kernel_of(query)->title);
    if (query->timings == SOURCE_MODEL)
        return modelled(predicted(query).latency_us);
    const LiveKernel *row = live_known_kernel(query->live, kernel_of(query));
    Reading median = row ? row->median_us : (Reading){0};
    bool doubtful = query->timings == SOURCE_MEASURED && live_latency(query->live, row).doubtful;
    /* A recorded median replaces a measured one that did not settle. */
    if (row && query->timings == SOURCE_RECORDED && query->live->complete)
        median = row->recorded_us;
    if (median.source == query->timings && !median.stale && !doubtful)
        return median;
    return unknown(query, "%s was not %s here", kernel_of(query)->title,
                   source_names[query->timings]);
}

/* Returns a figure of the kernel's row; `offset` is its place in the row. `source` says what the
 * figure lacks where it is unknown: "recorded" or "published". */
static Reading figure_of_row(Evaluation *query, size_t offset, const char *what,
                             const char *source) {
    const LiveKernel *row = live_known_kernel(query->live, kernel_of(query));
    const Reading *got = row ? (const Reading *)((const char *)row + offset) : NULL;
    if (got && got->source != SOURCE_UNKNOWN)
        return *got;
    return unknown(query, "%s of %s was not %s", what, kernel_of(query)->title, source);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static Reading sectors(Evaluation *query) {
    const PredictedKernel *kernel = known_to_model(query);
    return kernel ? reading(kernel->l2_sectors, SOURCE_MODEL) : (Reading){0};
}

/* Builds the selection's problem from the frame's shape and map, in the direction of the query's
 * kernel. Returns false, with the reason, where no formula counts the kernel's requests on it. */
static bool problem_of(Evaluation *query, BevProblem *problem) {
    const LiveFrame *frame = &query->live->frame;
    const KernelConfig *config = &query->live->job.config;
    const BevKernel *kernel = kernel_of(query);
    if (!frame->map) {
        unknown(query, "no scene is loaded");
        return false;
    }
    *problem = bev_bare_problem(&frame->shape, frame->map, kernel->direction, config->dtype,
                                config->align);
    const char *refused = bev_refuses(kernel, problem);
    if (!refused && !kernel->bytes && kernel->access.owner == BEV_OWNS_NOTHING)
        refused = "its accesses are not known";
    if (refused)
        unknown(query, "%s: %s", kernel->title, refused);
    return !refused;
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

static Reading kernel_traffic(Evaluation *query) {
    BevProblem problem;
    const BevKernel *kernel = kernel_of(query);
    if (!problem_of(query, &problem))
        return (Reading){0};
    if (query->array == ARRAY_RANKS && kernel->access.owner == BEV_OWNS_NOTHING)
        return unknown(query, "%s: its accesses are not known", kernel->title);
    if (query->array == ARRAY_RANKS)
        return computed(bev_rank_bytes(kernel, &problem));
    const BevTraffic traffic = bev_traffic(kernel, &problem);
    if (isnan(bev_traffic_total(traffic)))
        return unknown(query, "%s: no memory to count in the map", kernel->title);
    return computed(of_array(&traffic, query->array));
}

static Reading atomics(Evaluation *query) {
    BevProblem problem;
    if (!problem_of(query, &problem))
        return (Reading){0};
    return computed(bev_traffic(kernel_of(query), &problem).atomics);
}

/* Counts the atomic additions of a kernel whose blocks add up the points of a cell first: one for
 * each channel of each cell that a block touches. The query's number is the points of a block. */
static Reading block_atomics(Evaluation *query) {
    const BevMap *map = query->live->frame.map;
    int64_t block = (int64_t)query->number, cells = 0;
    if (!map)
        return unknown(query, "no scene is loaded");
    if (block < 1)
        return unknown(query, "a block has at least one point");
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t first = map->interval_starts[i], last = first + map->interval_lengths[i] - 1;
        cells += last / block - first / block + 1;
    }
    return computed((double)(cells * query->live->frame.shape.channels));
}

static Reading footprint(Evaluation *query) {
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

/* ---- the page of bits ------------------------------------------------------------------------ */

static Reading code_holds(Evaluation *query) {
    BitsPage page = state_bits(query->state);
    double value = bev_code_value(page.dtype, page.code);
    return isnan(value) ? unknown(query, "the bits are NaN") : computed(value);
}

/* Returns what the next code is: 0 a number, 1 infinity, 2 NaN; 3: there is no next code. */
static Reading code_after(Evaluation *query) {
    enum { NUMBER, INFINITE, NAN_CODE, NO_CODE };
    BitsPage page = state_bits(query->state);
    uint32_t next;
    if (bits_next(page.dtype, page.code, 1, &next))
        return computed(isinf(bev_code_value(page.dtype, next)) ? INFINITE : NUMBER);
    return computed(bits_then_nan(page.dtype, page.code) ? NAN_CODE : NO_CODE);
}

static Reading moved_m(Evaluation *query) {
    const LiveDifference *difference = &query->live->difference;
    if (difference->known && isfinite(difference->moved_m))
        return computed(difference->moved_m);
    return unknown(query, "no comparison with a rig is on");
}

/* Returns a figure of the chosen GPU. Its source is the data sheet or the learner's change. */
static Reading of_gpu(Evaluation *query, double value) {
    bool changed = gpu_edit_any(&query->state->edit);
    return reading(value, changed ? SOURCE_COMPUTED : SOURCE_PUBLISHED);
}

/* ---- the map --------------------------------------------------------------------------------- */

static Reading of_map(Evaluation *query, double value) {
    return query->live->intervals.known ? computed(value) : unknown(query, "no scene is loaded");
}

static Reading of_shape(Evaluation *query, int64_t value) {
    return query->live->frame.shape.nx ? computed((double)value)
                                       : unknown(query, "no scene is loaded");
}

static double ratio(int64_t part, int64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

/* Counts the cells whose pooled values differ from the baseline's in any bit. Both grids must come
 * from the kernels that were asked for, not from a stand-in. */
static Reading differing_cells(Evaluation *query) {
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

#define SHAPE  (query->live->frame.shape)
#define PIXELS (SHAPE.cameras * SHAPE.feat_h * SHAPE.feat_w)

static Reading inner_product(Evaluation *query, const float *a, const float *b, int64_t count) {
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

/* Returns the adjoint sum over the grid. Without a loss it has the gradient of all cells. */
static Reading adjoint_grid(Evaluation *query) {
    const LiveFrame *frame = &query->live->frame;
    const GridLoss *loss = frame->gradients.loss;
    const float *grad_out = loss && loss->grad_out ? loss->grad_out : frame->pooled;
    return inner_product(query, frame->pooled, grad_out, frame->nx * frame->ny * frame->channels);
}

/* Return the adjoint sums over the depths and over the features. */
static Reading adjoint_depth(Evaluation *query) {
    const LiveFrame *frame = &query->live->frame;
    const float *depth = frame->features ? frame->features->depth : NULL;
    return inner_product(query, depth, frame->gradients.grad_depth, PIXELS * SHAPE.depth_bins);
}

static Reading adjoint_features(Evaluation *query) {
    const LiveFrame *frame = &query->live->frame;
    const float *feat = frame->features ? frame->features->feat : NULL;
    return inner_product(query, feat, frame->gradients.grad_feat, PIXELS * SHAPE.channels);
}

/* ---- accuracy -------------------------------------------------------------------------------- */

static Reading unchecked(Evaluation *query) {
    return unknown(query, "%s was not checked", bev_dtypes[dtype_of(query)].title);
}

static Reading of_accuracy(Evaluation *query, double value) {
    const LiveAccuracy *accuracy = &query->live->accuracy[dtype_of(query)];
    bool checked = accuracy->source != SOURCE_UNKNOWN && !accuracy->stale;
    return checked ? reading(value, accuracy->source) : unchecked(query);
}

/* Returns whether the gate passes. Gate C is judged after A and B, and unknown until then. */
static Reading of_gate(Evaluation *query, LiveVerdict gate) {
    return gate == LIVE_UNKNOWN ? unchecked(query) : of_accuracy(query, gate == LIVE_PASS);
}

/* ---- the table: words for the rows of figures.inc, whose head explains them ------------------ */

#define TIMED    true, true
#define MODELLED false, true
#define PLAIN    false, false
#define RECORDED(field, what)                                                                      \
    figure_of_row(query, offsetof(LiveKernel, field), what, source_names[SOURCE_RECORDED])
#define PUBLISHED(field, what)                                                                     \
    figure_of_row(query, offsetof(LiveKernel, field), what, source_names[SOURCE_PUBLISHED])
#define STATS        (query->live->intervals.stats)
#define ACCURACY     (query->live->accuracy[dtype_of(query)])
#define PASSES(gate) of_gate(query, ACCURACY.gate)

#define FIGURE(name, takes, measure, source, ...)                                                  \
    static Reading get_##name(Evaluation *query) {                                                 \
        (void)query;                                                                               \
        return __VA_ARGS__;                                                                        \
    }
#include "src/learn/figures.inc"
#undef FIGURE

#define FIGURE(name, takes, measure, source, ...)                                                  \
    {#name, TAKES_##takes, MEASURE_##measure, source, get_##name},
const FigureRow figures[] = {
#include "src/learn/figures.inc"
};
const int figure_count = sizeof figures / sizeof *figures;

int figure_find(const char *name) {
    for (int i = 0; i < figure_count; i++)
        if (!strcmp(figures[i].name, name))
            return i;
    return -1;
}
