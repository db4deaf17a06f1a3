/* SPDX-License-Identifier: MIT */
/* The tour: the lines of a script, in the live display at the pace of a reader. A key or a click
 * takes over; undo puts back what was before the tour. */
#include "src/app/app.h"

#include "src/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { READ_MS = 3000, RETRY_MS = 50, MAX_BYTES = 1 << 20, MAX_TICKS = 100000 };

bool app_parse_tick(const char *arguments, double *seconds, int *count) {
    char text[64], first[32] = "0.1", second[32] = "1", more[2], *end, *count_end;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(arguments, "#\r\n"), arguments);
    if (sscanf(text, "%31s %31s %1s", first, second, more) > 2)
        return false;
    *seconds = strtod(first, &end);
    *count = (int)strtol(second, &count_end, 10);
    const bool right_seconds = !*end && isfinite(*seconds) && *seconds >= 0;
    const bool right_count = !*count_end && *count >= 1 && *count <= MAX_TICKS;
    return right_seconds && right_count;
}

bool app_open_tour(App *app, Err *err) {
    char path[4096];
    size_t length;
    Tour *tour = &app->tour;
    Err unsaved;
    if (app->script)
        return err_set(err, ERR_USAGE, "tour", "bevscope demo plays it", "a script has no clock");
    app_close_tour(app);
    app_close_lesson(app, &unsaved);
    if (!data_path("samples/demo.keys", path, sizeof path, err) ||
        !data_read(path, MAX_BYTES, &tour->text, &length, err))
        return false;
    tour->at = tour->text;
    undo_push(&app->undo, &app->state, ACTION_TOUR);
    state_begin_lesson(&app->state, app_menu_scene(&app->menu, "canonical"));
    app->state.job.camera_mask = 1; /* the first line of the tour */
    app->state.playing = app->state.tours = true;
    app_request(app);
    tour->request = app->request;
    app_note(app, "a talk: Esc ends it, and all is as before; any other key takes over");
    return true;
}

void app_close_tour(App *app) {
    free(app->tour.text);
    app->tour = (Tour){.text = NULL};
    app->state.caption[0] = '\0';
    app->state.tours = false;
    app->todo |= STEP_REDRAW;
}

/* Whether the frame has all figures of the page. A caption that speaks of them must wait. */
static bool page_is_complete(const App *app) {
    const State *state = &app->state;
    const LiveData *live = &app->frame->live;
    const LiveAccuracy *accuracy = &live->accuracy[state->job.config.dtype];
    bool judged = accuracy->source && !accuracy->stale;
    bool predicted =
        live->model && model_of_kernel(live->model, state->job.config.kernel, &gpus[state->gpu]);
    if (state->race)
        return live->race != NULL;
    return state->page == PAGE_BEV || (judged && predicted); /* the BEV alone has no figures */
}

/* Whether a line may be used now. A caption waits until the page is complete and the caption before
 * was read. A page of schedules waits for the schedules. */
static bool line_may_begin(const App *app, const char *line) {
    Command command;
    if (!strncmp(line, "say", 3))
        return page_is_complete(app) && clock_ms() >= app->tour.said_ms;
    return !keys_parse(line, &command, NULL) || keys[command.action].needs != NEED_SCHEDULES ||
           app->frame->live.race;
}

/* Carries out a line of the script. The lines that write pictures or end a script are left out. */
static void use_tour_line(App *app, const char *line) {
    Tour *tour = &app->tour;
    double seconds;
    int count;
    Err err;
    if (!strncmp(line, "say", 3)) {
        snprintf(app->state.caption, sizeof app->state.caption, "%s",
                 line + 3 + strspn(line + 3, " "));
        tour->said_ms = clock_ms() + READ_MS;
        app->todo |= STEP_REDRAW;
    } else if (!strncmp(line, "tick", 4) && app_parse_tick(line + 4, &seconds, &count))
        tour->due_ms = clock_ms() + 1e3 * seconds * count;
    else if (line[0] && strncmp(line, "snapshot", 8) && strncmp(line, "quit", 4)) {
        app->serves = true;
        if (!app_words(app, line, &err))
            app_note_error(app, &err);
        app->serves = false;
        tour->request = app->request;
    }
}

void app_tour_turn(App *app) {
    Tour *tour = &app->tour;
    while (app_tour_in_ms(app) <= 0) {
        char line[256];
        size_t length = strcspn(tour->at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)strcspn(tour->at, "#\r\n"), tour->at);
        if (!line_may_begin(app, line)) {
            tour->due_ms = clock_ms() + RETRY_MS;
            return;
        }
        use_tour_line(app, line);
        tour->at += length + (tour->at[length] == '\n');
        if (!*tour->at) {
            app_close_tour(app);
            app_note(app, "the talk is over: u puts everything back");
        }
    }
}

double app_tour_in_ms(const App *app) {
    const Tour *tour = &app->tour;
    bool there = app->frame && app->frame->request >= tour->request;
    return tour->text && there ? tour->due_ms - clock_ms() : INFINITY;
}
