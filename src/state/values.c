/* SPDX-License-Identifier: MIT */
/* The values that controls choose from: the column `list` of controls.inc. Values that the scene or
 * the kernel does not take are listed too. The palette shows them with the reason. */
#include "kernels/injected_bugs.h"
#include "src/cachesim/gpus.h"
#include "src/state/control.h"
#include "src/state/glossary.h"

#include <string.h>
#include <strings.h>

/* Macros for lists of values: from an array of names, or from the rows of a table. */
#define NAMES(list, names, count, ideas) HELPED(list, count, (names)[i], (names)[i], ideas)
#define HELPED(list, count, name, title, help)                                                     \
    int values_##list(const State *state, ValueName values[VALUES_MAX]) {                          \
        (void)state;                                                                               \
        int rows = count;                                                                          \
        for (int i = 0; i < rows && i < VALUES_MAX; i++)                                           \
            values[i] = (ValueName){name, title, help};                                            \
        return rows < VALUES_MAX ? rows : VALUES_MAX;                                              \
    }

/* Returns a line of the menu about the value; NULL: unknown, as of a scene of the command line. */
static const char *idea_at(const char *const *ideas, int value) {
    return ideas && ideas[value] && ideas[value][0] ? ideas[value] : NULL;
}

/* Returns what a format is made of: "16 bits: exponent 5, fraction 10; largest 65504". */
static const char *dtype_idea(int dtype) {
    static char ideas[BEV_DTYPE_COUNT][96];
    const BevDtypeInfo *info = &bev_dtypes[dtype];
    bool scaled = strcmp(info->scaling, "none") != 0;
    char parts[48];
    snprintf(parts, sizeof parts, "whole numbers, pooled to %s", bev_dtypes[info->out].title);
    if (info->exponent)
        snprintf(parts, sizeof parts, "exponent %d, fraction %d", info->exponent,
                 info->bits - info->sign - info->exponent);
    snprintf(ideas[dtype], sizeof ideas[dtype], "%d bits: %s; largest %.*g%s%s", info->bits, parts,
             info->largest > 1e6 ? 2 : 5, info->largest, scaled ? "; a scale " : "",
             scaled ? info->scaling : "");
    return ideas[dtype];
}

static const char *const scale_ideas[] = {
    "calibrated: up to the largest value", "calibrated: up to 99.99 % of the values",
    "calibrated: where the histogram loses least (KL)", "calibrated: least squared error"};

static const char *scales_idea(int scales) {
    return scales == SCALES_IDEAL     ? "by the largest values of the very frame"
           : scales == SCALES_CHANNEL ? "ideal, and one a channel for INT8 features"
           : scales == SCALES_FILE    ? "the ranges of the file"
                                      : scale_ideas[scales_method(scales)];
}

/* Returns a GPU's figures: "L2 6 MiB, DRAM 768 GB/s, 84 multiprocessors". */
static const char *gpu_idea(int gpu) {
    static char ideas[GPUS_AT_MOST][64];
    snprintf(ideas[gpu], sizeof ideas[gpu], "L2 %.4g MiB, DRAM %.4g GB/s, %d multiprocessors",
             gpus[gpu].l2_bytes / (1 << 20), gpus[gpu].dram_gb_s, gpus[gpu].sms);
    return ideas[gpu];
}

static const ValueName backends[] = {{"cpu", "CPU", "the kernels for processors, in threads"},
                                     {"cuda", "CUDA", "the kernels for NVIDIA GPUs"}};
static const char *const strip_titles[STRIP_COUNT] = {"camera pictures", "feature norm",
                                                      "mean depth", "dropped points"};
static const char *const strip_ideas[STRIP_COUNT] = {
    "what the cameras see", "the length of each pixel's feature vector",
    "the mean of each pixel's depth", "yellow where points fall outside the grid"};
static const char *const rounding_ideas[ROUNDING_COUNT] = {
    [ROUNDING_SCENE] = "as the scene says",
    [ROUNDING_FLOOR] = "a point below the grid is outside",
    [ROUNDING_TRUNCATE] = "toward zero, as LSS and BEVDet do"};
static const char *const scene_groups[] = {"size", "cameras", "operator"};
static const char *const themes[] = {"dark", "light"};
static const char *const channel_counts[] = {"16", "32", "64", "80", "128", "256"};
static const char *const bits_ideas[BITS_COUNT] = {"an element of the features", "of the depth",
                                                   "of the pooled output", "of the format E5M2"};
static const char *const compare_ideas[COMPARE_COUNT] = {
    "the selection alone", "the baseline left of a line, the selection right of it",
    "the selection minus the baseline"};
static const char *const truth_ideas[TRUTH_COUNT] = {
    "the BEV alone", "the boxes of the ground truth", "the points of a LiDAR sweep",
    "boxes and LiDAR points"};
static const char *const page_ideas[PAGE_COUNT] = {"panels beside the BEV", "all panels, no BEV",
                                                   "the BEV over the whole terminal"};

NAMES(bits, bits_names, BITS_COUNT, bits_ideas[i])
NAMES(channels, channel_counts, sizeof channel_counts / sizeof *channel_counts, NULL)
NAMES(compares, compare_names, COMPARE_COUNT, compare_ideas[i])
NAMES(views, state->menu.views.names, state->menu.views.count, idea_at(state->menu.view_ideas, i))
NAMES(colormaps, state->menu.colormaps.names, state->menu.colormaps.count,
      i ? NULL : "each view's usual colours")
NAMES(truths, truth_names, TRUTH_COUNT, truth_ideas[i])
NAMES(themes, themes, 2, NULL)
NAMES(pages, page_names, PAGE_COUNT, page_ideas[i])
HELPED(charts, CHART_COUNT, chart_words[i].name, chart_words[i].title, chart_words[i].idea)
NAMES(roundings, rounding_names, ROUNDING_COUNT, rounding_ideas[i])
HELPED(undo, 1, "all", "everything", "as it was when the program began")
HELPED(strips, STRIP_COUNT, strip_names[i], strip_titles[i], strip_ideas[i])
HELPED(backends, 2, backends[i].name, backends[i].title, backends[i].help)
NAMES(configs, state->menu.scenes.names, state->menu.preset_count,
      idea_at(state->menu.scene_titles, i))
HELPED(scenes, state->menu.scenes.count, state->menu.scenes.names[i],
       scene_groups[state_scene_group(state, i)], idea_at(state->menu.scene_titles, i))
HELPED(dtypes, BEV_DTYPE_COUNT, bev_dtypes[i].name, bev_dtypes[i].title, dtype_idea(i))
HELPED(aligns, BEV_ALIGN_COUNT, bev_aligns[i].name, bev_aligns[i].title, bev_aligns[i].idea)
HELPED(directions, BEV_DIRECTION_COUNT, bev_directions[i].name, bev_directions[i].name,
       bev_directions[i].idea)
HELPED(gpus, gpu_count, gpus[i].name, gpus[i].title, gpu_idea(i))
NAMES(cameras, state->scene.cameras, state->scene.camera_count, NULL)
HELPED(losses, LOSS_ALL + 1, i < LOSS_COUNT ? losses[i].name : "all",
       i < LOSS_COUNT ? losses[i].name : "all", i < LOSS_COUNT ? losses[i].idea : "all cells")
HELPED(glossary, glossary_count, glossary[i].word, glossary[i].word, glossary[i].text)
HELPED(scales, state->menu.scales ? SCALES_COUNT : SCALES_FILE,
       i == SCALES_FILE ? "file" : scales_name(state, i), scales_name(state, i), scales_idea(i))

int values_kernels(const State *state, ValueName values[VALUES_MAX]) {
    const BevKernel *kernels[MAX_KERNELS], *now = state->job.config.kernel;
    int count = kernels_of(now->where, now->direction, kernels, MAX_KERNELS);
    for (int i = 0; i < count; i++)
        values[i] = (ValueName){kernel_word(kernels[i]), kernels[i]->title, kernels[i]->idea};
    return count;
}

int values_scales_from(const State *state, ValueName values[VALUES_MAX]) {
    int count = values_scenes(state, values);
    count = count < VALUES_MAX ? count : VALUES_MAX - 1;
    memmove(values + 1, values, (size_t)count * sizeof *values);
    values[0] = (ValueName){"own", "own", "the scene that is shown"};
    return count + 1;
}

/* Lists the lessons. The first value is what the control's own key would do: off, or next. */
int values_lessons(const State *state, ValueName values[VALUES_MAX]) {
    const Menu *lessons = &state->menu.lessons;
    values[0] = state->lesson.open ? (ValueName){"off", "off", "closes the lesson that is open"}
                                   : (ValueName){"next", "next", "the next lesson of the course"};
    int count = 1;
    for (; count <= lessons->count && count < VALUES_MAX; count++)
        values[count] = (ValueName){lessons->names[count - 1], lessons->names[count - 1],
                                    idea_at(state->menu.lesson_ideas, count - 1)};
    return count;
}

int values_injected_bugs(const State *state, ValueName values[VALUES_MAX]) {
    int count;
    const InjectedBug *list = injected_bugs_of(state->job.config.kernel->direction, &count);
    values[0] = (ValueName){"none", "none", "the kernel as it should be"};
    for (int i = 0; i < count; i++)
        values[i + 1] = (ValueName){list[i].name, list[i].kernel.title, NULL};
    return count + 1;
}
