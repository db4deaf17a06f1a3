/* cpu_v4: columns instead of points.
 *
 * IDEA    On a real rig the points of a cell are related. A column of the image is a vertical plane
 *         in the world: its pixels at one depth land in the same one or two cells. So a cell's
 *         points are a few entries, each a walk down a column. Cells that see the same columns are
 *         pooled one after the other: a column's features, fetched once, serve them all from the
 *         first cache. A cell's sums stay in registers from its first entry to its last.
 *
 * WHO     A thread owns a step, cells of about 1,000 points in all; whoever is free takes the next.
 *         A cell is a row of depths times a few columns of features:
 *
 *             step 7   cell 4711    [ d d d d d d d . . ]     [ f f f f f f ]  row 0
 *                      cell 4712    [ . . . . . d d d . ]  x  [ f f f f f f ]  row 1 of one column
 *                      cell 4911    [ d d d d d d d d d ]     [     ...     ]   ...
 *
 * MEMORY  Features come from the first cache, but for their first time. Depths are gathered one by
 *         one. Each output row is written once, yet no longer in one straight line: the order
 *         follows the columns, and rows of the output only within a few of them.
 *
 * COST    16 bytes an entry (10 to 18 points on camera rigs) and 8 a cell instead of 12 a point; P
 *         depths, P C features, cells C outputs. No atomics, no divisions.
 *
 * LIMITS  A cell has one owner, however many points it has. A map without columns has an entry a
 *         point, and its features come from wherever they are: V3 with more bytes of map.
 *
 * TRY     In cpu_v4_build.c, leave the intervals in the order of the map: how much of the gain was
 *         the order, how much the registers? Two cells at a time, with each feature loaded once for
 *         both? Our answers are in samples/recorded/NOTES-cpu.md. */
#include "kernels/codec.h"
#include "kernels/cpu/cpu_v4.h"

enum { MOST_VECTORS = 12 }; /* of sums; 16 registers hold them with room for a product */

/* One cell's entries times the features, and where the sums go: FP32 to where they belong, others
 * to a row of the thread's, on their way. */
typedef struct {
    const V4Entry *first, *end;
    const float *depth, *feat, *weights;
    int64_t feat_w, channels;
    int32_t cell;
    float *sums; /* [channels] */
} Product;

CPU_INLINE Product product_of(const BevProblem *problem, const BevPlan *plan, int64_t k,
                              float *sums) {
    const V4Owner *owner = &plan->owners[k];
    int64_t channels = plan->stage.channels;
    bool direct = problem->out.dtype == BEV_FP32;
    return (Product){.first = plan->entries + owner->first_entry,
                     .end = plan->entries + owner[1].first_entry,
                     .depth = plan->stage.depth,
                     .feat = plan->stage.feat,
                     .weights = plan->weights,
                     .feat_w = problem->shape.feat_w,
                     .channels = channels,
                     .cell = owner->cell,
                     .sums = direct ? (float *)problem->out.data + owner->cell * channels : sums};
}

CPU_INLINE void finish(const Product *p, const BevTensor *out) {
    if (out->dtype != BEV_FP32)
        bev_span_encode(out, p->cell, 0, p->channels, p->sums);
}

CPU_INLINE float depth_of(const Product *p, const V4Entry *entry, int64_t row, bool weighted) {
    float depth = p->depth[entry->depth + row * p->feat_w];
    return weighted ? depth * p->weights[entry->first_weight + row] : depth;
}

/* ---- vectors of 4, 8 and 16 channels --------------------------------------------------------- */

/* Not by CPU_CLONES: how many channels a register holds is part of the code. */
#define LANES 4
#define TARGET
#define WIDE(name) name##_4
#include "kernels/cpu/cpu_v4_lanes.inc"

#ifdef __x86_64__
#define LANES      8
#define TARGET     __attribute__((target("avx2")))
#define WIDE(name) name##_8
#include "kernels/cpu/cpu_v4_lanes.inc"

#define LANES      16
#define TARGET     __attribute__((target("avx512f")))
#define WIDE(name) name##_16
#include "kernels/cpu/cpu_v4_lanes.inc"
#endif

/* Fewer channels than the shortest vector has. */
static void pool_step_narrow(const BevProblem *problem, const BevPlan *plan, int64_t step,
                             float *sums) {
    for (int64_t k = plan->steps[step]; k < plan->steps[step + 1]; k++) {
        Product p = product_of(problem, plan, k, sums);
        for (int64_t c = 0; c < p.channels; c++)
            p.sums[c] = 0;
        for (const V4Entry *entry = p.first; entry < p.end; entry++)
            for (int64_t row = 0; row < entry->rows; row++)
                cpu_add_scaled(p.sums, p.feat + (entry->feat + row * p.feat_w) * p.channels,
                               depth_of(&p, entry, row, plan->weights != NULL), p.channels);
        finish(&p, &problem->out);
    }
}

typedef void PoolStep(const BevProblem *problem, const BevPlan *plan, int64_t step, float *sums);

/* The longest vectors that this machine has and the channels fill. */
static PoolStep *choose_pool_step(int64_t channels) {
#ifdef __x86_64__
    if (channels >= 16 && __builtin_cpu_supports("avx512f"))
        return pool_step_16;
    if (channels >= 8 && __builtin_cpu_supports("avx2"))
        return pool_step_8;
#endif
    return channels >= 4 ? pool_step_4 : pool_step_narrow;
}

static bool launch(const BevProblem *problem, const BevPlan *plan, void *stream, Err *err) {
    (void)stream, (void)err;
    PoolStep *pool_step = choose_pool_step(plan->stage.channels);
#pragma omp parallel num_threads(plan->stage.threads)
    {
        float *sums = cpu_sums(&plan->stage);
        cpu_stage_fill(&plan->stage, problem);
#pragma omp for schedule(dynamic) nowait
        for (int64_t step = 0; step < plan->step_count; step++)
            pool_step(problem, plan, step, sums);
        cpu_empty_clear(&plan->empty, &problem->out);
    }
    return true;
}

enum { USUAL_ROWS = 11 }; /* of an entry on camera rigs, for the model of traffic */

static BevTraffic bytes(const BevProblem *problem) {
    BevTraffic traffic = bev_gather_traffic(problem, bev_dtypes[problem->out.dtype].bits);
    traffic.index = (double)problem->map.points / USUAL_ROWS * sizeof(V4Entry) +
                    (double)problem->map.intervals * sizeof(V4Owner);
    return traffic;
}

const BevKernel kernel_cpu_v4 = {
    .name = "cpu_v4",
    .title = "V4",
    .idea = "Columns instead of points: sums stay in registers, features in the first cache.",
    .twin = "v4",
    .where = BEV_CPU,
    .is_default = true,
    .dtypes = CPU_ALL_DTYPES,
    .aligns = CPU_ALL_ALIGNS,
    .deterministic = true,
    .prepare = cpu_v4_prepare,
    .release = cpu_v4_release,
    .launch = launch,
    .bytes = bytes,
};
