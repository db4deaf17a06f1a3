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
    RgbChoice read = {{0}, {0}, {0}};
    for (int k = 0; k < 3; k++) { /* "12" or "12:LOW:HIGH", and a comma between two of them */
        double *lo = &read.lo[k], *hi = &read.hi[k];
        long long channel;
        int used = 0, more = 0;
        if (text[0] < '0' || text[0] > '9' || sscanf(text, "%6lld%n", &channel, &used) != 1)
            return false;
        read.channel[k] = channel;
        if (text[used] == ':' && (sscanf(text + used, ":%lf:%lf%n", lo, hi, &more) != 2 ||
                                  !isfinite(*lo) || !isfinite(*hi) || *lo >= *hi))
            return false;
        text += used + more;
        if (*text++ != (k < 2 ? ',' : '\0'))
            return false;
    }
    *rgb = read;
    return true;
}

/* ---- controls -------------------------------------------------------------------------------- */

const char *const compare_names[COMPARE_COUNT] = {"off", "wipe", "difference"};

unsigned control_baseline(State *state, const Command *command) {
    if (!state->job.baseline_pinned && injected_bug_of(state->job.config.kernel))
        return SAY(state, command->action, "baseline: an injected bug is none: still %s",
                   state->job.baseline.kernel->title);
    state->job.baseline_pinned = control_switched(command, state->job.baseline_pinned);
    state->job.baseline =
        state->job.baseline_pinned ? state->job.config : kernel_config_baseline(&state->job.config);
    state->job.baseline_rig = state->job.rig;
    SAY(state, command->action, "baseline %s: %s", state->job.baseline_pinned ? "pinned" : "let go",
        kernel_config_label(&state->job.baseline).text);
    return control_changed(state);
}

unsigned control_compare(State *state, const Command *command) {
    int mode = command->place;
    if (mode && state->job.config.kernel->direction == BEV_BACKWARD)
        return SAY(state, command->action,
                   "compare: pooled grids are compared, not gradients: %s goes forward",
                   key_of(ACTION_DIRECTION).name);
    state->compare = (Compare)mode;
    state->job.pool_baseline = mode != COMPARE_OFF;
    const ShortText baseline = kernel_config_label(&state->job.baseline);
    const char *label = baseline.text;
    if (state->job.other)
        label = menu_name(&state->menu.scenes, state->job.other - 1);
    if (mode && !state->job.other && !job_rigs_differ(&state->job) &&
        kernel_config_equal(&state->job.baseline, &state->job.config))
        SAY(state, command->action, "compare %s: %s with itself; pin with %s, then change %s",
            compare_names[mode], label, key_of(ACTION_BASELINE).name, key_of(ACTION_DTYPE).name);
    else
        SAY(state, command->action, "compare %s%s%s", compare_names[mode], mode ? ", against " : "",
            mode ? label : "");
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
    int error = state->menu.error_view;
    bool on = control_switched(command, state->view == error);
    if (error < 0 || on == (state->view == error))
        return STEP_REDRAW;
    if (on)
        state->view_before_error = state->view;
    if (on && state->compare == COMPARE_DIFFERENCE) /* it would hide the errors */
        state->compare = COMPARE_WIPE;
    return use_view(state, command->action, on ? error : state->view_before_error);
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
    bool seen = state->view == state->menu.rgb_view;
    return SAY(state, command->action, "red, green, blue: %s%s", command->argument,
               seen ? "" : " (the rgb view shows them)") |
           STEP_LOOK | STEP_CHANGE;
}

unsigned control_channel(State *state, const Command *command) {
    int64_t count = state_channels(state);
    char *end = NULL;
    if (!command->step && (strtod(command->argument, &end), *end || end == command->argument))
        return use_rgb(state, command);
    int64_t channel = (int64_t)clamp(command->step ? (double)state->channel + command->step
                                                   : strtod(command->argument, NULL),
                                     -1, 1e9);
    if (count > 0)
        channel = (channel % count + count) % count;
    unsigned changed = SET(state->channel, channel > 0 ? channel : 0);
    state->rgb = rgb_from(state->channel, count);
    bool seen = state->view == state->menu.channel_view || state->view == state->menu.rgb_view;
    return SAY(state, command->action, "channel %lld%s", (long long)state->channel,
               seen ? "" : " (the channel view shows it)") |
           STEP_LOOK | changed;
}
