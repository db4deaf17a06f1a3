/* Figures of other machines. Recorded: results of earlier runs on named machines, kept under
 * samples/recorded/ as `bench --format json` and `regime --counters --format json` write them; they
 * let a machine without a GPU show GPU figures. Published: latencies from the article. Screens
 * label them "recorded" and "published". */
#pragma once

#include "src/cachesim/limits.h"
#include "src/cachesim/timeline.h"
#include "src/run/bench.h"
#include "src/run/counters.h"

/* One result of bench, or the counters of one launch. A figure that is not in the file is NaN. */
typedef struct {
    char scene[64], kernel[32], dtype[16], align[16], cache[8];
    BevDirection direction; /* forward where the file has none */
    int64_t channels;       /* 0: not in the file, and no configuration */
    double median_us, p95_us, p99_us;
    bool unsettled; /* the file says so: no ratio is built on the median */
    double effective_gbps, footprint_mb;
    Counters counters; /* of one launch, caches warm */
} RecordedRow;

/* One file of results. */
typedef struct {
    char label[160]; /* "NVIDIA H200, driver 580.159, CUDA 13.0, 2026-11-20" */
    char file[48];   /* its name without the folder */
    Limits limits;   /* limits that probes measured on the machine */
    RecordedRow *rows;
    int row_count;
    RecordedRow *counted; /* rows with counters, and bench's median_us */
    int counted_count;
    Timeline *timelines;
    int timeline_count;
} Recording;

typedef struct {
    Recording *recordings;
    int count;
} RecordedSet;

/* Of a file of results, and what to do where a file is none. */
enum { RECORDED_MAX_BYTES = 64 << 20 };
extern const char recorded_hint[];

/* Reads every *.json of the folder. A file that is no recording is an error that names it. The
 * caller frees the set with recorded_free. */
bool recorded_load(RecordedSet *set, const char *folder, Err *err);

/* Reads the recordings that come with the program. After a failure the set is empty: displays then
 * show less, and `bevscope bench --recorded` reports the error. */
bool recorded_load_samples(RecordedSet *set, Err *err);
void recorded_free(RecordedSet *set);

/* The row of a configuration on a scene with that many channels, with warm caches. `from` (may be
 * NULL) receives the row's recording. NULL if it was not recorded. */
const RecordedRow *recorded_find(const RecordedSet *set, const char *scene, int64_t channels,
                                 const KernelConfig *config, const Recording **from);

/* The same by the words that recordings use; `kernel` may be "clear", `cache` "single". */
const RecordedRow *recorded_row(const RecordedSet *set, const char *scene, int64_t channels,
                                const char *kernel, BevDtype dtype, BevAlign align,
                                const char *cache, const Recording **from);

/* The recorded time lines, the first TIMELINES of them, with their labels. */
Timelines recorded_timelines(const RecordedSet *set);

/* The recorded limits of a GPU; all unknown if they were not recorded. */
Limits recorded_limits(const RecordedSet *set, const Gpu *gpu);

/* A latency that the article published, of its TensorRT plugins. Of the point counts only
 * canonical's was published: those of the other configurations are our definitions. */
typedef struct {
    const char *gpu, *config; /* names of rows of gpus[] and presets[] */
    const char *column;       /* the article's name of the kernel: "V2+DO" */
    BevDtype dtype;
    double latency_us;
} Published;

extern const Published published[];
extern const int published_count;

/* The published column that a row stands for, or NULL. `v3_choice` is the form of the published V3
 * on that GPU (NULL: unknown): that form stands for V3's column. */
const char *published_column(const BevKernel *kernel, const BevKernel *v3_choice);

/* The column that calibrates the model's chain: the kernel that waits for little else. */
extern const char published_calibrated[];

/* The published row of a configuration with its own number of channels, or NULL. */
const Published *published_find(const char *gpu, const char *config, int64_t channels,
                                const char *column, BevDtype dtype);
