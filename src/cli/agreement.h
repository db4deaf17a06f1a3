/* How far the memory model is off where hardware counted: a row a kernel, and how many of them are
 * near enough. From recorded files; needs no GPU. */
#ifndef BEV_AGREEMENT_H
#define BEV_AGREEMENT_H

#include "src/cli/laboratory.h"
#include "src/cli/report.h"

enum { AGREEMENT_ROWS = 256 };

/* A kernel on a scene and a GPU, caches warm. */
typedef struct {
    const char *scene, *kernel;
    const Gpu *gpu;
    double hits_model, hits_counted; /* of sectors looked up in L2 */
    double dram_model, dram_counted; /* bytes */
    double least;                    /* bytes below which DRAM traffic is as good as none */
    double us_model, us_recorded;
} AgreementRow;

typedef struct {
    AgreementRow rows[AGREEMENT_ROWS];
    int count;
} Agreement;

/* Adds what was counted of the lab's kernels on the GPUs that are `known`; V3, which is one of its
 * two forms, under that form's name only. Borrows `scene` and the GPUs. */
void agreement_add(Agreement *agreement, const Lab *lab, const LabGpus *known, const char *scene);

/* Bits of the kernels (lab_kernel) that were counted on a scene, in any format; 0: none. */
unsigned agreement_kernels(const LabGpus *known, const char *scene);

/* Rows that are near enough: hit rates within 5 points; DRAM bytes within 15 %, or both below
 * `least`; latencies within 30 %. And pairs of kernels on one scene and GPU in the recorded order.
 */
typedef struct {
    int rows, hits, dram, latency;
    int pairs, ordered;
} AgreementCount;

AgreementCount agreement_count(const Agreement *agreement);

/* The rows; what is off is named in the last column. */
Report agreement_table(const Agreement *agreement);

/* The count in words, with the rule for DRAM bytes near zero. */
void agreement_verdict(const Agreement *agreement, char *text, size_t size);

#endif
