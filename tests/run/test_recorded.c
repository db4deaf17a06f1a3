/* SPDX-License-Identifier: MIT */
/* Recorded results: what a file holds is read, what it lacks stays unknown. */
#include "src/live/timed_kernel.h"
#include "tests/support/folder.h"
#include "tests/support/ok_or_note.h"

#include <math.h>

#define MACHINE                                                                                    \
    "\"gpu\": \"NVIDIA H200\", \"driver\": \"1\", \"cuda\": \"13.0\", \"date\": \"2026-11-20T\""
#define ROW(kernel, rest)                                                                          \
    "{\"scene\": \"canonical\", \"kernel\": \"" kernel "\", \"dtype\": \"fp16\", "                 \
    "\"align\": \"nearest\", \"channels\": 80, \"cache\": \"warm\", " rest "}"

static const char full[] =
    "{\"machine\": {" MACHINE ", \"limits\": {\"dram_copy_gb_s\": 4000, \"dram_read_gb_s\": 4500, "
    "\"l2_copy_gb_s\": 6000, \"l2_read_gb_s\": 9000, \"fp32_tflops\": null}}, \"results\": ["
    /* clang-format off */
    ROW("cpu_v3", "\"median_us\": 10, \"p95_us\": 11, \"p99_us\": 12, "
                  "\"effective_gb_s\": 900, \"footprint_mb\": 20") ", "
    ROW("cpu_v2", "\"median_us\": 30, \"effective_gb_s\": 900, \"footprint_mb\": 200") ", "
    ROW("reference", "\"median_us\": null") "]}";
/* clang-format on */

static const char lines[] =
    "{\"machine\": {" MACHINE "}, \"results\": [], \"timelines\": [{\"scene\": \"canonical\", "
    "\"kernel\": \"v4\", \"dtype\": \"fp16\", \"align\": \"nearest\", \"launches\": 2, "
    "\"kernel_us\": 5, \"graph\": {\"calls_us\": 3, \"end_us\": 12.5, \"kernel\": [[2, 7], [7, "
    "12.5]]}}]}";

static bool load(const char *text, RecordedSet *set) {
    Err err = {0};
    put(in_folder("h200.json"), text);
    bool ok = ok_or_note(recorded_load(set, folder, &err), &err);
    unlink(in_folder("h200.json"));
    return ok;
}

static const RecordedRow *find(const RecordedSet *set, const char *kernel, int64_t channels) {
    const KernelConfig config = {bev_kernel_find(kernel), BEV_FP16, BEV_NEAREST};
    const Recording *from;
    return recorded_find(set, "canonical", channels, &config, &from);
}

static void test_rows(const RecordedSet *set) {
    const RecordedRow *row = find(set, "cpu_v3", 80), *sparse = find(set, "cpu_v2", 80);
    tap_ok(set->recordings[0].row_count == 2, "a row without a median is passed over");
    tap_ok(row && row->median_us == 10 && row->p95_us == 11 && row->p99_us == 12 &&
               row->effective_gb_s == 900,
           "a row is found, with all its figures");
    tap_ok(sparse && isnan(sparse->p95_us) && isnan(sparse->p99_us), "what is missing is unknown");
    tap_ok(!find(set, "cpu_v3", 256), "another number of channels is another problem");
}

static void test_limits(const RecordedSet *set) {
    Limits limits = recorded_limits(set, gpu_find("h200")), none;
    tap_ok(limits.value[LIMIT_L2_READ] == 9000 && isnan(limits.value[LIMIT_FP32]) &&
               isnan(limits.value[LIMIT_TENSOR]),
           "limits: those in the file, the others unknown");
    none = recorded_limits(set, gpu_find("a6000"));
    tap_ok(!limits_any(&none), "nothing is known of another GPU");
    tap_ok(limits_ceiling_gb_s(&limits, 1e6, 6e7) == 9000 &&
               limits_ceiling_gb_s(&limits, 6.1e7, 6e7) == 4500,
           "the ceiling is L2's for what fits, else DRAM's; the better of copy and loads");
    json_t *object = limits_json(&limits);
    Limits again = limits_read(object);
    tap_ok(json_object_size(object) == 4 && again.value[LIMIT_DRAM_COPY] == 4000 &&
               isnan(again.value[LIMIT_FP32]),
           "written and read again");
    json_decref(object);
    Limits sheet = limits_of_data_sheet(gpu_find("h200"));
    tap_ok(sheet.value[LIMIT_DRAM_COPY] == 4800 && sheet.value[LIMIT_FP32] == 67 &&
               isnan(sheet.value[LIMIT_L2_READ]),
           "a data sheet promises a few of them");
}

static void test_shown(const RecordedSet *set) {
    LiveKernel v3 = {.kernel = bev_kernel_find("cpu_v3")};
    LiveKernel v2 = {.kernel = bev_kernel_find("cpu_v2")};
    const RecordedScene of = {set, "canonical", 80, ""};
    timed_kernel_show_recorded(of, BEV_FP16, BEV_NEAREST, &v3);
    timed_kernel_show_recorded(of, BEV_FP16, BEV_NEAREST, &v2);
    tap_ok(v3.p95_us.source == SOURCE_RECORDED && v3.p95_us.value == 11 && v3.p99_us.value == 12 &&
               v3.effective_gb_s.value == 900 && strstr(v3.recorded_on, "H200"),
           "the display gets every figure, labelled recorded, and whose it is");
    tap_ok(v3.ceiling_gb_s.value == 9000 && v2.ceiling_gb_s.value == 4500,
           "and the ceiling of that machine, by what the row touches");
    tap_ok(v2.median_us.value == 30 && v2.p95_us.source == SOURCE_UNKNOWN, "gaps stay unknown");
    timed_kernel_show_recorded(of, BEV_FP8, BEV_NEAREST, &v3);
    tap_ok(v3.median_us.source == SOURCE_UNKNOWN && v3.p99_us.source == SOURCE_UNKNOWN &&
               v3.ceiling_gb_s.source == SOURCE_UNKNOWN && !v3.recorded_on[0],
           "nothing of the last selection stays where nothing was recorded");
}

/* A file of time lines alone, and one that is none. */
static void test_timelines(void) {
    RecordedSet set = {0};
    tap_need(load(lines, &set), "a recording of time lines is read");
    Timelines all = recorded_timelines(&set);
    recorded_free(&set);
    const TimelineRun *graph = &all.list[0].runs[TIMELINE_GRAPH];
    tap_ok(all.count == 1 && graph->count[LANE_KERNEL] == 2 && graph->end_us == 12.5 &&
               graph->spans[LANE_KERNEL][1].begin_us == 7,
           "with all its spans");
    tap_ok(strstr(all.list[0].label, "NVIDIA H200") &&
               strstr(all.list[0].label, "2026-11-20"),
           "with GPU and date: %s", all.list[0].label);
    char bad[sizeof lines];
    snprintf(bad, sizeof bad, "%s", lines);
    memcpy(strstr(bad, "[2, 7]"), "[8, 7]", 6);
    tap_ok(!load(bad, &set), "a launch that ends before it begins is refused");
}

TAP_SUITE(recorded) {
    RecordedSet set = {0};
    folder_open();
    tap_need(tap_ok(load(full, &set), "a recording is read"), "the recording");
    test_rows(&set);
    test_limits(&set);
    test_shown(&set);
    recorded_free(&set);
    test_timelines();
    folder_close();
}
