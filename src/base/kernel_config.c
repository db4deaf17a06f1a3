/* SPDX-License-Identifier: MIT */
#include "src/base/kernel_config.h"

#include "kernels/clean.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_KERNELS = 64 };

KernelSet kernel_bit(const BevKernel *kernel) {
    for (int i = 0; bev_kernels[i]; i++)
        if (bev_kernels[i] == kernel)
            return (KernelSet)1 << i;
    return 0;
}

int kernels_of(BevWhere where, BevDirection direction, const BevKernel **kernels, int max) {
    int count = 0;
    for (int i = 0; bev_kernels[i] && count < max; i++) {
        const BevKernel *row = bev_kernels[i];
        if (row->where == where && row->direction == direction && bev_is_listed(row))
            kernels[count++] = row;
    }
    return count;
}

const BevKernel *kernel_named(BevWhere where, BevDirection direction, const char *name) {
    const BevKernel *kernels[MAX_KERNELS];
    const char *title = name;
    int count = kernels_of(where, direction, kernels, MAX_KERNELS);
    for (int i = 0; i < count; i++)
        if (!strcasecmp(kernels[i]->name, name) ||
            (kernels[i]->counterpart && !strcasecmp(kernels[i]->counterpart, name)))
            return kernels[i];
    for (int i = 0; bev_kernels[i]; i++)
        if (!strcasecmp(bev_kernels[i]->name, name))
            title = bev_kernels[i]->title;
    for (int i = 0; i < count; i++)
        if (!strcasecmp(kernels[i]->title, title))
            return kernels[i];
    return NULL;
}

const char *kernel_word(const BevKernel *kernel) {
    const bool of_cpu = !strncmp(kernel->name, "cpu_", strlen("cpu_"));
    return of_cpu ? kernel->name + strlen("cpu_") : kernel->name;
}

const BevKernel *kernel_counterpart(const BevKernel *kernel, BevWhere where) {
    const BevKernel *counterpart = bev_counterpart(kernel, where);
    if (!counterpart || !counterpart->launch)
        counterpart = bev_default(where, kernel->direction);
    return counterpart ? counterpart : kernel;
}

const BevKernel *kernel_in_direction(const BevKernel *kernel, BevDirection direction) {
    const BevKernel *row = kernel;
    if (kernel->direction != direction)
        row = kernel_named(kernel->where, direction, kernel->title);
    if (!row)
        row = bev_default(kernel->where, direction);
    if (!row)
        kernels_of(kernel->where, direction, &row, 1);
    return row;
}

const char *kernel_way(const BevKernel *kernel) {
    return kernel->direction == BEV_BACKWARD ? " backward" : "";
}

KernelConfig kernel_config_baseline(const KernelConfig *config) {
    KernelConfig baseline = *config;
    const BevKernel *row = bev_baseline(config->kernel->where, config->kernel->direction);
    if (row)
        baseline.kernel = row;
    return baseline;
}

/* Returns the first set bit of `mask`. The search starts at bit `preferred` and wraps to bit 0. */
static int first_set_bit(unsigned mask, int preferred, int count) {
    for (int i = 0; i < count; i++)
        if (mask & 1u << (preferred + i) % count)
            return (preferred + i) % count;
    return preferred;
}

static void append_change(char *said, size_t size, const char *owner, const char *missing,
                          const char *replacement) {
    if (said)
        text_add(said, size, "; %s has no %s: %s", owner, missing, replacement);
}

void kernel_config_make_valid(KernelConfig *config, unsigned aligns, char *said, size_t size) {
    const BevKernel *kernel = config->kernel;
    BevDtype dtype = config->dtype;
    if (!(kernel->aligns & aligns)) {
        config->kernel = bev_default(kernel->where, kernel->direction);
        append_change(said, size, kernel->title, "align of this scene", config->kernel->title);
        kernel = config->kernel;
    }
    if (!(kernel->dtypes & 1u << dtype)) {
        config->dtype = (BevDtype)first_set_bit(kernel->dtypes, BEV_FP16, BEV_DTYPE_COUNT);
        append_change(said, size, kernel->title, bev_dtypes[dtype].title,
                      bev_dtypes[config->dtype].title);
    }
    const BevAlign align = config->align;
    const unsigned possible = kernel->aligns & aligns;
    if (possible && !(possible & 1u << align)) {
        config->align = (BevAlign)first_set_bit(possible, BEV_NEAREST, BEV_ALIGN_COUNT);
        append_change(said, size, kernel->aligns & 1u << align ? "this scene" : kernel->title,
                      bev_aligns[align].title, bev_aligns[config->align].title);
    }
}

bool kernel_config_equal(const KernelConfig *a, const KernelConfig *b) {
    return a->kernel == b->kernel && a->dtype == b->dtype && a->align == b->align;
}

ShortText kernel_config_label(const KernelConfig *config) {
    return short_text("%s %s %s%s", config->kernel->title, bev_dtypes[config->dtype].title,
                      bev_aligns[config->align].name, kernel_way(config->kernel));
}

void kernel_config_range(const KernelConfig *config, const char *scene, char *text, size_t size) {
    snprintf(text, size, "%s.%s.%s.%s", config->kernel->name, scene, bev_dtypes[config->dtype].name,
             bev_aligns[config->align].name);
    clean_text(text, text, size);
    for (char *at = text; *at; at++)
        if (strchr(" @/[],*+:?'\"\\$&()<>|;", *at))
            *at = '_';
}
