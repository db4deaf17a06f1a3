/* SPDX-License-Identifier: MIT */
/* libbevpool in a process that has no memory left, and in a child that was forked after a launch.
 */
#include "kernels/threads.h"
#include "tests/lib/small_map.h"
#include "tests/support/child.h"

#include <stdatomic.h>

#ifdef _OPENMP
#include <omp.h>
#else
static void omp_set_num_threads(int threads) {
    (void)threads;
}
#endif

static const BevpoolView view = {.softmax = 1};
enum { CHANNELS = 4 };

/* ---- allocations that fail ------------------------------------------------------------------- */

static atomic_long left = -1; /* allocations until one fails; below 0: none does */

static bool fails(void) {
    return atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;
}

/* The linker gives these names to the library's calls (tests/local.mk). */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes) {
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes) {
    return fails() ? NULL : __real_realloc(memory, bytes);
}

/* ---- from arrays to an output ---------------------------------------------------------------- */

typedef struct {
    int way; /* 0: arrays; 1: arrays without intervals; 2 and 3: two rigs, nearest and bilinear */
    BevpoolOptions options;
    BevpoolPlan *plan;
    float outputs[BEVPOOL_ROLES][64];
} Pool;

static BevpoolStatus make_map(int way, BevpoolMap **map) {
    BevpoolCamera camera = {{1, 0, 1, 0, 1, .5, 0, 0, 1}, {0, 0, 1, -1, 0, 0, 0, -1, 0}, {0}};
    BevpoolRig rig = {sizeof rig, &camera, 1, 2, 1,  1,   0,  0,  2, 1, 2, 1,
                      1,          3,       1, 0, 20, -20, 20, -5, 5, 2, 1, 0};
    const BevpoolRig rigs[] = {rig, rig};
    BevpoolArrays arrays = arrays_of();
    if (way == 1)
        arrays.interval_starts = arrays.interval_lengths = NULL;
    return way < 2 ? bevpool_map_from_arrays(map, &shape, &arrays, BEVPOOL_CPU, 0, &error)
                   : bevpool_map_from_rigs(map, rigs, 2, way - 2, BEVPOOL_CPU, &error);
}

static BevpoolStatus make_plan(Pool *pool) {
    BevpoolMap *map = NULL;
    BevpoolStatus status = make_map(pool->way, &map);
    pool->plan = NULL;
    if (!status)
        status = bevpool_plan_create(&pool->plan, map, &pool->options, &error);
    bevpool_map_destroy(map);
    return status;
}

/* Every input is 1. */
static BevpoolStatus launch(Pool *pool) {
    static _Alignas(256) char workspace[1 << 14];
    static float ones[64];
    BevpoolCall call = {
        .size = sizeof call, .workspace = workspace, .workspace_bytes = sizeof workspace};
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    memset(pool->outputs, 0xff, sizeof pool->outputs);
    for (int32_t role = 0; role < BEVPOOL_ROLES; role++) {
        bool input = role < BEVPOOL_OUT || role == BEVPOOL_GRAD_OUT;
        call.tensors[role] = (BevpoolTensor){input ? ones : pool->outputs[role],
                                             bevpool_plan_bytes(pool->plan, role), 0, 1};
    }
    return bevpool_run(pool->plan, &call, &error);
}

static void for_all(void (*test)(Pool pool)) {
    Pool pool = {.options = {.size = sizeof pool.options, .channels = CHANNELS}};
    for (pool.way = 1; pool.way <= 3; pool.way++)
        test(pool);
    pool.way = 0;
    for (int32_t direction = 0; direction < 2; direction++) {
        pool.options.direction = direction;
        pool.options.view = &view;
        test(pool);
        pool.options.view = NULL;
        for (int i = 0; (pool.options.kernel = bevpool_kernel_name(-1, direction, i)); i++)
            test(pool);
    }
}

static const char *name_of(const Pool *pool) {
    return pool->options.kernel ? pool->options.kernel : "the default";
}

static void test_no_memory(Pool pool) {
    for (long allocations = 0;; allocations++) {
        atomic_store(&left, allocations);
        BevpoolStatus status = make_plan(&pool);
        if (!status)
            status = launch(&pool);
        bool failed = atomic_exchange(&left, -1) < 0;
        bevpool_plan_destroy(pool.plan);
        /* A plan may do without a block of its own size. */
        if (failed && (status == BEVPOOL_NO_MEMORY || status == BEVPOOL_OK))
            continue;
        tap_ok(status == BEVPOOL_OK && !failed && allocations > 0,
               "map %d, %s: each of %ld allocations fails as BEVPOOL_NO_MEMORY: %s", pool.way,
               name_of(&pool), allocations, error.text);
        return;
    }
}

TAP_SUITE(lib_process_memory) {
    for_all(test_no_memory);
}

static Pool before; /* of the parent */

static bool same_as_before(Pool *pool) {
    return !launch(pool) && !memcmp(pool->outputs, before.outputs, sizeof pool->outputs);
}

static bool pools_again(void) {
    enum { PATIENCE_S = 30 };
    Pool of_parent = before, own = before;
    alarm(PATIENCE_S);
    return same_as_before(&of_parent) && !make_plan(&own) && same_as_before(&own);
}

static void test_fork(Pool pool) {
    fine(make_plan(&pool), "a plan");
    fine(launch(&pool), "a launch");
    before = pool;
    tap_ok(in_child(pools_again), "map %d, %s: a forked child pools the same", pool.way,
           name_of(&pool));
    bevpool_plan_destroy(pool.plan);
}

static bool has_three(void) {
    return bev_threads() == 3;
}

static bool has_one(void) {
    return bev_threads() == 1;
}

TAP_SUITE(lib_process_threads) {
    omp_set_num_threads(3);
    if (!has_three())
        tap_skip_suite("this build has no OpenMP");
    tap_ok(has_three() && in_child(has_three), "alone at the fork: a child has OpenMP's threads");
    atomic_int team = 0;
#pragma omp parallel
    team++;
    tap_ok(team == 3 && has_three() && in_child(has_one),
           "with a team at the fork: a child has one thread");
}

TAP_SUITE(lib_process_fork) {
    omp_set_num_threads(4);
    for_all(test_fork);
}
