#include "src/live/judge.h"

#include "src/base/background.h"
#include "src/base/ref.h"
#include "src/accuracy/fp64.h"
#include "src/accuracy/verify.h"
#include "src/base/worker.h"

#include <stdlib.h>

typedef enum { JUDGE_FREE, JUDGE_ASKED, JUDGE_DONE } JudgeState;

struct Judge {
    Worker worker;
    void (*wake)(void *context);
    void *context;
    JudgeState state;
    FrameInputs parts;
    Verdict verdict;
};

static LiveVerdict live_verdict(GateVerdict verdict) {
    return verdict == GATE_PASS ? LIVE_PASS : verdict == GATE_FAIL ? LIVE_FAIL : LIVE_SKIP;
}

static void fill(LiveAccuracy *accuracy, const VerifyRow *row) {
    *accuracy = (LiveAccuracy){
        .source = SOURCE_MEASURED,
        .gate_a = live_verdict(row->kernel.verdict),
        .gate_b = live_verdict(row->format_verdict),
        .gate_c = live_verdict(row->exact.verdict),
        .atol_1e2 = row->format.atol_1e2 ? LIVE_PASS : LIVE_FAIL,
        .max_abs = row->format.max_abs,
        .rel_l2 = row->format.rel_l2,
        .cosine = row->format.cosine,
        .nan_count = row->format.nan_count,
        .inf_count = row->format.inf_count,
        .worst_cell = row->format.worst_cell,
    };
}

/* The parts as the workload that the gates expect; borrows everything, is never closed. */
static bool judge_parts(const FrameInputs *parts, const KernelConfig *config, VerifyRow *row,
                        Err *err) {
    const BevShape *shape = &parts->features->shape;
    Workload workload = {.scene = parts->scene->scene, .features = parts->features->values};
    workload.scene.shape = *shape;
    workload.scene.has_rig = true;
    workload.scene.has_map = false;
    workload.maps[config->align] = parts->map->map;
    workload.map_us[config->align] = 1;
    double *fp64_original =
        malloc((size_t)(shape->nx * shape->ny * shape->channels) * sizeof *fp64_original);
    if (!fp64_original)
        return err_set(err, ERR_FAILED, "accuracy", "choose a smaller scene", "out of memory");
    fp64_pool(shape, &parts->map->map, &parts->features->values, fp64_original);
    bool ok = verify_one(&workload, config, fp64_original, row, err);
    free(fp64_original);
    return ok;
}

bool judge_now(const FrameInputs *parts, const KernelConfig *config, LiveAccuracy *accuracy,
               Err *err) {
    VerifyRow row;
    *accuracy = (LiveAccuracy){.worst_cell = -1};
    if (!judge_parts(parts, config, &row, err))
        return false;
    if (!row.skipped)
        fill(accuracy, &row);
    return true;
}

static void judge_asked(Judge *judge) {
    Verdict *verdict = &judge->verdict;
    verdict->failed =
        !judge_now(&judge->parts, &verdict->config, &verdict->accuracy, &verdict->err);
    frame_inputs_drop(&judge->parts);
}

static void *judge_main(void *argument) {
    Judge *judge = argument;
    stand_back();
    worker_lock(&judge->worker);
    while (!judge->worker.stop) {
        if (judge->state != JUDGE_ASKED) {
            worker_wait(&judge->worker);
            continue;
        }
        worker_unlock(&judge->worker);
        judge_asked(judge);
        dismiss_team();
        worker_lock(&judge->worker);
        judge->state = JUDGE_DONE;
        judge->wake(judge->context);
    }
    worker_unlock(&judge->worker);
    return NULL;
}

bool judge_open(Judge **out, void (*wake)(void *), void *context, Err *err) {
    Judge *judge = calloc(1, sizeof *judge);
    if (!judge)
        return err_set(err, ERR_FAILED, "accuracy", "", "out of memory");
    judge->wake = wake;
    judge->context = context;
    if (!worker_start(&judge->worker, judge_main, judge, "accuracy", err)) {
        free(judge);
        return false;
    }
    *out = judge;
    return true;
}

void judge_close(Judge *judge) {
    if (!judge)
        return;
    worker_end(&judge->worker);
    frame_inputs_drop(&judge->parts);
    free(judge);
}

bool judge_ask(Judge *judge, const FrameInputs *parts, const KernelConfig *config, uint64_t epoch) {
    worker_lock(&judge->worker);
    bool free_now = judge->state == JUDGE_FREE;
    if (free_now) {
        judge->parts = frame_inputs_keep(parts);
        judge->verdict = (Verdict){.epoch = epoch, .config = *config};
        judge->state = JUDGE_ASKED;
        worker_tell(&judge->worker);
    }
    worker_unlock(&judge->worker);
    return free_now;
}

bool judge_take(Judge *judge, Verdict *verdict) {
    worker_lock(&judge->worker);
    bool done = judge->state == JUDGE_DONE;
    if (done) {
        *verdict = judge->verdict;
        judge->state = JUDGE_FREE;
    }
    worker_unlock(&judge->worker);
    return done;
}

bool judge_busy(Judge *judge) {
    worker_lock(&judge->worker);
    bool busy = judge->state == JUDGE_ASKED;
    worker_unlock(&judge->worker);
    return busy;
}
