/* SPDX-License-Identifier: MIT */
/* Controls of the groups "Compare" and "Picture": the baseline, and how the picture looks. */
#include "src/state/control.h"

#include "kernels/injected_bugs.h"

RgbChoice rgb_from(int64_t first, int64_t channels) {
    RgbChoice rgb = {.channel = {first, first + 1, first + 2}};
    for (int k = 0; channels > 0 && k < 3; k++)
        rgb.channel[k] %= channels;
    return rgb;
}

bool rgb_parse(const char *text, RgbChoice *rgb) {
    RgbChoice parsed = {{0}, {0}, {0}};
    for (int k = 0; k < 3; k++) { /* "12" or "12:LOW:HIGH", and a comma between two of them */
        double *lo = &parsed.lo[k], *hi = &parsed.hi[k];
        long long channel;
        int used = 0, range = 0;
        const bool has_digit = text[0] >= '0' && text[0] <= '9'; /* sscanf takes a sign, too */
        if (!has_digit || sscanf(text, "%6lld%n", &channel, &used) != 1)
            return false;
        parsed.channel[k] = channel;
        if (text[used] == ':' && (sscanf(text + used, ":%lf:%lf%n", lo, hi, &range) != 2 ||
                                  !isfinite(*lo) || !isfinite(*hi) || *lo >= *hi))
            return false;
        text += used + range;
        if (*text++ != (k < 2 ? ',' : '\0'))
            return false;
    }
    *rgb = parsed;
    return true;
}

const char *const compare_names[COMPARE_COUNT] = {"off", "wipe", "difference"};

unsigned control_baseline(State *state, const Command *command) {
    Job *job = &state->job;
    if (!job->baseline_pinned && injected_bug_of(job->config.kernel))
        return SAY(state, command->action, "baseline: an injected bug is none: still %s",
                   job->baseline.kernel->title);
    job->baseline_pinned = control_switched(command, job->baseline_pinned);
    job->baseline = job->baseline_pinned ? job->config : kernel_config_baseline(&job->config);
    job->baseline_rig = job->rig;
    SAY(state, command->action, "baseline %s: %s", job->baseline_pinned ? "pinned" : "let go",
        kernel_config_label(&job->baseline).text);
    return control_changed(state);
}

/* Compares the selection with the baseline, or with a second scene. Gradients are not compared. */
unsigned control_compare(State *state, const Command *command) {
    Job *job = &state->job;
    const Compare mode = (Compare)command->place;
    if (mode != COMPARE_OFF && job->config.kernel->direction == BEV_BACKWARD)
        return SAY(state, command->action,
                   "compare: pooled grids are compared, not gradients: %s goes forward",
                   key_of(ACTION_DIRECTION).name);
    state->compare = mode;
    job->pool_baseline = mode != COMPARE_OFF;
    const ShortText baseline = kernel_config_label(&job->baseline);
    const char *label =
        job->other ? menu_name(&state->menu.scenes, job->other - 1) : baseline.text;
    const bool with_itself = !job->other && !job_rigs_differ(job) &&
                             kernel_config_equal(&job->baseline, &job->config);
    if (mode != COMPARE_OFF && with_itself)
        SAY(state, command->action, "compare %s: %s with itself; pin with %s, then change %s",
            compare_names[mode], label, key_of(ACTION_BASELINE).name, key_of(ACTION_DTYPE).name);
    else
        SAY(state, command->action, "compare %s%s%s", compare_names[mode],
            mode != COMPARE_OFF ? ", against " : "", mode != COMPARE_OFF ? label : "");
    return control_changed(state);
}

unsigned control_wipe(State *state, const Command *command) {
    unsigned changed = SET(state->wipe, command->number / 100);
    return SAY(state, command->action, "wipe at %.0f %%: baseline on its left", command->number) |
           changed;
}

static unsigned use_view(State *state, Action action, int view) {
    unsigned changed = SET(state->view, view);
    changed |= SET(state->range_locked, false);
    return SAY(state, action, "view %s", state->menu.views.names[view]) | STEP_LOOK | changed;
}

unsigned control_error(State *state, const Command *command) {
    const int error_view = state->menu.error_view;
    const bool was_on = state->view == error_view, on = control_switched(command, was_on);
    if (error_view < 0 || on == was_on)
        return STEP_REDRAW;
    if (!on)
        return use_view(state, command->action, state->view_before_error);
    state->view_before_error = state->view;
    if (state->compare == COMPARE_DIFFERENCE) /* the difference would hide the errors */
        state->compare = COMPARE_WIPE;
    return use_view(state, command->action, error_view);
}

unsigned control_view(State *state, const Command *command) {
    return use_view(state, command->action, command->place);
}

/* Shows the channels that the argument names: "0,5,9", or three channels with ranges. */
static unsigned use_rgb(State *state, const Command *command) {
    int64_t count = state_channels(state);
    RgbChoice rgb;
    if (!rgb_parse(command->argument, &rgb))
        return SAY(state, command->action, "channel: \"%s\" is no channel, nor three as 0,1,2",
                   command->argument);
    for (int k = 0; k < 3; k++)
        if (count > 0 && rgb.channel[k] >= count)
            return SAY(state, command->action, "channel: %lld is not below %lld",
                       (long long)rgb.channel[k], (long long)count);
    state->rgb = rgb;
    const bool channels_shown = state->view == state->menu.rgb_view;
    return SAY(state, command->action, "red, green, blue: %s%s", command->argument,
               channels_shown ? "" : " (the rgb view shows them)") |
           STEP_LOOK | STEP_CHANGE;
}

/* Shows the channel that a step or a number selects, or several channels of a text "0,5,9". */
unsigned control_channel(State *state, const Command *command) {
    const int64_t count = state_channels(state);
    char *end = NULL;
    const double number = strtod(command->argument, &end);
    const bool is_number = end != command->argument && *end == '\0';
    if (!command->step && !is_number)
        return use_rgb(state, command);
    int64_t channel = (int64_t)clamp(
        command->step ? (double)state->channel + command->step : number, -1, 1e9);
    if (count > 0)
        channel = wrapped((int)channel, (int)count); /* -1 becomes the last channel */
    unsigned changed = SET(state->channel, channel > 0 ? channel : 0);
    state->rgb = rgb_from(state->channel, count);
    const bool channel_shown =
        state->view == state->menu.channel_view || state->view == state->menu.rgb_view;
    return SAY(state, command->action, "channel %lld%s", (long long)state->channel,
               channel_shown ? "" : " (the channel view shows it)") |
           STEP_LOOK | changed;
}
