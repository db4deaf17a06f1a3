/* The three accuracy gates: is the kernel right, what does the number format cost, is every point
 * there. */
#pragma once

#include "src/scene/problem.h"

typedef enum { GATE_PASS, GATE_FAIL, GATE_SKIP } GateVerdict;

/* Gates A and C check each element, one channel of one cell. Cells without points must be zero;
 * they are checked too but prove nothing about pooling, so a gate passes only if it judged at least
 * one element of a cell with points. */
typedef struct {
    GateVerdict verdict;
    int64_t checked, bad;    /* elements */
    int64_t judged;          /* of those checked: in cells with points, and the FP64 value is no NaN */
    int64_t nan_both;        /* NaN in the output and in FP64: right, but nothing was compared */
    int64_t cell, channel;   /* of the first bad element; -1: none */
    double got, want, bound; /* at the first bad element */
    double worst_ratio;      /* gate A: the largest |e| / bound of all elements */
} GateResult;

/* The error of an output against FP64 over the original FP32 inputs. Elements whose FP64 value is
 * not finite are left out. Where no cell with points has a finite value, nothing was compared, and
 * the three errors are NaN. */
typedef struct {
    double max_abs, rel_l2, cosine;
    int64_t judged, left_out;          /* elements of cells with points: compared, and left out */
    int64_t nan_count, inf_count;      /* in the output, where the FP64 value is finite */
    bool atol_1e2;                     /* the published tolerance: max_abs <= 1e-2 */
    int64_t worst_cell, worst_channel; /* where max_abs is; -1: nothing was compared */
    double error2, got2, want2, dot;   /* the sums that rel_l2 and cosine are made of */
} FormatError;

/* The number of points in each cell (nx * ny), which every gate needs. The caller frees it. NULL
 * with an error: out of memory. */
int32_t *gate_points(const BevMap *map, int64_t cells, Err *err);

/* Gate A, kernel: the error e of each element against FP64 over the stored inputs must satisfy
 *
 *     |e| ≤ u_out·|r| + (1 + u_out)·((n + 4)·u_acc·S + n·η_acc) + η_out
 *
 * r and S = Σ|weight·depth·feature| come from bev_reference; n is the number of points in the cell;
 * u_out and u_acc are the unit roundoffs of the output format and of `accumulate`. At most n + 4
 * roundings reach a term: n - 1 additions, the product, the weight, two to join the scales and one
 * to apply them. The result is rounded to the output format once, hence the factor 1 + u_out.
 * Underflow takes at most η_acc = smallest_acc·max(scale_depth·scale_feat, 1) of each point and
 * η_out = smallest_out·scale_out / 2 of the output, where smallest is the smallest positive number
 * of the format.
 *
 * NaN in `codes` fails unless r is NaN too. Where r is beyond the output format's range, its
 * overflow value is right: the largest number in FP8, infinity elsewhere. `codes` is an output as
 * session_read gives it; reference and abs_sum (S) are (nx * ny, channels); `points` is of
 * gate_points; `bad` (nx * ny, may be NULL) receives one flag per cell. */
GateResult gate_kernel(const BevProblem *problem, BevDtype accumulate, const void *codes,
                       const double *reference, const double *abs_sum, const int32_t *points,
                       uint8_t *bad);

/* Gate B, format: format_error compares an output with `fp64_original` (nx * ny, channels), FP64
 * over the original inputs; gate_format applies the limits of the format. */
FormatError format_error(const BevProblem *problem, const void *codes, const double *fp64_original,
                         const int32_t *points);
GateVerdict gate_format(BevDtype dtype, const FormatError *error);

/* The limits of gate B: at most this rel_l2, at least this cosine. */
typedef struct {
    double rel_l2, cosine;
} GateBLimits;
extern const GateBLimits gate_b_limits[BEV_DTYPE_COUNT];

/* Gate C, exact: gate_exact_problem builds a problem on `shape` and `map` whose depth and features
 * are small whole numbers and powers of two (so are weights and scales). Every order of summation,
 * in half precision too, then gives the same bits, and gate_exact asks `codes` to equal the encoded
 * FP64 result. No feature is 0, so a missing or misplaced point changes its cell. The caller frees
 * the problem with problem_free. */
bool gate_exact_problem(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                        const BevMap *map, uint64_t seed, Err *err);
GateResult gate_exact(const BevProblem *problem, const void *codes, const double *reference,
                      const int32_t *points, uint8_t *bad);

/* Adds what a gate found in a further part of the same grid, which begins at cell `first_cell`. */
void gate_add(GateResult *all, const GateResult *part, int64_t first_cell);
void format_error_add(FormatError *all, const FormatError *part, int64_t first_cell);

/* Whether the verdict is for a kernel that is tried on maps without points as well: there nothing is
 * judged, and an output of zeros is right. */
bool gate_passes(const GateResult *result, const BevMap *map);
