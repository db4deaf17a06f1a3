/* SPDX-License-Identifier: MIT */
/* Writes what a learner sees of a lesson, as rows of text. */
#include "src/learn/lesson_run.h"

#include "src/state/keys.h"

#include <stdio.h>
#include <string.h>

void lesson_explain_sources(LessonRun *run, PaneText *pane, const char *text) {
    static const struct {
        FigureSource source;
        const char *named, *text;
    } sources[] = {
        {SOURCE_RECORDED, "(recorded)", "recorded: measured before, on another machine; marked r."},
        {SOURCE_MODEL, "(model)", "model: computed by the memory model, timed nowhere; marked m."},
        {SOURCE_PUBLISHED, "(published)", "published: of an article or a data sheet; marked p."}};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!(run->explained >> sources[i].source & 1) && strstr(text, sources[i].named)) {
            run->explained |= 1u << sources[i].source;
            pane_add(pane, PANE_TERM, false, sources[i].text);
        }
}

static void add_choices(const LessonRun *run, PaneText *pane) {
    const LessonQuestion *question = lesson_run_question(run);
    for (int i = 0; i < question->choice_count; i++) {
        char text[320];
        snprintf(text, sizeof text, "%d  %.300s", i + 1, question->choices[i].text);
        pane_add(pane, PANE_CHOICE, question->asks == ASKS_CHOICE && i == run->choice, text);
    }
}

static void add_input(const LessonRun *run, PaneText *pane) {
    const LessonQuestion *question = lesson_run_question(run);
    const char *typed = run->typed[0] ? run->typed : "_";
    char text[160], range[80] = "";
    bool number = question->asks == ASKS_NUMBER, asks = run->phase == PHASE_ASK;
    if (asks && number)
        snprintf(range, sizeof range, "   (%.9g to %.9g)", question->lo, question->hi);
    else if (asks)
        snprintf(range, sizeof range, "   (all %d numbers, the first place first)",
                 question->choice_count);
    snprintf(text, sizeof text, "%s%s%.40s%s", typed, number && *question->unit ? " " : "",
             number ? question->unit : "", range);
    if (question->asks != ASKS_CHOICE)
        pane_add(pane, PANE_INPUT, false, text);
}

/* Writes what Enter does now, or what the learner must do before Enter. */
static void enter_text(const LessonRun *run, char *text, size_t size) {
    const LessonQuestion *question = lesson_run_question(run);
    bool choice = question && question->asks == ASKS_CHOICE;
    if (run->phase == PHASE_ASK && choice && run->choice >= 0)
        snprintf(text, size, "Enter takes answer %d", run->choice + 1);
    else if (run->phase == PHASE_ASK)
        snprintf(text, size, choice ? "digit or Up/Down, then Enter" : "type, then Enter");
    else if (run->phase == PHASE_VERDICT && lesson_run_asks_again(run))
        snprintf(text, size, "Enter asks again after a change");
    else
        snprintf(text, size, "%s",
                 run->phase == PHASE_END ? "Enter opens the next lesson" : "Enter goes on");
}

/* Adds the row of keys. The table of controls names the keys of controls. */
static void add_keys(const LessonRun *run, PaneText *pane) {
    char text[200], enter[64], skips[48] = "", back[48] = "";
    enter_text(run, enter, sizeof enter);
    if (run->alone || run->phase == PHASE_ASK)
        snprintf(skips, sizeof skips, "%.30s skips, ", key_of(ACTION_SKIP).name);
    if (!run->alone)
        snprintf(back, sizeof back, "%.30s goes back, ", key_of(ACTION_BACK).name);
    snprintf(text, sizeof text, "%s; %s%s%.30s closes", enter, skips, back,
             key_of(ACTION_ESCAPE).name);
    pane_add(pane, PANE_KEYS, false, text);
}

static void add_computing(PaneText *pane) {
    char text[80];
    snprintf(text, sizeof text, "Computing ... (%s goes on without)", key_of(ACTION_SKIP).name);
    pane_add(pane, PANE_NOTE, false, text);
}

static void add_end(const LessonRun *run, PaneText *pane) {
    char text[200];
    snprintf(text, sizeof text, "The end of this lesson. %d of %d predictions were right.",
             run->right, run->asked);
    pane_add(pane, PANE_TEXT, false, text);
    if (run->void_count || run->skipped) {
        snprintf(text, sizeof text, "Not counted: %d skipped, %d that cannot be judged here.",
                 run->skipped, run->void_count);
        pane_add(pane, PANE_TEXT, false, text);
    }
}

static void add_body(const LessonRun *run, PaneText *body) {
    bool asked = run->phase == PHASE_ASK || run->phase == PHASE_REVEAL ||
                 run->phase == PHASE_JUDGE || run->phase == PHASE_VERDICT ||
                 run->phase == PHASE_AGAIN || run->phase == PHASE_RENEW;
    if (run->phase == PHASE_END)
        add_end(run, body);
    if (run->phase == PHASE_VERDICT || run->again) {
        /* Of the page's text only the question stays: the verdict needs the room. */
        for (int i = 0; i < run->page_text.count; i++)
            if (run->page_text.rows[i].kind == PANE_QUESTION)
                pane_add(body, PANE_QUESTION, false, pane_row(&run->page_text, i));
    } else
        pane_append(body, &run->page_text);
    if (asked && run->again) {
        char text[160];
        const LessonQuestion *question = lesson_run_question(run);
        snprintf(text, sizeof text, "Now with: %.120s (not counted)",
                 question->again.rows[(run->again - 1) % question->again.count]);
        pane_add(body, PANE_SHOW, false, text);
    }
    if (asked) {
        add_choices(run, body);
        add_input(run, body);
    }
    pane_append(body, &run->reveal);
}

void lesson_run_show(const LessonRun *run, LessonPane *pane) {
    int step = run->page + 1, steps = run->lesson->page_count;
    LessonWants wants = lesson_run_wants(run);
    bool judged = run->phase == PHASE_VERDICT && !lesson_run_asks_again(run);
    *pane = (LessonPane){.open = true,
                         .step = step < steps ? step : steps,
                         .steps = steps,
                         .right = run->right,
                         .asked = run->asked,
                         .point = run->point,
                         .covers = run->alone ? run->phase == PHASE_ASK
                                              : run->page + judged < run->lesson->asking_pages,
                         .model_kernels = run->lesson->model_kernels,
                         .ended = run->phase == PHASE_END};
    const LessonQuestion *question = lesson_run_question(run);
    pane->asks = run->phase == PHASE_ASK ? question->asks : ASKS_NOTHING;
    pane->computing = wants != LESSON_WANTS_INPUT && wants != LESSON_WANTS_PAUSE;
    snprintf(pane->title, sizeof pane->title, "%s", run->lesson->title);
    if (run->page < run->target) {
        pane_add(&pane->body, PANE_NOTE, false,
                 run->alone ? "Setting the scene of the question ..."
                            : "Taking the lesson up again ...");
        return;
    }
    add_body(run, &pane->body);
    if (run->note[0])
        pane_add(&pane->body, PANE_NOTE, false, run->note);
    if (pane->computing)
        add_computing(&pane->body);
    add_keys(run, &pane->body);
}
