/* SPDX-License-Identifier: MIT */
#include "src/cachesim/limits.h"

#include <jansson.h>
#include <math.h>

const LimitInfo limit_infos[LIMIT_COUNT] = {
    [LIMIT_DRAM_COPY] =
        {"dram_copy_gb_s", "DRAM copy", "GB/s",
         "the runtime's copy of far more than the L2 holds, read and write counted"},
    [LIMIT_DRAM_READ] = {"dram_read_gb_s", "DRAM read", "GB/s",
                         "16-byte loads of far more than the L2 holds"},
    [LIMIT_L2_COPY] = {"l2_copy_gb_s", "L2 copy", "GB/s",
                       "the runtime's copy of what the L2 holds, read and write counted"},
    [LIMIT_L2_READ] = {"l2_read_gb_s", "L2 read", "GB/s",
                       "16-byte loads past L1 of an eighth of the L2, over and over"},
    [LIMIT_L2_KEPT] = {"l2_kept_mb", "L2 kept", "MB",
                       "the most of a buffer, read over and over, that is still there; 10^6 bytes"},
    [LIMIT_FP32] = {"fp32_tflops", "FP32", "TFLOP/s", "independent fused multiply-adds"},
    [LIMIT_HALF2] = {"half2_tflops", "half2", "TFLOP/s",
                     "independent fused multiply-adds of pairs of halves"},
    [LIMIT_TENSOR] = {"tensor_tflops", "tensor cores", "TFLOP/s",
                      "mma.sync of FP16 with FP32 sums, as V4 issues it"},
    [LIMIT_L1_LATENCY] = {"l1_latency_cycles", "L1 latency", "cycles",
                          "a load whose address depends on the last one, in 8 KB"},
    [LIMIT_L2_LATENCY] = {"l2_latency_cycles", "L2 latency", "cycles",
                          "the same past L1, in an eighth of the L2"},
    [LIMIT_DRAM_LATENCY] = {"dram_latency_cycles", "DRAM latency", "cycles",
                            "the same in far more than the L2 holds"},
};

Limits limits_unknown(void) {
    Limits limits;
    for (int i = 0; i < LIMIT_COUNT; i++)
        limits.value[i] = NAN;
    return limits;
}

bool limits_any(const Limits *limits) {
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (isfinite(limits->value[i]))
            return true;
    return false;
}

double limits_ceiling_gb_s(const Limits *limits, double footprint_bytes, double l2_bytes) {
    const double *value = limits->value;
    return footprint_bytes <= l2_bytes ? fmax(value[LIMIT_L2_COPY], value[LIMIT_L2_READ])
                                       : fmax(value[LIMIT_DRAM_COPY], value[LIMIT_DRAM_READ]);
}

Limits limits_of_data_sheet(const Gpu *gpu) {
    Limits limits = limits_unknown();
    limits.value[LIMIT_DRAM_COPY] = limits.value[LIMIT_DRAM_READ] = gpu->dram_gb_s;
    limits.value[LIMIT_L2_KEPT] = gpu->l2_bytes * 1e-6;
    limits.value[LIMIT_FP32] = gpu->fp32_tflops;
    return limits;
}

Limits limits_read(const json_t *object) {
    Limits limits = limits_unknown();
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const json_t *value = json_object_get(object, limit_infos[i].key);
        limits.value[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return limits;
}

json_t *limits_json(const Limits *limits) {
    json_t *object = json_object();
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (isfinite(limits->value[i]) &&
            json_object_set_new(object, limit_infos[i].key, json_real(limits->value[i])) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}
