/* SPDX-License-Identifier: MIT */
#include "src/cli/model.h"
#include "src/cli/options.h"
#include "src/cachesim/gpus.h"
#include "src/base/nearest.h"
#include "src/scales/cuts.h"
#include "src/scene/grid_loss.h"
#include "src/scene/photos.h"
#include "src/view/draw/color.h"
#include "src/view/bev/decode.h"

#include <string.h>
#include <strings.h>

static const char *const formats[] = {"table", "markdown", "csv", "json", "junit", "jsonl", NULL};
static const char *const directions[] = {"forward", "backward", "both", NULL};
static const char *const sweeps[] = {"grid", "channels", "points", NULL}; /* values of --over */
static const char *const stages[] = {"pool", "view", "step", NULL};       /* indexed by BevStage */
static const char *const tensors[] = {"depth", "feat", "out", NULL};
static const char *const timings[] = {"recorded", "measured", "off", NULL}; /* by LatencyWanted */
static const char *const page_themes[] = {"light", "dark", NULL};           /* by FigureTheme */
static const char *const color_modes[] = {"auto", "always", "never", NULL}; /* by TermColor */
static const char *const pixel_modes[] = {"auto", "kitty", "iterm", "sixel", "off", NULL};

/* The names that an option accepts, from a table of the program or a list of words. The names lie
 * `stride` bytes apart. They end after `count` or `*counted` names, or at NULL. */
typedef struct {
    const char *const *names;
    size_t stride;
    int count;
    const int *counted;
    bool listed; /* --help lists the names; for other sets the option's text has them */
} NameSet;

#define TABLE(table) .names = &(table)->name, .stride = sizeof *(table)
#define WORDS(words) .names = (words), .stride = sizeof *(words)

static const NameSet sets[CHOICE_SET_COUNT] = {
    [CHOICE_DTYPE] = {TABLE(bev_dtypes), .count = BEV_DTYPE_COUNT, .listed = true},
    [CHOICE_ALIGN] = {TABLE(bev_aligns), .count = BEV_ALIGN_COUNT, .listed = true},
    [CHOICE_VIEW] = {TABLE(views), .count = VIEW_COUNT, .listed = true},
    [CHOICE_COLORMAP] = {TABLE(colormaps), .counted = &colormap_count, .listed = true},
    [CHOICE_CACHE] = {WORDS(cache_names), .count = CACHE_COLD + 1, .listed = true},
    [CHOICE_GPU] = {TABLE(gpus), .counted = &gpu_count, .listed = true},
    [CHOICE_FORMAT] = {WORDS(formats), .count = 4},
    [CHOICE_MERGED] = {WORDS(formats), .count = 5},
    [CHOICE_RECORDS] = {WORDS(formats)},
    [CHOICE_TIMING] = {WORDS(timings)},
    [CHOICE_THEME] = {WORDS(page_themes)},
    [CHOICE_COLOR] = {WORDS(color_modes)},
    [CHOICE_PIXELS] = {WORDS(pixel_modes)}, /* by Pixels */
    [CHOICE_STORES] = {WORDS(stores_names), .listed = true},
    [CHOICE_SWEEP] = {WORDS(sweeps), .listed = true},
    [CHOICE_DIRECTION] = {WORDS(directions)},
    [CHOICE_STAGE] = {WORDS(stages), .count = BEV_STAGE_COUNT},
    [CHOICE_TIMED] = {WORDS(stages)},
    [CHOICE_LOSS] = {TABLE(losses), .count = LOSS_COUNT, .listed = true},
    [CHOICE_STRIP] = {WORDS(strip_names), .count = STRIP_COUNT, .listed = true},
    [CHOICE_TRUTH] = {WORDS(truth_names), .count = TRUTH_COUNT, .listed = true},
    [CHOICE_ROUNDING] = {WORDS(rounding_names), .count = ROUNDING_COUNT, .listed = true},
    [CHOICE_TENSOR] = {WORDS(tensors)},
    [CHOICE_METHOD] = {WORDS(scale_method_names), .listed = true},
    [CHOICE_KERNEL] = {.listed = true}, /* by bev_kernels */
};

const char *choices_name(ChoiceSet set, int i) {
    const NameSet *names = &sets[set];
    int count = names->counted ? *names->counted : names->count;
    if (set == CHOICE_KERNEL)
        return bev_kernels[i] ? bev_kernels[i]->name : NULL;
    return count && i >= count
               ? NULL
               : *(const char *const *)((const char *)names->names + (size_t)i * names->stride);
}

static int choice_count(ChoiceSet set) {
    int count = 0;
    while (choices_name(set, count))
        count++;
    return count;
}

int choices_find(ChoiceSet set, const char *name) {
    for (int i = 0; choices_name(set, i); i++)
        if (!strcmp(choices_name(set, i), name))
            return i;
    return -1;
}

int choices_or(ChoiceSet set, const char *name, int fallback) {
    return name ? choices_find(set, name) : fallback;
}

/* Returns the bits of a name; 0: unknown. A kernel's title has the bits of all kernels with this
 * title: "v3" works on every device. */
static uint64_t choice_bits(ChoiceSet set, const char *name) {
    uint64_t bits = 0;
    int found = choices_find(set, name);
    if (found >= 0)
        return UINT64_C(1) << found;
    for (int i = 0; set == CHOICE_KERNEL && bev_kernels[i]; i++)
        if (!strcasecmp(bev_kernels[i]->title, name))
            bits |= UINT64_C(1) << i;
    return bits;
}

static bool check_word(ChoiceSet set, const char *word, const char *option, Err *err) {
    if (choice_bits(set, word))
        return true;
    char where[64], hint[256];
    const char *names[64];
    int count = 0;
    while (count < 64 && (names[count] = choices_name(set, count)))
        count++;
    snprintf(where, sizeof where, "--%s", option);
    nearest_hint(word, names, (size_t)count, NULL, hint, sizeof hint);
    return err_set(err, ERR_USAGE, where, hint, "'%s' is not known", word);
}

bool choices_item(const char **list, char item[CHOICE_ITEM]) {
    if (!*list)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(item, CHOICE_ITEM, "%.*s", (int)length, *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

bool choices_check(ChoiceSet set, const char *text, bool list, const char *option, Err *err) {
    char item[CHOICE_ITEM];
    if (!list)
        return check_word(set, text, option, err);
    while (choices_item(&text, item))
        if (strcmp(item, "all") && !check_word(set, item, option, err))
            return false;
    return true;
}

static uint64_t list_bits(ChoiceSet set, const char *text, uint64_t fallback) {
    char item[CHOICE_ITEM];
    uint64_t bits = text ? 0 : fallback;
    while (choices_item(&text, item))
        bits |=
            strcmp(item, "all") ? choice_bits(set, item) : (UINT64_C(1) << choice_count(set)) - 1;
    return bits;
}

unsigned choices_mask(ChoiceSet set, const char *text, unsigned fallback) {
    return (unsigned)list_bits(set, text, fallback);
}

KernelSet choices_kernels(const char *text, KernelSet fallback) {
    return list_bits(CHOICE_KERNEL, text, fallback);
}

void choices_list(ChoiceSet set, char *text, size_t size) {
    for (int i = 0; sets[set].listed && choices_name(set, i); i++)
        text_add(text, size, "%s%s", i ? ", " : ": ", choices_name(set, i));
}
