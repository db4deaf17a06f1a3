/* bevscope steps: the warps of a kernel, step by step, as text or as a picture. */
#include "src/base/data.h"
#include "src/cli/selection.h"
#include "src/view/panel/steps_page.h"
#include "src/view/term/cells_sheet.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SIDES = 2, SIDE_W = 79, ROWS_A_STEP = 48, MOST_WARPS = 256, USUAL_STEPS = 8 };

typedef struct {
    const Options *options;
    Workload workload;
    HostProblem problem;
    const BevKernel *kernels[SIDES];
    Steps steps[SIDES];
    StepsView views[SIDES];
    int sides;
    int64_t cell;
} StepsCommand;

/* "X,Y" within the grid. */
static bool read_cell(StepsCommand *command, Err *err) {
    const BevShape *shape = &command->problem.view.shape;
    const char *text = command->options->cell;
    if (!text) {
        command->cell =
            command->options->block < 0 ? steps_longest_cell(&command->problem.view.map) : -1;
        return command->cell >= 0 || command->options->block >= 0 ||
               err_set(err, ERR_USAGE, "steps", "", "the scene has no points");
    }
    return select_cell(text, shape, &command->cell, err);
}

/* By name, or by title: then a CUDA kernel is meant. */
static const BevKernel *find_kernel(const char *word) {
    const BevKernel *kernel = bev_kernel_find(word);
    for (int i = 0; !kernel && bev_kernels[i]; i++)
        if (bev_kernels[i]->where == BEV_CUDA && bev_kernels[i]->direction == BEV_FORWARD &&
            !strcasecmp(bev_kernels[i]->title, word))
            kernel = bev_kernels[i];
    return kernel;
}

/* One kernel, or two to stand side by side. */
static bool read_kernels(StepsCommand *command, Err *err) {
    const char *list = command->options->kernel ? command->options->kernel : "v2";
    for (char word[CHOICE_ITEM]; choices_item(&list, word);) {
        const BevKernel *kernel = find_kernel(word);
        if (command->sides == SIDES || !kernel)
            return err_set(err, ERR_USAGE, "--kernel", "such as v2,v2_do",
                           "'%s' is not one kernel or two", command->options->kernel);
        const char *why = steps_unavailable(kernel, &command->problem.view);
        if (why)
            return err_set(err, ERR_USAGE, kernel->name, "", "no steps: %s", why);
        command->kernels[command->sides++] = kernel;
    }
    return true;
}

/* The second kernel follows the same points. Where a block was chosen: the points of the cell that
 * this block of the first kernel works on first. */
static StepChoice choice_of(const StepsCommand *command, int side) {
    const Options *options = command->options;
    StepChoice choice = {command->cell, options->block, (int)options->warp, MOST_WARPS, false};
    if (side > 0 && options->block >= 0)
        choice = (StepChoice){steps_first_cell(&command->steps[0]), -1, -1, MOST_WARPS, false};
    return choice;
}

static bool record(StepsCommand *command, Err *err) {
    const Options *options = command->options;
    const Rig *rig = command->workload.scene->has_rig ? &command->workload.scene->rig : NULL;
    bool ok = true;
    for (int i = 0; ok && i < command->sides; i++) {
        StepChoice choice = choice_of(command, i);
        ok = steps_record(command->kernels[i], &command->problem.view, &choice, &command->steps[i],
                          err);
        command->views[i] = (StepsView){.steps = &command->steps[i],
                                        .map = &command->problem.view.map,
                                        .values = command->workload.features,
                                        .rig = rig,
                                        .cell = choice.cell,
                                        .lane = (int)options->lane,
                                        .table = options->count == 1};
    }
    return ok;
}

/* ---- output ---------------------------------------------------------------------------------- */

typedef int DrawPart(Sheet *sheet, Area area, const StepsView *view, int number);

static int draw_head(Sheet *sheet, Area area, const StepsView *view, int number) {
    (void)number;
    return steps_head_draw(sheet, area, view);
}

/* Both sides of a part of the page; returns the rows of the longer one. */
static int draw_sides(const StepsCommand *command, Cells *cells, int y, DrawPart *draw,
                      int number) {
    Sheet sheet = cells_sheet(cells);
    int most = 0;
    for (int i = 0; i < command->sides; i++) {
        Area area = {i * (SIDE_W + 2), y, SIDE_W, cells->rows - y};
        int rows = draw(&sheet, area, &command->views[i], number);
        most = rows > most ? rows : most;
    }
    return most;
}

/* The head, steps [from, from + count), the counters. Returns the rows used. */
static int draw_page(const StepsCommand *command, Cells *cells, int from, int count) {
    int y = draw_sides(command, cells, 0, draw_head, 0) + 1, last = from + count - 1;
    for (int number = from; number <= last; number++) {
        int rows = draw_sides(command, cells, y, steps_step_draw, number);
        y += rows + (rows > 0);
    }
    return y + draw_sides(command, cells, y, steps_totals_draw, last);
}

static bool write_picture(const Cells *cells, const char *path, Err *err) {
    Image image;
    uint8_t *bytes = NULL;
    size_t length = 0;
    bool ok = cells_image(cells, 1, &image, err);
    if (!ok)
        return false;
    ok = image_png(&image, &bytes, &length, err) && data_write(path, bytes, length, err);
    free(bytes);
    image_free(&image);
    return ok;
}

/* --from counts from 1. */
static bool steps_range(const StepsCommand *command, int *from, int *count, Err *err) {
    int most = 0;
    for (int i = 0; i < command->sides; i++)
        most = command->steps[i].step_count > most ? command->steps[i].step_count : most;
    *from = (int)command->options->from - 1;
    if (*from >= most)
        return err_set(err, ERR_USAGE, "--from", "", "there are steps 1 to %d", most);
    *count = command->options->count ? (int)command->options->count : USUAL_STEPS;
    int fit = CELLS_MAX_EDGE / ROWS_A_STEP - 1;
    *count = *count > most - *from ? most - *from : *count;
    return *count <= fit || !command->options->png ||
           err_set(err, ERR_USAGE, "--count", "", "a picture holds at most %d steps", fit);
}

/* Text is drawn and printed a step at a time: there is no limit to their number. */
static bool print_steps(const StepsCommand *command, int from, int count, Err *err) {
    Cells cells;
    if (!cells_init(&cells, command->sides * (SIDE_W + 1), ROWS_A_STEP, err))
        return false;
    cells.ascii = true;
    for (int part = -1; part <= count; part++) {
        cells_clear(&cells);
        int number = part < count ? from + part : from + count - 1;
        int rows = draw_sides(command, &cells, 0,
                              part < 0        ? draw_head
                              : part == count ? steps_totals_draw
                                              : steps_step_draw,
                              number);
        char *text = cells_to_text(&cells), *end = text;
        for (int row = 0; text && row < rows; row++)
            end = strchr(end, '\n') + 1;
        printf("%.*s%s", text ? (int)(end - text) : 0, text ? text : "", part < count ? "\n" : "");
        free(text);
    }
    cells_free(&cells);
    return true;
}

static bool show(const StepsCommand *command, Err *err) {
    int from = 0, count = 0;
    if (!steps_range(command, &from, &count, err))
        return false;
    if (!command->options->png)
        return print_steps(command, from, count, err);
    Cells cells;
    if (!cells_init(&cells, command->sides * (SIDE_W + 1), (count + 1) * ROWS_A_STEP, err))
        return false;
    cells.color = true;
    int rows = draw_page(command, &cells, from, count);
    cells.rows = rows < cells.rows ? rows : cells.rows; /* the rest is blank */
    bool ok = write_picture(&cells, command->options->png, err);
    cells_free(&cells);
    return ok;
}

bool cmd_steps(const Options *options, Err *err) {
    StepsCommand command = {.options = options};
    Job workload = select_job(options);
    const char *scene = options->argument_count ? options->arguments[0] : "canonical";
    if (!select_single(options, "steps are of one format", "", err) ||
        !select_open(&command.workload, scene, &workload, err))
        return false;
    BevDtype dtype = (BevDtype)choices_or(CHOICE_DTYPE, options->dtype, BEV_FP16);
    BevAlign align = (BevAlign)choices_or(CHOICE_ALIGN, options->align, BEV_NEAREST);
    bool ok = workload_problem(&command.workload, dtype, align, &command.problem, err);
    if (ok) {
        ok = read_kernels(&command, err) && read_cell(&command, err) && record(&command, err) &&
             show(&command, err);
        problem_free(&command.problem);
    }
    for (int i = 0; i < SIDES; i++)
        steps_free(&command.steps[i]);
    workload_close(&command.workload);
    return ok;
}
