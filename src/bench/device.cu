// The open device and sessions on it: buffers with guard bands, poison, graphs and events.
#include "src/bench/device.h"

#include "kernels/codec.h"
#include "kernels/common.cuh"
#include "src/bench/driver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cxxabi.h>
#include <mutex>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

namespace {

// ---- one device for the process ----------------------------------------------------------------

// Sessions run on other threads than the one that opened the device.
struct Device {
    std::atomic<bool> open, dead; // dead: a lasting CUDA error; nothing here calls CUDA again
    int index, driver_version;
    Err why_dead; // written before `dead` is
} device;

// 10 * major + minor of each architecture compiled for, from the compiler's own list.
constexpr int ARCHITECTURES[] = {__CUDA_ARCH_LIST__};

const DriverNeeds *driver_needs() {
    static std::vector<int> capabilities;
    if (capabilities.empty()) {
        for (int architecture : ARCHITECTURES)
            capabilities.push_back(architecture / 10);
        capabilities.push_back(0);
    }
    // Any driver of the toolkit's major version runs its programs.
    static DriverNeeds needs = {CUDART_VERSION / 1000 * 1000, NULL};
    needs.capabilities = capabilities.data();
    return &needs;
}

// What the code that this GPU runs was compiled with; see DeviceInfo::emulated.
__global__ void compiled_kernel(int *hardware_fp8, int *hardware_fp4) {
    *hardware_fp8 = BEV_HARDWARE_FP8;
    *hardware_fp4 = BEV_HARDWARE_FP4;
}

// TRY_CUDA for this file: also notices when CUDA is done for.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!cuda_ok((call), "cuda", err))                                                         \
            return device_failed(err);                                                             \
    } while (0)

// A named stretch of time in a profiler's picture.
struct Range {
    explicit Range(const char *name) {
        nvtxRangePushA(name);
    }
    ~Range() {
        nvtxRangePop();
    }
};

double now_us() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// ---- a problem on the device -------------------------------------------------------------------

constexpr size_t GUARD = 256; // bytes before and after every buffer; keeps buffers aligned
constexpr int GUARD_BYTE = 0xa5;

// One of a problem's arrays: its place in the arena, and what it was filled with (NULL: output).
struct Buffer {
    size_t offset, bytes;
    const void *source;
};

struct State {
    const BevVariant *variant;
    const BevProblem *host;
    BevProblem problem; // device pointers
    BevPlan *plan;
    cudaStream_t stream;
    char *arena; // one allocation: guard, buffer, guard, buffer, ... guard
    size_t arena_bytes;
    std::vector<Buffer> buffers;
    std::vector<char> turned_feat; // channels-first copy, where the variant wants one
    size_t out_offset;
};

size_t round_up(size_t bytes) {
    return (bytes + GUARD - 1) / GUARD * GUARD;
}

// Element (outer, a, b) -> (outer, b, a), elements of `size` bytes.
void transpose(const char *from, char *to, int64_t outer, int64_t a, int64_t b, size_t size) {
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < a; i++)
            for (int64_t j = 0; j < b; j++)
                memcpy(to + (size_t)((o * b + j) * a + i) * size,
                       from + (size_t)((o * a + i) * b + j) * size, size);
}

size_t code_size(BevDtype dtype) {
    return (size_t)bev_dtypes[dtype].bits / 8;
}

const void *feat_source(State *s) {
    const BevProblem *host = s->host;
    if (!s->variant->channels_first)
        return host->feat.data;
    const BevShape *shape = &host->shape;
    s->turned_feat.resize(bev_code_bytes(host->feat.dtype, host->feat.rows, host->feat.row_len));
    transpose((const char *)host->feat.data, s->turned_feat.data(), shape->cameras,
              shape->feat_h * shape->feat_w, shape->channels, code_size(host->feat.dtype));
    return s->turned_feat.data();
}

// Plans the arena: every buffer of the problem, the output last.
size_t add_buffer(State *s, const void *source, size_t bytes) {
    size_t offset = s->arena_bytes ? s->arena_bytes : GUARD;
    s->buffers.push_back({offset, bytes, source});
    s->arena_bytes = offset + round_up(bytes) + GUARD;
    return offset;
}

template <typename T> void place(State *s, T **pointer, const void *source, size_t bytes) {
    *pointer = source ? (T *)add_buffer(s, source, bytes) : NULL;
}

// Offsets first, in the pointers' place; `rebase` adds the arena's address.
void plan_arena(State *s) {
    BevProblem *p = &s->problem;
    const BevProblem *host = s->host;
    size_t points = (size_t)host->map.points * 4, intervals = (size_t)host->map.intervals * 4;
    *p = *host;
    const BevTensor *feat = &host->feat, *depth = &host->depth;
    place(s, (char **)&p->depth.data, depth->data,
          bev_code_bytes(depth->dtype, depth->rows, depth->row_len));
    place(s, (char **)&p->feat.data, feat_source(s),
          bev_code_bytes(feat->dtype, feat->rows, feat->row_len));
    place(s, &p->feat.block_scales, feat->block_scales,
          bev_block_scale_bytes(feat->dtype, feat->rows, feat->row_len));
    place(s, &p->map.ranks_depth, host->map.ranks_depth, points);
    place(s, &p->map.ranks_feat, host->map.ranks_feat, points);
    place(s, &p->map.ranks_bev, host->map.ranks_bev, points);
    place(s, &p->map.interval_starts, host->map.interval_starts, intervals);
    place(s, &p->map.interval_lengths, host->map.interval_lengths, intervals);
    place(s, &p->map.weights, host->map.weights, points);
    s->out_offset = add_buffer(s, NULL, bev_tensor_bytes(&host->out));
    p->out.data = (void *)s->out_offset;
}

template <typename T> void rebase(const State *s, T **pointer) {
    if (*pointer)
        *pointer = (T *)(s->arena + (size_t)*pointer);
}

bool fill_arena(State *s, Err *err) {
    Range range("upload");
    BevProblem *p = &s->problem;
    rebase(s, (char **)&p->depth.data);
    rebase(s, (char **)&p->feat.data);
    rebase(s, &p->feat.block_scales);
    rebase(s, &p->map.ranks_depth);
    rebase(s, &p->map.ranks_feat);
    rebase(s, &p->map.ranks_bev);
    rebase(s, &p->map.interval_starts);
    rebase(s, &p->map.interval_lengths);
    rebase(s, &p->map.weights);
    rebase(s, (char **)&p->out.data);
    TRY(cudaMemset(s->arena, GUARD_BYTE, s->arena_bytes));
    for (const Buffer &b : s->buffers)
        if (b.source && b.bytes)
            TRY(cudaMemcpy(s->arena + b.offset, b.source, b.bytes, cudaMemcpyHostToDevice));
    // Copies from pageable memory may still be under way, and s->stream does not wait for them.
    TRY(cudaDeviceSynchronize());
    return true;
}

// ---- the session's functions -------------------------------------------------------------------

void session_end(void *state) {
    State *s = (State *)state;
    if (!s)
        return;
    if (!device.dead) {
        if (s->variant->release)
            s->variant->release(s->plan);
        cudaFree(s->arena);
        if (s->stream)
            cudaStreamDestroy(s->stream);
    }
    delete s;
}

constexpr int PREPARE_REPEATS = 3;

bool prepare(State *s, int repeats, double *prepare_us, Err *err) {
    Range range("prepare");
    *prepare_us = 0;
    if (!s->variant->prepare)
        return true;
    double times[PREPARE_REPEATS];
    for (int i = 0; i < repeats; i++) {
        s->variant->release(s->plan);
        s->plan = NULL;
        double start = now_us();
        if (!s->variant->prepare(&s->problem, &s->plan, err))
            return device_failed(err);
        TRY(cudaDeviceSynchronize());
        times[i] = now_us() - start;
    }
    *prepare_us = timing_median(times, repeats);
    return true;
}

bool begin(State *s, int prepare_repeats, double *prepare_us, Err *err) {
    if (!device_usable(err))
        return false;
    plan_arena(s);
    if (!cuda_allocate((void **)&s->arena, s->arena_bytes, s->variant->name, err))
        return device_failed(err);
    TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    return fill_arena(s, err) && prepare(s, prepare_repeats, prepare_us, err);
}

bool session_begin(void **state, const BevVariant *variant, const BevProblem *host, bool once,
                   double *prepare_us, Err *err) {
    State *s = new State();
    s->variant = variant;
    s->host = host;
    if (!begin(s, once ? 1 : PREPARE_REPEATS, prepare_us, err)) {
        session_end(s);
        return false;
    }
    *state = s;
    return true;
}

bool session_fill_poison(void *state, Err *err) {
    State *s = (State *)state;
    if (!device_usable(err))
        return false;
    TRY(cudaMemsetAsync(s->problem.out.data, 0xff, bev_tensor_bytes(&s->problem.out), s->stream));
    return true;
}

// Enqueues one launch. On failure the caller asks device_failed(), once no capture is under way.
bool launch(State *s, Err *err) {
    return s->variant->launch(&s->problem, s->plan, s->stream, err);
}

bool session_launch(void *state, Err *err) {
    State *s = (State *)state;
    if (!device_usable(err))
        return false;
    Range range(s->variant->name);
    if (!launch(s, err) || !cuda_ok(cudaStreamSynchronize(s->stream), s->variant->name, err))
        return device_failed(err);
    return true;
}

bool session_fetch(void *state, void *codes, Err *err) {
    State *s = (State *)state;
    const BevProblem *p = &s->problem;
    if (!device_usable(err))
        return false;
    Range range("download");
    size_t bytes = bev_tensor_bytes(&p->out);
    if (!s->variant->channels_first) {
        TRY(cudaMemcpy(codes, p->out.data, bytes, cudaMemcpyDeviceToHost));
        return true;
    }
    std::vector<char> turned(bytes);
    TRY(cudaMemcpy(turned.data(), p->out.data, bytes, cudaMemcpyDeviceToHost));
    transpose(turned.data(), (char *)codes, 1, p->shape.channels, p->shape.nx * p->shape.ny,
              code_size(p->out.dtype));
    return true;
}

// The arena must hold what it was filled with, everywhere but in the output.
bool session_compare(void *state, Err *err) {
    State *s = (State *)state;
    if (!device_usable(err))
        return false;
    std::vector<char> found(s->arena_bytes);
    TRY(cudaMemcpy(found.data(), s->arena, s->arena_bytes, cudaMemcpyDeviceToHost));
    size_t next = 0;
    bool guards = true, inputs = true;
    auto intact = [&](size_t from, size_t to) {
        return std::all_of(&found[0] + from, &found[0] + to,
                           [](char byte) { return byte == (char)GUARD_BYTE; });
    };
    for (const Buffer &b : s->buffers) {
        guards = guards && intact(next, b.offset);
        inputs = inputs && (!b.source || !memcmp(&found[b.offset], b.source, b.bytes));
        next = b.offset + b.bytes;
    }
    guards = guards && intact(next, s->arena_bytes);
    if (!inputs)
        return err_set(err, ERR_FAILED, s->variant->name, "", "the kernel changed its inputs");
    return guards ||
           err_set(err, ERR_FAILED, s->variant->name, "", "the kernel wrote outside its buffers");
}

// ---- timing
// --------------------------------------------------------------------------------------

constexpr double SETTLE = 0.05;   // halves of the samples may differ by this
constexpr double SAMPLE_US = 500; // a sample this long hides the events' resolution
constexpr int MAX_INNER = 256;    // launches a graph holds
constexpr int MIN_SAMPLES = 5;

// What is timed: a variant's launch, or anything else that can be enqueued.
struct Timed {
    State *s;
    bool (*enqueue)(State *s, Err *err);
    cudaEvent_t start, stop;
    cudaGraphExec_t graph; // `inner` launches
    int inner;
    char *flush; // larger than L2; NULL: warm
    size_t flush_bytes;
};

void timed_free(Timed *t) {
    if (device.dead)
        return;
    if (t->graph)
        cudaGraphExecDestroy(t->graph);
    if (t->start)
        cudaEventDestroy(t->start);
    if (t->stop)
        cudaEventDestroy(t->stop);
    cudaFree(t->flush);
}

bool elapsed_us(const Timed *t, double *us, Err *err) {
    float ms;
    TRY(cudaEventSynchronize(t->stop));
    TRY(cudaEventElapsedTime(&ms, t->start, t->stop));
    *us = ms * 1e3;
    return true;
}

// Launches back to back until clocks and caches are warm; gives the time of one.
bool warm_up(Timed *t, double min_warm_ms, double *launch_us, Err *err) {
    constexpr int BATCH = 10;
    double begun = now_us();
    do {
        TRY(cudaEventRecord(t->start, t->s->stream));
        for (int i = 0; i < BATCH; i++)
            if (!t->enqueue(t->s, err))
                return device_failed(err);
        TRY(cudaEventRecord(t->stop, t->s->stream));
        if (!elapsed_us(t, launch_us, err))
            return false;
        *launch_us /= BATCH;
    } while (now_us() - begun < min_warm_ms * 1e3);
    return true;
}

bool capture(State *s, bool (*enqueue)(State *, Err *), int inner, cudaGraph_t *graph, Err *err) {
    TRY(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeThreadLocal));
    bool ok = true;
    for (int i = 0; ok && i < inner; i++)
        ok = enqueue(s, err);
    cudaError_t status = cudaStreamEndCapture(s->stream, graph);
    if (!ok)
        return device_failed(err);
    TRY(status);
    return true;
}

bool build_graph(Timed *t, Err *err) {
    cudaGraph_t graph;
    if (!capture(t->s, t->enqueue, t->inner, &graph, err))
        return false;
    cudaError_t status = cudaGraphInstantiate(&t->graph, graph, 0);
    cudaGraphDestroy(graph);
    TRY(status);
    TRY(cudaGraphUpload(t->graph, t->s->stream));
    return true;
}

// One sample. Cold: the flush runs while the graph is being enqueued behind it, so that the host
// is not in the measured time.
bool sample_graph(Timed *t, double *us, Err *err) {
    cudaStream_t stream = t->s->stream;
    if (t->flush)
        TRY(cudaMemsetAsync(t->flush, 0, t->flush_bytes, stream));
    TRY(cudaEventRecord(t->start, stream));
    TRY(cudaGraphLaunch(t->graph, stream));
    TRY(cudaEventRecord(t->stop, stream));
    return elapsed_us(t, us, err);
}

// One launch from the host, waited for, by the host's clock: what a caller without graphs sees.
bool sample_single(Timed *t, double *us, Err *err) {
    if (t->flush) {
        TRY(cudaMemsetAsync(t->flush, 0, t->flush_bytes, t->s->stream));
        TRY(cudaStreamSynchronize(t->s->stream));
    }
    double start = now_us();
    if (!t->enqueue(t->s, err))
        return device_failed(err);
    TRY(cudaStreamSynchronize(t->s->stream));
    *us = now_us() - start;
    return true;
}

bool collect(Timed *t, const TimingOptions *options, Timing *timing, Err *err) {
    double launch_us, begun = now_us();
    TRY(cudaEventCreate(&t->start));
    TRY(cudaEventCreate(&t->stop));
    if (!warm_up(t, options->min_warm_ms, &launch_us, err))
        return false;
    bool several = !t->flush && !options->single;
    t->inner = several ? std::clamp((int)(SAMPLE_US / launch_us), 1, MAX_INNER) : 1;
    if (!options->single && !build_graph(t, err))
        return false;
    auto sample = options->single ? sample_single : sample_graph;
    double us;
    if (!sample(t, &us, err)) // the first replay pays for the upload
        return false;
    std::vector<double> samples;
    while ((int)samples.size() < options->samples) {
        if (!sample(t, &us, err))
            return false;
        samples.push_back(us / t->inner);
        if ((int)samples.size() >= MIN_SAMPLES && now_us() - begun > options->max_s * 1e6)
            break;
    }
    timing->inner = t->inner;
    timing_summarize(samples.data(), (int)samples.size(), SETTLE, timing);
    return true;
}

bool time_enqueued(State *s, bool (*enqueue)(State *, Err *), CacheState cache,
                   const TimingOptions *options, Timing *timing, Err *err) {
    if (!device_usable(err))
        return false;
    Range range("timing");
    Timed t = {};
    t.s = s;
    t.enqueue = enqueue;
    bool ok = true;
    if (cache == CACHE_COLD) {
        int l2_bytes = 0;
        ok = cuda_ok(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device.index),
                     "cuda", err);
        t.flush_bytes = 2 * (size_t)l2_bytes;
        ok = ok && cuda_allocate((void **)&t.flush, t.flush_bytes, "cold timing", err);
    }
    ok = ok ? collect(&t, options, timing, err) : device_failed(err);
    timed_free(&t);
    return ok;
}

bool session_measure(void *state, CacheState cache, const TimingOptions *options, Timing *timing,
                     Err *err) {
    return time_enqueued((State *)state, launch, cache, options, timing, err);
}

bool enqueue_clear(State *s, Err *err) {
    return out_clear(&s->problem, "clear", s->stream, err);
}

// The first half of the arena over the second.
bool enqueue_copy(State *s, Err *err) {
    size_t bytes = s->arena_bytes / 2;
    TRY(cudaMemcpyAsync(s->arena + bytes, s->arena, bytes, cudaMemcpyDeviceToDevice, s->stream));
    return true;
}

bool begin_copy(State *s, int64_t bytes, Err *err) {
    if (!device_usable(err))
        return false;
    s->arena_bytes = 2 * (size_t)bytes;
    if (!cuda_allocate((void **)&s->arena, s->arena_bytes, "copy", err))
        return device_failed(err);
    TRY(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    TRY(cudaMemsetAsync(s->arena, 0, s->arena_bytes, s->stream));
    return true;
}

// ---- kernels of a launch -----------------------------------------------------------------------

// "void (anonymous namespace)::v2_kernel<(BevDtype)1, false>(Pool)" -> "v2_kernel<1, false>".
void kernel_name(const char *mangled, char *name, size_t size) {
    int status;
    char *full = abi::__cxa_demangle(mangled, NULL, NULL, &status);
    std::string text = full ? full : mangled;
    free(full);
    for (const char *noise : {"void ", "(anonymous namespace)::", "(BevDtype)", "(bool)", "(int)"})
        for (size_t at; (at = text.find(noise)) != std::string::npos;)
            text.erase(at, strlen(noise));
    size_t arguments = text.find('(');
    snprintf(name, size, "%s", text.substr(0, arguments).c_str());
}

bool describe_kernel(cudaGraphNode_t node, DeviceKernel *kernel, Err *err) {
    cudaKernelNodeParams launched;
    cudaFuncAttributes attributes;
    cudaDeviceProp properties;
    const char *mangled;
    TRY(cudaGraphKernelNodeGetParams(node, &launched));
    TRY(cudaFuncGetName(&mangled, launched.func));
    TRY(cudaFuncGetAttributes(&attributes, launched.func));
    TRY(cudaGetDeviceProperties(&properties, device.index));
    dim3 block = launched.blockDim, grid = launched.gridDim;
    *kernel = {};
    kernel_name(mangled, kernel->name, sizeof kernel->name);
    kernel->blocks = (int64_t)grid.x * grid.y * grid.z;
    kernel->threads = (int)(block.x * block.y * block.z);
    kernel->registers = attributes.numRegs;
    kernel->local_bytes = (int64_t)attributes.localSizeBytes;
    kernel->shared_bytes = (int64_t)(attributes.sharedSizeBytes + launched.sharedMemBytes);
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&kernel->resident_blocks, launched.func,
                                                      kernel->threads, launched.sharedMemBytes));
    int warps = (kernel->threads + WARP - 1) / WARP * kernel->resident_blocks;
    kernel->occupancy = (double)warps / (properties.maxThreadsPerMultiProcessor / WARP);
    return true;
}

bool list_kernels(State *s, cudaGraph_t graph, DeviceKernel *kernels, int capacity, int *count,
                  Err *err) {
    size_t node_count = 0;
    TRY(cudaGraphGetNodes(graph, NULL, &node_count));
    std::vector<cudaGraphNode_t> nodes(node_count);
    TRY(cudaGraphGetNodes(graph, nodes.data(), &node_count));
    for (cudaGraphNode_t node : nodes) {
        cudaGraphNodeType type;
        TRY(cudaGraphNodeGetType(node, &type));
        if (type != cudaGraphNodeTypeKernel || *count == capacity)
            continue;
        if (!describe_kernel(node, &kernels[*count], err))
            return false;
        ++*count;
    }
    return true;
}

} // namespace

extern "C" {

const SessionBackend session_cuda_backend = {
    .open = session_begin,
    .close = session_end,
    .poison = session_fill_poison,
    .run = session_launch,
    .read = session_fetch,
    .inputs_untouched = session_compare,
    .time = session_measure,
};

bool device_failed(Err *err) {
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    if (!device.dead) {
        cudaGetLastError();
        if (cudaDeviceSynchronize() == cudaSuccess)
            return false;
        err_set(&device.why_dead, ERR_DEVICE, err ? err->where : "cuda",
                "the CPU goes on; restart to use the GPU again", "%.120s: CUDA is not used again",
                err ? err->what : "a CUDA call failed");
        device.dead = true;
    }
    if (err)
        *err = device.why_dead;
    return false;
}

bool device_opened(void) {
    return device.open && !device.dead;
}

// CUDA's choice of device belongs to the thread.
bool device_usable(Err *err) {
    if (device.dead && err)
        *err = device.why_dead;
    if (device.dead)
        return false;
    return device.open ? cuda_ok(cudaSetDevice(device.index), "cuda", err) : device_open(0, err);
}

bool device_open(int index, Err *err) {
    if (device.dead)
        return device_usable(err);
    if (device.open && device.index == index)
        return device_usable(err);
    if (!driver_probe(index, driver_needs(), &device.driver_version, err))
        return false;
    cudaFuncAttributes attributes;
    TRY(cudaSetDevice(index));
    TRY(cudaFuncGetAttributes(&attributes, compiled_kernel)); // fails where no code fits
    device.open = true;
    device.index = index;
    return true;
}

bool device_info(DeviceInfo *info, Err *err) {
    if (!device_usable(err))
        return false;
    cudaDeviceProp properties;
    size_t free_bytes, total_bytes;
    int memory_khz = 0, *hardware, found[2];
    TRY(cudaGetDeviceProperties(&properties, device.index));
    TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device.index);
    TRY(cudaMalloc((void **)&hardware, sizeof found));
    compiled_kernel<<<1, 1>>>(hardware, hardware + 1);
    cudaError_t status = cudaMemcpy(found, hardware, sizeof found, cudaMemcpyDeviceToHost);
    cudaFree(hardware);
    TRY(status);
    *info = {};
    if (cudaDeviceGetPCIBusId(info->pci, sizeof info->pci, device.index) != cudaSuccess)
        info->pci[0] = 0;
    info->index = device.index;
    snprintf(info->name, sizeof info->name, "%.127s", properties.name);
    driver_version(info->driver, sizeof info->driver);
    if (!info->driver[0]) // then at least what it supports
        snprintf(info->driver, sizeof info->driver, "for CUDA %d.%d", device.driver_version / 1000,
                 device.driver_version % 1000 / 10);
    snprintf(info->runtime, sizeof info->runtime, "%d.%d", CUDART_VERSION / 1000,
             CUDART_VERSION % 1000 / 10);
    info->capability = 10 * properties.major + properties.minor;
    info->multiprocessors = properties.multiProcessorCount;
    info->l2_bytes = properties.l2CacheSize;
    info->memory_bytes = (int64_t)total_bytes;
    info->free_bytes = (int64_t)free_bytes;
    info->dram_gbps = 2.0 * memory_khz * 1e3 * properties.memoryBusWidth / 8 * 1e-9;
    info->emulated[BEV_FP8] = !found[0];
    info->emulated[BEV_NVFP4] = !found[1];
    return true;
}

bool device_kernels(const BevVariant *variant, const BevProblem *host, DeviceKernel *kernels,
                    int capacity, int *count, Err *err) {
    void *state;
    double prepare_us;
    *count = 0;
    if (!session_begin(&state, variant, host, true, &prepare_us, err))
        return false;
    cudaGraph_t graph = NULL;
    bool ok = capture((State *)state, launch, 1, &graph, err) &&
              list_kernels((State *)state, graph, kernels, capacity, count, err);
    if (graph && !device.dead)
        cudaGraphDestroy(graph);
    session_end(state);
    return ok;
}

bool device_time_clear(const BevProblem *host, const TimingOptions *options, Timing *timing,
                       Err *err) {
    // Any row will do: only the buffers of the session are used.
    BevVariant none = {};
    none.name = "clear";
    void *state;
    double prepare_us;
    if (!session_begin(&state, &none, host, true, &prepare_us, err))
        return false;
    bool ok = time_enqueued((State *)state, enqueue_clear, CACHE_WARM, options, timing, err);
    session_end(state);
    return ok;
}

bool device_time_copy(int64_t bytes, const TimingOptions *options, Timing *timing, Err *err) {
    BevVariant none = {};
    none.name = "copy";
    State *s = new State();
    s->variant = &none;
    bool ok = begin_copy(s, bytes, err) &&
              time_enqueued(s, enqueue_copy, CACHE_WARM, options, timing, err);
    session_end(s);
    return ok;
}

} // extern "C"
