/* Gradient descent on kernels of both directions: the loss falls, a step that raises it is taken
 * back, the same scene gives the same curve, and a wrong gradient does not descend. */
#include "kernels/defects.h"
#include "src/scene/workload.h"
#include "src/train/trainer.h"
#include "tests/support/ok_or_note.h"

#include <math.h>

enum { STEPS = 12 };

typedef struct {
    Workload truth, smeared;
    TrainKernels kernels;
} Scenery;

static Scenery open_scenery(const char *scene, BevDtype dtype, BevAlign align) {
    WorkloadOptions smeared = {.temperature = 10, .channels = 16}, truth = {.channels = 16};
    Scenery scenery = {.kernels = {.forward = bev_default(BEV_CPU, BEV_FORWARD),
                                   .backward = bev_default(BEV_CPU, BEV_BACKWARD),
                                   .dtype = dtype,
                                   .align = align}};
    Err err = {0};
    need(workload_open(&scenery.truth, scene, &truth, &err) &&
             workload_open(&scenery.smeared, scene, &smeared, &err),
         &err);
    return scenery;
}

static void close_scenery(Scenery *scenery) {
    workload_close(&scenery->truth);
    workload_close(&scenery->smeared);
}

static bool open_trainer(Trainer **trainer, Scenery *scenery, Err *err) {
    Workload *truth = &scenery->truth;
    const BevMap *map = workload_map(truth, scenery->kernels.align, err);
    return map && trainer_open(trainer, &scenery->kernels, &truth->scene.shape, map,
                               &truth->features, &scenery->smeared.features, err);
}

/* Runs STEPS steps; false after an error. */
static bool descend(Scenery *scenery, TrainStep steps[STEPS]) {
    Trainer *trainer = NULL;
    Err err = {0};
    bool ok = open_trainer(&trainer, scenery, &err);
    for (int i = 0; ok && i < STEPS; i++)
        ok = trainer_step(trainer, &steps[i], &err);
    trainer_close(trainer);
    return ok_or_note(ok, &err);
}

static double least_loss(const TrainStep steps[STEPS]) {
    double least = INFINITY;
    for (int i = 0; i < STEPS; i++)
        least = fmin(least, steps[i].loss);
    return least;
}

static void test_falls(BevDtype dtype, BevAlign align, double part) {
    Scenery scenery = open_scenery("toy", dtype, align);
    TrainStep steps[STEPS], again[STEPS];
    if (!tap_ok(descend(&scenery, steps), "%s %s: %d steps", bev_dtypes[dtype].title,
                bev_aligns[align].name, STEPS))
        return;
    tap_ok(least_loss(steps) < part * steps[0].loss, "the loss falls from %g to %g", steps[0].loss,
           least_loss(steps));
    double kept = steps[0].loss;
    bool down = true;
    for (int i = 1; i < STEPS; i++) {
        down &= steps[i].taken_back == (steps[i].loss > kept);
        kept = steps[i].taken_back ? kept : steps[i].loss;
    }
    tap_ok(down, "a step is taken back exactly where it raised the loss");
    bool same = descend(&scenery, again);
    for (int i = 0; same && i < STEPS; i++)
        same = steps[i].loss == again[i].loss && steps[i].depth_error == again[i].depth_error;
    tap_ok(same, "the same curve again");
    close_scenery(&scenery);
}

/* The steps with a defect of the museum. */
static bool descend_wrong(const char *defect, TrainStep steps[STEPS]) {
    Scenery scenery = open_scenery("intersection", BEV_FP32, BEV_NEAREST);
    for (int i = 0; i < grad_defect_count; i++)
        if (!strcmp(grad_defects[i].name, defect))
            scenery.kernels.backward = &grad_defects[i].kernel;
    bool ok = defect_of(scenery.kernels.backward) && descend(&scenery, steps);
    close_scenery(&scenery);
    return ok;
}

/* What the learner is to see: some mistakes stop the descent, others only the gates tell. */
static void test_wrong(void) {
    TrainStep right[STEPS], steps[STEPS];
    Scenery scenery = open_scenery("intersection", BEV_FP32, BEV_NEAREST);
    tap_need(descend(&scenery, right), "right gradients");
    close_scenery(&scenery);
    tap_need(descend_wrong("wrong-sign", steps), "the other sign");
    int taken_back = 0;
    for (int i = 1; i < STEPS; i++)
        taken_back += steps[i].taken_back;
    tap_ok(taken_back == STEPS - 1 && least_loss(steps) == steps[0].loss,
           "with the other sign every step is taken back (%d)", taken_back);
    static const struct {
        const char *name;
        bool stuck;
    } wrong[] = {{"neighbour-bin", true}, {"transposed", true}, {"dropped-point", false}};
    double best = least_loss(right);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tap_need(descend_wrong(wrong[i].name, steps), wrong[i].name);
        double loss = least_loss(steps);
        tap_ok(wrong[i].stuck ? loss > 5 * best : loss < 1.5 * best,
               "%s: the loss comes down to %g, with right gradients to %g", wrong[i].name, loss,
               best);
    }
}

static void test_no_points(void) {
    Scenery scenery = open_scenery("toy", BEV_FP32, BEV_NEAREST);
    Trainer *trainer = NULL;
    Err err = {0};
    float *depth = scenery.truth.features.depth;
    memset(depth, 0, features_depth_count(&scenery.truth.scene.shape) * sizeof *depth);
    tap_ok(!open_trainer(&trainer, &scenery, &err) && !trainer && err.kind == ERR_FAILED,
           "a truth that puts nothing into the grid is refused: %s", err.what);
    close_scenery(&scenery);
}

TAP_SUITE(train) {
    test_falls(BEV_FP32, BEV_NEAREST, 0.5);
    test_falls(BEV_FP32, BEV_BILINEAR, 0.5);
    test_falls(BEV_FP16, BEV_NEAREST, 0.5);
    test_wrong();
    test_no_points();
}
