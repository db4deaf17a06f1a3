/* What regime, plot and report share: a problem, the profile of every kernel on it, and the GPUs
 * that were asked for. */
#ifndef BEV_LABORATORY_H
#define BEV_LABORATORY_H

#include "kernels/regime.h"
#include "src/cachesim/predict.h"
#include "src/run/published.h"
#include "src/run/recorded.h"
#include "src/cli/options.h"
#include "src/cachesim/gpus.h"

enum { LAB_KERNELS = 16, LAB_GPUS = 16 };

typedef struct {
    Workload workload;
    HostProblem problem;
    Profile profiles[LAB_KERNELS]; /* of the kernels that take the problem, in table order */
    int profile_count;
} Lab;

/* Loads the scene and replays the kernels in `kernels` (bits by traced_place), on
 * all cores. Close with lab_close, also after a failure. */
bool lab_open(Lab *lab, const char *scene, const WorkloadOptions *options, BevDtype dtype,
              BevAlign align, unsigned kernels, Err *err);
void lab_close(Lab *lab);

enum { LAB_ALL_KERNELS = (1 << LAB_KERNELS) - 1 };

/* "", or how much was sampled: a sentence for above the tables. */
const char *lab_sampling(const Lab *lab);

/* Which form of V4 runs on that GPU and why, like the `why` of bev_v3_choose; "" where V4 was not
 * replayed. */
void lab_v4_choice(const Lab *lab, const Gpu *gpu, char *text, size_t size);

/* The bit of a row that has accesses, the bits of both forms of V3, else 0. NULL: 0. */
unsigned lab_kernel(const BevKernel *kernel);

/* Its profile, or NULL. */
const Profile *lab_profile(const Lab *lab, const char *kernel);

/* Profiles of a problem that is not a workload's. Free each with profile_free, also after a
 * failure.
 */
bool lab_profiles(const BevProblem *problem, unsigned kernels, Profile *profiles, int *count,
                  Err *err);

typedef struct {
    Gpu gpus[LAB_GPUS];
    int count;
    GpuFile file;
    RecordedSet recorded; /* empty where nothing is recorded */
} LabGpus;

/* --gpu, --gpu-file and --l2-mb. Without the first two: those of the mask `fallback`. */
bool lab_gpus(const Options *options, unsigned fallback, LabGpus *lab, Err *err);
void lab_gpus_free(LabGpus *lab);

/* Whether it was taken on that GPU, as it is and not as --l2-mb wants it. */
bool lab_taken_on(const Recording *recording, const Gpu *gpu);

/* What was recorded on that GPU, or NaN. */
double lab_recorded(const LabGpus *lab, const Gpu *gpu, const char *scene, const char *kernel,
                    BevDtype dtype, BevAlign align, CacheState cache);

/* What was published for that GPU, or NaN. */
double lab_published(const Lab *lab, const Gpu *gpu, const char *scene, const BevKernel *kernel);

/* The one dtype and align of a chart or a page, FP16 and nearest by default. False: the options
 * name more than one. */
bool lab_selection(const Options *options, BevDtype *dtype, BevAlign *align, Err *err);

#endif
