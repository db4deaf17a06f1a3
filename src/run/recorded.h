/* SPDX-License-Identifier: MIT */
/* Figures of other machines. Recorded figures are results of earlier runs on named machines, in the
 * files of samples/recorded/. `bench --format json` and `regime --counters --format json` wrote
 * them. A machine without a GPU can thus show GPU figures. Published figures are latencies from the
 * article. Screens label both kinds: "recorded", "published". */
#pragma once

#include "src/cachesim/limits.h"
#include "src/cachesim/timeline.h"
#include "src/run/bench.h"
#include "src/run/counters.h"

/* A result of bench, or the counters of one launch. A figure that is not in the file is NaN. */
typedef struct {
    char scene[64], kernel[32], dtype[16], align[16], cache[8];
    BevDirection direction; /* forward where the file has none */
    int64_t channels;       /* 0: the file has none, and the scene is no configuration */
    int64_t points;         /* points of the map; 0: the file has none */
    int64_t intervals;      /* intervals of the map; 0: the file has none */
    double median_us, p95_us, p99_us;
    bool unsettled; /* the timing did not settle: no ratio may use the median */
    double effective_gb_s, footprint_mb;
    Counters counters; /* the counters of one launch with warm caches */
} RecordedRow;

/* A file of results. */
typedef struct {
    char label[160]; /* "NVIDIA H200, driver 580.159, CUDA 13.0, 2026-11-20" */
    char file[48];   /* the file's name without its folder */
    Limits limits;   /* limits that probes measured on the machine */
    RecordedRow *rows;
    int row_count;
    RecordedRow *counted; /* rows with counters, which have bench's median_us, too */
    int counted_count;
    Timeline *timelines;
    int timeline_count;
} Recording;

typedef struct {
    Recording *recordings;
    int count;
} RecordedSet;

/* The largest size of a file of results, and the hint of errors about such files. */
enum { RECORDED_MAX_BYTES = 64 << 20 };
extern const char recorded_hint[];

/* Reads every *.json of the folder. A file that is no recording is an error that names the file.
 * The caller frees the set with recorded_free. */
bool recorded_load(RecordedSet *set, const char *folder, Err *err);

/* Reads the recordings that come with the program. After a failure the set is empty: displays then
 * show less, and `bevscope bench --recorded` reports the error. */
bool recorded_load_samples(RecordedSet *set, Err *err);
void recorded_free(RecordedSet *set);

/* Returns the row of a configuration on a scene with `channels` channels and warm caches. NULL: it
 * was not recorded. *from receives the row's recording; `from` may be NULL. */
const RecordedRow *recorded_find(const RecordedSet *set, const char *scene, int64_t channels,
                                 const KernelConfig *config, const Recording **from);

/* Returns a row as recorded_find does, by the words that recordings use. `kernel` may be "clear",
 * and `cache` may be "single". */
const RecordedRow *recorded_row(const RecordedSet *set, const char *scene, int64_t channels,
                                const char *kernel, BevDtype dtype, BevAlign align,
                                const char *cache, const Recording **from);

/* Returns the first settled warm row that was recorded on `gpu`, and its recording, or NULL. */
const RecordedRow *recorded_on(const RecordedSet *set, const Gpu *gpu, const char *scene,
                               int64_t channels, const KernelConfig *config,
                               const Recording **from);

/* Returns the name of the recorded configuration with as many channels, and with as many points and
 * intervals in its map. "": there is none. */
const char *recorded_scene_like(const RecordedSet *set, int64_t channels, int64_t points,
                                int64_t intervals);

/* Returns the recorded counters of a configuration, warm, or NULL. */
const RecordedRow *recorded_counters(const RecordedSet *set, const char *scene, int64_t channels,
                                     const KernelConfig *config);

/* Returns the first TIMELINES recorded time lines, with their labels. */
Timelines recorded_timelines(const RecordedSet *set);

/* Returns the recorded limits of a GPU. All are unknown if none was recorded. */
Limits recorded_limits(const RecordedSet *set, const Gpu *gpu);

/* A latency of a TensorRT plugin that the article published. The article gives the number of points
 * for the configuration "canonical" alone. This program defines the other numbers of points. */
typedef struct {
    const char *gpu, *config; /* names of rows of gpus[] and presets[] */
    const char *column;       /* the article's name of the kernel: "V2+DO" */
    BevDtype dtype;
    double latency_us;
} Published;

extern const Published published[];
extern const int published_count;

/* Returns the article's name of a kernel, or NULL. `v3_choice` is the form of V3 that the GPU
 * takes, and has the name of V3; NULL: no form has. */
const char *published_column(const BevKernel *kernel, const BevKernel *v3_choice);

/* Returns the published row of a configuration, or NULL. `channels` must be the configuration's own
 * number of channels. */
const Published *published_find(const char *gpu, const char *config, int64_t channels,
                                const char *column, BevDtype dtype);
