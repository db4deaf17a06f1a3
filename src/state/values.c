/* The values that controls choose from: the column `list` of controls.inc. Values that the scene or
 * the kernel does not take are in the list, too: the palette shows them with the reason. */
#include "kernels/defects.h"
#include "src/cachesim/gpus.h"
#include "src/cachesim/slow.h"
#include "src/state/control.h"
#include "src/state/glossary.h"

#include <string.h>
#include <strings.h>

static int from(const char *const *names, int count, ValueName values[VALUES_MAX]) {
    count = count < VALUES_MAX ? count : VALUES_MAX;
    for (int i = 0; i < count; i++)
        values[i] = (ValueName){names[i], names[i]};
    return count;
}

static int from_menu(const Menu *menu, ValueName values[VALUES_MAX]) {
    return from(menu->names, menu->count, values);
}

int values_kernels(const State *state, ValueName values[VALUES_MAX]) {
    const BevKernel *kernels[MAX_KERNELS], *now = state->job.config.kernel;
    int count = kernels_of(now->where, now->direction, kernels, MAX_KERNELS);
    for (int i = 0; i < count; i++) { /* the name that both backends take */
        const char *name = kernels[i]->name;
        values[i] = (ValueName){name + (strncmp(name, "cpu_", 4) ? 0 : 4), kernels[i]->title};
    }
    return count;
}

int values_dtypes(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    for (int i = 0; i < BEV_DTYPE_COUNT; i++)
        values[i] = (ValueName){bev_dtypes[i].name, bev_dtypes[i].title};
    return BEV_DTYPE_COUNT;
}

int values_aligns(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    for (int i = 0; i < BEV_ALIGN_COUNT; i++)
        values[i] = (ValueName){bev_aligns[i].name, bev_aligns[i].title};
    return BEV_ALIGN_COUNT;
}

int values_directions(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    for (int i = 0; i < BEV_DIRECTION_COUNT; i++)
        values[i] = (ValueName){bev_directions[i].name, bev_directions[i].name};
    return BEV_DIRECTION_COUNT;
}

int values_roundings(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    return from(rounding_names, ROUNDING_COUNT, values);
}

int values_scales(const State *state, ValueName values[VALUES_MAX]) {
    int count = state->menu.scales ? SCALES_COUNT : SCALES_FILE;
    for (int i = 0; i < count; i++)
        values[i] =
            (ValueName){i == SCALES_FILE ? "file" : scales_name(state, i), scales_name(state, i)};
    return count;
}

int values_scales_from(const State *state, ValueName values[VALUES_MAX]) {
    int count = values_scenes(state, values);
    count = count < VALUES_MAX ? count : VALUES_MAX - 1;
    memmove(values + 1, values, (size_t)count * sizeof *values);
    values[0] = (ValueName){"own", "own"};
    return count + 1;
}

int values_bits(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    return from(bits_names, BITS_COUNT, values);
}

int values_defects(const State *state, ValueName values[VALUES_MAX]) {
    int count;
    const Defect *list = defects_of(state->job.config.kernel->direction, &count);
    values[0] = (ValueName){"none", "none"};
    for (int i = 0; i < count; i++)
        values[i + 1] = (ValueName){list[i].name, list[i].kernel.title};
    return count + 1;
}

int values_backends(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    values[0] = (ValueName){"cpu", "CPU"};
    values[1] = (ValueName){"cuda", "CUDA"};
    return 2;
}

int values_configs(const State *state, ValueName values[VALUES_MAX]) {
    return from(state->menu.scenes.names, state->menu.preset_count, values);
}

int values_scenes(const State *state, ValueName values[VALUES_MAX]) {
    return from_menu(&state->menu.scenes, values);
}

int values_channels(const State *state, ValueName values[VALUES_MAX]) {
    static const char *const names[] = {"16", "32", "64", "80", "128", "256"};
    (void)state;
    return from(names, sizeof names / sizeof *names, values);
}

int values_gpus(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    for (int i = 0; i < gpu_count; i++)
        values[i] = (ValueName){gpus[i].name, gpus[i].title};
    return gpu_count;
}

int values_compares(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    return from(compare_names, COMPARE_COUNT, values);
}

int values_views(const State *state, ValueName values[VALUES_MAX]) {
    return from_menu(&state->menu.views, values);
}

int values_colormaps(const State *state, ValueName values[VALUES_MAX]) {
    return from_menu(&state->menu.colormaps, values);
}

int values_strips(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    return from(strip_names, STRIP_COUNT, values);
}

int values_truths(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    return from(truth_names, TRUTH_COUNT, values);
}

int values_charts(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    return from(chart_names, CHART_COUNT, values);
}

int values_themes(const State *state, ValueName values[VALUES_MAX]) {
    static const char *const names[] = {"dark", "light"};
    (void)state;
    return from(names, 2, values);
}

int values_cameras(const State *state, ValueName values[VALUES_MAX]) {
    for (int i = 0; i < state->scene.camera_count; i++)
        values[i] = (ValueName){state->scene.cameras[i], state->scene.cameras[i]};
    return state->scene.camera_count;
}

int values_losses(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    for (int i = 0; i <= LOSS_ALL; i++)
        values[i] = (ValueName){state_loss(i), state_loss(i)};
    return LOSS_ALL + 1;
}

int values_lessons(const State *state, ValueName values[VALUES_MAX]) {
    return from_menu(&state->menu.lessons, values);
}

int values_slow(const State *state, ValueName values[VALUES_MAX]) {
    static const char *const names[] = {"none", "A", "B", "C", "D", "E", "F", "G", "H"};
    (void)state;
    return from(names, 1 + SLOW_COUNT, values);
}

int values_suspects(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    for (int i = 0; i < SLOW_COUNT; i++)
        values[i] = (ValueName){slow_faults[i].name, slow_faults[i].title};
    return SLOW_COUNT;
}

int values_pages(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    return from(page_names, PAGE_COUNT, values);
}

int values_glossary(const State *state, ValueName values[VALUES_MAX]) {
    (void)state;
    for (int i = 0; i < glossary_count && i < VALUES_MAX; i++)
        values[i] = (ValueName){glossary[i].word, glossary[i].word};
    return glossary_count < VALUES_MAX ? glossary_count : VALUES_MAX;
}

int values_undo(const State *state, ValueName values[VALUES_MAX]) {
    static const char *const names[] = {"all"};
    (void)state;
    return from(names, 1, values);
}

int control_pick(State *state, const Command *command, int now) {
    ValueName values[VALUES_MAX];
    int count = keys[command->action].list(state, values);
    if (command->step && count)
        return wrapped(now + command->step, count);
    for (int i = 0; i < count; i++)
        if (!strcasecmp(values[i].name, command->argument))
            return i;
    SAY(state, command->action, "%s: there is no \"%s\"", keys[command->action].word,
        command->argument);
    return -1;
}
