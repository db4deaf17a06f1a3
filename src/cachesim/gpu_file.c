#include "src/cachesim/gpu_file.h"

#include "src/base/data.h"
#include "src/base/json_fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    char name[64];
    int compute_capability[2], multiprocessors, l2_partitions, converts_fp8;
    double l2_mb, l2_gbps, dram_gbps, fp32_tflops;
} GpuFields;

static const char *no_or_yes(int index) {
    static const char *const words[] = {"no", "yes"};
    return index < 2 ? words[index] : NULL;
}

#define AT(member_) .offset = offsetof(GpuFields, member_)

static const Field gpu_fields[] = {
    {"name", FIELD_TEXT, AT(name), .min = 1, .max = 63},
    {"compute_capability", FIELD_INT, AT(compute_capability), .numbers = 2, .min = 0, .max = 99},
    {"multiprocessors", FIELD_INT, AT(multiprocessors), .min = 1, .max = 10000},
    {"l2_mb", FIELD_DOUBLE, AT(l2_mb), .min = 0.01, .max = 100000},
    {"l2_partitions", FIELD_INT, AT(l2_partitions), .min = 1, .max = 2, .optional = true,
     .fallback = 1},
    {"dram_gbps", FIELD_DOUBLE, AT(dram_gbps), .min = 1, .max = 1e6},
    {"l2_gbps", FIELD_DOUBLE, AT(l2_gbps), .min = 1, .max = 1e6, .optional = true, .fallback = NAN},
    {"fp32_tflops", FIELD_DOUBLE, AT(fp32_tflops), .min = 0.001, .max = 1e6, .optional = true,
     .fallback = NAN},
    {"converts_fp8", FIELD_WORD, AT(converts_fp8), .word_at = no_or_yes, .optional = true},
};
static const FieldTable gpu_table = FIELD_TABLE(gpu_fields, GpuFields);

enum { MAX_FILE_BYTES = 1 << 16 };

bool gpu_file_read(const char *path, GpuFile *file, Err *err) {
    char *text;
    size_t length;
    json_error_t error;
    if (!data_read(path, MAX_FILE_BYTES, &text, &length, err))
        return false;
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (!json)
        return err_set(err, ERR_FAILED, path, "", "line %d: %s", error.line, error.text);
    FieldReader reader = {path, err};
    FieldPath root = {"$"};
    GpuFields fields = {0};
    bool ok = json_is_object(json) ? fields_read(&reader, root, &gpu_table, json, &fields)
                                   : FIELD_REFUSE(&reader, root, "", "is not an object");
    json_decref(json);
    *file = (GpuFile){.gpu = {.cc_major = fields.compute_capability[0],
                              .cc_minor = fields.compute_capability[1],
                              .sms = fields.multiprocessors,
                              .l2_bytes = fields.l2_mb * 1048576,
                              .l2_partitions = fields.l2_partitions,
                              .dram_gbps = fields.dram_gbps,
                              .l2_gbps = fields.l2_gbps,
                              .fp32_tflops = fields.fp32_tflops,
                              .converts_fp8 = fields.converts_fp8 != 0}};
    snprintf(file->name, sizeof file->name, "%s", fields.name);
    return ok;
}

Gpu gpu_file_row(const GpuFile *file) {
    Gpu gpu = file->gpu;
    gpu.name = gpu.title = file->name;
    return gpu;
}
