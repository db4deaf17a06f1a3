/* SPDX-License-Identifier: MIT */
#include "src/run/recorded.h"

#include "kernels/clean.h"
#include "src/base/json_fields.h"
#include "src/run/machine.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void copy_text(char *into, size_t size, const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    clean_text(text ? text : "", into, size);
}

/* Writes the label of a recording from its "machine". */
static void make_label(Recording *recording, const json_t *object) {
    Machine machine = {.threads = (int)json_integer_value(json_object_get(object, "threads"))};
    copy_text(machine.gpu, sizeof machine.gpu, object, "gpu");
    copy_text(machine.cpu, sizeof machine.cpu, object, "cpu");
    copy_text(machine.driver, sizeof machine.driver, object, "driver");
    copy_text(machine.cuda, sizeof machine.cuda, object, "cuda");
    copy_text(machine.date, sizeof machine.date, object, "date");
    machine_label(&machine, recording->label, sizeof recording->label);
}

static double number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static BevDirection direction_of(const json_t *object) {
    const char *name = json_string_value(json_object_get(object, "direction"));
    return name && !strcmp(name, bev_directions[BEV_BACKWARD].name) ? BEV_BACKWARD : BEV_FORWARD;
}

/* Returns the number of channels. If the file has none, it is that of the configuration. */
static int64_t channels_of(const json_t *object, const char *scene) {
    const Preset *preset = preset_find(scene);
    const json_t *channels = json_object_get(object, "channels");
    return !channels && preset ? preset->channels : json_integer_value(channels);
}

/* The lists of a recording: latencies, and counters of one launch. */
typedef enum { LIST_RESULTS, LIST_COUNTERS } RecordedList;

/* Reads a row. Returns whether the row has a figure of its list: a median, or a counter. */
static bool read_row(RecordedRow *row, const json_t *object, RecordedList list) {
    bool any_counter = false;
    copy_text(row->scene, sizeof row->scene, object, "scene");
    copy_text(row->kernel, sizeof row->kernel, object, "kernel");
    copy_text(row->dtype, sizeof row->dtype, object, "dtype");
    copy_text(row->align, sizeof row->align, object, "align");
    copy_text(row->cache, sizeof row->cache, object, "cache");
    row->direction = direction_of(object);
    row->channels = channels_of(object, row->scene);
    row->points = json_integer_value(json_object_get(object, "points"));
    row->intervals = json_integer_value(json_object_get(object, "intervals"));
    row->median_us = number_of(object, "median_us");
    row->unsettled = json_is_false(json_object_get(object, "settled"));
    row->p95_us = number_of(object, "p95_us");
    row->p99_us = number_of(object, "p99_us");
    row->effective_gb_s = number_of(object, "effective_gb_s");
    row->footprint_mb = number_of(object, "footprint_mb");
    for (int i = 0; i < COUNTER_COUNT; i++) {
        row->counters.value[i] = number_of(object, counter_rows[i].key);
        any_counter |= !isnan(row->counters.value[i]);
    }
    bool has_figure = list == LIST_COUNTERS ? any_counter : isfinite(row->median_us);
    return has_figure && row->scene[0] && row->kernel[0];
}

/* Reads the rows of a list. Skipped kernels have no figure and are left out. False: no memory. */
static bool read_rows(const json_t *array, RecordedList list, RecordedRow **rows, int *count) {
    *rows = calloc(json_array_size(array) + 1, sizeof **rows);
    for (size_t i = 0; *rows && i < json_array_size(array); i++)
        *count += read_row(&(*rows)[*count], json_array_get(array, i), list);
    return *rows != NULL;
}

static bool read_timelines(const json_t *array, Recording *recording, const char *path, Err *err) {
    size_t count = json_array_size(array);
    recording->timelines = calloc(count + 1, sizeof *recording->timelines);
    if (!recording->timelines)
        return err_no_memory(err, path, "");
    for (size_t i = 0; i < count; i++) {
        Timeline *timeline = &recording->timelines[recording->timeline_count++];
        const char *problem;
        if (!timeline_read(json_array_get(array, i), timeline, &problem))
            return err_set(err, ERR_FAILED, path, "see samples/recorded/README.md",
                           "time line %zu: %s", i + 1, problem);
        snprintf(timeline->label, sizeof timeline->label, "%s", recording->label);
    }
    return true;
}

const char recorded_hint[] = "write it with bevscope bench --format json";

static bool read_recording(Recording *recording, const char *path, Err *err) {
    json_t *root = fields_load(path, RECORDED_MAX_BYTES, recorded_hint, err);
    if (!root)
        return false;
    const json_t *machine = json_object_get(root, "machine");
    make_label(recording, machine);
    snprintf(recording->file, sizeof recording->file, "%.47s", data_file_name(path));
    recording->limits = limits_read(json_object_get(machine, "limits"));
    if (!read_timelines(json_object_get(root, "timelines"), recording, path, err)) {
        json_decref(root);
        return false;
    }
    const bool read = read_rows(json_object_get(root, "results"), LIST_RESULTS, &recording->rows,
                                &recording->row_count) &&
                      read_rows(json_object_get(root, "counters"), LIST_COUNTERS,
                                &recording->counted, &recording->counted_count);
    const int results =
        recording->row_count + recording->counted_count + recording->timeline_count;
    json_decref(root);
    return (read && results > 0) ||
           err_set(err, ERR_FAILED, path, recorded_hint, "no recorded result in it");
}

static int is_json(const struct dirent *entry) {
    return data_has_suffix(entry->d_name, ".json");
}

bool recorded_load(RecordedSet *set, const char *folder, Err *err) {
    *set = (RecordedSet){0};
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_json, alphasort);
    if (count < 0)
        return err_set(err, ERR_FAILED, folder, "", "cannot be listed");
    set->recordings = calloc((size_t)count + 1, sizeof *set->recordings);
    bool ok = set->recordings != NULL;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (ok)
            ok = read_recording(&set->recordings[set->count++], path, err);
        free(entries[i]);
    }
    free(entries);
    if (!ok)
        recorded_free(set);
    return ok;
}

bool recorded_load_samples(RecordedSet *set, Err *err) {
    char folder[4096];
    *set = (RecordedSet){0};
    return data_path("samples/recorded", folder, sizeof folder, err) &&
           recorded_load(set, folder, err);
}

void recorded_free(RecordedSet *set) {
    for (int i = 0; i < set->count; i++) {
        free(set->recordings[i].rows);
        free(set->recordings[i].counted);
        free(set->recordings[i].timelines);
    }
    free(set->recordings);
    *set = (RecordedSet){0};
}

static const RecordedRow *find_row(const RecordedRow *rows, int count, const char *scene,
                                   int64_t channels, const char *kernel, BevDtype dtype,
                                   BevAlign align, const char *cache) {
    for (const RecordedRow *row = rows; row < rows + count; row++)
        if ((!row->channels || row->channels == channels) && !strcmp(row->scene, scene) &&
            !strcmp(row->kernel, kernel) && !strcmp(row->dtype, bev_dtypes[dtype].name) &&
            !strcmp(row->align, bev_aligns[align].name) && !strcmp(row->cache, cache))
            return row;
    return NULL;
}

const RecordedRow *recorded_row(const RecordedSet *set, const char *scene, int64_t channels,
                                const char *kernel, BevDtype dtype, BevAlign align,
                                const char *cache, const Recording **from) {
    const RecordedRow *row = NULL;
    for (int i = 0; !row && i < set->count; i++) {
        const Recording *one = &set->recordings[i];
        row = find_row(one->rows, one->row_count, scene, channels, kernel, dtype, align, cache);
        if (row && from)
            *from = one;
    }
    return row;
}

const RecordedRow *recorded_find(const RecordedSet *set, const char *scene, int64_t channels,
                                 const KernelConfig *config, const Recording **from) {
    return recorded_row(set, scene, channels, config->kernel->name, config->dtype, config->align,
                        cache_names[CACHE_WARM], from);
}

const RecordedRow *recorded_on(const RecordedSet *set, const Gpu *gpu, const char *scene,
                               int64_t channels, const KernelConfig *config,
                               const Recording **from) {
    for (int i = 0; i < set->count; i++) {
        const RecordedSet one = {.recordings = &set->recordings[i], .count = 1};
        if (gpu_of_device(one.recordings->label) != gpu)
            continue;
        const RecordedRow *row = recorded_find(&one, scene, channels, config, from);
        if (row && !row->unsettled)
            return row;
    }
    return NULL;
}

const char *recorded_scene_like(const RecordedSet *set, int64_t channels, int64_t points,
                                int64_t intervals) {
    for (int i = 0; i < set->count; i++)
        for (int j = 0; j < set->recordings[i].row_count; j++) {
            const RecordedRow *row = &set->recordings[i].rows[j];
            if (row->channels == channels && row->points == points && row->intervals == intervals &&
                preset_find(row->scene))
                return row->scene;
        }
    return "";
}

const RecordedRow *recorded_counters(const RecordedSet *set, const char *scene, int64_t channels,
                                     const KernelConfig *config) {
    const RecordedRow *row = NULL;
    for (int i = 0; !row && i < set->count; i++)
        row =
            find_row(set->recordings[i].counted, set->recordings[i].counted_count, scene, channels,
                     config->kernel->name, config->dtype, config->align, cache_names[CACHE_WARM]);
    return row;
}

Timelines recorded_timelines(const RecordedSet *set) {
    Timelines all = {0};
    for (int i = 0; i < set->count; i++)
        for (int j = 0; j < set->recordings[i].timeline_count && all.count < TIMELINES; j++)
            all.list[all.count++] = set->recordings[i].timelines[j];
    return all;
}

Limits recorded_limits(const RecordedSet *set, const Gpu *gpu) {
    for (int i = 0; i < set->count; i++)
        if (gpu_of_device(set->recordings[i].label) == gpu_find(gpu->name) &&
            limits_any(&set->recordings[i].limits))
            return set->recordings[i].limits;
    return limits_unknown();
}

/* ---- published ------------------------------------------------------------------------------- */

#define ROWS(config, v2, v2_do, v3, v3_fp8)                                                        \
    {"pro6000", config, "V2", BEV_FP16, v2}, {"pro6000", config, "V2+DO", BEV_FP16, v2_do},        \
        {"pro6000", config, "V3", BEV_FP16, v3}, {                                                 \
        "pro6000", config, "V3", BEV_FP8, v3_fp8                                                   \
    }

const Published published[] = {
    ROWS("small", 137.8, 31.5, 12.7, 12.6),         ROWS("canonical", 274.0, 37.8, 17.3, 16.4),
    ROWS("large", 749.9, 48.0, 27.3, 24.9),         ROWS("xlarge", 1675.0, 61.9, 48.0, 39.8),
    ROWS("wide_c128", 457.3, 54.2, 21.4, 14.8),     ROWS("wide_c256", 880.9, 152.3, 33.4, 22.0),
    {"a6000", "canonical", "V2", BEV_FP16, 1738.0}, {"a6000", "canonical", "V3", BEV_FP16, 90.0},
};
const int published_count = sizeof published / sizeof *published;

const char *published_column(const BevKernel *kernel, const BevKernel *v3_choice) {
    return v3_choice && kernel == v3_choice ? bev_v3()->published : kernel->published;
}

const Published *published_find(const char *gpu, const char *config, int64_t channels,
                                const char *column, BevDtype dtype) {
    const Preset *preset = preset_find(config);
    if (!preset || preset->channels != channels || !column)
        return NULL;
    for (int i = 0; i < published_count; i++)
        if (!strcmp(published[i].gpu, gpu) && !strcmp(published[i].config, config) &&
            !strcmp(published[i].column, column) && published[i].dtype == dtype)
            return &published[i];
    return NULL;
}
