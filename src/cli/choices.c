#include "src/cli/choices.h"

#include "src/run/bench.h"
#include "src/cli/plots.h"
#include "src/cachesim/gpus.h"
#include "src/base/nearest.h"
#include "src/view/draw/colormap.h"
#include "src/view/bev/decode.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *kernel_at(int i) {
    return bev_kernels[i] ? bev_kernels[i]->name : NULL;
}

static const char *dtype_at(int i) {
    return i < BEV_DTYPE_COUNT ? bev_dtypes[i].name : NULL;
}

static const char *align_at(int i) {
    return i < BEV_ALIGN_COUNT ? bev_aligns[i].name : NULL;
}

static const char *view_at(int i) {
    return i < VIEW_COUNT ? views[i].name : NULL;
}

static const char *map_at(int i) {
    return i < colormap_count ? colormaps[i].name : NULL;
}

static const char *format_at(int i) {
    static const char *const names[] = {"table", "markdown", "csv", "json"};
    return i < 4 ? names[i] : NULL;
}

static const char *cache_at(int i) {
    return i <= CACHE_COLD ? cache_names[i] : NULL;
}

static const char *timing_at(int i) {
    static const char *const names[] = {"recorded", "measured", "off"};
    return i < 3 ? names[i] : NULL;
}

static const char *theme_at(int i) {
    static const char *const names[] = {"light", "dark"};
    return i < 2 ? names[i] : NULL;
}

static const char *color_at(int i) {
    static const char *const names[] = {"auto", "always", "never"}; /* as TermColor counts them */
    return i < 3 ? names[i] : NULL;
}

static const char *gpu_at(int i) {
    return i < gpu_count ? gpus[i].name : NULL;
}

static const char *sweep_at(int i) {
    return sweep_names[i];
}

/* `listed`: --help spells the names out; the others stand in the option's own text. */
static const struct {
    const char *(*at)(int i);
    bool listed;
} sets[CHOICE_SET_COUNT] = {
    [CHOICE_KERNEL] = {kernel_at, true},  [CHOICE_DTYPE] = {dtype_at, true},
    [CHOICE_ALIGN] = {align_at, true},    [CHOICE_VIEW] = {view_at, true},
    [CHOICE_COLORMAP] = {map_at, true},   [CHOICE_FORMAT] = {format_at, false},
    [CHOICE_CACHE] = {cache_at, true},    [CHOICE_TIMING] = {timing_at, false},
    [CHOICE_THEME] = {theme_at, false},   [CHOICE_COLOR] = {color_at, false},
    [CHOICE_GPU] = {gpu_at, true},        [CHOICE_SWEEP] = {sweep_at, true},
};

int choices_count(ChoiceSet set) {
    int count = 0;
    while (sets[set].at(count))
        count++;
    return count;
}

const char *choices_name(ChoiceSet set, int i) {
    return sets[set].at(i);
}

/* A kernel may also be called by its title, whatever the device: "v3" for cpu_v3. */
static bool is_title(const char *name) {
    for (int i = 0; bev_kernels[i]; i++)
        if (!strcasecmp(bev_kernels[i]->title, name))
            return true;
    return false;
}

int choices_find(ChoiceSet set, const char *name) {
    for (int i = 0; sets[set].at(i); i++)
        if (!strcmp(sets[set].at(i), name))
            return i;
    return -1;
}

static bool check_word(ChoiceSet set, const char *word, const char *option, Err *err) {
    if (choices_find(set, word) >= 0 || (set == CHOICE_KERNEL && is_title(word)))
        return true;
    char where[64], hint[256], known[192] = "";
    const char *names[64];
    int count = 0;
    while (count < 64 && (names[count] = sets[set].at(count)))
        count++;
    const char *nearest = nearest_name(word, names, (size_t)count);
    snprintf(where, sizeof where, "--%s", option);
    for (int i = 0; i < count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
    }
    if (nearest)
        snprintf(hint, sizeof hint, "did you mean %s?", nearest);
    else
        snprintf(hint, sizeof hint, "known: %s", known);
    return err_set(err, ERR_USAGE, where, hint, "'%s' is not known", word);
}

/* Calls `word` for each item of a comma-separated list until it returns false. */
static bool each_word(const char *text, bool (*word)(const char *, void *), void *context) {
    for (;;) {
        char item[64];
        size_t length = strcspn(text, ",");
        snprintf(item, sizeof item, "%.*s", (int)length, text);
        if (!word(item, context))
            return false;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

typedef struct {
    ChoiceSet set;
    const char *option;
    Err *err;
    unsigned mask;
} ListContext;

static bool check_item(const char *word, void *context) {
    ListContext *list = context;
    return !strcmp(word, "all") || check_word(list->set, word, list->option, list->err);
}

static bool add_item(const char *word, void *context) {
    ListContext *list = context;
    list->mask |= !strcmp(word, "all") ? (1u << choices_count(list->set)) - 1
                                       : 1u << choices_find(list->set, word);
    return true;
}

bool choices_check(ChoiceSet set, const char *text, bool list, const char *option, Err *err) {
    if (!list)
        return check_word(set, text, option, err);
    ListContext context = {set, option, err, 0};
    return each_word(text, check_item, &context);
}

unsigned choices_mask(ChoiceSet set, const char *text, unsigned fallback) {
    if (!text)
        return fallback;
    ListContext context = {set, NULL, NULL, 0};
    each_word(text, add_item, &context);
    return context.mask;
}

void choices_list(ChoiceSet set, char *text, int size) {
    if (!sets[set].listed)
        return;
    int n = snprintf(text, (size_t)size, ": ");
    for (int i = 0; sets[set].at(i) && n < size; i++)
        n += snprintf(text + n, (size_t)(size - n), "%s%s", i ? ", " : "", sets[set].at(i));
}
