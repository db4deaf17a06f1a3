/* SPDX-License-Identifier: MIT */
#include "src/app/app.h"

#include "src/state/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what there is to choose from ------------------------------------------------------------ */

int app_menu_scene(AppMenu *menu, const char *scene) {
    Menu *scenes = &menu->menu.scenes;
    int found = menu_find(scenes, scene);
    if (found < 0) {
        found = scenes->count;
        menu->names[scenes->count++] = scene;
    }
    return found;
}

void app_menu_open(AppMenu *menu, unsigned where) {
    *menu = (AppMenu){.menu.where = where};
    size_t count;
    scene_names(menu->scenes, APP_MAX_SCENES, &count, NULL); /* without samples: fewer to choose */
    menu->menu.scenes.names = menu->names;
    menu->menu.scene_titles = menu->titles;
    for (size_t i = 0; i < count; i++) {
        scene_title(menu->scenes[i].name, menu->title_texts[i]);
        menu->titles[i] = menu->title_texts[i];
        menu->names[menu->menu.scenes.count++] = menu->scenes[i].name;
        menu->menu.preset_count += menu->scenes[i].group == SCENES_PRESET;
        menu->menu.operator_count += menu->scenes[i].group == SCENES_OPERATOR;
        menu->menu.operator_first = (int)i + 1 - menu->menu.operator_count;
    }
    course_read(&menu->course);
    for (int i = 0; i < menu->course.count; i++) {
        menu->lessons[i] = menu->course.names[i];
        menu->lesson_ideas[i] = menu->course.ideas[i];
    }
    menu->lessons[menu->course.count] = quiz_word;
    menu->lesson_ideas[menu->course.count] = "questions that repeat what the lessons taught";
    menu->menu.lesson_ideas = menu->lesson_ideas;
    menu->menu.lessons = (Menu){menu->lessons, menu->course.count + 1};
    bev_picture_menus(&menu->menu);
}

/* ---- undo: several moves of a control that is held down are one change ----------------------- */

static void drop_undo_step(Undo *undo, int at) {
    if (undo->lesson == undo->steps[at].before)
        undo->lesson = NULL;
    free(undo->steps[at].before);
    undo->count--;
    memmove(undo->steps + at, undo->steps + at + 1,
            (size_t)(undo->count - at) * sizeof *undo->steps);
}

State *undo_push(Undo *undo, const State *before, Action action) {
    bool again = undo->count && keys[action].held && undo->last == action;
    undo->last = action;
    State *kept = again ? NULL : malloc(sizeof *kept);
    if (!kept)
        return NULL;
    *kept = *before;
    if (undo->count == UNDO_STEPS) /* the oldest goes, but not that of the lesson */
        drop_undo_step(undo, undo->steps[0].before == undo->lesson);
    undo->steps[undo->count].before = kept;
    undo->steps[undo->count++].change = action;
    return kept;
}

int undo_lesson_steps(const Undo *undo) {
    int at = 0;
    while (at < undo->count && undo->steps[at].before != undo->lesson)
        at++;
    return undo->count - at;
}

/* Closes the help, the workflow and the page, which no undo step has. False: nothing was open. */
static bool close_pages(App *app) {
    State *state = &app->state;
    Page first = state->has_window ? PAGE_DASHBOARD : PAGE_BOTH;
    bool open = state->help || app->desk.page || state->page != first;
    Err err;
    if (app->desk.page && !app_close_lesson(app, &err))
        app_note_error(app, &err);
    state->help = false;
    state->page = first;
    return open;
}

void app_undo(App *app, int steps) {
    Undo *undo = &app->undo;
    char line[160];
    Err err;
    const bool all = steps > UNDO_STEPS, closed = all && close_pages(app);
    if (!undo->count) {
        app_note(app, closed ? "undo: the usual panels again" : "nothing to undo");
        return;
    }
    const int left = undo->count > steps ? undo->count - steps : 0; /* changes that stay */
    const bool undoes_lesson = undo->lesson && undo->count - left >= undo_lesson_steps(undo);
    if (undoes_lesson && !app_close_lesson(app, &err))
        app_note_error(app, &err);
    Action action = undo->steps[left].change;
    state_restore(&app->state, undo->steps[left].before);
    while (undo->count > left)
        drop_undo_step(undo, undo->count - 1);
    undo->last = ACTION_COUNT;
    Log *log = &app->state.log;
    if (log->count && log->lines[0].action == action) { /* its line is no longer true */
        memmove(log->lines, log->lines + 1, sizeof *log->lines * (LOG_LINES - 1));
        log->count--;
    }
    const ShortText value = state_value(&app->state, action);
    snprintf(line, sizeof line, "undo: %s%s%s again%s",
             value.text[0] ? keys[action].word : "the picture", value.text[0] ? " " : "",
             value.text, undo->count ? "" : "; that was the first change");
    app_note(app, line);
    app_request(app);
}

void undo_free(Undo *undo) {
    while (undo->count)
        drop_undo_step(undo, undo->count - 1);
}

/* ---- events ---------------------------------------------------------------------------------- */

void app_request(App *app) {
    app->request = engine_request(app->engine, &app->state);
    app->todo |= STEP_RUN;
    if (app->script)
        app_take_frame(app, NULL);
}

/* Keeps the user's change in the undo list, where `before` is the state that undo restores. The
 * palette may try several values, and only the state before the first try is kept. Opening the race
 * is not kept: undo would open a page that the user has left. */
static void keep_undo_step(App *app, const State *before, const Event *event) {
    const bool command = event->kind == EVENT_COMMAND, tries = app->state.palette.tries;
    const bool by_user = (command || event->kind == EVENT_CLICK) && !app->serves;
    const bool kept_already = tries && app->tried;
    if (!by_user || kept_already || before->race != app->state.race)
        return;
    const Action change = command ? event->command.action : ACTION_PIN;
    app->tried = undo_push(&app->undo, before, change) && tries;
}

/* Moves the pin of a click or command: from a cell without points to the nearest cell with points.
 * A grid with height shows a column of cells, and its pin stays. Returns the changed event. */
static Event aimed_at_points(const App *app, const Event *event) {
    const State *state = &app->state;
    const LiveFrame *frame = &app_live(app)->frame;
    const Command *command = &event->command;
    const int64_t nx = state->scene.nx, ny = state->scene.ny;
    bool click = event->kind == EVENT_CLICK;
    bool pins = event->kind == EVENT_COMMAND && command->action == ACTION_PIN &&
                (command->step || !strcmp(command->argument, "on"));
    bool has_map = frame->map && frame->nx == nx && frame->ny == ny; /* of the state's scene */
    int64_t x = click ? (int64_t)floor(event->x) : state->cursor_x;
    int64_t y = click ? (int64_t)floor(event->y) : state->cursor_y;
    bool inside = x >= 0 && y >= 0 && x < nx && y < ny;
    if (app->serves || !(click || pins) || !has_map || state->scene.slices > 1 || !inside)
        return *event;
    const int64_t aimed = y * nx + x, cell = scatter_nearest_cell(frame->map, nx, aimed);
    if (cell < 0 || cell == aimed)
        return *event;
    const int64_t cell_x = cell % nx, cell_y = cell / nx;
    bool pinned_there = state->pinned && state->pin_x == cell_x && state->pin_y == cell_y;
    bool stays = pins && !command->step && pinned_there; /* a click would remove this pin */
    return (Event){.kind = stays ? EVENT_HOVER : EVENT_CLICK,
                   .x = (double)cell_x + 0.5,
                   .y = (double)cell_y + 0.5,
                   .on = true};
}

/* Applies an event to the state and does what the state asks for. */
static void apply_event(App *app, const Event *given) {
    const State before = app->state;
    const Event aim = aimed_at_points(app, given), *event = &aim;
    const unsigned bits = state_step(&app->state, event);
    /* A key, click or tick is drawn with the frame that answers it, and the old frame is not drawn
     * again. Lesson texts and recorded steps need no frame, and are drawn at once. */
    const bool waits = event->kind <= EVENT_CLICK && bits & (STEP_RUN | STEP_LOOK) &&
                       !app->state.lesson.open && app->state.step_at == before.step_at;
    app->todo |= waits ? bits & ~(unsigned)STEP_REDRAW : bits;
    if (bits & (STEP_RUN | STEP_LOOK))
        app_request(app);
    if (bits & STEP_CHANGE)
        keep_undo_step(app, &before, event);
    if (bits & STEP_UNDO)
        app_undo(app, app->state.undo_wish);
    if (bits & STEP_LESSON)
        app_lesson_wish(app);
}

/* ---- the palette ----------------------------------------------------------------------------- */

/* Takes back the value that the palette tries. Without such a value nothing changes. */
static void take_back_try(App *app) {
    const bool changed = app->state.palette.tries && app->tried;
    app->state.palette.tries = app->tried = false;
    if (!changed)
        return;
    state_restore(&app->state, app->undo.steps[app->undo.count - 1].before);
    drop_undo_step(&app->undo, app->undo.count - 1);
    app_request(app);
}

/* Runs a command from the palette, or from a click on a palette row, and closes the palette. */
static void run_from_palette(App *app, const Command *command) {
    const Event event = {.kind = EVENT_COMMAND, .command = *command};
    take_back_try(app);
    palette_close(&app->state);
    palette_remember(&app->state, command);
    apply_event(app, &event);
}

/* Applies a value that the palette only tries. take_back_try() returns to the state before. */
static void try_value(App *app, const Command *command) {
    const Event event = {.kind = EVENT_COMMAND, .command = *command};
    if (!app->state.palette.tries) {
        app->undo.last = ACTION_COUNT; /* a try is a change of its own */
        app->tried = false;
    }
    app->state.palette.tries = true;
    apply_event(app, &event);
}

static void palette_does(App *app, PaletteDoes does, const Command *command) {
    app->todo |= STEP_REDRAW;
    if (does == PALETTE_TRY)
        try_value(app, command);
    else if (does == PALETTE_RUN)
        run_from_palette(app, command);
    else if (does == PALETTE_DRAW || does == PALETTE_LEAVE)
        take_back_try(app);
    if (does == PALETTE_KEEP || does == PALETTE_LEAVE)
        palette_close(&app->state);
}

void app_step(App *app, const Event *event) {
    const bool command = event->kind == EVENT_COMMAND, open = app->state.palette.open;
    const bool of_palette = open && command && event->command.action == ACTION_COMMANDS;
    const bool by_user = (command || event->kind == EVENT_CLICK) && !app->serves;
    if (app->tour.text && by_user)
        app_close_tour(app);
    if (of_palette)
        take_back_try(app);
    if (open && command && by_user && !of_palette)
        run_from_palette(app, &event->command);
    else
        apply_event(app, event);
}

/* Scrolls a page or list by a key that no control has. False: the key does not scroll. */
static bool scroll_page(App *app, int32_t key) {
    static const struct {
        int32_t key;
        double steps;
        bool only_in_help; /* elsewhere the key moves the cursor */
    } scrolls[] = {{KEYCODE_PAGE_UP, -8, false}, {KEYCODE_PAGE_DOWN, 8, false},
                   {KEYCODE_HOME, -1000, false}, {KEYCODE_END, 1000, false},
                   {KEYCODE_UP, -1, true},       {KEYCODE_DOWN, 1, true}};
    for (size_t i = 0; i < sizeof scrolls / sizeof *scrolls; i++)
        if (scrolls[i].key == key && (app->state.help || !scrolls[i].only_in_help)) {
            app_step(app, &(Event){.kind = EVENT_SCROLL, .steps = scrolls[i].steps});
            return true;
        }
    return false;
}

/* Opens the first finding, for Enter on the default screen where no cell is chosen. */
static bool take_advice(App *app) {
    const State *state = &app->state;
    Advice advice[FINDINGS_MAX + 1];
    bool default_screen = !state->lesson.open && !state->help && !state->bits.open &&
                          !state->job.steps && !state->race && !state->all &&
                          state->chart == CHART_NONE;
    if (!default_screen || state->pinned || state->cursor_shown ||
        !live_advice(state, app_live(app), advice))
        return false;
    app_step(app, &(Event){.kind = EVENT_COMMAND, .command = advice[0].command});
    return true;
}

bool app_key(App *app, int32_t key) {
    Event event = {.kind = EVENT_COMMAND};
    if (app->tour.text && key == KEYCODE_ESCAPE) {
        app_close_tour(app);
        app_undo(app, 1);
        return true;
    }
    if (app->tour.text)
        app_close_tour(app);
    if (app->state.palette.open) {
        Command command;
        palette_does(app, palette_key(&app->state, app_live(app), key, &command), &command);
        return true;
    }
    bool known = keys_here(&app->state, key, &event.command);
    bool of_steps = known && (key == KEYCODE_HOME || key == KEYCODE_END); /* first or last step */
    if (!of_steps && scroll_page(app, key))
        return true;
    if (app->state.lesson.open && app_lesson_key(app, key))
        return true;
    if (key == KEYCODE_ENTER && take_advice(app))
        return true;
    if (known)
        app_step(app, &event);
    return known;
}

bool app_words(App *app, const char *line, Err *err) {
    Event event = {.kind = EVENT_COMMAND};
    bool known = keys_parse(line, &event.command, err);
    if (known)
        app_step(app, &event);
    return known;
}

void app_note(App *app, const char *text) {
    app_step(app, &(Event){.kind = EVENT_NOTE, .text = text});
}

void app_note_warning(App *app, const Err *err) {
    char line[512];
    err_line(err, line, sizeof line);
    app_note(app, line);
}

void app_note_error(App *app, const Err *err) {
    if (app->script && !app->failed) {
        app->failed = true;
        app->err = *err;
    }
    app_note_warning(app, err);
}

State app_drawn(const App *app) {
    State drawn = app->state;
    if (app->frame)
        drawn.job.scene = app->frame->state.job.scene;
    return drawn;
}

unsigned app_todo(App *app) {
    unsigned bits = app->todo;
    app->todo = 0;
    return bits;
}

/* ---- the words of the options ---------------------------------------------------------------- */

void app_word(AppOptions *options, const char *control, const char *value) {
    if (value)
        snprintf(options->words[options->word_count++], APP_WORD, "%s %s", control, value);
}

/* Whether a word needs facts of the scene, and waits for these facts. All other words are used at
 * once, so that the first picture has their values. */
static bool waits_for_scene(Action action) {
    ControlNeed needs = keys[action].needs;
    return needs == NEED_CAMERAS || needs == NEED_WORLD || action == ACTION_SLICE;
}

/* Uses the words of the options: before the engine opens the words that need no scene, after the
 * first frame the words that wait for the scene. A script uses all words after its first frame. */
static bool use_words(App *app, Err *err) {
    for (int i = 0; i < app->options->word_count; i++) {
        Event event = {.kind = EVENT_COMMAND};
        if (!keys_parse(app->options->words[i], &event.command, err))
            return false;
        const bool waits = waits_for_scene(event.command.action);
        if (app->script || (app->engine && waits))
            app_step(app, &event);
        else if (!app->engine && !waits)
            state_step(&app->state, &event);
    }
    return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

const LiveData *app_live(const App *app) {
    return app->frame ? &app->frame->live : &app->nothing;
}

const Picture *app_picture(const App *app) {
    return app->frame ? app->frame->picture : NULL;
}

/* Leaves the GPU, which is lost for this process after a device error, for the CPU. */
static void leave_device(App *app) {
    Err err;
    if (!(app->state.menu.where & 1u << BEV_CUDA) ||
        app->state.job.config.kernel->where != BEV_CUDA)
        return;
    app->state.menu.where = 1u << BEV_CPU;
    app_words(app, "backend cpu", &err);
}

/* Logs each error once, also an error of a frame that a newer frame has replaced. An error that
 * comes back after a frame without this error is logged again. */
static void note_error(App *app, const EngineFrame *frame) {
    char line[sizeof app->error_text];
    bool news = frame->errors != app->errors;
    app->errors = frame->errors;
    if (app->script) {
        if (news)
            app_note_error(app, &frame->err);
        return;
    }
    memcpy(line, frame->live.error_text, sizeof line);
    if (news)
        err_line(&frame->err, line, sizeof line);
    if (line[0] && strcmp(app->error_text, line) != 0)
        app_note(app, line);
    memcpy(app->error_text, line, sizeof line);
}

/* Logs each note once. */
static void note_remarks(App *app, const EngineFrame *frame) {
    bool empty = frame->inputs.map && frame->inputs.map->map.points == 0;
    if (empty && !app->empty)
        app_note(app, scatter_empty_reason(&frame->inputs.map->intervals.pruned));
    app->empty = empty;
    const char *remark = frame->inputs.scene ? frame->inputs.scene->scene.remark : "";
    if (remark[0] && strcmp(remark, app->remark) != 0)
        app_note(app, remark);
    snprintf(app->remark, sizeof app->remark, "%s", remark);
    if (frame->notes > app->notes)
        app_note(app, frame->note);
    app->notes = frame->notes;
}

/* Logs what a user would not expect of a figure: an estimate of the model changes by itself, and
 * the kernels' times stay after a change of the scene. */
static void note_figures(App *app, const Headline *now, bool loaded) {
    const LiveData *live = &app->frame->live;
    const Headline *before = &app->state.shown;
    char line[240];
    const bool same_map = app->loads > 1 && live->intervals.known &&
                          !memcmp(&app->map, &live->intervals.stats, sizeof app->map);
    if (loaded && same_map)
        app_note(app, "the rig is the same, and so is the map: the kernels' times stay");
    const bool was_estimate = before->estimate && !before->latency_us.stale;
    const bool is_replayed = !now->estimate && now->latency_us.source == SOURCE_MODEL;
    const bool same_config = kernel_config_equal(&app->config, &live->job.config);
    if (!app->state.lesson.open && was_estimate && is_replayed && same_config) {
        snprintf(line, sizeof line, "%s is replayed: latency %s by the model, the estimate was %s",
                 kernel_config_label(&app->config).text,
                 text_of_unit(UNIT_US, now->latency_us.value).text,
                 text_of_unit(UNIT_US, before->latency_us.value).text);
        app_note(app, line);
    }
    app->config = live->job.config;
    app->map = live->intervals.stats;
}

bool app_take_frame(App *app, const Pace *pace) {
    const EngineFrame *frame = engine_take(app->engine);
    if (!frame)
        return false;
    if (!frame->loads) { /* the scene that was asked for cannot be shown at all */
        app->err = frame->err;
        app->failed = true;
        return false;
    }
    app->frame = frame;
    bool loaded = frame->loads != app->loads;
    app->loads = frame->loads;
    Headline headline = story_headline(&app->state, &frame->live);
    if (frame->inputs.map) {
        headline.fullest_cell = frame->inputs.map->intervals.stats.longest_cell;
        headline.fullest_points = frame->inputs.map->intervals.stats.longest;
    }
    if (!app->script)
        note_figures(app, &headline, loaded);
    app_step(app, &(Event){.kind = EVENT_FRAME,
                           .scene = loaded ? &frame->facts : NULL,
                           .headline = &headline,
                           .pace = pace});
    if (loaded && app->loads == 1 && !app->script)
        use_words(app, &app->err);
    if (app->desk.open && app->desk.page)
        app_show_page(app);
    note_error(app, frame);
    note_remarks(app, frame);
    if (frame->device_lost)
        leave_device(app);
    return true;
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Opens the engine of a display. The first picture is computed while the screens open. */
static bool open_live(App *app, const EngineOptions *engine, Err *err) {
    if (!use_words(app, err))
        return false;
    app->state.job.time_s = app->options->time_s;
    app->state.log = (Log){.count = 0};
    return engine_open(&app->engine, engine, err);
}

static bool open_script(App *app, const EngineOptions *engine, Err *err) {
    app->state.job.time_s = app->options->time_s;
    if (!engine_open(&app->engine, engine, err))
        return false;
    if (!app->options->lesson) /* a lesson begins with a scene of its own */
        app_request(app);
    bool used = !app->failed && use_words(app, err);
    Log *log = &app->state.log;
    int kept = 0; /* notes alone: the words of the options are no changes by the user */
    for (int i = 0; i < log->count; i++)
        if (log->lines[i].action == ACTION_COUNT)
            log->lines[kept++] = log->lines[i];
    log->count = kept;
    return used;
}

bool app_open(App *app, const AppOptions *options, const EngineOptions *engine, Err *err) {
    app->options = options;
    app->script = engine->script;
    live_init(&app->nothing);
    app_menu_open(&app->menu, engine->where);
    app->menu.menu.scales = options->scales;
    app->menu.menu.gpu = options->gpu ? (int)(options->gpu - gpus) : 0;
    int scene = app_menu_scene(&app->menu, options->scene);
    int other = options->other ? app_menu_scene(&app->menu, options->other) : -1;
    state_init(&app->state, &app->menu.menu, scene);
    app->state.playing = !options->paused;
    if (other >= 0)
        state_compare_with(&app->state, other);
    if (!(app->script ? open_script : open_live)(app, engine, err)) {
        if (app->failed)
            *err = app->err;
        return false;
    }
    if (options->lesson && !app_open_lesson(app, options->lesson, options->memory, err))
        return false;
    if (!app->script)
        app_request(app);
    if (options->tour && !app_open_tour(app, err))
        return false;
    if (app->failed)
        *err = app->err;
    return !app->failed;
}

bool app_close(App *app, double patience_ms) {
    Err unsaved;
    app_close_lesson(app, &unsaved);
    app_close_tour(app);
    undo_free(&app->undo);
    if (!engine_close_within(app->engine, patience_ms))
        return false;
    app->engine = NULL;
    app->frame = NULL;
    return true;
}
