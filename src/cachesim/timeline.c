/* SPDX-License-Identifier: MIT */
#include "src/cachesim/timeline.h"

#include "kernels/clean.h"

#include <math.h>
#include <string.h>

const TimelineName timeline_ways[] = {
    {"waited", "each launch waited for"},
    {"row", "in a row, one synchronise"},
    {"graph", "in a CUDA graph"},
    {"copies", "copies and launches in one stream"},
    {"overlap", "copies in a second stream"},
};
_Static_assert(sizeof timeline_ways / sizeof *timeline_ways == TIMELINE_WAYS, "a way has no name");

const TimelineName timeline_lanes[] = {{"host", "host"}, {"copy", "copy"}, {"kernel", "kernel"}};
_Static_assert(sizeof timeline_lanes / sizeof *timeline_lanes == LANE_COUNT, "a lane has no name");

const Timeline *timeline_find(const Timelines *timelines, const char *scene, const char *kernel) {
    const Timeline *best = NULL;
    int best_score = -1;
    for (int i = 0; i < timelines->count; i++) {
        const Timeline *t = &timelines->list[i];
        const bool same_scene = !strcmp(t->scene, scene);
        const bool same_kernel = kernel && !strcmp(t->kernel, kernel);
        const int score = 2 * same_scene + same_kernel; /* the scene decides first */
        if (score > best_score) {
            best = t;
            best_score = score;
        }
    }
    return best;
}

/* ---- from JSON ------------------------------------------------------------------------------- */

/* Reads a time in microseconds. False: the value is no time. */
static bool read_time(const json_t *value, double *us) {
    *us = json_number_value(value);
    return json_is_number(value) && isfinite(*us) && *us >= 0 && *us < 1e9;
}

/* Reads the launches of one lane, an array of [begin, end]. A lane may be missing. */
static bool read_lane(const json_t *spans, TimelineRun *run, int lane) {
    size_t count = json_array_size(spans);
    if (!spans)
        return true;
    if (!json_is_array(spans) || count > TIMELINE_LAUNCHES)
        return false;
    run->count[lane] = (int)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *pair = json_array_get(spans, i);
        TimelineSpan *span = &run->spans[lane][i];
        if (!read_time(json_array_get(pair, 0), &span->begin_us) ||
            !read_time(json_array_get(pair, 1), &span->end_us) || span->end_us < span->begin_us)
            return false;
    }
    return true;
}

/* Reads how the launches ran in one way. */
static bool read_run(const json_t *json, TimelineRun *run) {
    if (!read_time(json_object_get(json, "calls_us"), &run->calls_us) ||
        !read_time(json_object_get(json, "end_us"), &run->end_us) || !(run->end_us > 0))
        return false;
    for (int lane = 0; lane < LANE_COUNT; lane++)
        if (!read_lane(json_object_get(json, timeline_lanes[lane].word), run, lane))
            return false;
    return true;
}

bool timeline_read(const json_t *object, Timeline *t, const char **problem) {
    const struct {
        const char *key;
        char *to;
        size_t size;
    } words[] = {{"scene", t->scene, sizeof t->scene},
                 {"kernel", t->kernel, sizeof t->kernel},
                 {"dtype", t->dtype, sizeof t->dtype},
                 {"align", t->align, sizeof t->align}};
    *t = (Timeline){0};
    *problem = "scene, kernel, dtype and align are texts";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *text = json_string_value(json_object_get(object, words[i].key));
        if (!text || !*text)
            return false;
        clean_text(text, words[i].to, words[i].size);
    }
    json_int_t launches = json_integer_value(json_object_get(object, "launches"));
    *problem = "launches is 1 to 8, kernel_us a time";
    if (launches < 1 || launches > TIMELINE_LAUNCHES ||
        !read_time(json_object_get(object, "kernel_us"), &t->kernel_us))
        return false;
    t->launches = (int)launches;
    *problem = "calls_us and end_us are times, lanes lists of [begin, end], none over 8 long";
    bool has_run = false;
    for (int way = 0; way < TIMELINE_WAYS; way++) {
        const json_t *json = json_object_get(object, timeline_ways[way].word);
        if (json && !read_run(json, &t->runs[way]))
            return false;
        has_run = has_run || json;
    }
    if (!has_run)
        *problem = "there is no run in it";
    return has_run;
}
