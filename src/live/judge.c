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
    FrameParts parts;
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
static bool judge_parts(const FrameParts *parts, const Choice *choice, VerifyRow *row, Err *err) {
    const BevShape *shape = &parts->features->shape;
    Workload workload = {.scene = parts->scene->scene, .features = parts->features->values};
    workload.scene.shape = *shape;
    workload.scene.has_rig = true;
    workload.scene.has_map = false;
    workload.maps[choice->align] = parts->map->map;
    workload.map_us[choice->align] = 1;
    double *truth = malloc((size_t)(shape->nx * shape->ny * shape->channels) * sizeof *truth);
    if (!truth)
        return err_set(err, ERR_FAILED, "accuracy", "choose a smaller scene", "out of memory");
    truth_pool(shape, &parts->map->map, &parts->features->values, truth);
    const Selection selection = {choice->variant, choice->dtype, choice->align};
    bool ok = verify_one(&workload, &selection, truth, row, err);
    free(truth);
    return ok;
}

bool judge_now(const FrameParts *parts, const Choice *choice, LiveAccuracy *accuracy, Err *err) {
    VerifyRow row;
    *accuracy = (LiveAccuracy){.worst_cell = -1};
    if (!judge_parts(parts, choice, &row, err))
        return false;
    if (!row.skipped)
        fill(accuracy, &row);
    return true;
}

static void judge_asked(Judge *judge) {
    Verdict *verdict = &judge->verdict;
    verdict->failed =
        !judge_now(&judge->parts, &verdict->choice, &verdict->accuracy, &verdict->err);
    frame_parts_drop(&judge->parts);
}

static void *judge_main(void *argument) {
    Judge *judge = argument;
    stand_back();
    share_cores();
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
    frame_parts_drop(&judge->parts);
    free(judge);
}

bool judge_ask(Judge *judge, const FrameParts *parts, const Choice *choice, uint64_t epoch) {
    worker_lock(&judge->worker);
    bool free_now = judge->state == JUDGE_FREE;
    if (free_now) {
        judge->parts = frame_parts_keep(parts);
        judge->verdict = (Verdict){.epoch = epoch, .choice = *choice};
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
