/* SPDX-License-Identifier: MIT */
#include "src/cachesim/predict.h"

#include <math.h>
#include <string.h>

const char *const term_names[TERM_COUNT] = {"DRAM", "L2", "issue", "dependent loads"};
const char *const limit_names[TERM_COUNT] = {"limited by DRAM bandwidth", "limited by L2 bandwidth",
                                             "issue-bound", "latency-bound"};

const char *limit_brief(const char *text) {
    static const char start[] = "limited by ";
    const size_t length = sizeof start - 1;
    return strncmp(text, start, length) == 0 ? text + length : text;
}

/* Data sheets do not give the constants below. This program's probes on an H200 gave them (`info
 * --probe`, run 1 in samples/experiments/model.md). More of them are in regime.h. On another GPU
 * the rates are assumed to grow with its multiprocessors and its clock. */

/* A copy in DRAM reaches 4,220 of 4,800 GB/s. */
static const double DRAM_SHARE = 0.88;

/* Multiprocessors read 9,250 GB/s from L2, and recorded clears write 5,160 GB/s. In a nanosecond L2
 * does 104 additions spread over many sectors, 105 stores of 4 bytes, or 95 reads with a store
 * behind them (model.md, *Slices*). */
static const double L2_READ_BYTES = 35.4, L2_WRITE_BYTES = 19.7; /* a cycle and multiprocessor */
static const double L2_ADDITIONS = 0.4, L2_PAIRS = 0.364; /* sectors a cycle and multiprocessor */
static const double ALL_BYTES = 1e15; /* the size of an L2 that keeps every line */

/* A hit in the other partition takes FAR_CYCLES more than in this one, a miss DRAM_CYCLES more. */
static const double FAR_CYCLES = 175, DRAM_CYCLES = 412;

/* An empty kernel takes LAUNCH_US in a graph. In a graph of its own, as behind a flush, an empty
 * kernel takes ALONE_US more (model.md, *Cold caches*). A clear and the encoding are further
 * launches. The encoding takes 7.8 us for 3.2 million elements. */
static const double LAUNCH_US = 0.6, ALONE_US = 2.3, CLEAR_US = 0.7;
static const double ENCODED = 1.57; /* elements a cycle and multiprocessor */

/* START_CYCLES pass from the end of a block to the start of the next block in its place. This was
 * measured with 2,112 blocks of V4's size that end at once, eight in each place: they take 1.48 us
 * more than an empty kernel (model.md, *V4's instructions, counted by a test*). */
static const double START_CYCLES = 366;

/* The kernel that transposes the depth takes this time on hires and coarse (v4.md, *What the last
 * tiles wait for*). */
static const double TRANSPOSE_US = 1.9;

double predict_dram_gb_s(const Gpu *gpu) {
    return gpu->dram_gb_s * DRAM_SHARE;
}

double predict_l2_gb_s(const Gpu *gpu) {
    return isfinite(gpu->l2_gb_s) ? gpu->l2_gb_s : L2_READ_BYTES * gpu->sms * gpu_clock_ghz(gpu);
}

double predict_fp32_gflops(const Gpu *gpu) {
    return isfinite(gpu->fp32_tflops) ? gpu->fp32_tflops * 1e3
                                      : gpu->sms * 256 * gpu_clock_ghz(gpu);
}

/* ---- profile --------------------------------------------------------------------------------- */

/* Counts the bytes of the launches that clear before the kernel and encode after it. */
static void count_passes(const BevProblem *problem, Profile *profile) {
    const BevAccess *access = &profile->kernel->access;
    double bytes = (double)bev_output_bytes(problem);
    double elements = (double)(problem->out.rows * problem->out.row_len);
    if (access->clears)
        profile->cleared_bytes = bytes;
    if (access->sums)
        profile->cleared_bytes = elements * sizeof(float);
    if (access->sums && problem->out.dtype != BEV_FP32) {
        profile->encoded = elements;
        profile->encoded_bytes = bytes;
    }
}

/* Guesses the curves of a sampled replay, as if the kernel read each array once. */
static bool guess_curves(const BevProblem *problem, Profile *profile, Err *err) {
    const BevFootprint f = bev_footprint(problem);
    const TraceCounts *counts = &profile->counts;
    const double sums = profile->kernel->access.sums ? profile->encoded * sizeof(float) : 0;
    const ReuseGuess guess = {
        .fetches = counts->l2_reads,
        .writes = counts->l2_sectors - counts->l2_reads,
        .read_once = (f.feat + f.depth + f.index + f.weight + sums) / SECTOR,
        .written_once = (f.out + sums) / SECTOR,
    };
    return reuse_guess(&guess, &profile->whole, &profile->divided, err);
}

bool profile_make(const BevKernel *kernel, const BevProblem *problem, const TraceWatch *watch,
                  Profile *profile, Err *err) {
    *profile = (Profile){.kernel = kernel, .dtype = problem->dtype};
    count_passes(problem, profile);
    profile->estimate = watch && watch->sample > 1;
    Reuse *reuse = NULL;
    Reuse **analysis = profile->estimate ? NULL : &reuse; /* a sample has no reuse distances */
    if (!trace_replay(kernel, problem, watch, &profile->counts, analysis, err))
        return false;
    profile->tile = bev_access_tile(profile->counts.form, problem);
    const bool has_curves = profile->estimate
                                ? guess_curves(problem, profile, err)
                                : reuse_end(reuse, &profile->whole, &profile->divided, err);
    if (!has_curves)
        profile_free(profile);
    return has_curves;
}

void profile_free(Profile *profile) {
    reuse_curves_free(&profile->whole);
    reuse_curves_free(&profile->divided);
    *profile = (Profile){0};
}

void profile_refine(Profile *estimate, const Profile *whole) {
    TraceCounts *counts = &estimate->counts;
    const TraceCounts *all = &whole->counts;
    if (counts->form != all->form || estimate->tile != whole->tile)
        return;
    counts->steps = all->steps;
    counts->busy_steps = all->busy_steps;
    counts->busy_others = all->busy_others;
    counts->additions = all->additions;
    counts->busiest = all->busiest;
    counts->longest = all->longest;
    counts->slowest = all->slowest;
    counts->rounds = all->rounds;
    counts->waves = all->waves;
    counts->indices = all->indices;
    counts->values = all->values;
}

void profile_resemble(Profile *estimate, const Profile *whole) {
    TraceCounts *counts = &estimate->counts;
    const TraceCounts *other = &whole->counts;
    if (counts->form != other->form || estimate->tile != whole->tile)
        return;
    if (other->steps > 0)
        counts->busy_steps = counts->steps * other->busy_steps / other->steps;
    if (other->slowest > 0) {
        const double times_more = (double)counts->slowest / (double)other->slowest;
        counts->indices = trace_waits_scaled(other->indices, times_more);
        counts->values = trace_waits_scaled(other->values, times_more);
    }
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* Returns the time of `number` operations of L2. An H200's L2 does `a_cycle` operations in a cycle
 * for each multiprocessor. On another GPU the rate is in proportion to the L2 read bandwidth. */
static double l2_operations_us(const Gpu *gpu, double number, double a_cycle) {
    double operations_a_us = predict_l2_gb_s(gpu) * a_cycle / L2_READ_BYTES * 1e3;
    return number / operations_a_us;
}

static double l2_write_us(const Gpu *gpu, double bytes) {
    return l2_operations_us(gpu, bytes, L2_WRITE_BYTES);
}

/* Returns the L2 term of the kernel alone. The launches that clear and encode belong to launch_us.
 * Additions take the time of the busiest slice of the L2. A store to a part of a sector takes as
 * long as an addition: L2 reads the sector, inserts the bytes and recomputes the check bits. */
static double l2_us(const Profile *profile, const Gpu *gpu) {
    const TraceCounts *counts = &profile->counts;
    const bool plain = profile->kernel->access.sums == BEV_SUMS_PLAIN;
    /* An addition counts as a read and as a write. */
    double reads = counts->l2_reads - counts->additions;
    double writes = counts->l2_sectors - counts->l2_reads - counts->additions;
    double encoder_reads = profile->encoded * sizeof(float) / SECTOR;
    double other_writes = (profile->cleared_bytes + profile->encoded_bytes) / SECTOR;
    double stores = writes - counts->l2_partial - other_writes; /* stores of whole sectors */
    return SECTOR * (reads - encoder_reads) / (predict_l2_gb_s(gpu) * 1e3) +
           l2_write_us(gpu, SECTOR * stores) +
           l2_operations_us(gpu, counts->l2_partial, L2_ADDITIONS) +
           l2_operations_us(gpu, counts->busiest, plain ? L2_PAIRS : L2_ADDITIONS);
}

/* Returns the cycles of `longest` dependent loads of a warp, of which `at_once` are in flight. Each
 * load is served by L1 or from beyond L1. In a cold L2 the first load of a sector waits for DRAM.
 * First loads are few and lie anywhere. A first load makes all loads in flight with it wait. */
static double loads_cycles(const TraceWaits *loads, double longest, double at_once,
                           const L2Answer *l2) {
    double beyond =
        BEV_L2_CYCLES - BEV_L1_CYCLES + FAR_CYCLES * l2->crossed + DRAM_CYCLES * l2->missed;
    double cycles = (BEV_L1_CYCLES * longest + beyond * loads->beyond) / at_once;
    if (!l2->cold)
        return cycles;
    double first_share = fmin(loads->first / fmax(longest, 1), 1), in_flight = fmax(at_once, 1);
    double groups = longest / in_flight; /* loads that are in flight together form a group */
    double share_with_first = 1 - pow(1 - first_share, in_flight);
    return cycles + DRAM_CYCLES * (groups * share_with_first);
}

/* Returns the multiprocessors of the replay divided by those of the GPU. */
static double replayed_share(const Gpu *gpu) {
    return (double)TRACE_MULTIPROCESSORS / gpu->sms;
}

/* Returns how many blocks follow each other in one place of a multiprocessor, at least one. */
static double waves_on(const TraceCounts *counts, const Gpu *gpu) {
    return fmax((double)counts->waves * replayed_share(gpu), 1);
}

/* Whether the replay has counted all instructions of each warp, as for V4's tiles. Otherwise the
 * model counts the instructions of a step. */
static bool counts_whole_warps(const TraceCounts *counts) {
    return counts->slowest_instructions > 0;
}

/* Returns the term of the dependent loads. A warp loads, for each point of the slowest interval,
 * the indices, then depth and features together. Points that the kernel loads together overlap.
 * Their arithmetic does not overlap. Blocks that follow each other wait one after the other. */
static double dependent_loads_us(const Profile *profile, const Gpu *gpu, double instructions_a_step,
                                 const L2Answer *l2) {
    const TraceCounts *counts = &profile->counts;
    double steps = (double)counts->slowest;
    double indices =
        loads_cycles(&counts->indices, steps, bev_indices_ahead(counts->form, profile->dtype), l2);
    double values = loads_cycles(&counts->values, steps,
                                 bev_points_in_flight(counts->form, profile->dtype), l2);
    double instructions = counts_whole_warps(counts) ? (double)counts->slowest_instructions
                                                     : instructions_a_step * steps;
    double cycles = indices + values + BEV_CHAIN_CYCLES * instructions;
    if (!counts_whole_warps(counts)) {
        /* Loads in sequence before an owner's first point: a cell's interval, and its start. */
        int first_loads = counts->form->owner == BEV_OWNS_CELL ? 2 : counts->form->owner_bytes > 0;
        int64_t later = counts->rounds - counts->longest; /* below 0 in a sample */
        double more = fmax((double)later, 0) * replayed_share(gpu);
        cycles *= 1 + more / fmax(steps, 1);
        cycles += waves_on(counts, gpu) * (START_CYCLES + BEV_L2_CYCLES * first_loads);
    }
    return cycles / (gpu_clock_ghz(gpu) * 1e3);
}

/* Returns the time of the kernel's own launch and of launches that transpose, clear and encode. */
static double launches_us(const Profile *profile, const Gpu *gpu) {
    double cycles_a_us = gpu_clock_ghz(gpu) * 1e3, us = LAUNCH_US;
    if (counts_whole_warps(&profile->counts))
        us += waves_on(&profile->counts, gpu) * START_CYCLES / cycles_a_us;
    if (profile->counts.transposed)
        us += TRANSPOSE_US;
    if (profile->cleared_bytes > 0)
        us += CLEAR_US + l2_write_us(gpu, profile->cleared_bytes);
    if (profile->encoded > 0)
        us += LAUNCH_US + profile->encoded / (ENCODED * gpu->sms * gpu_clock_ghz(gpu) * 1e3);
    return us;
}

L2Answer profile_l2(const Profile *profile, int partitions, double bytes, L2Start start) {
    const bool warm = start == L2_WARM;
    const ReuseCurves *curves = partitions == 2 ? &profile->divided : &profile->whole;
    const ReuseCurve *curve = warm ? &curves->warm : &curves->cold;
    double fetches = curve->fetches ? (double)curve->fetches : INFINITY;
    double first = warm ? 0 : reuse_miss_ratio(curve, ALL_BYTES);
    return (L2Answer){.hit_rate = reuse_hit_rate(curve, bytes),
                      .misses = reuse_misses(curve, bytes),
                      .writebacks = reuse_writebacks(curve, bytes),
                      .missed = reuse_miss_ratio(curve, bytes) - first,
                      .crossed = reuse_crossings(curve, bytes) / fetches,
                      .cold = !warm};
}

Prediction predict(const Profile *profile, const Gpu *gpu, L2Start start) {
    L2Answer l2 = profile_l2(profile, gpu->l2_partitions, gpu->l2_bytes, start);
    Prediction p = predict_at(profile, gpu, &l2);
    double alone_us = start == L2_WARM ? 0 : ALONE_US;
    p.launch_us += alone_us;
    p.latency_us += alone_us;
    return p;
}

Prediction predict_at(const Profile *profile, const Gpu *gpu, const L2Answer *l2) {
    const TraceCounts *counts = &profile->counts;
    BevGpuFacts facts = gpu_facts(gpu);
    double instructions =
        counts_whole_warps(counts)
            ? 0
            : bev_step_instructions(counts->form, profile->tile, profile->dtype, &facts);
    double issued = counts->busy_steps * instructions + counts->busy_others;
    enum { SCHEDULERS = 4 }; /* of a multiprocessor; each issues at most one instruction a cycle */
    double issue_cycles = issued / (SCHEDULERS * BEV_ISSUE_SHARE);
    double cycles_a_us = gpu->sms * gpu_clock_ghz(gpu) * 1e3;
    Prediction p = {.hit_rate = l2->hit_rate};
    p.dram_read_bytes = SECTOR * l2->misses;
    p.dram_write_bytes = SECTOR * l2->writebacks;
    p.term_us[TERM_DRAM] = prediction_dram_bytes(p) / (predict_dram_gb_s(gpu) * 1e3);
    p.term_us[TERM_L2] = l2_us(profile, gpu);
    /* The issue term is that of the busiest multiprocessor. It is the longer of two times: the time
     * to issue the warp instructions, and the time of L1, which takes one touched line a cycle. */
    p.instructions_us = issue_cycles / cycles_a_us;
    p.term_us[TERM_ISSUE] = fmax(issue_cycles, counts->busy_lines) / cycles_a_us;
    p.term_us[TERM_DEPENDENT_LOADS] = dependent_loads_us(profile, gpu, instructions, l2);
    p.launch_us = launches_us(profile, gpu);
    for (int term = 0; term < TERM_COUNT; term++)
        if (p.term_us[term] > p.term_us[p.limiter])
            p.limiter = (LatencyTerm)term;
    p.latency_us = predict_latency_us(&p);
    return p;
}

double predict_latency_us(const Prediction *prediction) {
    double squares = 0;
    for (int term = 0; term < TERM_COUNT; term++)
        squares += prediction->term_us[term] * prediction->term_us[term];
    return sqrt(squares) + prediction->launch_us;
}
