/* SPDX-License-Identifier: MIT */
/* How fast the live display answers and how often its picture moves; see loop_internal.h. */
#include "src/ui/loop_internal.h"

#include "src/base/clock.h"

#include <math.h>
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
    meter->screens[screen] = (ScreenPace){.started = false};
}

/* Counts a new moment of the world on the screen, and the time since the one before. */
static void count_moment(ScreenPace *pace, double time_s, double now_ms) {
    double gap = now_ms - pace->shown_ms;
    if (pace->started && pace->time_s == time_s)
        return;
    if (pace->started && gap < PAUSE_MS) {
        pace->playing_ms += gap;
        pace->moments++;
    }
    pace->started = true;
    pace->time_s = time_s;
    pace->shown_ms = now_ms;
}

void pace_shown(PaceMeter *meter, Screen screen, unsigned open, uint64_t request, double time_s) {
    double now_ms = clock_ms();
    count_moment(&meter->screens[screen], time_s, now_ms);
    mark_answered(meter, screen, request, now_ms);
    bool all = true;
    for (int i = 0; i < SCREEN_COUNT; i++)
        all = all && (meter->screens[i].started || !(open >> i & 1));
    if (all && !meter->first_us)
        meter->first_us = clock_process_us();
}

static void key_figures(const PaceMeter *meter, Pace *pace) {
    double sorted[PACE_KEYS];
    int count = (int)(meter->keys < PACE_KEYS ? meter->keys : PACE_KEYS);
    if (!count)
        return;
    memcpy(sorted, meter->taken_us, (size_t)count * sizeof *sorted);
    sort_ascending(sorted, count);
    pace->keys = meter->keys;
    pace->key_us = reading(sorted[count / 2], SOURCE_MEASURED);
    pace->key_p99_us = reading(sorted[(int)ceil(0.99 * count) - 1], SOURCE_MEASURED);
}

Pace pace_figures(const PaceMeter *meter) {
    Pace pace = {.keys = 0};
    double slowest = INFINITY;
    key_figures(meter, &pace);
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
