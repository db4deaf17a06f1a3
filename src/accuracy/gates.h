/* SPDX-License-Identifier: MIT */
/* The three accuracy gates. Gate A asks whether the kernel is correct, gate B what the number
 * format costs, and gate C whether every point is in its cell. */
#pragma once

#include "src/scene/problem.h"

typedef enum { GATE_PASS, GATE_FAIL, GATE_SKIP } GateVerdict;

/* ---- what gates compare ------------------------------------------------------------------------
 *
 * Gates judge all outputs of a problem, in the order of bev_outputs. The arrays of codes (see
 * session_read), of FP64 values and of flags have the same order. All elements of a row are sums of
 * the same number of terms. Forward a row is a cell, and each point of the cell is a term. In
 * grad_depth a row is one element. Its number of terms is its points times the channels. In
 * grad_feat a row is a pixel, and each point of the pixel is a term. */

/* An output of a problem as it was read back. In grad_depth each element is a row of `tensor`. */
typedef struct {
    const char *name;
    BevTensor tensor;
    int64_t first_row, first_value; /* places in arrays of all outputs' rows and values */
} GateOutput;

/* Lists the outputs of a problem and returns their number. `codes` may be NULL: no data. */
int gate_outputs(const BevProblem *problem, const void *codes, GateOutput *outputs);

/* Rounds the next values of a row, at most GATE_COLUMNS of `left`, to an output's format. */
enum { GATE_COLUMNS = 64 };
void gate_round(const BevTensor *out, const double *reference, int64_t left,
                double stored[GATE_COLUMNS]);

/* Return the number of rows and of elements of all outputs of the problem. */
int64_t gate_rows(const BevProblem *problem);
int64_t gate_values(const BevProblem *problem);

/* Returns an array with the number of terms of each row (gate_rows). The caller frees the array.
 * NULL with an error: out of memory. */
int32_t *gate_terms(const BevProblem *problem, Err *err);

/* Computes the outputs in FP64 over the quantised inputs, with bev_reference or
 * bev_reference_backward. `abs_sum` gets the S of gate A; NULL: not wanted. Both arrays have
 * gate_values elements. */
void gate_reference(const BevProblem *problem, double *reference, double *abs_sum);

/* The result of gate A or C. Both gates check each element. A row without a term must be zero, but
 * a kernel that does nothing also leaves zeros. A gate therefore passes only if every output has a
 * checked element in a row with terms. Of two outputs the worse one gives the figures. */
typedef struct {
    GateVerdict verdict;
    const char *output;      /* the worse output: "out", "grad_depth" or "grad_feat" */
    int64_t checked, bad;    /* numbers of elements of all outputs */
    int64_t judged;          /* checked elements of rows with terms whose FP64 value is not NaN */
    int64_t nan_both;        /* elements that are NaN in FP64 too: correct, but not compared */
    int64_t cell, channel;   /* row and column of the first bad element; -1: none is bad */
    double got, want, bound; /* values of the first bad element */
    double worst_ratio;      /* gate A: the largest |e| / bound of all elements */
} GateResult;

/* The error of an output against FP64 over the original FP32 inputs. Elements whose FP64 value is
 * not finite are counted and left out of the errors. The output must not be finite there either. If
 * no row with terms has a finite FP64 value, the three errors are NaN. If a problem has two
 * outputs, the figures are those of the worse output, but `left_out` counts both outputs. */
typedef struct {
    const char *output;
    double max_abs, rel_l2, cosine;
    double largest;     /* the largest magnitude of the compared FP64 values */
    double channels_l2; /* root mean square of each channel's own rel_l2. Small channels weigh as
                           much as large ones. Of several grids the largest; 0 for classes */
    int64_t judged;     /* compared elements of rows with terms */
    int64_t left_out;   /* elements whose FP64 value is NaN or infinite */
    int64_t nan_count, inf_count;      /* outputs that are NaN or infinite, but finite in FP64 */
    int64_t finite_count;              /* outputs that are finite, but not in FP64 */
    bool atol_1e2;                     /* the published tolerance holds: max_abs <= 1e-2 */
    int64_t worst_cell, worst_channel; /* row and column of max_abs; -1: nothing was compared */
    double slack;                      /* the factor by which the limits may be exceeded */
    double error2, got2, want2, dot;   /* sums over elements, for rel_l2 and cosine */
} FormatError;

/* Gate A, kernel: the error e of each element against FP64 over the quantised inputs must satisfy
 *
 *     |e| ≤ u_out·|r| + (1 + u_out)·((n + 4)·u_acc·S + n·η_acc) + η_out
 *
 * r and S = Σ|weight·depth·feature| come from gate_reference. Backward the products are
 * weight·grad_out·feature and weight·depth·grad_out. n is the number of terms. u_out and u_acc are
 * the unit roundoffs of the output format and of `accumulate`. At most n + 4 roundings reach a
 * term: n - 1 additions, the product, the weight, two to join the scales and one to apply them. One
 * rounding to the output format follows, hence the factor 1 + u_out. Underflow takes at most η_acc
 * from each term, and η_out = smallest_out·scale_out / 2 from the output. `smallest` is the
 * smallest positive number of a format:
 *
 *     η_acc = smallest_acc·max(1, scale_depth·scale_feat, F, F·scale_depth)
 *
 * A weight times a depth may underflow, and a feature multiplies this loss. F is the largest finite
 * |feature|, backward the largest |grad_out|. Without weights F is 0.
 *
 * INT8 without weights: the products of codes are integers. INT32 adds integers exactly. FP32 does
 * so as long as their magnitudes add up to less than 2^24. Then only the four roundings of the
 * scales are left, and the bound has 4·u_acc·|r| in place of the terms with n.
 *
 * Stage VIEW: the kernel computes each depth from logits and rounds the depth to the format. The
 * exponents have arguments of at most x = 1.44·(largest - smallest finite logit) / temperature.
 * Two exponents, a quotient and the rounding add (u_depth + (16 + 4x)·2^-24)·S to the bound. Depths
 * below 2^-126 underflow in any format, which adds n·max(η_depth, 2^-126)·F. Where r is infinite,
 * NaN is also right, because a depth that underflows is multiplied by infinity. Backward each term
 * of a logit's gradient has two such depths and one stored gradient of a depth. n is then the most
 * terms of a bin of the pixel, plus the number of bins. A depth counts in S as at least
 * η_depth / u_depth.
 *
 * NaN in `codes` fails unless r is NaN too. Where r is beyond the range of the output format, the
 * format's overflow value is right: the largest number in FP8, infinity elsewhere. `points` comes
 * from gate_terms. `bad` (gate_rows, may be NULL) receives one flag per row. */
GateResult gate_kernel(const BevProblem *problem, BevDtype accumulate, const void *codes,
                       const double *reference, const double *abs_sum, const int32_t *points,
                       uint8_t *bad);

/* Writes the place of the first bad element: "cell 7 channel 2", "grad_depth element 81". */
void gate_describe_place(const GateResult *result, char *text, size_t size);

/* Gate B, format: format_error compares outputs with `fp64_original` (gate_values), which is FP64
 * over the original inputs. gate_format applies the limits of the format. Underflow of FP32 is no
 * cost of a format. Where FP64 and the output are both at most n·2^-149, both count as 0. In stage
 * VIEW this bound is n·2^-126·max(1, F), and for the gradient of a logit
 * n·2^-126·max(1, 2·F·max|feature| / temperature). Gate B fails if one of nan_count, inf_count and
 * finite_count is not 0. */
FormatError format_error(const BevProblem *problem, const void *codes, const double *fp64_original,
                         const int32_t *points);
/* Computes format_error for each class of cells, forward only. `class` has the class of each cell.
 * `errors` receives the errors of the classes below `count`. */
void format_error_by_class(const BevProblem *problem, const void *codes,
                           const double *fp64_original, const int32_t *points, const uint8_t *class,
                           FormatError *errors, int count);
GateVerdict gate_format(BevDtype dtype, const FormatError *error);

/* The limits of gate B: at most this rel_l2, at least this cosine. */
typedef struct {
    double rel_l2, cosine;
} GateBLimits;
extern const GateBLimits gate_b_limits[BEV_DTYPE_COUNT];

/* Gate C, exact: gate_exact_like builds a problem with the shape, map, format, direction and stage
 * of `like`. All inputs, weights and scales of this problem are small integers or powers of two.
 * Every order of summation, also in half precision, then gives the same bits. gate_exact therefore
 * requires that `codes` equal the encoded FP64 result. No feature and no grad_out is 0, so a
 * missing or misplaced point changes its cell. In stage VIEW a pixel has one, two or four bins with
 * equal logits. All other logits are -infinity. The caller frees the problem with problem_free. */
bool gate_exact_like(HostProblem *exact, const BevProblem *like, uint64_t seed, Err *err);
GateResult gate_exact(const BevProblem *problem, const void *codes, const double *reference,
                      const int32_t *points, uint8_t *bad);

/* Adds the error of another grid of the same size. */
void format_error_add(FormatError *all, const FormatError *part);

/* The adjoint identity, which needs no reference for the gradients. Backward is the transpose of
 * forward, so these three sums are equal:
 *
 *     Σ pool(depth, feat)·grad_out = Σ depth·grad_depth = Σ feat·grad_feat.
 *
 * In stage VIEW the second sum is unknown, but the gradients of a pixel's logits must add up to 0.
 * `depth` is then `pooled` plus the magnitude of this sum for each pixel. On the numbers of
 * gate_exact_like all three sums are exact and must be equal. `codes` has the two gradients.
 * Pooling is FP64. `reference` has the FP64 gradients. The identity is skipped if the format cannot
 * hold each of them exactly. False with an error: out of memory. */
typedef struct {
    GateVerdict verdict;
    double pooled, depth, feat; /* the three sums */
} GateAdjoint;
bool gate_adjoint(const BevProblem *problem, const void *codes, const double *reference,
                  GateAdjoint *adjoint, Err *err);

/* Whether a kernel passes the gate on this map. Without points an output of zeros passes. */
bool gate_passes(const GateResult *result, const BevMap *map);
