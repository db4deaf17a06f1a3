/* SPDX-License-Identifier: MIT */
/* How fast the live display answers, how often its picture moves, and what a slow picture waits
 * for. loop_internal.h has the functions. */
#include "src/ui/loop_internal.h"

#include "src/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PAUSE_MS = 1000; /* a longer gap between two moments is a pause */

void pace_key(PaceMeter *meter, double arrived_ms, uint64_t request, unsigned open) {
    if (meter->waiting_count < PACE_WAITING && open)
        meter->waiting[meter->waiting_count++] = (PaceKey){arrived_ms, request, open};
}

static bool frame_answers_key(const PaceKey *key, Screen screen, uint64_t request) {
    return key->request <= request && key->screens & 1u << screen;
}

bool pace_answers(const PaceMeter *meter, Screen screen, uint64_t request) {
    for (int i = 0; i < meter->waiting_count; i++)
        if (frame_answers_key(&meter->waiting[i], screen, request))
            return true;
    return false;
}

/* Marks waiting keys as answered by the screen. A key that all screens have answered leaves the
 * queue. Its time is measured at `now_ms`; 0: it is not measured. */
static void mark_answered(PaceMeter *meter, Screen screen, uint64_t request, double now_ms) {
    int left = 0;
    for (int i = 0; i < meter->waiting_count; i++) {
        PaceKey key = meter->waiting[i];
        if (frame_answers_key(&key, screen, request))
            key.screens &= ~(1u << screen);
        if (key.screens)
            meter->waiting[left++] = key;
        else if (now_ms > 0)
            meter->taken_us[meter->keys++ % PACE_KEYS] = (now_ms - key.arrived_ms) * 1e3;
    }
    meter->waiting_count = left;
}

void pace_closed(PaceMeter *meter, Screen screen) {
    mark_answered(meter, screen, UINT64_MAX, 0);
    meter->screens[screen] = (ScreenPace){.shown_ms = 0};
}

/* Counts a new moment of the world on a screen, unless it follows a pause. */
static void count_moment(ScreenPace *pace, double time_s, double now_ms) {
    const double gap_ms = now_ms - pace->shown_ms;
    if (pace->shown_ms > 0 && pace->time_s == time_s)
        return;
    if (gap_ms < PAUSE_MS) {
        pace->playing_ms += gap_ms;
        pace->moments++;
    }
    pace->time_s = time_s;
    pace->shown_ms = now_ms;
}

void pace_shown(PaceMeter *meter, Screen screen, unsigned open, uint64_t request, double time_s) {
    double now_ms = clock_ms();
    count_moment(&meter->screens[screen], time_s, now_ms);
    mark_answered(meter, screen, request, now_ms);
    bool all_show_pictures = true;
    for (int i = 0; i < SCREEN_COUNT; i++)
        all_show_pictures &= meter->screens[i].shown_ms > 0 || !(open >> i & 1);
    if (all_show_pictures && !meter->first_us)
        meter->first_us = clock_process_us();
}

Pace pace_figures(const PaceMeter *meter) {
    Pace pace = {.keys = meter->keys};
    double slowest = INFINITY, sorted[PACE_KEYS];
    int count = (int)(meter->keys < PACE_KEYS ? meter->keys : PACE_KEYS);
    memcpy(sorted, meter->taken_us, sizeof sorted);
    sort_ascending(sorted, count);
    if (count) {
        pace.key_us = reading(sorted[count / 2], SOURCE_MEASURED);
        pace.key_p99_us = reading(sorted[(int)ceil(0.99 * count) - 1], SOURCE_MEASURED);
    }
    if (meter->first_us > 0)
        pace.first_us = reading(meter->first_us, SOURCE_MEASURED);
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (meter->screens[i].playing_ms > 0)
            slowest = fmin(slowest,
                           1e3 * (double)meter->screens[i].moments / meter->screens[i].playing_ms);
    if (isfinite(slowest))
        pace.fps = reading(slowest, SOURCE_MEASURED);
    return pace;
}

/* ---- a picture that takes long: its stage and its expected time ------------------------------ */

enum { SLOW_MS = 400 }; /* the least time that is reported */

void slow_asked(SlowMeter *meter, int scene, bool loads, uint64_t request, double now_ms) {
    if (!meter->request || meter->scene != scene)
        meter->since_ms = now_ms;
    meter->loads = loads;
    meter->scene = scene;
    meter->request = request;
}

void slow_answered(SlowMeter *meter, uint64_t request, double now_ms) {
    if (!meter->request || request < meter->request)
        return;
    meter->took_ms[meter->loads][meter->scene] = now_ms - meter->since_ms;
    meter->request = 0;
}

void slow_shown(SlowMeter *meter, const LiveData *live) {
    meter->shown_scene = live->job.scene;
    meter->shown_ms = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (live->stages_us[stage].source)
            meter->shown_ms += live->stages_us[stage].value * 1e-3;
}

/* Returns the number of frustum points of a scene; 0: unknown. The time of the first picture grows
 * with that number. */
static double frustum_points_of(const Menu *scenes, int scene) {
    const Preset *preset = preset_find(menu_name(scenes, scene));
    return preset ? preset->feat_w * preset->feat_h / preset->depth_step_m : 0;
}

/* Returns the expected time of a picture: the last time of this scene. For a new scene the time of
 * the shown scene is scaled by the work. 0: unknown. */
static double expected_ms(const SlowMeter *meter, const Menu *scenes) {
    const double took_ms = meter->took_ms[meter->loads][meter->scene];
    const double shown_points = frustum_points_of(scenes, meter->shown_scene);
    const double new_points = frustum_points_of(scenes, meter->scene);
    if (took_ms > 0 || !meter->loads || !(shown_points > 0))
        return took_ms;
    return meter->shown_ms * new_points / shown_points;
}

void slow_text(const SlowMeter *meter, const Menu *scenes, const char *doing, double now_ms,
               char *text, size_t size) {
    double passed_ms = now_ms - meter->since_ms, about = expected_ms(meter, scenes);
    text[0] = '\0';
    if (!meter->request || passed_ms < SLOW_MS)
        return;
    snprintf(text, size, "computing %.40s: %s, %.1f s", menu_name(scenes, meter->scene), doing,
             passed_ms * 1e-3);
    if (passed_ms < about)
        text_add(text, size, " of about %.2g", about * 1e-3);
}

double slow_in_ms(const SlowMeter *meter, double now_ms) {
    enum { AGAIN_MS = 200 };
    double passed_ms = now_ms - meter->since_ms;
    if (!meter->request)
        return INFINITY;
    return passed_ms < SLOW_MS ? SLOW_MS - passed_ms : AGAIN_MS - fmod(passed_ms, AGAIN_MS);
}
