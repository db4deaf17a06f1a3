/* Training in the display: depth follows the gradient in the background, as far as the state asks
 * for, the same in a script; other keys are answered meanwhile; and the scene's own depth again. */
#include "tests/live/engine_fixture.h"

enum { STEPS = 30 };

/* The step that the newest frame shows; -2: none. */
static int shown_step(void) {
    return frame->live.frame.training ? frame->live.frame.training->step : -2;
}

/* Whether there is a frame before this moment. */
static bool take_before(double until_ms) {
    for (double left; (left = until_ms - clock_ms()) > 0;)
        if (take_within(left + 1))
            return true;
    return false;
}

/* Takes frames up to the first of this state whose training has come so far; counts them. */
static bool wait_for(int step, int *pictures) {
    double until_ms = clock_ms() + PATIENCE_MS;
    int last = -1;
    while (take_before(until_ms)) {
        bool same = frame->state.job.serial == state.job.serial;
        *pictures += same && shown_step() > last;
        last = same ? shown_step() : last;
        if (same && shown_step() >= step)
            return true;
    }
    return false;
}

static bool falls(const LiveTraining *training) {
    bool falls = true;
    for (int i = 1; i <= training->step; i++)
        falls &= training->losses[i] <= training->losses[i - 1];
    return falls && training->losses[training->step] < 0.5f * training->losses[0] &&
           training->depth_error < training->first_error;
}

/* The loss that a script shows after so many steps. */
static float loss_of_script(void) {
    const EngineOptions options = {.where = 1u << BEV_CPU, .script = true};
    Engine *script;
    Err err = {0};
    tap_need(engine_open(&script, &options, &err), "a script's engine opens");
    engine_request(script, &state);
    const EngineFrame *made = engine_take(script);
    tap_need(made && !made->errors, "a script renders");
    const LiveTraining *training = made->live.frame.training;
    tap_ok(training && training->step == STEPS && falls(training),
           "a script takes all steps at once, and the loss falls");
    tap_ok(training && !training->forward_us.source && !training->backward_us.source,
           "and says nothing about time");
    float loss = training ? training->losses[STEPS] : -1;
    engine_close(script);
    return loss;
}

/* Waits for the frame that answers a word. */
static void answer(const char *word) {
    use("%s", word);
    engine_request(engine, &state);
    take_answer();
}

static void test_stop(void) {
    state.shown.train_step = shown_step();
    answer("train");
    int last = shown_step(), stopped = state.job.train_steps;
    for (double until_ms = clock_ms() + 2000; take_before(until_ms);)
        last = shown_step(); /* the steps in hand are finished */
    bool stands = last >= stopped;
    for (double until_ms = clock_ms() + 1000; take_before(until_ms);)
        stands &= shown_step() == last;
    tap_ok(stands, "stopped at step %d, shown %d", stopped, last);
}

static void test_end(void) {
    answer("train 0");
    tap_ok(!frame->live.frame.training && !frame->inputs.features->base &&
               frame->inputs.features->temperature == 1,
           "a step back: the scene's own depth");
}

TAP_WAITING_SUITE(train_live) {
    begin(true, TOY);
    int pictures = 0;
    state.scene.has_world = true;
    use("train 30");
    float loss = loss_of_script();
    engine_request(engine, &state);
    tap_need(wait_for(STEPS, &pictures), "the background takes the steps");
    const LiveTraining *training = frame->live.frame.training;
    tap_ok(training->step == STEPS && falls(training) && training->losses[STEPS] == loss,
           "the display's training is that of the script: loss %g", training->losses[STEPS]);
    tap_ok(training->forward_us.source == SOURCE_MEASURED && training->forward_us.value > 0 &&
               training->backward_us.value > 0,
           "a step: forward %.0f us, backward %.0f us", training->forward_us.value,
           training->backward_us.value);

    /* On, with a key in between: it is answered, and training goes on. */
    state.shown.train_step = STEPS;
    use("train");
    engine_request(engine, &state);
    wait_for(STEPS + 1, &pictures);
    double asked_ms = clock_ms();
    answer("evenness 0.5; evenness 0");
    tap_ok(frame->state.job.serial == state.job.serial,
           "a key is answered while training goes on, after %.0f ms", clock_ms() - asked_ms);
    pictures = 0;
    bool goes_on = wait_for(LIVE_TRAIN_STEPS / 4, &pictures);
    tap_ok(goes_on && pictures > 1, "%d pictures on the way to step %d", pictures, shown_step());
    test_stop();
    test_end();
    engine_close(engine);
}
