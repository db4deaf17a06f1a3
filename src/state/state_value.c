/* What the controls stand at: a column of the help screen. */
#include "src/state/control.h"
#include "src/cachesim/gpus.h"

#include <stdio.h>

static const char *name_at(const Menu *menu, int position) {
    return position >= 0 && position < menu->count ? menu->names[position] : "";
}

static const char *switch_name(bool on) {
    return on ? "on" : "off";
}

/* Controls whose value is a name. NULL: another kind. */
static const char *value_name(const State *state, Action action) {
    const KernelConfig *config = &state->job.config;
    switch (action) {
    case ACTION_KERNEL:
        return config->kernel->title;
    case ACTION_DTYPE:
        return bev_dtypes[config->dtype].title;
    case ACTION_ALIGN:
        return bev_aligns[config->align].name;
    case ACTION_BACKEND:
        return config->kernel->where == BEV_CPU ? "CPU" : "CUDA";
    case ACTION_CONFIG:
        return state->job.scene < state->menu.preset_count
                   ? name_at(&state->menu.scenes, state->job.scene)
                   : "-";
    case ACTION_SCENE:
        return name_at(&state->menu.scenes, state->job.scene);
    case ACTION_GPU:
        return gpus[state->gpu].title;
    case ACTION_BASELINE:
        return state->job.baseline.kernel->title;
    case ACTION_COMPARE:
        return compare_names[state->compare];
    case ACTION_ERROR:
        return switch_name(state->view == state->menu.error_view);
    case ACTION_VIEW:
        return name_at(&state->menu.views, state->view);
    case ACTION_COLORMAP:
        return name_at(&state->menu.colormaps, state->colormap);
    case ACTION_LOCK:
        return switch_name(state->range_locked);
    case ACTION_STRIP:
        return strip_names[state->strip];
    case ACTION_CHART:
        return chart_names[state->chart];
    case ACTION_THEME:
        return state->light ? "light" : "dark";
    case ACTION_PLAY:
        return state->playing ? "playing" : "paused";
    case ACTION_CAMERA:
        return state->camera < state->scene.camera_count ? state->scene.cameras[state->camera]
                                                         : "n/a";
    case ACTION_DIRTY:
        return switch_name(!(state->job.camera_mask & (uint32_t)1 << state->camera));
    case ACTION_PIN:
        return switch_name(state->pinned);
    case ACTION_PAGE:
        return page_names[state->page];
    case ACTION_FULLSCREEN:
        return switch_name(state->fullscreen);
    case ACTION_RECORD:
        return switch_name(state->recording);
    default:
        return NULL;
    }
}

/* Controls whose value is a number. */
static void value_number(const State *state, Action action, char *text, size_t size) {
    const Job *job = &state->job;
    const CameraError *error = &job->camera_errors[state->camera];
    long long channels = job->channels ? job->channels : state->scene.channels;
    switch (action) {
    case ACTION_CHANNELS:
        snprintf(text, size, "C = %lld", channels);
        break;
    case ACTION_L2:
        snprintf(text, size, "%.0f MB", model_l2_bytes(&gpus[state->gpu], state->l2) / (1 << 20));
        break;
    case ACTION_WIPE:
        snprintf(text, size, "%.0f %%", state->wipe * 100);
        break;
    case ACTION_CHANNEL:
        snprintf(text, size, "%lld", (long long)state->channel);
        break;
    case ACTION_STEP:
        snprintf(text, size, "%.2f s", job->time_s);
        break;
    case ACTION_SPEED:
        snprintf(text, size, "%g x", state->speed);
        break;
    case ACTION_TEMPERATURE:
        snprintf(text, size, "%.2f", job->temperature);
        break;
    case ACTION_YAW:
        snprintf(text, size, "%+.1f deg", error->yaw_deg);
        break;
    case ACTION_PITCH:
        snprintf(text, size, "%+.1f deg", error->pitch_deg);
        break;
    case ACTION_HEIGHT:
        snprintf(text, size, "%+.1f m", error->height_m);
        break;
    case ACTION_CURSOR_X:
        snprintf(text, size, "%lld", (long long)state->cursor_x);
        break;
    case ACTION_CURSOR_Y:
        snprintf(text, size, "%lld", (long long)state->cursor_y);
        break;
    case ACTION_ZOOM:
        snprintf(text, size, "%.2f x", state->viewport.zoom);
        break;
    default:
        snprintf(text, size, "%s", "");
        break;
    }
}

bool state_shows_errors(const State *state) {
    return state->view == state->menu.error_view && state->compare != COMPARE_DIFFERENCE;
}

void state_value(const State *state, Action action, char *text, size_t size) {
    const char *name = value_name(state, action);
    if (name)
        snprintf(text, size, "%s", name);
    else
        value_number(state, action, text, size);
}
