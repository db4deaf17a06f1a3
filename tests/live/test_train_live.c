/* Training in the display: depth follows the gradient in the background, as far as the state asks
 * for, the same in a script; other keys are answered meanwhile; and the scene's own depth again. */
#include "src/base/clock.h"
#include "tests/live/engine_fixture.h"
#include "tests/support/script.h"

enum { STEPS = 30 };

/* The next frame before this moment, or NULL. */
static const EngineFrame *take_until(Engine *engine, double until_ms) {
    struct pollfd waiting = {.fd = engine_fd(engine), .events = POLLIN};
    const EngineFrame *frame = NULL;
    while (!frame && clock_ms() < until_ms)
        if (poll(&waiting, 1, (int)(until_ms - clock_ms()) + 1) == 1)
            frame = engine_take(engine);
    return frame;
}

static int step_of(const EngineFrame *frame) {
    return frame && frame->live.frame.training ? frame->live.frame.training->step : -2;
}

/* The first frame of this state whose training has come so far; counts those on the way. */
static const EngineFrame *wait_for(Engine *engine, const State *state, int step, int *pictures) {
    double until_ms = clock_ms() + PATIENCE_MS;
    const EngineFrame *frame;
    int last = -1;
    while ((frame = take_until(engine, until_ms))) {
        bool same = frame->state.job.serial == state->job.serial;
        *pictures += same && step_of(frame) > last;
        last = same ? step_of(frame) : last;
        if (same && step_of(frame) >= step)
            return frame;
    }
    return NULL;
}

static bool falls(const LiveTraining *training) {
    bool falls = true;
    for (int i = 1; i <= training->step; i++)
        falls &= training->losses[i] <= training->losses[i - 1];
    return falls && training->losses[training->step] < 0.5f * training->losses[0] &&
           training->depth_error < training->first_error;
}

/* The loss that a script shows after so many steps. */
static float loss_of_script(State state) {
    const EngineOptions options = {.where = 1u << BEV_CPU, .script = true};
    Engine *script;
    Err err = {0};
    tap_need(engine_open(&script, &options, &err), "a script's engine opens");
    engine_request(script, &state);
    const EngineFrame *frame = engine_take(script);
    tap_need(frame && !frame->errors, "a script renders");
    const LiveTraining *training = frame->live.frame.training;
    tap_ok(training && training->step == STEPS && falls(training),
           "a script takes all steps at once, and the loss falls");
    tap_ok(training && !training->forward_us.source && !training->backward_us.source,
           "and says nothing about time");
    float loss = training ? training->losses[STEPS] : -1;
    engine_close(script);
    return loss;
}

/* The frame that answers a word. */
static const EngineFrame *answer(Engine *engine, State *state, const char *word) {
    const EngineFrame *frame;
    use(state, "%s", word);
    engine_request(engine, state);
    while ((frame = take(engine)) && frame->state.job.serial != state->job.serial) {
    }
    return frame;
}

/* The same key stops. */
static void test_stop(Engine *engine, State *state, const EngineFrame *frame) {
    state->shown.train_step = step_of(frame);
    int last = step_of(answer(engine, state, "train")), stopped = state->job.train_steps;
    double until_ms = clock_ms() + 2000; /* the steps in hand are finished */
    while ((frame = take_until(engine, until_ms)))
        last = step_of(frame);
    until_ms = clock_ms() + 1000;
    bool stands = last >= stopped;
    while ((frame = take_until(engine, until_ms)))
        stands &= step_of(frame) == last;
    tap_ok(stands, "stopped at step %d, shown %d", stopped, last);
}

static void test_end(Engine *engine, State *state) {
    const EngineFrame *frame = answer(engine, state, "train 0");
    tap_ok(frame && !frame->live.frame.training && !frame->inputs.features->base &&
               frame->inputs.features->temperature == 1,
           "a step back: the scene's own depth");
}

TAP_WAITING_SUITE(train_live) {
    State state = fresh(TOY);
    int pictures = 0;
    Engine *engine = open_engine(true);
    state.scene.has_world = true;
    use(&state, "train 30");
    float loss = loss_of_script(state);
    engine_request(engine, &state);
    const EngineFrame *frame = wait_for(engine, &state, STEPS, &pictures);
    tap_need(frame, "the background takes the steps");
    const LiveTraining *training = frame->live.frame.training;
    tap_ok(training->step == STEPS && falls(training) && training->losses[STEPS] == loss,
           "the display's training is that of the script: loss %g", training->losses[STEPS]);
    tap_ok(training->forward_us.source == SOURCE_MEASURED && training->forward_us.value > 0 &&
               training->backward_us.value > 0,
           "a step: forward %.0f us, backward %.0f us", training->forward_us.value,
           training->backward_us.value);

    /* On, with a key in between: it is answered, and training goes on. */
    state.shown.train_step = STEPS;
    use(&state, "train");
    engine_request(engine, &state);
    frame = wait_for(engine, &state, STEPS + 1, &pictures);
    double asked_ms = clock_ms();
    frame = answer(engine, &state, "evenness 0.5; evenness 0");
    tap_ok(frame, "a key is answered while training goes on, after %.0f ms", clock_ms() - asked_ms);
    pictures = 0;
    frame = wait_for(engine, &state, LIVE_TRAIN_STEPS / 4, &pictures);
    tap_ok(frame && pictures > 1, "%d pictures on the way to step %d", pictures, step_of(frame));

    test_stop(engine, &state, frame);
    test_end(engine, &state);
    engine_close(engine);
}
