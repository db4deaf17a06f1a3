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

// The functions that are used. Each is loaded by its name and called through a pointer of its type.
#define CUPTI_FUNCTIONS(each)                                                                      \
    each(cuptiGetResultString);                                                                    \
    each(cuptiProfilerInitialize);                                                                 \
    each(cuptiProfilerDeInitialize);                                                               \
    each(cuptiProfilerGetCounterAvailability);                                                     \
    each(cuptiDeviceGetChipName);                                                                  \
    each(cuptiProfilerHostInitialize);                                                             \
    each(cuptiProfilerHostDeinitialize);                                                           \
    each(cuptiProfilerHostGetMetricProperties);                                                    \
    each(cuptiProfilerHostConfigAddMetrics);                                                       \
    each(cuptiProfilerHostGetConfigImageSize);                                                     \
    each(cuptiProfilerHostGetConfigImage);                                                         \
    each(cuptiProfilerHostGetNumOfPasses);                                                         \
    each(cuptiProfilerHostEvaluateToGpuValues);                                                    \
    each(cuptiRangeProfilerEnable);                                                                \
    each(cuptiRangeProfilerDisable);                                                               \
    each(cuptiRangeProfilerGetCounterDataSize);                                                    \
    each(cuptiRangeProfilerCounterDataImageInitialize);                                            \
    each(cuptiRangeProfilerSetConfig);                                                             \
    each(cuptiRangeProfilerStart);                                                                 \
    each(cuptiRangeProfilerStop);                                                                  \
    each(cuptiRangeProfilerPushRange);                                                             \
    each(cuptiRangeProfilerPopRange);                                                              \
    each(cuptiRangeProfilerDecodeData);                                                            \
    each(cuptiRangeProfilerGetCounterDataInfo)

#define DECLARE(function) decltype(&::function) function
struct Cupti {
    CUPTI_FUNCTIONS(DECLARE);
} cupti;

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

bool load(Err *err) {
    static void *library = find_library();
    if (!library)
        return err_set(err, ERR_DEVICE, "counters",
                       "install the CUDA toolkit's CUPTI, or name its libcupti.so in "
                       "BEVSCOPE_CUPTI",
                       "no CUPTI: libcupti.so was not found");
    bool complete = true;
#define LOAD(function)                                                                             \
    cupti.function = (decltype(cupti.function))dlsym(library, #function);                          \
    complete = complete && cupti.function
    CUPTI_FUNCTIONS(LOAD);
    return complete || err_set(err, ERR_DEVICE, "counters", "take the one of CUDA 12.6 or later",
                               "the CUPTI found has no range profiler");
}

// Declares the parameters of a call: their size set, all else 0.
#define PARAMETERS(type, name)                                                                     \
    type##_Params name = {};                                                                       \
    name.structSize = type##_Params_STRUCT_SIZE

#define TRY_CUPTI(function, parameters)                                                            \
    do {                                                                                           \
        if (CUptiResult result = cupti.function(&(parameters)); result != CUPTI_SUCCESS)           \
            return refused(#function, result, err);                                                \
    } while (0)

bool refused(const char *call, CUptiResult result, Err *err) {
    const char *word = NULL;
    cupti.cuptiGetResultString(result, &word);
    return counters_refused(call, result, word ? word : "failed", err);
}

// ---- which counters, in how many passes ---------------------------------------------------------

typedef std::vector<uint8_t> Bytes;

struct Plan {
    CUpti_Profiler_Host_Object *host;
    const char *names[COUNTER_COUNT];  // by Counter; NULL: not counted
    std::vector<const char *> metrics; // the names that are not NULL
    Bytes config;                      // for the profiler
    int passes;
};

void plan_free(Plan *plan) {
    PARAMETERS(CUpti_Profiler_Host_Deinitialize, end);
    end.pHostObject = plan->host;
    if (plan->host)
        cupti.cuptiProfilerHostDeinitialize(&end);
}

bool knows(const Plan *plan, const char *metric) {
    PARAMETERS(CUpti_Profiler_Host_GetMetricProperties, ask);
    ask.pHostObject = plan->host;
    ask.pMetricName = metric;
    return cupti.cuptiProfilerHostGetMetricProperties(&ask) == CUPTI_SUCCESS;
}

void choose_names(Plan *plan, CounterSet set) {
    for (int i = 0; i < COUNTER_COUNT; i++) {
        const CounterRow *row = &counter_rows[i];
        plan->names[i] = NULL;
        if (set == COUNTERS_LIVE && !row->live)
            continue;
        for (const char *name : row->names)
            if (!plan->names[i] && name && knows(plan, name))
                plan->names[i] = name;
        if (plan->names[i])
            plan->metrics.push_back(plan->names[i]);
    }
}

bool schedule(Plan *plan, Err *err) {
    PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics, add);
    add.pHostObject = plan->host;
    add.ppMetricNames = plan->metrics.data();
    add.numMetrics = plan->metrics.size();
    TRY_CUPTI(cuptiProfilerHostConfigAddMetrics, add);
    PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize, size);
    size.pHostObject = plan->host;
    TRY_CUPTI(cuptiProfilerHostGetConfigImageSize, size);
    plan->config.resize(size.configImageSize);
    PARAMETERS(CUpti_Profiler_Host_GetConfigImage, image);
    image.pHostObject = plan->host;
    image.configImageSize = plan->config.size();
    image.pConfigImage = plan->config.data();
    TRY_CUPTI(cuptiProfilerHostGetConfigImage, image);
    PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses, passes);
    passes.configImageSize = plan->config.size();
    passes.pConfigImage = plan->config.data();
    TRY_CUPTI(cuptiProfilerHostGetNumOfPasses, passes);
    plan->passes = (int)passes.numOfPasses;
    return true;
}

// `available`: the counters that the device offers; NULL: all that the chip has.
bool plan_make(Plan *plan, const char *chip, const uint8_t *available, CounterSet set, Err *err) {
    PARAMETERS(CUpti_Profiler_Host_Initialize, begin);
    begin.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    begin.pChipName = chip;
    begin.pCounterAvailabilityImage = available;
    TRY_CUPTI(cuptiProfilerHostInitialize, begin);
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
    PARAMETERS(CUpti_RangeProfiler_PushRange, push);
    push.pRangeProfilerObject = profiler;
    push.pRangeName = name.c_str();
    TRY_CUPTI(cuptiRangeProfilerPushRange, push);
    if (!session_run(session, err))
        return false;
    PARAMETERS(CUpti_RangeProfiler_PopRange, pop);
    pop.pRangeProfilerObject = profiler;
    TRY_CUPTI(cuptiRangeProfilerPopRange, pop);
    return true;
}

// Warms up and counts LAUNCHES launches. *last: CUPTI needs no further pass.
bool run_pass(CUpti_RangeProfiler_Object *profiler, Session *session, bool *last, Err *err) {
    PARAMETERS(CUpti_RangeProfiler_Start, start);
    start.pRangeProfilerObject = profiler;
    TRY_CUPTI(cuptiRangeProfilerStart, start);
    bool ok = warm_up(session, err);
    for (int i = 0; ok && i < LAUNCHES; i++)
        ok = count_launch(profiler, i, session, err);
    PARAMETERS(CUpti_RangeProfiler_Stop, stop);
    stop.pRangeProfilerObject = profiler;
    TRY_CUPTI(cuptiRangeProfilerStop, stop);
    *last = stop.isAllPassSubmitted;
    return ok;
}

bool collect(CUpti_RangeProfiler_Object *profiler, int passes, Session *session, Err *err) {
    bool last = false;
    for (int i = 0; i < passes && !last; i++)
        if (!run_pass(profiler, session, &last, err))
            return false;
    PARAMETERS(CUpti_RangeProfiler_DecodeData, decode);
    decode.pRangeProfilerObject = profiler;
    TRY_CUPTI(cuptiRangeProfilerDecodeData, decode);
    return true;
}

} // namespace

struct CounterReader {
    Plan plan;
    CUpti_RangeProfiler_Object *profiler;
};

namespace {

// Gives the profiler the counters to read and the memory to put them in.
bool begin_data(CounterReader *reader, Bytes *data, Err *err) {
    PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize, size);
    size.pRangeProfilerObject = reader->profiler;
    size.pMetricNames = reader->plan.metrics.data();
    size.numMetrics = reader->plan.metrics.size();
    size.maxNumOfRanges = LAUNCHES;
    size.maxNumRangeTreeNodes = LAUNCHES;
    TRY_CUPTI(cuptiRangeProfilerGetCounterDataSize, size);
    data->resize(size.counterDataSize);
    PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize, begin);
    begin.pRangeProfilerObject = reader->profiler;
    begin.counterDataSize = data->size();
    begin.pCounterData = data->data();
    TRY_CUPTI(cuptiRangeProfilerCounterDataImageInitialize, begin);
    PARAMETERS(CUpti_RangeProfiler_SetConfig, set);
    set.pRangeProfilerObject = reader->profiler;
    set.configSize = reader->plan.config.size();
    set.pConfig = reader->plan.config.data();
    set.counterDataImageSize = data->size();
    set.pCounterDataImage = data->data();
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = LAUNCHES;
    set.numNestingLevels = set.minNestingLevel = set.targetNestingLevel = 1;
    TRY_CUPTI(cuptiRangeProfilerSetConfig, set);
    return true;
}

// *counters are medians over the launches.
bool evaluate(const CounterReader *reader, const Bytes *data, Counters *counters, Err *err) {
    size_t count = reader->plan.metrics.size();
    std::vector<double> values(count * LAUNCHES), launch(count); // values: (counter, launch)
    PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo, info);
    info.pCounterDataImage = data->data();
    info.counterDataImageSize = data->size();
    TRY_CUPTI(cuptiRangeProfilerGetCounterDataInfo, info);
    if (info.numTotalRanges != LAUNCHES)
        return err_set(err, ERR_FAILED, "counters", "try again", "%d of %d launches were counted",
                       (int)info.numTotalRanges, LAUNCHES);
    for (int i = 0; i < LAUNCHES; i++) {
        PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues, evaluate);
        evaluate.pHostObject = reader->plan.host;
        evaluate.pCounterDataImage = data->data();
        evaluate.counterDataImageSize = data->size();
        evaluate.rangeIndex = (size_t)i;
        evaluate.ppMetricNames = const_cast<const char **>(reader->plan.metrics.data());
        evaluate.numMetrics = count;
        evaluate.pMetricValues = launch.data();
        TRY_CUPTI(cuptiProfilerHostEvaluateToGpuValues, evaluate);
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
    PARAMETERS(CUpti_Profiler_Initialize, begin);
    TRY_CUPTI(cuptiProfilerInitialize, begin);
    PARAMETERS(CUpti_Device_GetChipName, chip);
    chip.deviceIndex = (size_t)device_index();
    TRY_CUPTI(cuptiDeviceGetChipName, chip);
    PARAMETERS(CUpti_Profiler_GetCounterAvailability, available);
    TRY_CUPTI(cuptiProfilerGetCounterAvailability, available);
    Bytes image(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = image.data();
    TRY_CUPTI(cuptiProfilerGetCounterAvailability, available);
    if (!plan_make(&reader->plan, chip.pChipName, image.data(), set, err))
        return false;
    PARAMETERS(CUpti_RangeProfiler_Enable, enable);
    TRY_CUPTI(cuptiRangeProfilerEnable, enable);
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
    PARAMETERS(CUpti_RangeProfiler_Disable, disable);
    disable.pRangeProfilerObject = reader->profiler;
    if (reader->profiler)
        cupti.cuptiRangeProfilerDisable(&disable);
    plan_free(&reader->plan);
    PARAMETERS(CUpti_Profiler_DeInitialize, end);
    if (cupti.cuptiProfilerDeInitialize)
        cupti.cuptiProfilerDeInitialize(&end);
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
