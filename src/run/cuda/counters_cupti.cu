/* SPDX-License-Identifier: MIT */
// Counts with CUPTI's range profiler; no other file knows it. CUPTI's "host" functions (names,
// passes, figures) need no GPU.
#include "config.h"

#include "src/base/clock.h"
#include "src/run/counters.h"
#include "src/run/cuda/cuda_internal.cuh"

#include <algorithm>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string>

namespace {

// ---- the library -------------------------------------------------------------------------------

void *find_library() {
    if (const char *named = getenv("BEVSCOPE_CUPTI"))
        return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    for (const char *name :
         {"libcupti.so.13", "libcupti.so.12", "libcupti.so", CUDA_HOME "/lib64/libcupti.so",
          CUDA_HOME "/extras/CUPTI/lib64/libcupti.so"})
        if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
            return library;
    return NULL;
}

// The library, loaded by the first call; NULL: there is none.
void *library() {
    static void *const found = find_library();
    return found;
}

// A function of the library, as declared in its header.
#define CUPTI(function) reinterpret_cast<decltype(&::function)>(dlsym(library(), #function))

bool load(Err *err) {
    if (!library())
        return err_set(err, ERR_DEVICE, "counters",
                       "install the CUDA toolkit's CUPTI, or name its libcupti.so in "
                       "BEVSCOPE_CUPTI",
                       "no CUPTI: libcupti.so was not found");
    return CUPTI(cuptiRangeProfilerEnable) ||
           err_set(err, ERR_DEVICE, "counters", "take the one of CUDA 12.6 or later",
                   "the CUPTI found has no range profiler");
}

// Declares the parameters of a call: their size, the fields given, and 0 elsewhere.
#define PARAMETERS(type, name, ...)                                                                \
    type##_Params name = {.structSize = type##_Params_STRUCT_SIZE __VA_OPT__(, ) __VA_ARGS__}

// Declares the parameters and calls the function. On failure the enclosing function returns false.
#define CALL(function, type, name, ...)                                                            \
    PARAMETERS(type, name, __VA_ARGS__);                                                           \
    if (CUptiResult result = CUPTI(function)(&name); result != CUPTI_SUCCESS)                      \
    return refused(#function, result, err)

bool refused(const char *call, CUptiResult result, Err *err) {
    const char *word = NULL;
    CUPTI(cuptiGetResultString)(result, &word);
    return counters_refused(call, result, word ? word : "failed", err);
}

// ---- which counters, in how many passes ---------------------------------------------------------

typedef std::vector<uint8_t> Bytes;

struct Plan {
    CUpti_Profiler_Host_Object *host;
    const char *names[COUNTER_COUNT];  // CUPTI's names, by Counter; NULL: not counted
    std::vector<const char *> metrics; // the names that are not NULL
    Bytes config;                      // the configuration for the profiler
    int passes;
};

void plan_free(Plan *plan) {
    PARAMETERS(CUpti_Profiler_Host_Deinitialize, end, .pHostObject = plan->host);
    if (plan->host)
        CUPTI(cuptiProfilerHostDeinitialize)(&end);
}

bool knows(const Plan *plan, const char *metric) {
    PARAMETERS(CUpti_Profiler_Host_GetMetricProperties, ask, .pHostObject = plan->host,
               .pMetricName = metric);
    return CUPTI(cuptiProfilerHostGetMetricProperties)(&ask) == CUPTI_SUCCESS;
}

void choose_names(Plan *plan, CounterSet set) {
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const CounterRow *row = &counter_rows[i];
        plan->names[i] = NULL;
        if (set == COUNTERS_LIVE && !row->live)
            continue;
        for (const char *name : row->names)
            if (!plan->names[i] && name && knows(plan, name))
                plan->names[i] = name; // the first name that the chip knows
        if (plan->names[i])
            plan->metrics.push_back(plan->names[i]);
    }
}

bool schedule(Plan *plan, Err *err) {
    CALL(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics, add,
         .pHostObject = plan->host, .ppMetricNames = plan->metrics.data(),
         .numMetrics = plan->metrics.size());
    CALL(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize, size,
         .pHostObject = plan->host);
    plan->config.resize(size.configImageSize);
    CALL(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage, image,
         .pHostObject = plan->host, .configImageSize = plan->config.size(),
         .pConfigImage = plan->config.data());
    CALL(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses, passes,
         .configImageSize = plan->config.size(), .pConfigImage = plan->config.data());
    plan->passes = (int)passes.numOfPasses;
    return true;
}

// Plans the passes of a set. `available` has the counters that the device offers; NULL: all.
bool plan_make(Plan *plan, const char *chip, const uint8_t *available, CounterSet set, Err *err) {
    CALL(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize, begin,
         .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER, .pChipName = chip,
         .pCounterAvailabilityImage = available);
    plan->host = begin.pHostObject;
    choose_names(plan, set);
    if (plan->metrics.empty())
        return err_set(err, ERR_DEVICE, "counters", "",
                       "chip %s counts nothing of what is asked for", chip);
    return schedule(plan, err);
}

// ---- counting ----------------------------------------------------------------------------------

constexpr int LAUNCHES = 7; // counted in each pass
constexpr int WARM_LAUNCHES = 200;
constexpr double WARM_US = 3e4;

// Starting the profiler leaves its own data in L2; these launches replace it.
bool warm_up(Session *session, Err *err) {
    double begun = clock_us();
    for (int i = 0; i < WARM_LAUNCHES && (i == 0 || clock_us() - begun <= WARM_US); i++)
        if (!session_run(session, err))
            return false;
    return true;
}

bool count_launch(CUpti_RangeProfiler_Object *profiler, int launch, Session *session, Err *err) {
    std::string name = std::to_string(launch);
    CALL(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange, push,
         .pRangeProfilerObject = profiler, .pRangeName = name.c_str());
    if (!session_run(session, err))
        return false;
    CALL(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange, pop,
         .pRangeProfilerObject = profiler);
    return true;
}

// Warms up and counts LAUNCHES launches. *last is set if CUPTI needs no further pass.
bool run_pass(CUpti_RangeProfiler_Object *profiler, Session *session, bool *last, Err *err) {
    CALL(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start, start,
         .pRangeProfilerObject = profiler);
    bool ok = warm_up(session, err);
    for (int i = 0; ok && i < LAUNCHES; i++)
        ok = count_launch(profiler, i, session, err);
    CALL(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop, stop, .pRangeProfilerObject = profiler);
    *last = stop.isAllPassSubmitted;
    return ok;
}

bool collect(CUpti_RangeProfiler_Object *profiler, int passes, Session *session, Err *err) {
    bool last = false;
    for (int i = 0; i < passes && !last; i++)
        if (!run_pass(profiler, session, &last, err))
            return false;
    CALL(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData, decode,
         .pRangeProfilerObject = profiler);
    return true;
}

} // namespace

struct CounterReader {
    Plan plan;
    CUpti_RangeProfiler_Object *profiler;
    bool initialized; // cuptiProfilerInitialize was called and succeeded
};

namespace {

// Gives the profiler the counters to read and the memory to put them in.
bool begin_data(CounterReader *reader, Bytes *data, Err *err) {
    CALL(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize, size,
         .pRangeProfilerObject = reader->profiler, .pMetricNames = reader->plan.metrics.data(),
         .numMetrics = reader->plan.metrics.size(), .maxNumOfRanges = LAUNCHES,
         .maxNumRangeTreeNodes = LAUNCHES);
    data->resize(size.counterDataSize);
    CALL(cuptiRangeProfilerCounterDataImageInitialize,
         CUpti_RangeProfiler_CounterDataImage_Initialize, begin,
         .pRangeProfilerObject = reader->profiler, .counterDataSize = data->size(),
         .pCounterData = data->data());
    CALL(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig, set,
         .pRangeProfilerObject = reader->profiler, .configSize = reader->plan.config.size(),
         .pConfig = reader->plan.config.data(), .counterDataImageSize = data->size(),
         .pCounterDataImage = data->data(), .range = CUPTI_UserRange,
         .replayMode = CUPTI_UserReplay, .maxRangesPerPass = LAUNCHES, .numNestingLevels = 1,
         .minNestingLevel = 1, .targetNestingLevel = 1);
    return true;
}

// Sets *counters to the medians over the launches.
bool evaluate(const CounterReader *reader, const Bytes *data, Counters *counters, Err *err) {
    size_t count = reader->plan.metrics.size();
    std::vector<double> values(count * LAUNCHES), launch(count); // values: (counter, launch)
    CALL(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo, info,
         .pCounterDataImage = data->data(), .counterDataImageSize = data->size());
    if (info.numTotalRanges != LAUNCHES)
        return err_set(err, ERR_FAILED, "counters", "try again", "%d of %d launches were counted",
                       (int)info.numTotalRanges, LAUNCHES);
    for (int i = 0; i < LAUNCHES; i++) {
        CALL(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues,
             evaluate, .pHostObject = reader->plan.host, .pCounterDataImage = data->data(),
             .counterDataImageSize = data->size(), .rangeIndex = (size_t)i,
             .ppMetricNames = const_cast<const char **>(reader->plan.metrics.data()),
             .numMetrics = count, .pMetricValues = launch.data());
        for (size_t m = 0; m < count; m++)
            values[m * LAUNCHES + (size_t)i] = launch[m];
    }
    double *next = values.data();
    for (int i = 0; i < COUNTER_COUNT; i++) {
        bool counted = reader->plan.names[i];
        counters->value[i] = counted ? timing_median(next, LAUNCHES) : NAN;
        next += counted ? LAUNCHES : 0;
    }
    return true;
}

bool open_reader(CounterReader *reader, CounterSet set, Err *err) {
    if (!load(err) || !device_usable(err))
        return false;
    TRY(cudaFree(NULL)); // makes the device's context current in this thread
    CALL(cuptiProfilerInitialize, CUpti_Profiler_Initialize, begin);
    reader->initialized = true;
    CALL(cuptiDeviceGetChipName, CUpti_Device_GetChipName, chip,
         .deviceIndex = (size_t)device_index());
    CALL(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability, available);
    Bytes image(available.counterAvailabilityImageSize);
    CALL(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability, filled,
         .counterAvailabilityImageSize = image.size(), .pCounterAvailabilityImage = image.data());
    if (!plan_make(&reader->plan, chip.pChipName, image.data(), set, err))
        return false;
    CALL(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable, enable);
    reader->profiler = enable.pRangeProfilerObject;
    return true;
}

} // namespace

// ---- public functions ---------------------------------------------------------------------------

bool counters_open(CounterReader **reader, CounterSet set, Err *err) {
    CounterReader *opened = new CounterReader();
    bool ok = open_reader(opened, set, err);
    if (!ok)
        counters_close(opened);
    *reader = ok ? opened : NULL;
    return ok;
}

void counters_close(CounterReader *reader) {
    if (!reader)
        return;
    PARAMETERS(CUpti_RangeProfiler_Disable, disable, .pRangeProfilerObject = reader->profiler);
    if (reader->profiler)
        CUPTI(cuptiRangeProfilerDisable)(&disable);
    plan_free(&reader->plan);
    PARAMETERS(CUpti_Profiler_DeInitialize, end);
    if (reader->initialized)
        CUPTI(cuptiProfilerDeInitialize)(&end);
    delete reader;
}

bool counters_read(CounterReader *reader, Session *session, Counters *counters, Err *err) {
    Bytes data;
    return device_usable(err) && begin_data(reader, &data, err) &&
           collect(reader->profiler, reader->plan.passes, session, err) &&
           evaluate(reader, &data, counters, err);
}

bool counters_plan(const char *chip, CounterSet set, const char *names[COUNTER_COUNT], int *passes,
                   Err *err) {
    Plan plan = {};
    bool ok = load(err) && plan_make(&plan, chip, NULL, set, err);
    std::copy(plan.names, plan.names + COUNTER_COUNT, names);
    *passes = plan.passes;
    plan_free(&plan);
    return ok;
}
