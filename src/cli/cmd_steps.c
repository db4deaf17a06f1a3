/* SPDX-License-Identifier: MIT */
/* bevscope steps: shows warps of one or two kernels step by step, as text or as a picture. */
#include "src/base/progress.h"
#include "src/cli/selection.h"
#include "src/view/term/dashboard.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SIDES = 2, SIDE_W = 79, ROWS_A_STEP = 48, MOST_WARPS = 256, USUAL_STEPS = 8 };
typedef struct {
    const Options *options;
    Workload workload;
    HostProblem problem;
    Steps steps[SIDES];
    StepsView views[SIDES];
    int sides;       /* kernels, side by side */
    int from, count; /* steps `from` to from + count - 1 are shown */
} StepsCommand;

/* ---- recording ------------------------------------------------------------------------------- */

/* Finds a kernel by its name, or a forward CUDA kernel by its title. */
static const BevKernel *find_kernel(const char *word) {
    const BevKernel *found = bev_kernel_find(word);
    for (int i = 0; !found && bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (kernel->where == BEV_CUDA && kernel->direction == BEV_FORWARD &&
            !strcasecmp(kernel->title, word))
            found = kernel;
    }
    return found;
}

/* Records a kernel on the points of `cell`. The second kernel follows the same points. With --block
 * the second kernel follows the first cell of this block in the first kernel. */
static bool record_kernel(StepsCommand *command, const BevKernel *kernel, int64_t cell, Err *err) {
    const Options *options = command->options;
    const Scene *scene = command->workload.scene;
    const BevProblem *problem = &command->problem.view;
    int side = command->sides++;
    StepChoice choice = {
        .cell = cell, .block = options->block, .warp = (int)options->warp, .most = MOST_WARPS};
    if (side > 0 && options->block >= 0) {
        choice.cell = steps_first_cell(&command->steps[0]);
        choice.block = choice.warp = -1; /* any block, any warp */
    }
    command->views[side] = (StepsView){.steps = &command->steps[side],
                                       .map = &problem->map,
                                       .values = command->workload.features,
                                       .rig = scene->has_rig ? &scene->rig : NULL,
                                       .cell = choice.cell,
                                       .lane = (int)options->lane,
                                       .table = options->count == 1};
    return steps_record(kernel, problem, &choice, &command->steps[side], err);
}

static bool record_kernels(StepsCommand *command, Err *err) {
    const Options *options = command->options;
    const BevProblem *problem = &command->problem.view;
    const char *list = options->kernel ? options->kernel : "v2";
    const BevKernel *kernels[SIDES];
    int64_t cell = -1; /* the default: the heaviest cell, or that of --block */
    int count = 0;
    for (char word[CHOICE_ITEM]; choices_item(&list, word);) {
        const BevKernel *kernel = find_kernel(word);
        if (count == SIDES || !kernel)
            return err_set(err, ERR_USAGE, "--kernel", "such as v2,v2_do",
                           "'%s' is not one kernel or two", options->kernel);
        const char *why = steps_unavailable(kernel, problem);
        if (why)
            return err_set(err, ERR_USAGE, kernel->name, "", "no steps: %s", why);
        kernels[count++] = kernel;
    }
    bool ok = !options->cell || select_cell(options->cell, &problem->shape, &cell, err);
    if (!options->cell && options->block < 0) {
        cell = steps_heaviest_cell(&problem->map, command->workload.features->depth);
        ok = cell >= 0 || err_set(err, ERR_USAGE, "steps", "", "the scene has no points");
    }
    for (int i = 0; ok && i < count; i++)
        ok = record_kernel(command, kernels[i], cell, err);
    return ok;
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Draws one part of the page from row `y`. PART_HEAD is the head. Parts 0 to count - 1 are steps.
 * Part `count` has the counters after the last step. Returns the rows of the longer side. */
enum { PART_HEAD = -1 };
static int draw_part(const StepsCommand *command, Cells *cells, int y, int part) {
    Sheet sheet = cells_sheet(cells);
    int most = 0;
    for (int side = 0; side < command->sides; side++) {
        const StepsView *view = &command->views[side];
        Area area = {side * (SIDE_W + 2), y, SIDE_W, cells->rows - y};
        int rows;
        if (part == PART_HEAD)
            rows = steps_head_draw(&sheet, area, view);
        else if (part < command->count)
            rows = steps_step_draw(&sheet, area, view, command->from + part);
        else
            rows = steps_totals_draw(&sheet, area, view, command->from + command->count - 1);
        most = rows > most ? rows : most;
    }
    return most;
}

/* Reads the range of steps. --from counts from 1. */
static bool read_step_range(StepsCommand *command, Err *err) {
    const Options *options = command->options;
    int most = 0, most_in_picture = CELLS_MAX_EDGE / ROWS_A_STEP - 1;
    for (int i = 0; i < command->sides; i++)
        most = command->steps[i].step_count > most ? command->steps[i].step_count : most;
    command->from = (int)options->from - 1;
    if (command->from >= most)
        return err_set(err, ERR_USAGE, "--from", "", "there are steps 1 to %d", most);
    int count = options->count ? (int)options->count : USUAL_STEPS, left = most - command->from;
    command->count = count > left ? left : count;
    return command->count <= most_in_picture || !options->png ||
           err_set(err, ERR_USAGE, "--count", "", "a picture holds at most %d steps",
                   most_in_picture);
}

/* Prints each part from an empty page, because one page could not hold all steps. */
static void print_text(const StepsCommand *command, Cells *cells) {
    progress_end();
    cells->ascii = true;
    for (int part = PART_HEAD; part <= command->count; part++) {
        cells_clear(cells);
        const int rows = draw_part(command, cells, 0, part);
        char *text = cells_to_text(cells); /* of the whole page; NULL: no memory */
        const char *end = text;
        for (int row = 0; text && row < rows; row++)
            end = strchr(end, '\n') + 1;
        if (text)
            printf("%.*s", (int)(end - text), text);
        if (part < command->count)
            putchar('\n');
        free(text);
    }
}

static bool write_picture(const StepsCommand *command, Cells *cells, Err *err) {
    static Image image;
    int y = 0;
    cells->color = true;
    for (int part = PART_HEAD; part <= command->count; part++) {
        const int rows = draw_part(command, cells, y, part);
        y += rows + (rows > 0 && part < command->count); /* a blank row between two parts */
    }
    cells->rows = y < cells->rows ? y : cells->rows; /* the other rows are blank */
    return cells_image(cells, 1, &image, err) &&
           image_write(&image, command->options->png, false, err);
}

bool cmd_steps(const Options *options, Err *err) {
    static StepsCommand command;
    static Cells cells;
    const bool picture = options->png != NULL;
    command.options = options;
    const char *scene = options->argument_count ? options->arguments[0] : "canonical";
    if (!select_single(options, "steps are of one format", "", err) ||
        !select_open(&command.workload, scene, options, err))
        return false;
    BevDtype dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16);
    BevAlign align = (BevAlign)choices_or(CHOICE_ALIGN, options->align, BEV_NEAREST);
    if (!workload_problem(&command.workload, dtype, align, &command.problem, err) ||
        !record_kernels(&command, err) || !read_step_range(&command, err) ||
        !cells_init(&cells, command.sides * (SIDE_W + 1),
                    (picture ? command.count + 1 : 1) * ROWS_A_STEP, err))
        return false;
    if (!picture)
        print_text(&command, &cells);
    return !picture || write_picture(&command, &cells, err);
}
