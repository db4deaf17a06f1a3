/* Pages of text in the place of a lesson: the four steps of the workflow, a slow kernel. */
#include "src/app/app.h"

#include "src/state/live_text.h"

#include <math.h>
#include <stdio.h>

static int workflow_steps(const App *app, Finding steps[FINDINGS_MAX]) {
    int count = app->frame ? live_findings(&app->state, &app->frame->live, steps) : 0, kept = 0;
    for (int i = 0; i < count; i++)
        if (steps[i].gain == 0) /* of the workflow */
            steps[kept++] = steps[i];
    return kept;
}

bool app_page_is_known(const App *app) {
    Finding steps[FINDINGS_MAX];
    SlowView healthy, slow;
    return app->desk.page == DESK_SLOW ? live_slow(&app->state, app_live(app), &healthy, &slow)
                                       : workflow_steps(app, steps) > 0;
}

static void add_unknown(const App *app, PaneText *body) {
    char text[120];
    snprintf(text, sizeof text, "Not known: %s.",
             unknown_reason(UNKNOWN_MODEL, app_live(app), NULL, BEV_FP32));
    pane_add(body, PANE_NOTE, false, text);
}

static void show_workflow(const App *app, LessonPane *pane) {
    Finding steps[FINDINGS_MAX];
    char label[80];
    int count = workflow_steps(app, steps);
    kernel_config_label(&app->state.job.config, label, sizeof label);
    snprintf(pane->title, sizeof pane->title, "Four steps: %.60s", label);
    if (!count)
        add_unknown(app, &pane->body);
    for (int i = 0; i < count; i++) {
        pane_add(&pane->body, PANE_WHY, false, steps[i].text);
        pane_add(&pane->body, PANE_TEXT, false, steps[i].evidence);
        for (int j = 0; j < 2 && steps[i].commands[j][0]; j++)
            pane_add(&pane->body, PANE_CODE, false, steps[i].commands[j]);
    }
}

static void add_pair(PaneText *body, const char *name, const char *unit, double healthy,
                     double slow) {
    char text[120];
    char a[24] = "n/a", b[24] = "n/a";
    if (isfinite(healthy))
        snprintf(a, sizeof a, "%.2f", healthy);
    if (isfinite(slow))
        snprintf(b, sizeof b, "%.2f", slow);
    snprintf(text, sizeof text, "%-26s %10s %10s  %s", name, a, b, unit);
    pane_add(body, PANE_CODE, false, text);
}

/* The healthy kernel beside the slow one, as counters, terms and timeline show them. */
static void add_views(PaneText *body, const SlowView *a, const SlowView *b) {
    const Prediction *p = &a->prediction, *q = &b->prediction;
    char name[40];
    for (int term = 0; term < TERM_COUNT; term++) {
        snprintf(name, sizeof name, "%s term", term_names[term]);
        add_pair(body, name, "us", p->term_us[term], q->term_us[term]);
    }
    add_pair(body, "L2 hits", "%", 100 * p->hit_rate, 100 * q->hit_rate);
    add_pair(body, "sectors at L2", "million", a->l2_sectors * 1e-6, b->l2_sectors * 1e-6);
    add_pair(body, "warps a multiprocessor", "", a->warps ? a->warps : NAN,
             b->warps ? b->warps : NAN);
    add_pair(body, "launches before the kernel", "", a->launches, b->launches);
    add_pair(body, "time before the kernel", "us", a->before_us, b->before_us);
    add_pair(body, "the kernel", "us", a->kernel_us, b->kernel_us);
    add_pair(body, "GPU idle", "us", a->idle_us, b->idle_us);
    add_pair(body, "frame", "us", a->frame_us, b->frame_us);
}

static void add_suspect(const State *state, PaneText *body) {
    char text[400];
    int named = state->slow_suspect - 1;
    bool right = named == state_slow_fault(state);
    if (named < 0) {
        int used = snprintf(text, sizeof text, "%s", keys[ACTION_SUSPECT].word);
        for (int i = 0; i < SLOW_COUNT; i++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s %s", i ? "," : "",
                             slow_faults[i].name);
        pane_add(body, PANE_TERM, false, text);
        return;
    }
    snprintf(text, sizeof text, right ? "Right: %s. %s" : "Not %s: that shows otherwise: %s.",
             slow_faults[named].title, right ? slow_faults[named].why : slow_faults[named].symptom);
    pane_add(body, right ? PANE_RIGHT : PANE_WRONG, false, text);
}

static void show_slow(const App *app, LessonPane *pane) {
    const State *state = &app->state;
    SlowView healthy, slow;
    char text[200], on[64];
    pane->model_kernels = kernel_bit(model_row(bev_default(BEV_CPU, BEV_FORWARD)));
    snprintf(pane->title, sizeof pane->title, "Slow on purpose: %s", state_slow(state));
    if (!live_slow(state, app_live(app), &healthy, &slow)) {
        add_unknown(app, &pane->body);
        return;
    }
    prediction_gpu(state, on, sizeof on);
    snprintf(text, sizeof text,
             "%s on %s (model): the healthy kernel, then %s. What makes it slow? Type :%s and "
             "one of the names below.",
             bev_default(BEV_CPU, BEV_FORWARD)->title, on, state_slow(state),
             keys[ACTION_SUSPECT].word);
    pane_add(&pane->body, PANE_TEXT, false, text);
    add_views(&pane->body, &healthy, &slow);
    add_suspect(state, &pane->body);
}

void app_show_page(App *app) {
    LessonPane *pane = &app->state.lesson;
    char text[80];
    *pane = (LessonPane){.open = true, .scroll = pane->scroll};
    (app->desk.page == DESK_SLOW ? show_slow : show_workflow)(app, pane);
    snprintf(text, sizeof text, "%s closes, typing %s opens the lesson of a finding",
             key_of(ACTION_LESSON).name, key_of(ACTION_EXPLAIN).name);
    pane_add(&pane->body, PANE_KEYS, false, text);
    app->todo |= STEP_REDRAW;
}

bool app_open_page(App *app, DeskPage page, Err *err) {
    if (app->desk.open && !app->desk.page)
        return err_set(err, ERR_FAILED, "lesson", "close it first", "a lesson is open");
    app->state.lesson.scroll = 0;
    app->desk = (LessonDesk){.open = true, .page = page};
    app_show_page(app);
    app_request(app); /* the engine models what the page needs */
    return true;
}
