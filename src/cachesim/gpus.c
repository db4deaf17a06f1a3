/* SPDX-License-Identifier: MIT */
#include "src/cachesim/gpus.h"

#include "src/base/json_fields.h"

#include <math.h>
#include <string.h>

#define MB(n) ((n)*1024.0 * 1024.0)

/* Most figures are from the makers' data sheets. Lanes and warps of a multiprocessor are from the
 * CUDA Programming Guide, "Compute Capabilities". The L2 partitions are from NVIDIA's "A100 Tensor
 * Core GPU Architecture" and "H100 Tensor Core GPU Architecture"; other GPUs count as undivided.
 * Chips and Cheese measured the L2 rate of the RTX PRO 6000 on the 600 W card ("Blackwell: Nvidia's
 * Massive GPU", 2025). This program measured the L2 rate of the H200. The A100 is the card with 40
 * GB. */
const Gpu gpus[] = {
    {"a6000", "RTX A6000", 8, 6, 84, 128, 48, MB(6), 1, 768, NAN, 38.7, false, NULL},
    {"pro6000", "RTX PRO 6000", 12, 0, 188, 128, 48, MB(128), 1, 1792, 8700, 110, true,
     "the article's Max-Q; its L2 rate is what Chips and Cheese measured on the 600 W card"},
    {"orin", "AGX Orin", 8, 7, 16, 128, 48, MB(4), 1, 204.8, NAN, 5.3, false, NULL},
    {"thor", "Thor T5000", 11, 0, 20, 128, 64, MB(32), 1, 273, NAN, NAN, true, NULL},
    {"a100", "A100", 8, 0, 108, 64, 64, MB(40), 2, 1555, NAN, 19.5, false, NULL},
    {"h100", "H100", 9, 0, 132, 128, 64, MB(50), 2, 3350, NAN, 67, true, NULL},
    {"h200", "H200", 9, 0, 132, 128, 64, MB(60), 2, 4800, 9250, 67, true, NULL},
    {"rtx4090", "RTX 4090", 8, 9, 128, 128, 48, MB(72), 1, 1008, NAN, 82.6, true, NULL},
};
const int gpu_count = sizeof gpus / sizeof *gpus;
_Static_assert(sizeof gpus / sizeof *gpus <= GPUS_AT_MOST, "raise GPUS_AT_MOST");

const Gpu *gpu_find(const char *name) {
    for (int i = 0; i < gpu_count; i++)
        if (!strcmp(gpus[i].name, name))
            return &gpus[i];
    return NULL;
}

const Gpu *gpu_of_device(const char *device_name) {
    const Gpu *best = NULL;
    for (int i = 0; i < gpu_count; i++)
        if (strstr(device_name, gpus[i].title) &&
            (!best || strlen(gpus[i].title) > strlen(best->title)))
            best = &gpus[i];
    return best;
}

/* ---- what if --------------------------------------------------------------------------------- */

static const double USUAL_GHZ = 1.5; /* the clock of a GPU whose data sheet has no FP32 rate */

double gpu_clock_ghz(const Gpu *gpu) {
    double ghz = gpu->fp32_tflops * 1e3 / (gpu->sms * gpu->sm_lanes * 2.0); /* multiply, add */
    return isfinite(ghz) ? ghz : USUAL_GHZ;
}

BevGpuFacts gpu_facts(const Gpu *gpu) {
    return (BevGpuFacts){gpu->l2_bytes, gpu->sms, gpu->converts_fp8, gpu->cc_major >= 10};
}

const char *gpu_narrow_formats(const Gpu *gpu) {
    if (gpu->cc_major >= 10)
        return "INT8, FP8, NVFP4";
    if (gpu->converts_fp8)
        return "INT8, FP8";
    const bool has_dp4a = gpu->cc_major * 10 + gpu->cc_minor >= 61;
    return has_dp4a ? "INT8" : "none";
}

Gpu gpu_edited(const Gpu *gpu, const GpuEdit *edit) {
    Gpu edited = *gpu;
    double own_ghz = gpu_clock_ghz(gpu), ghz = edit->clock_ghz > 0 ? edit->clock_ghz : own_ghz;
    if (edit->l2_mib > 0)
        edited.l2_bytes = MB(edit->l2_mib);
    if (edit->dram_gb_s > 0)
        edited.dram_gb_s = edit->dram_gb_s;
    if (edit->sms > 0)
        edited.sms = (int)edit->sms;
    if (edit->sms > 0 || edit->clock_ghz > 0) {
        edited.fp32_tflops = ghz * edited.sms * gpu->sm_lanes * 2e-3;
        edited.l2_gb_s *= edited.sms * ghz / (gpu->sms * own_ghz);
    }
    return edited;
}

bool gpu_edit_any(const GpuEdit *edit) {
    return edit->l2_mib > 0 || edit->dram_gb_s > 0 || edit->sms > 0 || edit->clock_ghz > 0;
}

ShortText gpu_edit_text(const GpuEdit *edit) {
    const double values[] = {edit->l2_mib, edit->dram_gb_s, edit->sms, edit->clock_ghz};
    static const char *const after[] = {"MiB of L2", "GB/s", "SMs", "GHz"};
    ShortText made = {""};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i] > 0)
            text_add(made.text, sizeof made.text, "%s%.4g %s", made.text[0] ? ", " : " with ",
                     values[i], after[i]);
    return made;
}

static bool same_or_unknown(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

bool gpu_same(const Gpu *a, const Gpu *b) {
    return !strcmp(a->name, b->name) && a->sms == b->sms && a->l2_bytes == b->l2_bytes &&
           a->dram_gb_s == b->dram_gb_s && same_or_unknown(a->l2_gb_s, b->l2_gb_s) &&
           same_or_unknown(a->fp32_tflops, b->fp32_tflops);
}

/* ---- a GPU from a file ----------------------------------------------------------------------- */

typedef struct {
    GpuFile file;
    int compute_capability[2], converts_fp8;
    double l2_mb;
} GpuFields;
static const char *const no_or_yes[] = {"no", "yes"};

#define AT(member_) .offset = offsetof(GpuFields, member_)
static const Field gpu_fields[] = {
    {"name", FIELD_TEXT, AT(file.name), .min = 1, .max = 63},
    {"compute_capability", FIELD_INT, AT(compute_capability), .numbers = 2, .min = 0, .max = 99},
    {"multiprocessors", FIELD_INT, AT(file.gpu.sms), .min = 1, .max = 10000},
    {"sm_lanes", FIELD_INT, AT(file.gpu.sm_lanes), .min = 1, .max = 1024, .optional = true},
    {"sm_warps", FIELD_INT, AT(file.gpu.sm_warps), .min = 1, .max = GPU_MOST_WARPS,
     .optional = true},
    {"l2_mb", FIELD_DOUBLE, AT(l2_mb), .min = 0.01, .max = 100000},
    {"l2_partitions", FIELD_INT, AT(file.gpu.l2_partitions), .min = 1, .max = 2, .optional = true,
     .fallback = 1},
    {"dram_gb_s", FIELD_DOUBLE, AT(file.gpu.dram_gb_s), .min = 1, .max = 1e6},
    {"l2_gb_s", FIELD_DOUBLE, AT(file.gpu.l2_gb_s), .min = 1, .max = 1e6, .optional = true,
     .fallback = NAN},
    {"fp32_tflops", FIELD_DOUBLE, AT(file.gpu.fp32_tflops), .min = 0.001, .max = 1e6,
     .optional = true, .fallback = NAN},
    {"converts_fp8", FIELD_WORD, AT(converts_fp8), FIELD_WORDS(no_or_yes[0], *no_or_yes, 2),
     .optional = true},
};
static const FieldTable gpu_table = FIELD_TABLE(gpu_fields, GpuFields);

enum { MAX_FILE_BYTES = 1 << 16 };

/* Sets the numbers of lanes and warps that the file leaves out. They come from a GPU of the table
 * with the same compute capability. If the table has none, most GPUs decide the numbers. */
static void fill_lanes_and_warps(Gpu *gpu) {
    int lanes = 128, warps = GPU_MOST_WARPS;
    for (int i = 0; i < gpu_count; i++)
        if (gpus[i].cc_major == gpu->cc_major && gpus[i].cc_minor == gpu->cc_minor) {
            lanes = gpus[i].sm_lanes;
            warps = gpus[i].sm_warps;
        }
    gpu->sm_lanes = gpu->sm_lanes ? gpu->sm_lanes : lanes;
    gpu->sm_warps = gpu->sm_warps ? gpu->sm_warps : warps;
}

bool gpu_file_read(const char *path, GpuFile *file, Err *err) {
    GpuFields fields = {0};
    bool ok = fields_read_file(path, MAX_FILE_BYTES, &gpu_table, &fields, err);
    *file = fields.file;
    Gpu *gpu = &file->gpu;
    gpu->name = gpu->title = file->name;
    gpu->cc_major = fields.compute_capability[0];
    gpu->cc_minor = fields.compute_capability[1];
    gpu->l2_bytes = MB(fields.l2_mb);
    gpu->converts_fp8 = fields.converts_fp8 != 0;
    fill_lanes_and_warps(gpu);
    return ok;
}
