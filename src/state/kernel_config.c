#include "src/state/kernel_config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_RUNGS = 64 };

int choice_rungs(BevWhere where, const BevVariant **rungs, int max) {
    int count = 0;
    for (int i = 0; bev_variants[i] && count < max; i++)
        if (bev_variants[i]->where == where)
            rungs[count++] = bev_variants[i];
    return count;
}

static const char *short_name(const BevVariant *variant) {
    bool prefixed = variant->where == BEV_CPU && !strncmp(variant->name, "cpu_", 4);
    return variant->name + (prefixed ? 4 : 0);
}

const BevVariant *choice_find(BevWhere where, const char *name) {
    const BevVariant *rungs[MAX_RUNGS];
    int count = choice_rungs(where, rungs, MAX_RUNGS);
    for (int i = 0; i < count; i++)
        if (!strcasecmp(rungs[i]->name, name) || !strcasecmp(short_name(rungs[i]), name))
            return rungs[i];
    for (int i = 0; i < count; i++)
        if (!strcasecmp(rungs[i]->title, name))
            return rungs[i];
    return NULL;
}

const BevVariant *choice_twin(const BevVariant *variant, BevWhere where) {
    const BevVariant *twin = choice_find(where, short_name(variant));
    if (!twin)
        twin = choice_find(where, "v3");
    if (!twin) {
        const BevVariant *rungs[MAX_RUNGS];
        int count = choice_rungs(where, rungs, MAX_RUNGS);
        twin = count ? rungs[count - 1] : variant;
    }
    return twin;
}

Choice choice_baseline(const Choice *choice) {
    Choice baseline = *choice;
    const BevVariant *v2 = choice_find(choice->variant->where, "v2");
    if (v2)
        baseline.variant = v2;
    return baseline;
}

/* The first of `count` whose bit is set, beginning at `preferred`. */
static int first_of(unsigned mask, int preferred, int count) {
    for (int i = 0; i < count; i++)
        if (mask & 1u << (preferred + i) % count)
            return (preferred + i) % count;
    return preferred;
}

static void append(char *said, size_t size, const char *who, const char *lacks, const char *takes) {
    size_t length = strlen(said);
    snprintf(said + length, size - length, "; %s has no %s: %s", who, lacks, takes);
}

void choice_settle(Choice *choice, unsigned aligns, char *said, size_t size) {
    const BevVariant *variant = choice->variant;
    BevDtype dtype = choice->dtype;
    if (!(variant->dtypes & 1u << dtype)) {
        choice->dtype = (BevDtype)first_of(variant->dtypes, BEV_FP16, BEV_DTYPE_COUNT);
        append(said, size, variant->title, bev_dtypes[dtype].title,
               bev_dtypes[choice->dtype].title);
    }
    BevAlign align = choice->align;
    unsigned both = variant->aligns & aligns;
    if (both && !(both & 1u << align)) {
        choice->align = (BevAlign)first_of(both, BEV_NEAREST, BEV_ALIGN_COUNT);
        append(said, size, variant->aligns & 1u << align ? "this scene" : variant->title,
               bev_aligns[align].title, bev_aligns[choice->align].title);
    }
}

bool choice_equal(const Choice *a, const Choice *b) {
    return a->variant == b->variant && a->dtype == b->dtype && a->align == b->align;
}

void choice_label(const Choice *choice, char *text, size_t size) {
    snprintf(text, size, "%s %s %s", choice->variant->title, bev_dtypes[choice->dtype].title,
             bev_aligns[choice->align].name);
}
