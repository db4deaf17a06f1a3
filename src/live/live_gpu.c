/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "src/live/live_gpu.h"

#include "src/run/counters.h"

#ifdef HAVE_CUDA

#include "src/run/cuda/device.h"
#include "src/run/cuda/driver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct LiveGpu {
    DeviceInfo info;
    Limits limits;
    Nvml *nvml;
    Sensors sensors;
    uint64_t asked;
};

LiveGpu *live_gpu_open(void) {
    LiveGpu *gpu = calloc(1, sizeof *gpu);
    if (gpu)
        gpu->limits = limits_unknown();
    if (gpu && device_opened() && device_info(&gpu->info, NULL)) {
        gpu->nvml = nvml_open(gpu->info.pci);
        nvml_latest(NULL, &gpu->sensors);
        return gpu;
    }
    free(gpu);
    return NULL;
}

void live_gpu_close(LiveGpu *gpu) {
    if (gpu)
        nvml_close(gpu->nvml);
    free(gpu);
}

const Limits *live_gpu_probe(LiveGpu *gpu, int *row) {
    unsigned ceilings = 1u << LIMIT_DRAM_COPY | 1u << LIMIT_DRAM_READ | 1u << LIMIT_L2_COPY |
                        1u << LIMIT_L2_READ | 1u << LIMIT_FP32 | 1u << LIMIT_TENSOR;
    Err ignored; /* the limits stay unknown */
    if (!probe_limits(ceilings, &gpu->limits, &ignored))
        gpu->limits = limits_unknown();
    const Gpu *known = gpu_of_device(gpu->info.name);
    if (!known || !limits_any(&gpu->limits))
        return NULL;
    *row = (int)(known - gpus);
    return &gpu->limits;
}

/* ---- facts ----------------------------------------------------------------------------------- */

bool live_gpu_refresh(LiveGpu *gpu) {
    uint64_t asked = nvml_latest(gpu->nvml, &gpu->sensors);
    bool fresh = asked != gpu->asked;
    gpu->asked = asked;
    return fresh;
}

/* Returns a sensor's value as measured. NaN: the reading is unknown. */
static Reading sensor_reading(double value) {
    return isnan(value) ? (Reading){.value = 0} : reading(value, SOURCE_MEASURED);
}

void live_gpu_describe(const LiveGpu *gpu, const LiveMemory *memory, LiveDevice *device) {
    const DeviceInfo *info = &gpu->info;
    const Sensors *sensors = &gpu->sensors;
    *device = (LiveDevice){
        .where = BEV_CUDA,
        .clock_mhz = sensor_reading(sensors->clock_mhz),
        .memory_clock_mhz = sensor_reading(sensors->memory_clock_mhz),
        .temperature_c = sensor_reading(sensors->temperature_c),
        .power_w = sensor_reading(sensors->power_w),
        .power_limit_w = sensor_reading(sensors->power_limit_w),
        .l2_bytes = sensor_reading(info->l2_bytes > 0 ? (double)info->l2_bytes : NAN),
        .memory_bytes = sensor_reading(info->memory_bytes > 0 ? (double)info->memory_bytes : NAN),
    };
    snprintf(device->name, sizeof device->name, "%.95s", info->name);
    snprintf(device->driver, sizeof device->driver, "%s", info->driver);
    snprintf(device->cuda, sizeof device->cuda, "%.15s", info->runtime);
    if (sensors->throttle_known)
        throttle_text(sensors->throttle, device->throttle, sizeof device->throttle);
    double footprint = memory->known ? bev_footprint_total(memory->footprint) : INFINITY;
    device->ceiling_gb_s =
        sensor_reading(limits_ceiling_gb_s(&gpu->limits, footprint, (double)info->l2_bytes));
}

void live_gpu_kernel(Session *session, LiveKernel *row) {
    enum { MOST = 16 };
    CudaFunction launched[MOST];
    int count = 0;
    Err err;
    row->registers = row->occupancy = (Reading){.value = 0};
    if (!session_functions(session, launched, MOST, &count, &err) || !count)
        return;
    int registers = 0;
    double occupancy = 1;
    for (int i = 0; i < count; i++) {
        registers = launched[i].registers > registers ? launched[i].registers : registers;
        occupancy = fmin(occupancy, launched[i].occupancy);
    }
    row->registers = reading(registers, SOURCE_MEASURED);
    row->occupancy = reading(occupancy, SOURCE_MEASURED);
}

/* ---- scatter maps ---------------------------------------------------------------------------- */

static void release_map(void *held) {
    staging_give(held);
    free(held);
}

/* Builds the map on the GPU and copies it to the host. False: the CPU has to build it. */
static bool build_on_gpu(void *gpu, BuiltMap *built) {
    MapBuilder *builder = gpu;
    struct ScatterGpu **scatter = &builder->gpu[built->align]; /* memory for maps of this rig */
    const BevShape shape = rig_shape(&built->rig, 1);
    BevMap on_device;
    Err err;
    Staging *pinned = calloc(1, sizeof *pinned);
    if (memcmp(&builder->shape, &shape, sizeof shape) != 0)
        map_builder_clear(builder);
    builder->shape = shape;
    if (pinned && device_opened() &&
        (*scatter || scatter_cuda_open(scatter, &built->rig, built->align, &err)) &&
        scatter_cuda_build(*scatter, &built->rig, built->camera_mask, &on_device, NULL, &err) &&
        scatter_cuda_download(&on_device, &built->map, pinned, &err)) {
        built->held = pinned;
        built->release = release_map;
        return true;
    }
    if (pinned)
        release_map(pinned);
    built->map = (BevMap){.points = 0};
    return false;
}

#else

LiveGpu *live_gpu_open(void) {
    return NULL;
}

void live_gpu_close(LiveGpu *gpu) {
    (void)gpu;
}

const Limits *live_gpu_probe(LiveGpu *gpu, int *row) {
    (void)gpu, (void)row;
    return NULL;
}

bool live_gpu_refresh(LiveGpu *gpu) {
    (void)gpu;
    return false;
}

void live_gpu_describe(const LiveGpu *gpu, const LiveMemory *memory, LiveDevice *device) {
    (void)gpu, (void)memory, (void)device;
}

void live_gpu_kernel(Session *session, LiveKernel *row) {
    (void)session, (void)row;
}

#endif

/* ---- scatter maps ---------------------------------------------------------------------------- */

void map_builder_clear(MapBuilder *builder) {
#ifdef HAVE_CUDA
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        scatter_cuda_close(builder->gpu[align]);
#endif
    *builder = (MapBuilder){.gpu = {NULL}};
}

MapMaker map_builder_maker(MapBuilder *builder, BevWhere where) {
    MapMaker maker = {.gpu = builder};
#ifdef HAVE_CUDA
    maker.build = where == BEV_CUDA ? build_on_gpu : NULL;
#else
    (void)where;
#endif
    return maker;
}

/* ---- hardware counters ----------------------------------------------------------------------- */

bool live_gpu_count(const FrameInputs *inputs, const KernelConfig *config, LiveCounters *counters,
                    Err *err) {
    Runner runner = {.session = NULL};
    CounterReader *reader = NULL;
    Counters counted;
    if (config->kernel->where != BEV_CUDA)
        return err_set(err, ERR_FAILED, "counters", "choose backend cuda", "only a GPU has them");
    bool ok = runner_prepare(&runner, inputs, config, NULL, err) &&
              counters_open(&reader, COUNTERS_LIVE, err) &&
              counters_read(reader, runner.session, &counted, err);
    if (ok)
        *counters = (LiveCounters){.source = SOURCE_MEASURED,
                                   .config = *config,
                                   .dram_bytes = counters_dram_bytes(&counted),
                                   .l2_sectors = counted.value[COUNTER_L2_SECTORS],
                                   .l1_sectors = counted.value[COUNTER_L1_SECTORS],
                                   .issue_percent = counted.value[COUNTER_ISSUE],
                                   .occupancy_percent = counted.value[COUNTER_OCCUPANCY]};
    counters_close(reader);
    runner_clear(&runner);
    return ok;
}
