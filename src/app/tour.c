/* The tour: the lines of a script, in the live display at the pace of a reader. A key or a click
 * takes over; undo puts back what was before the tour. */
#include "src/app/app.h"

#include "src/base/clock.h"
#include "src/base/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char tour_file[] = "samples/demo.keys";

enum { TICK_MS = 330, READ_MS = 3000, JUDGE_MS = 8000, MAX_BYTES = 1 << 20 };

bool app_open_tour(App *app, Err *err) {
    char path[4096];
    size_t length;
    Tour *tour = &app->tour;
    Err unsaved;
    if (app->script)
        return err_set(err, ERR_USAGE, "tour", "bevscope demo plays it", "a script has no clock");
    app_close_tour(app);
    app_close_lesson(app, &unsaved);
    if (!data_path(tour_file, path, sizeof path, err) ||
        !data_read(path, MAX_BYTES, &tour->text, &length, err))
        return false;
    tour->at = tour->text;
    tour->due_ms = tour->said_ms = 0;
    tour->request = app->request;
    undo_push(&app->undo, &app->state, ACTION_TOUR);
    app_note(app, "a tour: any key takes over, u then puts everything back");
    return true;
}

void app_close_tour(App *app) {
    free(app->tour.text);
    app->tour = (Tour){.text = NULL};
    app->state.caption[0] = '\0';
    app->todo |= STEP_REDRAW;
}

/* Of the file's words only a script writes pictures and ends. */
static bool is_for_scripts(const char *line) {
    return !strncmp(line, "snapshot", 8) || !strncmp(line, "quit", 4);
}

static void say(App *app, const char *text) {
    snprintf(app->state.caption, sizeof app->state.caption, "%s", text + strspn(text, " "));
    app->tour.said_ms = clock_ms() + READ_MS;
    app->todo |= STEP_REDRAW;
}

/* A line of the script. False: it waits until `due_ms`. */
static bool use_line(App *app, const char *line) {
    Tour *tour = &app->tour;
    double seconds, now = clock_ms();
    int count = 1;
    Err err;
    if (!strncmp(line, "say", 3) && now < tour->said_ms) {
        tour->due_ms = tour->said_ms;
        return false;
    }
    if (!strncmp(line, "say", 3))
        say(app, line + 3);
    else if (sscanf(line, "tick %lf %d", &seconds, &count) > 0)
        tour->due_ms = now + TICK_MS * count;
    else if (line[0] && !is_for_scripts(line)) {
        app->serves = true;
        if (!app_words(app, line, &err))
            app_note_error(app, &err);
        app->serves = false;
        tour->request = app->request;
        tour->judge_ms = strncmp(line, "dtype", 5) ? 0 : now + JUDGE_MS;
    }
    return true;
}

void app_tour_turn(App *app) {
    Tour *tour = &app->tour;
    while (app_tour_in_ms(app) <= 0) {
        char line[256];
        size_t length = strcspn(tour->at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)strcspn(tour->at, "#\r\n"), tour->at);
        if (!use_line(app, line))
            return;
        tour->at += length + (tour->at[length] == '\n');
        if (!*tour->at) {
            app_close_tour(app);
            app_note(app, "the tour is over: u puts everything back");
        }
    }
}

/* Whether the error of the selection's format is known: captions speak of it. */
static bool is_judged(const App *app) {
    const LiveAccuracy *accuracy = &app->frame->live.accuracy[app->state.job.config.dtype];
    return accuracy->source != SOURCE_UNKNOWN && !accuracy->stale;
}

/* A control's picture is waited for, and for a while the error of a format. */
double app_tour_in_ms(const App *app) {
    const Tour *tour = &app->tour;
    bool there = app->frame && app->frame->request >= tour->request;
    if (!tour->text || !there)
        return INFINITY;
    double due_ms = is_judged(app) ? tour->due_ms : fmax(tour->due_ms, tour->judge_ms);
    return due_ms - clock_ms();
}
