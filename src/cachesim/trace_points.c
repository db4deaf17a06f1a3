/* Warps of the way back that own points: grad_atomic, whose groups of threads own one point, and
 * grad_block, whose warps own 32 of the points sorted by pixel. Both add to sums in memory. */
#include "src/cachesim/trace_backward.h"

/* ---- a point a group of threads: grad_atomic ------------------------------------------------- */

typedef struct {
    int64_t thread; /* the warp's first */
} PointWarp;

/* Threads of a warp that have the same point: tiles [first, last). */
typedef struct {
    int64_t t;
    int first, last;
} Share;

static int tiles_of(const Back *back) {
    return (back->channels + back->access->tile - 1) / back->access->tile;
}

static int shares_of(const Back *back, int64_t thread, Share shares[WARP]) {
    int tiles = tiles_of(back), count = 0;
    for (int64_t end = thread + WARP; thread < end && thread / tiles < back->points;) {
        int first = (int)(thread % tiles);
        int last = first + (int)(end - thread) < tiles ? first + (int)(end - thread) : tiles;
        shares[count++] = (Share){thread / tiles, first, last};
        thread += last - first;
    }
    return count;
}

static void read_shares(Back *back, int sm, const Share *shares, int count, Place place,
                        const int32_t *element, int bytes) {
    Instruction in = memory_read(back->memory, sm, place);
    for (int s = 0; s < count; s++)
        memory_span(&in, (element ? element[shares[s].t] : shares[s].t) * (int64_t)bytes, bytes);
}

/* Half a tile of rows. */
static void read_halves(Back *back, int sm, const Share *shares, int count, Place place,
                        const int32_t *row, int half) {
    bool quads = back->channels % QUAD == 0;
    for (int part = quads ? -1 : 0; part < (quads ? 0 : QUAD); part++) {
        Instruction in = memory_read(back->memory, sm, place);
        for (int s = 0; s < count; s++)
            for (int tile = shares[s].first; tile < shares[s].last; tile++) {
                int first = tile * back->access->tile + half * QUAD, end = first + QUAD;
                end = end < back->channels ? end : back->channels;
                if (first < end)
                    back_row_span(back, &in, row[shares[s].t], first, end, part);
            }
    }
}

static void add_shares(Back *back, int sm, const Share *shares, int count) {
    int tile = back->access->tile;
    Instruction in = memory_adding(back->memory, sm, back->feat_sums, tile);
    for (int s = 0; s < count; s++) {
        int64_t first = (int64_t)shares[s].first * tile, end = (int64_t)shares[s].last * tile;
        int64_t row = back->pixel[shares[s].t] * (int64_t)back->channels;
        end = end < back->channels ? end : back->channels;
        memory_add(&in, (row + first) * FLOAT, (end - first) * FLOAT, (end - first) * FLOAT, tile);
    }
    in = memory_adding(back->memory, sm, back->depth_sums, 1);
    for (int s = 0; s < count; s++) /* lanes of one address ask for its sector once */
        memory_add(&in, back->element[shares[s].t] * (int64_t)FLOAT,
                   (shares[s].last - shares[s].first) * FLOAT, FLOAT, 1);
}

static bool point_begin(void *replay, int64_t block, int number, void *state) {
    const Back *back = replay;
    PointWarp *warp = state;
    warp->thread = block * back->access->block + number * WARP;
    return warp->thread / tiles_of(back) < back->points;
}

static bool point_turn(void *replay, int sm, void *state) {
    Back *back = replay;
    const PointWarp *warp = state;
    Share shares[WARP];
    TraceWaits indices = {0}, values = {0};
    int count = shares_of(back, warp->thread, shares);
    read_shares(back, sm, shares, count, back->elements, NULL, INDEX);
    read_shares(back, sm, shares, count, back->pixels, NULL, INDEX);
    read_shares(back, sm, shares, count, back->cells, NULL, INDEX);
    if (back->problem->map.weights)
        read_shares(back, sm, shares, count, back->weights, NULL, FLOAT);
    memory_wait(back->memory, &indices, 1);
    read_shares(back, sm, shares, count, back->depth, back->element, back->bytes);
    for (int half = 0; half < back->access->tile / QUAD; half++) {
        read_halves(back, sm, shares, count, back->grad_out, back->cell, half);
        read_halves(back, sm, shares, count, back->feat, back->pixel, half);
    }
    memory_wait(back->memory, &values, 1);
    back_warp_done(back, 1, indices, values);
    add_shares(back, sm, shares, count);
    memory_step(back->memory, sm);
    return false;
}

/* ---- a run a warp: grad_block ---------------------------------------------------------------- */

typedef struct {
    int64_t t, first, end;
    int32_t runs; /* finished */
    int32_t steps;
    TraceWaits indices, values;
    bool joins; /* an earlier warp adds its first run */
} RunWarp;

/* One lane adds a dot product. */
static void add_dot(Back *back, int sm, int64_t element) {
    Instruction in = memory_adding(back->memory, sm, back->depth_sums, 1);
    memory_add(&in, element * FLOAT, FLOAT, FLOAT, 1);
}

/* The sums of a run: from registers, where a lane has four neighbours, or, `shared`, from shared
 * memory, channel by channel. */
static void add_run(Back *back, int sm, int64_t pixel, bool shared) {
    int64_t bytes = (int64_t)back->channels * FLOAT;
    int groups = (back->channels + LONG_ROW - 1) / LONG_ROW;
    int adds = shared ? (back->channels + WARP - 1) / WARP : groups * QUAD;
    Instruction in = memory_adding(back->memory, sm, back->feat_sums, adds);
    memory_add(&in, pixel * bytes, bytes, bytes, shared ? 1 : QUAD);
}

int back_run_warps(const Back *back) {
    int warps = back->access->block / WARP;
    return back->channels > LONG_ROW ? warps / 2 : warps;
}

static bool run_begin(void *replay, int64_t block, int number, void *state) {
    const Back *back = replay;
    RunWarp *warp = state;
    *warp = (RunWarp){.t = (block * back_run_warps(back) + number) * RUN_POINTS};
    warp->first = warp->t;
    warp->end = warp->t + RUN_POINTS < back->points ? warp->t + RUN_POINTS : back->points;
    if (warp->t >= back->points)
        return false;
    warp->joins = number > 0 && back->pixel[warp->t - 1] == back->pixel[warp->t];
    return true;
}

static void run_end(Back *back, int sm, const RunWarp *warp) {
    add_dot(back, sm, back->element[warp->end - 1]);
    if (warp->runs && !warp->joins)
        add_run(back, sm, back->pixel[warp->first], true);
    if (warp->runs || !warp->joins)
        add_run(back, sm, back->pixel[warp->end - 1], false);
    back_warp_done(back, warp->steps, warp->indices, warp->values);
}

/* The next point of a warp. */
static bool run_turn(void *replay, int sm, void *state) {
    Back *back = replay;
    RunWarp *warp = state;
    int64_t t = warp->t++;
    bool begins = t == warp->first;
    memory_wait(back->memory, NULL, 0);
    back_read_indices(back, sm, t, true);
    memory_wait(back->memory, &warp->indices, 1);
    if (!begins && back->element[t] != back->element[t - 1])
        add_dot(back, sm, back->element[t - 1]);
    if (!begins && back->pixel[t] != back->pixel[t - 1] && warp->runs++)
        add_run(back, sm, back->pixel[t - 1], false);
    if (begins || back->pixel[t] != back->pixel[t - 1])
        back_whole_row(back, sm, back->feat, back->pixel[t], false);
    back_read_point(back, sm, t);
    memory_wait(back->memory, &warp->values, 1);
    warp->steps++;
    memory_step(back->memory, sm);
    if (warp->t < warp->end)
        return true;
    run_end(back, sm, warp);
    return false;
}

static void sums_round(void *replay) {
    Back *back = replay;
    slices_turn(&back->memory->slices);
}

const Launch back_points = {.state_bytes = sizeof(PointWarp),
                            .begin = point_begin,
                            .turn = point_turn,
                            .round = sums_round};

const Launch back_runs = {
    .state_bytes = sizeof(RunWarp), .begin = run_begin, .turn = run_turn, .round = sums_round};
