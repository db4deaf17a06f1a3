/* SPDX-License-Identifier: MIT */
/* Time lines: read from JSON, bad entries refused, which one is found. */
#include "src/cachesim/timeline.h"
#include "tests/support/tap.h"

static Timeline made(const char *scene, const char *kernel) {
    Timeline t = {.dtype = "fp16", .align = "nearest", .launches = 2, .kernel_us = 5.125};
    snprintf(t.scene, sizeof t.scene, "%s", scene);
    snprintf(t.kernel, sizeof t.kernel, "%s", kernel);
    t.runs[TIMELINE_GRAPH] =
        (TimelineRun){.calls_us = 3,
                      .end_us = 12.5,
                      .count = {[LANE_HOST] = 1, [LANE_KERNEL] = 2},
                      .spans = {[LANE_HOST] = {{0, 3}}, [LANE_KERNEL] = {{2, 7.25}, {7.25, 12.5}}}};
    return t;
}

static const char entry[] =
    "{\"scene\": \"canonical\", \"kernel\": \"v4\", \"dtype\": \"fp16\", \"align\": \"nearest\", "
    "\"launches\": 2, \"kernel_us\": 5.125, \"graph\": {\"calls_us\": 3, \"end_us\": 12.5, "
    "\"host\": [[0, 3]], \"kernel\": [[2, 7.25], [7.25, 12.5]]}}";

static void test_json(void) {
    Timeline t = made("canonical", "v4"), again;
    const char *problem;
    json_t *object = json_loads(entry, 0, NULL);
    tap_ok(timeline_read(object, &again, &problem) && !memcmp(&t, &again, sizeof t),
           "a time line is read");
    json_decref(object);
}

/* The entry with one value of a way, or of the whole, replaced. */
static void refused(const char *way, const char *key, const char *value, const char *words) {
    Timeline again;
    const char *problem = "";
    json_t *object = json_loads(entry, 0, NULL);
    json_t *within = way ? json_object_get(object, way) : object;
    json_object_set_new(within, key, json_loads(value, JSON_DECODE_ANY, NULL));
    bool read = timeline_read(object, &again, &problem);
    tap_ok(!read && strstr(problem, words), "%s %s: %s", key, value, problem);
    json_decref(object);
}

static void test_refuses(void) {
    refused(NULL, "scene", "7", "texts");
    refused(NULL, "launches", "9", "launches");
    refused(NULL, "launches", "0", "launches");
    refused(NULL, "kernel_us", "\"5\"", "kernel_us");
    refused(NULL, "graph", "null", "end_us");
    refused("graph", "end_us", "0", "end_us");
    refused("graph", "kernel", "[[7, 2]]", "begin, end");
    refused("graph", "kernel", "[[7]]", "begin, end");
    refused("graph", "kernel", "\"long\"", "begin, end");
    refused("graph", "host", "[[0,1],[0,1],[0,1],[0,1],[0,1],[0,1],[0,1],[0,1],[0,1]]", "over 8");
}

static void test_find(void) {
    Timelines all = {.count = 3};
    tap_ok(!timeline_find(&(Timelines){0}, "canonical", "v4"), "of none none is found");
    all.list[0] = made("large", "v2");
    all.list[1] = made("canonical", "v2");
    all.list[2] = made("canonical", "v4");
    tap_ok(timeline_find(&all, "canonical", "v4") == &all.list[2] &&
               timeline_find(&all, "canonical", "v3") == &all.list[1] &&
               timeline_find(&all, "small", "v4") == &all.list[2] &&
               timeline_find(&all, "small", NULL) == &all.list[0],
           "scene and kernel, else the scene, else the kernel, else the first");
}

TAP_SUITE(timeline) {
    test_json();
    test_refuses();
    test_find();
}
