/* The three accuracy gates: is the kernel right, what does the format cost, is a point missing. */
#ifndef BEV_GATES_H
#define BEV_GATES_H

#include "src/scene/problem.h"

typedef enum { GATE_PASS, GATE_FAIL, GATE_SKIP } GateVerdict;

typedef struct {
    GateVerdict verdict;
    int64_t checked, bad;    /* elements */
    int64_t cell, channel;   /* first bad element, -1 when none */
    double got, want, bound; /* at the first bad element */
    double worst_ratio;      /* gate A: max |e| / bound over all elements */
} GateResult;

/* How far an output is from FP64 over the original FP32 inputs. Elements whose truth is not finite
 * are left out. */
typedef struct {
    double max_abs, rel_l2, cosine;
    int64_t nan_count, inf_count;      /* where the truth is finite */
    bool atol_1e2;                     /* the published line: max abs error <= 1e-2 */
    int64_t worst_cell, worst_channel; /* -1 where nothing was compared */
} FormatError;

/* Gate A, kernel. |e| <= u_out*|r| + (n+4)*u_acc*S + eta against FP64 over the stored inputs; r and
 * S from bev_reference, n the points of the cell. n + 4 roundings at most reach a term: n - 1
 * additions, the product, the weight, and three for scales (two to join them, one to apply them).
 * eta is what underflow may take. NaN in `codes` fails unless r is NaN too; beyond the output
 * format's range its overflow value is right. `codes` is an output as session_read gives it; `bad`
 * (may be NULL) receives a flag a cell. */
GateResult gate_kernel(const BevProblem *problem, BevDtype accumulate, const void *codes,
                       const double *reference, const double *abs_sum, uint8_t *bad);

/* Gate B, format. Compares with FP64 over the original inputs (`truth`, nx * ny * channels) and
 * judges by the thresholds of the format (gate_b_limits). */
FormatError format_error(const BevProblem *problem, const void *codes, const double *fp64_original);
GateVerdict gate_format(BevDtype dtype, const FormatError *error);

/* The thresholds of gate B, a row a format. */
typedef struct {
    double rel_l2, cosine;
} GateBLimits;
extern const GateBLimits gate_b_limits[BEV_DTYPE_COUNT];

/* Gate C, exact. Builds a problem of zeros on `shape` and `map` and fills depth and feat with small
 * whole numbers and powers of two (weights and scales powers of two as well), so small that every
 * order of summation, in half precision too, gives the same bits; then codes must equal the encoded
 * FP64 result. No feature is 0, so that a point missing or misplaced changes its cell. */
bool gate_exact_problem(HostProblem *problem, const BevShape *shape, BevDtype dtype, BevAlign align,
                        const BevMap *map, uint64_t seed, Err *err);
GateResult gate_exact(const BevProblem *problem, const void *codes, const double *reference,
                      uint8_t *bad);

/* An x/. map of the flagged cells, x forward up and y to the left as in the pictures, at most
 * `columns` x `rows` characters, lines ended by newlines (malloc'd; NULL without memory). */
char *gate_map(const uint8_t *bad, int64_t nx, int64_t ny, int columns, int rows);

#endif
