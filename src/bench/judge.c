#include "src/bench/judge.h"

#include "src/bench/background.h"
#include "src/bench/shared.h"
#include "src/bench/truth.h"
#include "src/bench/verify.h"

#include <pthread.h>
#include <stdlib.h>

typedef enum { JUDGE_FREE, JUDGE_ASKED, JUDGE_DONE } JudgeState;

struct Judge {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*wake)(void *context);
    void *context;
    JudgeState state;
    bool stop;
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
    pthread_mutex_lock(&judge->lock);
    while (!judge->stop) {
        if (judge->state != JUDGE_ASKED) {
            pthread_cond_wait(&judge->changed, &judge->lock);
            continue;
        }
        pthread_mutex_unlock(&judge->lock);
        judge_asked(judge);
        dismiss_team();
        pthread_mutex_lock(&judge->lock);
        judge->state = JUDGE_DONE;
        judge->wake(judge->context);
    }
    pthread_mutex_unlock(&judge->lock);
    return NULL;
}

bool judge_open(Judge **out, void (*wake)(void *), void *context, Err *err) {
    Judge *judge = calloc(1, sizeof *judge);
    if (!judge)
        return err_set(err, ERR_FAILED, "accuracy", "", "out of memory");
    judge->wake = wake;
    judge->context = context;
    pthread_mutex_init(&judge->lock, NULL);
    pthread_cond_init(&judge->changed, NULL);
    if (pthread_create(&judge->thread, NULL, judge_main, judge)) {
        free(judge);
        return err_set(err, ERR_FAILED, "accuracy", "", "no thread");
    }
    *out = judge;
    return true;
}

void judge_close(Judge *judge) {
    if (!judge)
        return;
    pthread_mutex_lock(&judge->lock);
    judge->stop = true;
    pthread_cond_signal(&judge->changed);
    pthread_mutex_unlock(&judge->lock);
    pthread_join(judge->thread, NULL);
    pthread_cond_destroy(&judge->changed);
    pthread_mutex_destroy(&judge->lock);
    frame_parts_drop(&judge->parts);
    free(judge);
}

bool judge_ask(Judge *judge, const FrameParts *parts, const Choice *choice, uint64_t epoch) {
    pthread_mutex_lock(&judge->lock);
    bool free_now = judge->state == JUDGE_FREE;
    if (free_now) {
        judge->parts = frame_parts_keep(parts);
        judge->verdict = (Verdict){.epoch = epoch, .choice = *choice};
        judge->state = JUDGE_ASKED;
        pthread_cond_signal(&judge->changed);
    }
    pthread_mutex_unlock(&judge->lock);
    return free_now;
}

bool judge_take(Judge *judge, Verdict *verdict) {
    pthread_mutex_lock(&judge->lock);
    bool done = judge->state == JUDGE_DONE;
    if (done) {
        *verdict = judge->verdict;
        judge->state = JUDGE_FREE;
    }
    pthread_mutex_unlock(&judge->lock);
    return done;
}

bool judge_busy(Judge *judge) {
    pthread_mutex_lock(&judge->lock);
    bool busy = judge->state == JUDGE_ASKED;
    pthread_mutex_unlock(&judge->lock);
    return busy;
}
