/* SPDX-License-Identifier: MIT */
/* The instructions that the memory model assumes, beside the machine code of this build: sass.py
 * counts there. Other versions of the compiler may give a tenth more or less. */
#include "kernels/bevpool.h"
#include "kernels/regime.h"
#include "tests/support/tap.h"

#include <math.h>
#include <sys/wait.h>

enum { SKIPPED = 77, COUNTS = 8, LINE = 256 };

typedef struct {
    BevDtype dtype;
    int groups, tail, transposed, weighted;
    int counts[COUNTS];
} Row;

static const Row rows[] = {
#include "src/cachesim/tile_instructions.inc"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Starts sass.py; end_of() ends it. */
static FILE *counted(const char *what) {
    const char *source = getenv("SRCDIR"), *build = getenv("BUILDDIR");
    char command[1024];
    snprintf(command, sizeof command, "python3 '%s/tests/cachesim/sass.py' '%s/kernels/cuda' %s",
             source ? source : ".", build ? build : ".", what);
    FILE *said = popen(command, "r");
    tap_need(said != NULL, "python3 starts");
    return said;
}

/* Ends the suite as skipped if sass.py said why there is nothing to count. */
static void end_of(FILE *said, const char *last) {
    int status = pclose(said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
        tap_skip_suite(last);
    tap_ok(status == 0, "sass.py reads the code");
}

static bool is_near(double found, double assumed, double share) {
    return fabs(found - assumed) <= fmax(4, share * assumed);
}

/* Whether a line "{BEV_FP16, 1, 1, 0, 0, {119, ...}}," is near row `row`. */
static bool row_is(const char *line, const Row *row) {
    int form[4], counts[COUNTS];
    int *c = counts;
    if (sscanf(strchr(line, ',') + 1, "%d, %d, %d, %d, {%d, %d, %d, %d, %d, %d, %d, %d", form,
               form + 1, form + 2, form + 3, c, c + 1, c + 2, c + 3, c + 4, c + 5, c + 6,
               c + 7) != 12)
        return false;
    bool same = form[0] == row->groups && form[1] == row->tail && form[2] == row->transposed &&
                form[3] == row->weighted;
    for (int i = 0; i < COUNTS; i++)
        same = same && is_near(counts[i], row->counts[i], 0.1);
    if (!same)
        tap_note("the build: %s", line);
    return same;
}

static void test_tiles(void) {
    FILE *said = counted("tiles");
    char line[LINE] = "";
    int read = 0, same = 0;
    while (fgets(line, LINE, said))
        if (line[0] == '{' && read++ < ROWS)
            same += row_is(line, &rows[read - 1]);
    end_of(said, line);
    tap_ok(read == ROWS && same == ROWS,
           "V4: %d forms, %d as src/cachesim/tile_instructions.inc has them", read, same);
}

/* The model's instructions of a point of V3. */
static double assumed(const BevKernel *kernel, BevDtype dtype) {
    const BevGpuFacts gpu = {.converts_fp8 = true};
    BevProblem problem = {.dtype = dtype, .shape.channels = 80};
    int tile = bev_access_tile(&kernel->access, &problem);
    return bev_step_instructions(&kernel->access, tile, dtype, &gpu);
}

static BevDtype dtype_named(const char *name) {
    int dtype = 0;
    while (dtype < BEV_DTYPE_COUNT && strcmp(bev_dtypes[dtype].name, name) != 0)
        dtype++;
    return (BevDtype)dtype;
}

static void test_loops(void) {
    FILE *said = counted("loops");
    char line[LINE] = "", kernel[32], format[16];
    double found, second;
    int read = 0;
    while (fgets(line, LINE, said)) {
        int fields = sscanf(line, "%31s %15s %lf %lf", kernel, format, &found, &second);
        BevDtype dtype = dtype_named(format);
        tap_need(fields >= 3 && dtype < BEV_DTYPE_COUNT, line);
        read++;
        if (fields == 4) /* 64 channels at once for the dots, 32 for grad_feat */
            tap_ok(found == 16 && second == (dtype == BEV_BF16 ? 24 : 16),
                   "%s, %s: of 16 channels 4 products for the dots and %g for grad_feat", kernel,
                   format, second / 2);
        else
            tap_ok(is_near(found, assumed(bev_kernel_find(kernel), dtype), 0.4),
                   "%s, %s: %.1f instructions a point, the model has %.1f", kernel, format, found,
                   assumed(bev_kernel_find(kernel), dtype));
    }
    end_of(said, line);
    tap_ok(read == 14, "V3 in six formats, two forms, and the gradients: %d loops", read);
}

TAP_SUITE(sass) {
    test_tiles();
    test_loops();
}
