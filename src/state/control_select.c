/* SPDX-License-Identifier: MIT */
/* Controls of the group "Selection": kernel, format, align, backend and channels, the GPU that the
 * memory model predicts, and hardware counters. The control of the scene's size is in
 * control_scene.c. */
#include "src/state/control.h"

#include "kernels/injected_bugs.h"

#include <strings.h>

static const char *const where_words[] = {[BEV_CPU] = "cpu", [BEV_CUDA] = "cuda"};

/* Returns the backend whose kernels are listed. Injected bugs run on the CPU, also where the
 * display uses only a GPU. */
BevWhere state_where(const State *state) {
    const BevKernel *kernel = state->job.config.kernel;
    const bool backend_used = state->menu.where & 1u << kernel->where;
    return injected_bug_of(kernel) && !backend_used ? BEV_CUDA : kernel->where;
}

static BevDirection direction_of(const State *state) {
    return state->job.config.kernel->direction;
}

/* Drops a baseline of the other direction, because its output is another array. Backward, ends the
 * comparison, which needs two pooled grids. Appends to the log line what was dropped. */
static void drop_other_direction(State *state, ShortText *line) {
    const bool backward = direction_of(state) == BEV_BACKWARD;
    if (state->job.baseline.kernel->direction == direction_of(state))
        return;
    if (state->job.baseline_pinned)
        text_add(line->text, sizeof line->text, "; baseline let go");
    state->job.baseline_pinned = false;
    if (!backward)
        return;
    if (state->compare != COMPARE_OFF)
        text_add(line->text, sizeof line->text, "; comparison off");
    state->compare = COMPARE_OFF;
    state->job.pool_baseline = false;
}

unsigned control_use_config(State *state, Action action, KernelConfig config, const char *said) {
    ShortText line = short_text("%s", said);
    kernel_config_make_valid(&config, control_aligns(state), line.text, sizeof line.text);
    bool same = kernel_config_equal(&config, &state->job.config);
    if (config.kernel != state->job.config.kernel) /* the new kernel has other blocks */
        state->job.steps_block = state->job.steps_warp = -1;
    state->job.config = config;
    drop_other_direction(state, &line);
    SAY(state, action, "%s", line.text);
    if (same)
        return STEP_REDRAW;
    if (!state->job.baseline_pinned)
        state->job.baseline = kernel_config_baseline(&config);
    return control_await_figures(state, MOVES_ALL_FIGURES);
}

/* Returns the kernel of the ladder that is `step` places from the selection. A kernel outside the
 * ladder stands between two of its kernels, by the order of the table. */
static const BevKernel *next_in_ladder(const State *state, int step) {
    const BevKernel *ladder[BEV_RUNGS], *now = state->job.config.kernel;
    const int count = bev_ladder(state_where(state), direction_of(state), ladder);
    int place = 0; /* the selection's place, or that of the kernel after the selection */
    while (place < count && kernel_bit(ladder[place]) < kernel_bit(now))
        place++;
    const bool in_ladder = place < count && ladder[place] == now;
    if (!in_ladder && step > 0) /* `place` is one step away already */
        step--;
    return ladder[wrapped(place + step, count)];
}

unsigned control_kernel(State *state, const Command *command) {
    const BevKernel *kernel =
        command->step ? next_in_ladder(state, command->step)
                      : kernel_named(state_where(state), direction_of(state), command->argument);
    if (!kernel)
        return SAY(state, command->action, "kernel: there is no \"%s\"%s for the %s",
                   command->argument, kernel_way(state->job.config.kernel),
                   state_where(state) == BEV_CPU ? "CPU" : "GPU");
    KernelConfig config = state->job.config;
    config.kernel = kernel;
    return control_use_config(state, command->action, config, kernel->title);
}

/* Changes the direction. The kernel stays where the other direction has one of the same title. A
 * format without gradients is replaced. */
unsigned control_direction(State *state, const Command *command) {
    KernelConfig config = state->job.config;
    const int direction = command->place;
    config.kernel = kernel_in_direction(config.kernel, (BevDirection)direction);
    if (!config.kernel)
        return SAY(state, command->action, "direction: this build has no %s kernel for the %s",
                   bev_directions[direction].name, state_where(state) == BEV_CPU ? "CPU" : "GPU");
    const ShortText said =
        short_text("%s: %s", bev_directions[direction].name, config.kernel->title);
    return control_use_config(state, command->action, config, said.text);
}

/* Returns the number of the injected bug, from 1; 0: the selected kernel is correct. */
static int bug_number(const State *state) {
    int count;
    const InjectedBug *bug = injected_bug_of(state->job.config.kernel);
    return bug ? (int)(bug - injected_bugs_of(direction_of(state), &count)) + 1 : 0;
}

const char *state_injected_bug(const State *state) {
    return bug_number(state) ? state->job.config.kernel->title + strlen("BUG ") : "none";
}

/* Returns the number of the bug that the argument names; 0 is "none". -1: there is none. */
static int bug_named(const State *state, const Command *command, int count) {
    int number;
    char rest;
    if (sscanf(command->argument, "%d%c", &number, &rest) == 1)
        return number >= 0 && number <= count ? number : -1;
    return control_find(state, command);
}

/* Returns the kernel that replaces an injected bug: the one selected before, else the default. */
static const BevKernel *kernel_without_bug(const State *state) {
    const BevKernel *before = state->before_bug;
    BevWhere where = state->menu.where & 1u << BEV_CUDA ? BEV_CUDA : BEV_CPU;
    return before && before->direction == direction_of(state)
               ? before
               : kernel_counterpart(bev_default(BEV_CPU, direction_of(state)), where);
}

/* Injects a bug: selects a faulty kernel that no table of kernels lists. The log does not name the
 * bug, because finding it is the exercise. */
unsigned control_injected_bug(State *state, const Command *command) {
    int count;
    const int now = bug_number(state);
    const InjectedBug *bugs = injected_bugs_of(direction_of(state), &count);
    const int next =
        command->step ? wrapped(now + command->step, count + 1) : bug_named(state, command, count);
    const char *correct =
        direction_of(state) == BEV_BACKWARD ? "correct gradients" : "a correct pooling";
    if (next < 0)
        return SAY(state, command->action, "bug: there is no \"%s\"%s: none, or 1 to %d",
                   command->argument, kernel_way(state->job.config.kernel), count);
    if (next == now)
        return SAY(state, command->action, "bug %s, still", state_injected_bug(state));
    KernelConfig config = state->job.config;
    if (!now)
        state->before_bug = config.kernel;
    config.kernel = next ? &bugs[next - 1].kernel : kernel_without_bug(state);
    const ShortText said = next ? short_text("bug %d injected into %s: find it", next, correct)
                                : short_text("no bug: %s", config.kernel->title);
    return control_use_config(state, command->action, config, said.text);
}

/* Returns the next position whose bit is set in the mask; `now` where no other bit is set. */
static int next_in_mask(unsigned mask, int now, int step, int count) {
    for (int i = 1; i <= count; i++) {
        int candidate = wrapped(now + i * step, count);
        if (mask & 1u << candidate)
            return candidate;
    }
    return now;
}

unsigned control_dtype(State *state, const Command *command) {
    KernelConfig config = state->job.config;
    const BevKernel *kernel = config.kernel;
    int dtype = command->step ? next_in_mask(kernel->dtypes, (int)config.dtype, command->step,
                                             BEV_DTYPE_COUNT)
                              : control_find(state, command);
    if (dtype < 0 || !(kernel->dtypes & 1u << dtype))
        return SAY(state, command->action, "%s does not take %s: still %s", kernel->title,
                   dtype < 0 ? command->argument : bev_dtypes[dtype].title,
                   bev_dtypes[config.dtype].title);
    config.dtype = (BevDtype)dtype;
    return control_use_config(state, command->action, config, bev_dtypes[dtype].title);
}

unsigned control_align(State *state, const Command *command) {
    KernelConfig config = state->job.config;
    const unsigned possible = config.kernel->aligns & control_aligns(state);
    int align = command->step
                    ? next_in_mask(possible, (int)config.align, command->step, BEV_ALIGN_COUNT)
                    : control_find(state, command);
    if (align < 0 || !(possible & 1u << align))
        return SAY(state, command->action, "%s on this scene does not take %s: still %s",
                   config.kernel->title, align < 0 ? command->argument : bev_aligns[align].name,
                   bev_aligns[config.align].name);
    config.align = (BevAlign)align;
    return control_use_config(state, command->action, config, bev_aligns[align].title);
}

/* Selects the counterpart of the kernel on the named backend, or by a step on the other backend. */
unsigned control_backend(State *state, const Command *command) {
    const bool names_cpu = !strcasecmp(command->argument, where_words[BEV_CPU]);
    const bool to_cpu = command->step ? state_where(state) != BEV_CPU : names_cpu;
    const BevWhere where = to_cpu ? BEV_CPU : BEV_CUDA;
    if (!(state->menu.where & 1u << where))
        return SAY(state, command->action, "backend: no %s here: still %s",
                   where == BEV_CUDA ? "CUDA device" : "CPU kernels",
                   where_words[state_where(state)]);
    const BevKernel *counterpart = kernel_counterpart(state->job.config.kernel, where);
    if (counterpart->where != where)
        return SAY(state, command->action, "backend: no%s kernel for the %s: still %s",
                   kernel_way(counterpart), where == BEV_CPU ? "CPU" : "GPU",
                   where_words[state_where(state)]);
    KernelConfig config = state->job.config;
    config.kernel = counterpart;
    return control_use_config(
        state, command->action, config,
        short_text("%s, %s", where == BEV_CPU ? "CPU" : "CUDA", counterpart->title).text);
}

int64_t state_channels(const State *state) {
    return state->job.channels ? state->job.channels : state->scene.channels;
}

unsigned control_channels(State *state, const Command *command) {
    ValueName counts[VALUES_MAX];
    const int count = keys[command->action].list(state, counts);
    int at = 0; /* the first listed number that is not below the present one */
    while (at + 1 < count && atoi(counts[at].name) < state_channels(state))
        at++;
    const int64_t channels = command->step ? atoi(counts[wrapped(at + command->step, count)].name)
                                           : (int64_t)command->number;
    state->job.channels = channels;
    state->channel = state->channel < channels ? state->channel : 0;
    return SAY_CHANGE(state, command->action, "C = %lld", (long long)channels);
}

static unsigned say_predicted_gpu(State *state, Action action) {
    const ShortText edits = gpu_edit_text(&state->edit);
    if (!edits.text[0])
        return SAY(state, action, "GPU of the three questions: %s, L2 of %.0f MiB",
                   gpus[state->gpu].title, gpus[state->gpu].l2_bytes / (1 << 20));
    return SAY(state, action, "what if: %s%s (model only)", gpus[state->gpu].title, edits.text);
}

/* Selects another GPU of the table. All changes of figures are dropped. */
unsigned control_gpu(State *state, const Command *command) {
    unsigned changed = SET(state->gpu, command->place);
    changed |= gpu_edit_any(&state->edit) ? STEP_CHANGE : 0;
    state->edit = (GpuEdit){0};
    return say_predicted_gpu(state, command->action) | changed;
}

/* Changes one figure of the GPU. The value 0 restores the GPU's own figure. The size of an L2 is
 * rounded to the nearest size that the model counts, as `regime --l2-mb` does. */
unsigned control_gpu_figure(State *state, const Command *command) {
    double *figure = (double *)((char *)state + keys[command->action].field);
    double value = command->number;
    if (figure == &state->edit.sms)
        value = ceil(value);
    else if (figure == &state->edit.l2_mib && value > 0)
        value = model_l2_mib(model_l2_next_to(value));
    unsigned changed = SET(*figure, value);
    return say_predicted_gpu(state, command->action) | changed;
}

unsigned control_counters(State *state, const Command *command) {
    state->counts++;
    return SAY(state, command->action, "counting a launch of %s", state->job.config.kernel->title) |
           STEP_LOOK;
}
