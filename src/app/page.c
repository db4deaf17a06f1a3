/* A page of text in the place of a lesson: the four steps of the workflow. */
#include "src/app/app.h"

#include "src/state/live_text.h"

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
    return workflow_steps(app, steps) > 0;
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

void app_show_page(App *app) {
    LessonPane *pane = &app->state.lesson;
    char text[80];
    *pane = (LessonPane){.open = true, .scroll = pane->scroll};
    show_workflow(app, pane);
    snprintf(text, sizeof text, "%s closes, typing %s opens the lesson of a finding",
             key_of(ACTION_LESSON).name, key_of(ACTION_EXPLAIN).name);
    pane_add(&pane->body, PANE_KEYS, false, text);
    app->todo |= STEP_REDRAW;
}

bool app_open_page(App *app, Err *err) {
    if (app->desk.open && !app->desk.page)
        return err_set(err, ERR_FAILED, "lesson", "close it first", "a lesson is open");
    app->state.lesson.scroll = 0;
    app->desk = (LessonDesk){.open = true, .page = true};
    app_show_page(app);
    app_request(app); /* the engine models what the page needs */
    return true;
}
