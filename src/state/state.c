/* SPDX-License-Identifier: MIT */
/* The state of the display: its initial values, questions about the state, events, and functions
 * that the handlers of all controls share. */
#include "src/state/control.h"

#include "kernels/codec.h"
#include "src/base/data.h"

#include <assert.h>
#include <ctype.h>
#include <strings.h>

void state_init(State *state, const StateMenu *menu, int scene) {
    *state = (State){.menu = *menu,
                     .wipe = 0.5,
                     .speed = 1,
                     .playing = true,
                     .fill = true,
                     .text_percent = 100,
                     .gpu = menu->gpu,
                     .job = job_plain()};
    BevWhere where = menu->where & 1u << BEV_CUDA ? BEV_CUDA : BEV_CPU;
    KernelConfig *config = &state->job.config;
    config->kernel = kernel_counterpart(bev_default(BEV_CPU, BEV_FORWARD), where);
    config->dtype = BEV_FP16;
    config->align = BEV_NEAREST;
    char said[160] = "";
    kernel_config_make_valid(config, (1u << BEV_ALIGN_COUNT) - 1, said, sizeof said);
    state->job.baseline = kernel_config_baseline(config);
    state->job.scene = scene;
    state->job.serial = 1;
    state->job.scales = menu->scales ? SCALES_FILE : SCALES_IDEAL;
    state->job.scales_file = menu->scales;
    state->pixel = -1;
    state->viewport.zoom = 1;
    state->truth = TRUTH_BOXES;
    state->rgb = rgb_from(0, 0);
    state->bits = (BitsPage){.dtype = BEV_FP32, .code = bev_code(BEV_FP32, 1)};
    control_steps_reset(state);
}

/* Copies what a reset does not change: facts, counters and screens, the last fields of State. */
static void keep_facts(State *next, const State *now) {
    const size_t first = offsetof(State, counts);
    memcpy((char *)next + first, (const char *)now + first, sizeof *next - first);
    next->menu = now->menu;
    next->job.serial = now->job.serial + 1;
}

void state_begin_lesson(State *state, int scene) {
    State next;
    state_init(&next, &state->menu, scene);
    keep_facts(&next, state);
    next.playing = false;
    next.scene = state->scene;
    if (scene == state->job.scene) /* the last figures stay only if the scene stays */
        next.shown = state->shown;
    control_use_slice(&next, SLICE_MAX, VIEW_CENTERED);
    next.light = state->light;
    next.large = state->large;
    next.text_percent = state->text_percent;
    next.page = PAGE_BOTH; /* narrow terminals show the lesson there */
    *state = next;
}

void state_restore(State *state, const State *before) {
    State next = *before;
    bool same_scene = before->job.scene == state->job.scene;
    keep_facts(&next, state);
    next.help = state->help;
    next.race = RACE_OFF; /* undo opens no page that was left */
    next.shown = state->shown;
    for (int i = 0; i < next.log.count; i++)
        next.log.lines[i].open = 0; /* the next figures do not belong to an undone change */
    if (same_scene) {               /* the scene is not loaded again, so its facts must be copied */
        next.scene = state->scene;
        control_use_slice(&next, next.job.slice, VIEW_KEPT);
    }
    if (same_scene && before->playing) /* the world does not jump back in time */
        next.job.time_s = state->job.time_s;
    if (!(next.menu.where & 1u << next.job.config.kernel->where))
        next.job.config.kernel = kernel_counterpart(next.job.config.kernel, BEV_CPU);
    *state = next;
}

/* ---- questions about a state ----------------------------------------------------------------- */

int menu_find(const Menu *menu, const char *name) {
    for (int i = 0; i < menu->count; i++)
        if (!strcasecmp(menu->names[i], name))
            return i;
    return -1;
}

const char *menu_name(const Menu *menu, int position) {
    return position >= 0 && position < menu->count ? menu->names[position] : "";
}

int64_t state_probe_cell(const State *state) {
    if (state->pinned)
        return state->pin_y * state->scene.nx + state->pin_x;
    return state->cursor_shown ? state->cursor_y * state->scene.nx + state->cursor_x : -1;
}

double state_text_scale(const State *state) {
    return state->text_percent / 100;
}

Gpu state_gpu(const State *state) {
    return gpu_edited(&gpus[state->gpu], &state->edit);
}

bool state_shows_errors(const State *state) {
    return state->view == state->menu.error_view && state->compare != COMPARE_DIFFERENCE;
}

ShortText state_value(const State *state, Action action) {
    ShortText value;
    keys[action].value(state, value.text, sizeof value.text);
    return value;
}

void state_snapshot_name(const State *state, const Job *shown, const BevKernel *drawn_by,
                         char *text, size_t size) {
    const KernelConfig *config = &shown->config;
    const bool by_stand_in = drawn_by && drawn_by != config->kernel;
    char scene[48];
    data_stem(state->menu.scenes.names[shown->scene], scene, sizeof scene); /* may be a path */
    for (char *at = scene; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_' && *at != '-')
            *at = '_';
    snprintf(text, size, "%s-%s%s%s-%s-%s-t%06.2f-%03lld.png", scene, config->kernel->name,
             by_stand_in ? "-by-" : "", by_stand_in ? drawn_by->name : "",
             bev_dtypes[config->dtype].name, bev_aligns[config->align].name, shown->time_s,
             (long long)state->snapshots);
}

bool state_figure_command(const State *state, const Job *shown, char *text, size_t size) {
    const KernelConfig *config = &shown->config;
    const Job plain = job_plain();
    const char *scene = menu_name(&state->menu.scenes, shown->scene);
    const bool usual_slice = shown->slice == plain.slice || state->scene.slices <= 1;
    const bool usual = rig_state_equal(&shown->rig, &plain.rig) && usual_slice && !shown->channels;
    const bool usual_picture =
        config->kernel->direction == BEV_FORWARD && state->view != state->menu.rgb_view;
    const bool needs_quotes = strpbrk(scene, " '\"$*") != NULL;
    if (!usual || !usual_picture || needs_quotes || state->scene.has_operator)
        return false;
    snprintf(text, size, "bevscope snapshot %s", scene);
    if (scene_moves(&state->scene))
        text_add(text, size, " -t %.7g", shown->time_s);
    if (!config->kernel->is_default)
        text_add(text, size, " --kernel %s", kernel_word(config->kernel));
    if (config->dtype != BEV_FP16)
        text_add(text, size, " --dtype %s", bev_dtypes[config->dtype].name);
    if (config->align != BEV_NEAREST)
        text_add(text, size, " --align %s", bev_aligns[config->align].name);
    if (state->view || !state->scene.has_world)
        text_add(text, size, " --view %s", menu_name(&state->menu.views, state->view));
    if (state->channel)
        text_add(text, size, " --channel %lld", (long long)state->channel);
    if (state->colormap)
        text_add(text, size, " --colormap %s", menu_name(&state->menu.colormaps, state->colormap));
    text_add(text, size, "%s%s -o figure.png", state->fill ? "" : " --no-interpolate",
             shown->photo_features ? " --photo-features" : "");
    return true;
}

/* ---- numbers of controls --------------------------------------------------------------------- */

/* Completes the command with its number: the argument, or a step from the control's value. A step
 * stops at the bounds of the row. Returns false, with a line in the log, for an argument outside of
 * the bounds. */
static bool complete_number(State *state, Command *command) {
    const KeyRow *row = &keys[command->action];
    const double per_unit = 1e6; /* rounded to 1e-6, ten steps of 0.1 and ten back give 0 again */
    char value[64];
    double now = row->value(state, value, sizeof value);
    command->number = strtod(command->argument, NULL);
    if (command->step) {
        double next =
            row->scaled ? now * pow(row->step, command->step) : now + command->step * row->step;
        command->number = clamp(round(next * per_unit) / per_unit, row->lo, row->hi);
    }
    if (command->number >= row->lo && command->number <= row->hi)
        return true;
    SAY(state, command->action, "%s: %s is not from %g to %g%s%s", row->word, command->argument,
        row->lo, row->hi, value[0] ? ": still " : "", value);
    return false;
}

/* Logs the control's new value, with a line that explains the value; NULL: none. Marks the job as
 * changed where the row asks for a new run. Returns STEP_* bits. */
static unsigned log_new_value(State *state, const KeyRow *row, const char *explanation) {
    SAY(state, row->action, "%s %s%s%s", row->word, state_value(state, row->action).text,
        explanation ? ": " : "", explanation ? explanation : "");
    const bool values_only = row->asks & (STEP_RUN_VALUES & ~STEP_RUN);
    if (row->asks & STEP_RUN)
        return control_await_figures(state, values_only ? MOVES_VALUES_ONLY : MOVES_ALL_FIGURES);
    return STEP_REDRAW | row->asks;
}

unsigned control_set(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    double *field = (double *)((char *)state + row->field);
    unsigned changed = SET(*field, command->number);
    return log_new_value(state, row, NULL) | changed;
}

/* ---- switches and lists of values ------------------------------------------------------------ */

bool control_switched(const Command *command, bool now) {
    return command->step ? !now : !strcmp(command->argument, "on");
}

unsigned control_toggle(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    bool *field = (bool *)((char *)state + row->field);
    unsigned changed = SET(*field, control_switched(command, *field));
    return SAY(state, command->action, "%s", row->says[*field]) | row->asks | changed;
}

int control_find(const State *state, const Command *command) {
    ValueName values[VALUES_MAX];
    int count = keys[command->action].list(state, values);
    for (int i = count - 1; i >= 0; i--) /* of two equal names the last counts */
        if (!strcasecmp(values[i].name, command->argument) ||
            !strcasecmp(values[i].title, command->argument))
            return i;
    return -1;
}

int control_pick(State *state, const Command *command, int now) {
    ValueName values[VALUES_MAX];
    int count = keys[command->action].list(state, values);
    if (command->step && count)
        return wrapped(now + command->step, count);
    int found = control_find(state, command);
    if (found < 0)
        SAY(state, command->action, "%s: there is no \"%s\"", keys[command->action].word,
            command->argument);
    return found;
}

unsigned control_choose(State *state, const Command *command) {
    const KeyRow *row = &keys[command->action];
    ValueName values[VALUES_MAX];
    int *field = (int *)((char *)state + row->field);
    unsigned changed = SET(*field, command->place);
    if (command->action == ACTION_CHART && command->place)
        state->all = false; /* a chart has the tables' place */
    row->list(state, values);
    return log_new_value(state, row, values[command->place].help) | changed;
}

/* ---- using a control ------------------------------------------------------------------------- */

/* Returns why the controls of cameras do nothing; NULL: the scene has cameras. */
static const char *why_no_cameras(const SceneFacts *scene) {
    return scene->has_rig && scene->camera_count > 0 ? NULL
           : scene->nx == 0                          ? "this scene is not loaded yet"
           : scene->has_operator ? "this scene is an operator: it has no cameras"
                                 : "this scene came without its cameras";
}

/* Returns why the control does nothing here; NULL: the control works. Most conditions count as met
 * while the scene is not loaded yet. */
static const char *why_unusable(const State *state, const KeyRow *row) {
    const SceneFacts *scene = &state->scene;
    const bool loaded = scene->nx > 0;
    switch (row->needs) {
    case NEED_CAMERAS:
        return why_no_cameras(scene);
    case NEED_WORLD:
        return scene->has_world ? NULL : "this scene's depth and features are given";
    case NEED_OPERATOR:
        return scene->has_operator || !loaded ? NULL : "only operator scenes, as embedding_bag";
    case NEED_TRUTH:
        return scene->has_truth || !loaded ? NULL : "no annotated boxes or LiDAR to draw here";
    case NEED_LIDAR:
        return scene->has_lidar || !loaded ? NULL : "this scene has no LiDAR";
    case NEED_STEPS:
        return state->job.steps ? NULL : "no steps are shown; the word steps shows them";
    case NEED_LESSON:
        return state->lesson.open ? NULL : "no lesson is open; the word lesson opens one";
    case NEED_WINDOW:
        return state->has_window ? NULL : "no window is open";
    case NEED_CUDA:
        return state_where(state) == BEV_CUDA ? NULL : "only a GPU has them";
    default:
        return NULL;
    }
}

unsigned control_use(State *state, const Command *given) {
    const KeyRow *row = &keys[given->action];
    const char *why = why_unusable(state, row);
    Command taken = *given, *command = &taken;
    if (why)
        return SAY(state, row->action, "%s: %s", row->word, why);
    if (row->group == GROUP_CAMERAS && !control_take_camera(state, command))
        return STEP_REDRAW;
    if (row->picks) {
        char now[96];
        const int place_now = (int)row->value(state, now, sizeof now);
        command->place = control_pick(state, command, place_now);
        if (command->place < 0)
            return STEP_REDRAW;
    }
    if (row->argument == ARGUMENT_NUMBER && !complete_number(state, command))
        return STEP_REDRAW;
    return row->handler(state, command);
}

unsigned control_changed(State *state) {
    state->job.serial++;
    return STEP_REDRAW | STEP_RUN | STEP_CHANGE;
}

unsigned control_await_figures(State *state, Moves moves) {
    unsigned bits = control_changed(state);
    LogLine *line = &state->log.lines[0];
    line->open = state->job.serial;
    /* While the change before this one waits for figures, there is nothing to compare with. */
    const bool unseen = line[1].open > state->shown.serial;
    line->before = unseen ? (Headline){.serial = state->shown.serial} : state->shown;
    line->values_only = moves == MOVES_VALUES_ONLY;
    return bits;
}

unsigned control_aligns(const State *state) {
    const unsigned all_aligns = (1u << BEV_ALIGN_COUNT) - 1;
    return state->scene.aligns ? state->scene.aligns : all_aligns;
}

/* ---- events that are no controls ------------------------------------------------------------- */

/* Lets time pass for the recorded steps, the race and the world. The world stands during a race. */
static unsigned on_tick(State *state, double seconds) {
    state->frames++;
    state->recorded_frames += state->recording;
    bool world_moves = state->playing && scene_moves(&state->scene) && seconds > 0 && !state->race;
    unsigned bits = control_steps_tick(state, seconds);
    if (state_races(state)) {
        state->race_s += seconds;
        bits |= STEP_REDRAW;
    }
    if (!world_moves)
        return state->recording ? STEP_REDRAW : bits;
    state->job.time_s += seconds * state->speed;
    if (state->scene.loop_s > 0) /* the motion of the scene repeats */
        state->job.time_s = fmod(state->job.time_s, state->scene.loop_s);
    return bits | control_changed(state);
}

/* Chooses a view that the scene can show. Features of a network or of an operator have no known
 * colours, so a view of colours is replaced. */
static unsigned replace_color_view(State *state) {
    const StateMenu *menu = &state->menu;
    const SceneFacts *scene = &state->scene;
    const bool colors_known =
        scene->has_world || (scene->has_operator && scene->operator_spec.kind == OPERATOR_VOXELIZE);
    if (colors_known || !(menu->world_views >> state->view & 1))
        return 0;
    state->view = scene->photo_features ? menu->rgb_view : menu->plain_view;
    return SAY(state, ACTION_VIEW, "view %s: these features are no known colours",
               menu_name(&menu->views, state->view)) |
           STEP_LOOK;
}

/* Takes over the facts of a new scene. Choices that the scene cannot have are replaced. */
static unsigned on_scene(State *state, const SceneFacts *scene) {
    state->scene = *scene;
    control_use_slice(state, state_slice(state).slice, VIEW_CENTERED);
    if (state->camera >= scene->camera_count)
        state->camera = 0;
    const bool channel_lost = state->channel && state->channel >= scene->channels;
    state->channel = channel_lost ? 0 : state->channel;
    const unsigned look = (channel_lost ? STEP_LOOK : 0) | replace_color_view(state);
    KernelConfig config = state->job.config;
    char said[160] = ""; /* becomes "; V4 has no NVFP4: FP8" */
    kernel_config_make_valid(&state->job.baseline, control_aligns(state), NULL, 0);
    kernel_config_make_valid(&config, control_aligns(state), said, sizeof said);
    if (kernel_config_equal(&config, &state->job.config))
        return STEP_REDRAW | look;
    return look | control_use_config(state, ACTION_ALIGN, config, said + strlen("; "));
}

/* Takes over a frame of the engine: a new scene's facts, the pace, and the newest figures. */
static unsigned on_frame(State *state, const Event *event) {
    unsigned bits = event->scene ? on_scene(state, event->scene) : 0;
    const Headline *headline = event->headline;
    if (event->pace)
        state->pace = *event->pace;
    if (!headline)
        return bits;
    const int last_step = headline->step_count - 1;
    state->shown = *headline;
    if (headline->serial == state->job.serial && last_step >= 0 && state->step_at > last_step)
        state->step_at = last_step;
    log_result(&state->log, headline);
    return bits | STEP_REDRAW;
}

/* Writes the cell under the mouse. Returns false where the mouse is outside the grid. */
static bool cell_at(const State *state, const Event *event, int64_t *x, int64_t *y) {
    *x = (int64_t)floor(event->x);
    *y = (int64_t)floor(event->y);
    return event->x >= 0 && event->y >= 0 && *x < state->scene.nx && *y < state->scene.ny;
}

static unsigned on_pixel(State *state, int64_t pixel) {
    return SET(state->pixel, pixel) ? STEP_REDRAW : 0;
}

static unsigned on_hover(State *state, const Event *event) {
    const int64_t no_pixel = -1;
    int64_t x, y;
    state->cursor_shown = cell_at(state, event, &x, &y);
    if (state->cursor_shown) {
        state->cursor_x = x;
        state->cursor_y = y;
    }
    if (state->cursor_shown && event->on)
        control_say_cell(state, ACTION_CURSOR_X, "", x, y);
    return on_pixel(state, no_pixel) | control_probe(state);
}

/* Pins the clicked cell. A second click on the same cell unpins it. */
static unsigned on_click(State *state, const Event *event) {
    int64_t x, y;
    if (!cell_at(state, event, &x, &y))
        return 0;
    if (state->pinned && state->pin_x == x && state->pin_y == y)
        return control_unpin(state, ACTION_PIN);
    if (event->on) /* the nearest cell with points: the cursor stays where the mouse is */
        return control_pin_at(state, "no point falls there; pinned the nearest with points, ", x,
                              y);
    state->cursor_x = x;
    state->cursor_y = y;
    state->cursor_shown = true;
    return control_pin_at(state, "pinned ", x, y);
}

static unsigned on_window(State *state, bool opened) {
    state->has_window = opened;
    state->fullscreen = state->fullscreen && opened;
    state->page = opened ? PAGE_DASHBOARD : PAGE_BOTH;
    if (opened)
        return STEP_REDRAW;
    const int columns_needed = state->chart ? PAGE_BOTH_COLUMNS : PAGE_SMALL_COLUMNS;
    if (state->columns < columns_needed)
        return SAY(state, ACTION_COUNT, "window closed: %s leads to the BEV",
                   key_of(ACTION_PAGE).name);
    return SAY(state, ACTION_COUNT, "window closed: the BEV is here now");
}

unsigned state_step(State *state, const Event *event) {
    switch (event->kind) {
    case EVENT_COMMAND:
        return control_use(state, &event->command);
    case EVENT_TICK:
        return on_tick(state, event->seconds);
    case EVENT_FRAME:
        return on_frame(state, event);
    case EVENT_PIXEL:
        return on_pixel(state, (int64_t)event->x);
    case EVENT_HOVER:
        return on_hover(state, event);
    case EVENT_CLICK:
        return on_click(state, event);
    case EVENT_DRAG:
        state->viewport.center_x -= event->x;
        state->viewport.center_y -= event->y;
        control_fit_viewport(state);
        return STEP_REDRAW;
    case EVENT_WHEEL:
        return control_zoom_about(state, state->viewport.zoom * pow(ZOOM_STEP, event->steps),
                                  event->x, event->y);
    case EVENT_WIPE:
        state->wipe = clamp(event->x, 0, 1);
        return STEP_REDRAW;
    case EVENT_RESIZE:
        state->columns = event->columns;
        state->rows = event->rows;
        return STEP_REDRAW;
    case EVENT_WINDOW:
        return on_window(state, event->on);
    case EVENT_SCROLL:
        return control_scroll(state, (int)event->steps);
    case EVENT_NOTE:
        return SAY(state, ACTION_COUNT, "%s", event->text);
    }
    assert(!"unknown event");
    return 0;
}
