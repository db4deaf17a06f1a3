/* The values that controls choose from: the column `list` of controls.inc. Values that the scene or
 * the kernel does not take are listed too. The palette shows them with the reason. */
#include "kernels/injected_bugs.h"
#include "src/cachesim/gpus.h"
#include "src/state/control.h"
#include "src/state/glossary.h"

#include <string.h>
#include <strings.h>

/* Macros for lists of values: from an array of names, or from the rows of a table. */
#define NAMES(list, names, count)      ROWS(list, count, (names)[i], (names)[i])
#define ROWS(list, count, name, title) HELPED(list, count, name, title, NULL)
#define HELPED(list, count, name, title, help)                                                     \
    int values_##list(const State *state, ValueName values[VALUES_MAX]) {                          \
        (void)state;                                                                               \
        int rows = count;                                                                          \
        for (int i = 0; i < rows && i < VALUES_MAX; i++)                                           \
            values[i] = (ValueName){name, title, help};                                            \
        return rows < VALUES_MAX ? rows : VALUES_MAX;                                              \
    }

/* Returns the title of a scene; NULL: unknown, as of a scene of the command line. */
static const char *scene_title(const State *state, int scene) {
    const char *title = state->menu.scene_titles ? state->menu.scene_titles[scene] : NULL;
    return title && title[0] ? title : NULL;
}

static const ValueName backends[] = {{"cpu", "CPU", NULL}, {"cuda", "CUDA", NULL}};
static const char *const strip_titles[STRIP_COUNT] = {"camera pictures", "feature norm",
                                                      "mean depth", "dropped points"};
static const char *const chart_titles[CHART_COUNT] = {
    [CHART_NONE] = "panels again",      [CHART_MRC] = "misses by L2",
    [CHART_ROOFLINE] = "bytes or FLOP", [CHART_WORKING_SET] = "which L2 holds",
    [CHART_DTYPE] = "formats compared", [CHART_TERMS] = "fastest kernel",
    [CHART_NETWORK] = "whole network",  [CHART_TIMELINE] = "launches in time"};
const char *const rounding_ideas[ROUNDING_COUNT] = {
    [ROUNDING_SCENE] = "as the scene says",
    [ROUNDING_FLOOR] = "a point below the grid is outside",
    [ROUNDING_TRUNCATE] = "toward zero, as LSS and BEVDet do"};
static const char *const themes[] = {"dark", "light"};
static const char *const channel_counts[] = {"16", "32", "64", "80", "128", "256"};

NAMES(bits, bits_names, BITS_COUNT)
NAMES(channels, channel_counts, sizeof channel_counts / sizeof *channel_counts)
NAMES(compares, compare_names, COMPARE_COUNT)
NAMES(views, state->menu.views.names, state->menu.views.count)
NAMES(colormaps, state->menu.colormaps.names, state->menu.colormaps.count)
NAMES(truths, truth_names, TRUTH_COUNT)
NAMES(themes, themes, 2)
NAMES(pages, page_names, PAGE_COUNT)
ROWS(charts, CHART_COUNT, chart_names[i], chart_titles[i])
HELPED(roundings, ROUNDING_COUNT, rounding_names[i], rounding_names[i], rounding_ideas[i])
ROWS(undo, 1, "all", "everything")
HELPED(strips, STRIP_COUNT, strip_names[i], strip_titles[i],
       i == STRIP_DROPPED ? "yellow where points fall outside the grid" : NULL)
ROWS(backends, 2, backends[i].name, backends[i].title)
HELPED(configs, state->menu.preset_count, state->menu.scenes.names[i], state->menu.scenes.names[i],
       scene_title(state, i))
HELPED(scenes, state->menu.scenes.count, state->menu.scenes.names[i], state->menu.scenes.names[i],
       scene_title(state, i))
ROWS(dtypes, BEV_DTYPE_COUNT, bev_dtypes[i].name, bev_dtypes[i].title)
HELPED(aligns, BEV_ALIGN_COUNT, bev_aligns[i].name, bev_aligns[i].title, bev_aligns[i].idea)
ROWS(directions, BEV_DIRECTION_COUNT, bev_directions[i].name, bev_directions[i].name)
ROWS(gpus, gpu_count, gpus[i].name, gpus[i].title)
ROWS(cameras, state->scene.camera_count, state->scene.cameras[i], state->scene.cameras[i])
HELPED(losses, LOSS_ALL + 1, state_loss(i), state_loss(i), i < LOSS_COUNT ? losses[i].idea : NULL)
HELPED(glossary, glossary_count, glossary[i].word, glossary[i].word, glossary[i].text)
ROWS(scales, state->menu.scales ? SCALES_COUNT : SCALES_FILE,
     i == SCALES_FILE ? "file" : scales_name(state, i), scales_name(state, i))

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
    values[0] = (ValueName){"own", "own", NULL};
    return count + 1;
}

/* Lists the lessons. The first value is what the control's own key would do: off, or next. */
int values_lessons(const State *state, ValueName values[VALUES_MAX]) {
    const Menu *lessons = &state->menu.lessons;
    values[0] = state->lesson.open ? (ValueName){"off", "off", "closes the lesson that is open"}
                                   : (ValueName){"next", "next", "the next lesson of the course"};
    int count = 1;
    for (; count <= lessons->count && count < VALUES_MAX; count++)
        values[count] = (ValueName){lessons->names[count - 1], lessons->names[count - 1], NULL};
    return count;
}

int values_injected_bugs(const State *state, ValueName values[VALUES_MAX]) {
    int count;
    const InjectedBug *list = injected_bugs_of(state->job.config.kernel->direction, &count);
    values[0] = (ValueName){"none", "none", NULL};
    for (int i = 0; i < count; i++)
        values[i + 1] = (ValueName){list[i].name, list[i].kernel.title, NULL};
    return count + 1;
}
