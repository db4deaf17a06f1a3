/* SPDX-License-Identifier: MIT */
/* Is it right? The largest error of each format on one logarithmic axis, beside NVIDIA's tolerance;
 * and the verdicts about the kernel and its number format. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

enum { LABEL_ROWS = 3, LEAST_ROWS = 3, NAMED_W = 70, SHORT_TITLE_W = 50 };
static const double LEAST = 1e-7, MOST = 10;

/* Returns the column of an error on the logarithmic axis. */
static int column_at(Area area, double error) {
    const double share = log(fmin(fmax(error, LEAST), MOST) / LEAST) / log(MOST / LEAST);
    return area.x + (int)lround(share * (area.w - 1));
}

/* Draws the labels of the error axis: every second power of ten, from 1e-7 to 10, and in bold 1e-2,
 * NVIDIA's tolerance. */
static void draw_axis(Sheet *sheet, Area area) {
    int free_from = area.x;
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    for (int power = -7; power <= 1; power++) {
        const bool is_tolerance = power == -2, has_label = power % 2 != 0 || is_tolerance;
        ShortText text = power == 1 ? short_text("10") : short_text("1e%d", power);
        if (is_tolerance && area.w >= NAMED_W)
            text = short_text("1e-2 NVIDIA, no gate");
        const int w = sheet_width(sheet, text.text);
        const int x = (int)fmin(column_at(area, pow(10, power)), area.x + area.w - w);
        if (!has_label || x < free_from)
            continue;
        free_from = x + w + 1;
        sheet_line(sheet, (Area){x, area.y, w, 1},
                   is_tolerance ? cell_bold(INK_TITLE) : cell_style(INK_MUTED), text.text);
    }
}

/* ---- the plot -------------------------------------------------------------------------------- */

/* A format on the plot: the sign at its error, and the name beside the sign. */
typedef struct {
    int begin, end, row; /* the columns of sign and name, without `end` */
    int sign_x;
} Label;

typedef struct {
    Area area; /* the rows below the axis */
    int rows, limit_x;
    int count;
    Label labels[BEV_DTYPE_COUNT];
} Plot;

/* Whether the names of a row stand left of their signs. They do in the lowest of several rows:
 * there a name at the right could seem to belong to the next sign. */
static bool names_stand_left(const Plot *plot, int row) {
    return plot->rows > 1 && row == plot->rows - 1;
}

/* Whether the label has room in its row, two blanks away from the next one. */
static bool label_has_room(const Plot *plot, const Label *label) {
    enum { BLANKS = 2 };
    bool free = label->begin >= plot->area.x && label->end <= plot->area.x + plot->area.w;
    for (int i = 0; i < plot->count && free; i++) {
        const Label *other = &plot->labels[i];
        free = other->row != label->row || label->begin >= other->end + BLANKS ||
               other->begin >= label->end + BLANKS;
    }
    return free;
}

/* Whether the label covers the line of NVIDIA's tolerance. */
static bool covers_limit(const Plot *plot, const Label *label) {
    return label->begin <= plot->limit_x && plot->limit_x < label->end;
}

/* Finds the first row with room for a format's label, if possible one where the label does not
 * cover the line of the tolerance. False: no row has room. */
static bool place_label(const Plot *plot, int w, Label *label) {
    for (int may_cover = 0; may_cover <= 1; may_cover++)
        for (label->row = 0; label->row < plot->rows; label->row++) {
            const bool left = names_stand_left(plot, label->row);
            label->begin = left ? label->sign_x + 1 - w : label->sign_x;
            label->end = label->begin + w;
            if (label_has_room(plot, label) && (may_cover || !covers_limit(plot, label)))
                return true;
        }
    return false;
}

/* Returns the column of an error's sign: left or right of the tolerance's line, never on it. */
static int sign_column(const Plot *plot, double error) {
    const int x = column_at(plot->area, error);
    return error < LIVE_TOLERANCE ? MIN(x, plot->limit_x - 1) : MAX(x, plot->limit_x + 1);
}

/* Draws a format where a row of the plot has room for its sign and name. */
static void draw_format(Sheet *sheet, Plot *plot, const PanelData *data, BevDtype dtype) {
    const bool selected = dtype == data->state->job.config.dtype;
    const char *name = bev_dtypes[dtype].title, *sign = selected ? "\u25cf" : "\u25cb";
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    Label label = {.sign_x = sign_column(plot, accuracy->max_abs)};
    const int w = sheet_width(sheet, sign) + sheet_width(sheet, name);
    if (!place_label(plot, w, &label))
        return;
    plot->labels[plot->count++] = label;
    const bool left = names_stand_left(plot, label.row);
    const int y = plot->area.y + label.row;
    sheet_origin(sheet, ORIGIN_ERROR, NULL);
    sheet->origin.dtype = dtype;
    if (covers_limit(plot, &label))
        sheet_paper(sheet, (Area){label.begin, y, w, 1}, INK_DEFAULT);
    sheet_right(sheet, (Area){label.begin, y, w, 1},
                selected ? cell_bold(INK_ACCENT) : cell_style(INK_TEXT),
                short_text("%s%s%s", left ? "" : sign, name, left ? sign : "").text);
    sheet_figure(sheet, (Area){label.begin, y, w, 1});
    sheet_spot(sheet, (Area){label.begin, y, w, 1}, ACTION_DTYPE, 0, bev_dtypes[dtype].name);
}

static bool has_error(const LiveAccuracy *accuracy) {
    return accuracy->source && isfinite(accuracy->max_abs);
}

/* Draws the line of NVIDIA's tolerance and the judged formats, the selection first. */
static void draw_plot(Sheet *sheet, Area area, const PanelData *data) {
    const LiveAccuracy *all = data->live->accuracy;
    const int selected = data->state->job.config.dtype;
    const int rows = area.h < LABEL_ROWS ? area.h : LABEL_ROWS;
    Plot plot = {.area = area, .rows = rows, .limit_x = column_at(area, LIVE_TOLERANCE)};
    for (int row = 0; row < rows; row++)
        sheet_sign(sheet, plot.limit_x, area.y + row, sheet->pixels ? '|' : 0x2502,
                   cell_style(INK_TITLE));
    for (int turn = -1; turn < BEV_DTYPE_COUNT; turn++) {
        const int dtype = turn < 0 ? selected : turn; /* the selection comes first */
        const bool drawn_before = turn == selected;
        if (!drawn_before && has_error(&all[dtype]))
            draw_format(sheet, &plot, data, (BevDtype)dtype);
    }
}

/* ---- the verdicts ---------------------------------------------------------------------------- */

enum { TEXT_MAX = 320, WORDINGS_MAX = 8 };

/* Texts that say the same thing, the longest one first. */
typedef struct {
    int count;
    char texts[WORDINGS_MAX][TEXT_MAX];
} Wordings;

#define ADD_WORDING(wordings, ...)                                                                 \
    snprintf((wordings)->texts[(wordings)->count++], TEXT_MAX, __VA_ARGS__)

/* Returns the first wording that fits into `width`; "": none fits. */
static const char *fitting_wording(const Sheet *sheet, int width, const Wordings *wordings) {
    for (int i = 0; i < wordings->count; i++)
        if (sheet_width(sheet, wordings->texts[i]) <= width)
            return wordings->texts[i];
    return "";
}

typedef enum { SUMS_UNJUDGED, SUMS_TOO_LARGE, SUMS_WRONG, SUMS_CORRECT } SumsVerdict;

/* Returns the verdict about the kernel, by gates A and C. Gate B is about the number format. */
static SumsVerdict sums_verdict(const LiveAccuracy *accuracy) {
    if (!accuracy->source || accuracy->stale)
        return SUMS_UNJUDGED;
    if (accuracy->gate_a == LIVE_FAIL || accuracy->gate_c == LIVE_FAIL)
        return SUMS_WRONG;
    if (!isfinite(accuracy->max_abs))
        return SUMS_TOO_LARGE;
    return accuracy->gate_a && accuracy->gate_c ? SUMS_CORRECT : SUMS_UNJUDGED;
}

/* Adds wordings about the kernel: "V4 adds no error to that of FP16: all three gates pass". */
static void add_kernel_sentences(Wordings *wordings, const PanelData *data) {
    const KernelConfig *config = &data->state->job.config;
    const LiveAccuracy *accuracy = &data->live->accuracy[config->dtype];
    const char *name = config->kernel->title;
    const bool passes_kernel = accuracy->gate_a == LIVE_PASS && accuracy->gate_c == LIVE_PASS;
    ShortText verdict = short_text("%s is being judged: its sums are compared with FP64", name);
    switch (sums_verdict(accuracy)) {
    case SUMS_UNJUDGED:
        break;
    case SUMS_TOO_LARGE:
        verdict = short_text("%s was not judged: the scene is too large", name);
        break;
    case SUMS_WRONG:
        verdict = short_text("%s is wrong: its sums fail gate %c", name,
                             accuracy->gate_a == LIVE_FAIL ? 'A' : 'C');
        break;
    case SUMS_CORRECT:
        verdict =
            short_text("%s adds no error to that of %s", name, bev_dtypes[config->dtype].title);
        ADD_WORDING(wordings, "%s: %s", verdict.text,
                    !passes_kernel                  ? "the gates that apply pass"
                    : accuracy->gate_b == LIVE_PASS ? "all three gates pass"
                                                    : "gates A and C pass");
    }
    ADD_WORDING(wordings, "%s", verdict.text);
    ADD_WORDING(wordings, "%.*s", (int)strcspn(verdict.text, ":"), verdict.text);
}

/* Returns how an error compares with NVIDIA's tolerance: " > 1e-2"; "": unknown. */
static const char *tolerance_text(const LiveAccuracy *accuracy) {
    const LiveVerdict tolerance = live_tolerance(accuracy);
    return tolerance == LIVE_FAIL ? " > 1e-2" : tolerance == LIVE_PASS ? " < 1e-2" : "";
}

/* Returns the errors of the formats that are not selected, over all values: ", FP8 by 3.3%, INT8 by
 * 7.2%". Smaller errors than half a percent are left out. */
static ShortText other_formats(const PanelData *data) {
    const double least_percent = 0.5;
    ShortText text = {""};
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++) {
        const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
        const double percent = 100 * accuracy->rel_l2;
        const bool selected = dtype == (int)data->state->job.config.dtype;
        if (!selected && has_error(accuracy) && percent >= least_percent)
            text_add(text.text, sizeof text.text, ", %s by %.2g%%", bev_dtypes[dtype].title,
                     percent);
    }
    return text;
}

/* Adds wordings about the number format: "Over all values FP16 errs by 0.02%, FP8 by 3.3%", or, if
 * a gate fails, the largest error. Adds nothing if the sums have no finite error. */
static void add_format_sentences(Wordings *wordings, const PanelData *data) {
    const BevDtype dtype = data->state->job.config.dtype;
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    const char *name = bev_dtypes[dtype].title;
    if (!accuracy->source || accuracy->stale) {
        ADD_WORDING(wordings, "The largest error of %s follows.", name);
        return;
    }
    if (!isfinite(accuracy->max_abs))
        return;
    const ShortText error = text_of_unit(UNIT_ERROR, accuracy->max_abs);
    if (sums_verdict(accuracy) == SUMS_WRONG) {
        ADD_WORDING(wordings, "Its largest error is %s", error.text);
        return;
    }
    if (accuracy->gate_b == LIVE_FAIL) {
        ADD_WORDING(wordings, "%s fails gate B: it errs by up to %s", name, error.text);
        return;
    }
    const ShortText pruning = live_pruning_text(accuracy);
    const ShortText own =
        short_text("Over all values %s errs by %.2g%%", name, 100 * accuracy->rel_l2);
    ADD_WORDING(wordings, "%s%s%s", own.text, other_formats(data).text, pruning.text);
    ADD_WORDING(wordings, "%s%s", own.text, pruning.text);
    ADD_WORDING(wordings, "%s", own.text);
}

/* Adds wordings of both verdicts in one line: "V4 right; FP16 itself errs by 0.014 > 1e-2". */
static void add_brief_verdicts(Wordings *wordings, const PanelData *data) {
    const KernelConfig *config = &data->state->job.config;
    const LiveAccuracy *accuracy = &data->live->accuracy[config->dtype];
    const char *name = bev_dtypes[config->dtype].title, *kernel = config->kernel->title;
    if (sums_verdict(accuracy) != SUMS_CORRECT) {
        add_kernel_sentences(wordings, data);
        return;
    }
    const char *verb = accuracy->gate_b == LIVE_FAIL ? "fails gate B, errs" : "itself errs";
    const ShortText error = short_text("%s%s", text_of_unit(UNIT_ERROR, accuracy->max_abs).text,
                                       tolerance_text(accuracy));
    ADD_WORDING(wordings, "%s right; %s %s by %s %s", kernel, name, verb, error.text,
                live_judged_text(&data->state->scene, accuracy).text);
    ADD_WORDING(wordings, "%s right; %s %s by %s", kernel, name, verb, error.text);
    ADD_WORDING(wordings, "%s right; %s's own: %s", kernel, name, error.text);
    ADD_WORDING(wordings, "%s", error.text);
}

/* Adds wordings of the title's note: what the plot shows, of which kernel, at which moment. */
static void add_heads(Wordings *wordings, const PanelData *data) {
    const KernelConfig *config = &data->state->job.config;
    const LiveAccuracy *selected = &data->live->accuracy[config->dtype];
    const char *kernel = config->kernel->title;
    const ShortText moment = live_judged_text(&data->state->scene, selected);
    ShortText at = {""}, values = {""};
    if (selected->source && moment.text[0])
        at = short_text(", %s", moment.text);
    if (selected->source && isfinite(selected->max_abs))
        values =
            short_text(" in values up to %s", text_of_unit(UNIT_ERROR, selected->largest).text);
    ADD_WORDING(wordings, "%s: largest error against FP64%s%s", kernel, values.text, at.text);
    ADD_WORDING(wordings, "%s: largest error%s%s", kernel, values.text, at.text);
    ADD_WORDING(wordings, "%s: largest error%s", kernel, at.text);
    ADD_WORDING(wordings, "%s%s", kernel, at.text);
}

/* Draws the verdicts about kernel and format below the plot, in two rows or both in one row. */
static void draw_verdicts(Sheet *sheet, Area area, const PanelData *data) {
    Wordings kernel = {0}, format = {0}, both = {0};
    if (area.h < 1)
        return;
    if (area.h == 1) {
        add_brief_verdicts(&both, data);
        sheet_line(sheet, area, cell_style(INK_TEXT), fitting_wording(sheet, area.w, &both));
        return;
    }
    const SumsVerdict verdict = sums_verdict(&data->live->accuracy[data->state->job.config.dtype]);
    add_kernel_sentences(&kernel, data);
    sheet_line(sheet, area,
               cell_bold(verdict == SUMS_CORRECT ? INK_GOOD
                         : verdict == SUMS_WRONG ? INK_BAD
                                                 : INK_TEXT),
               fitting_wording(sheet, area.w, &kernel));
    add_format_sentences(&format, data);
    sheet_line(sheet, area_below(area, 1), cell_style(INK_TEXT),
               fitting_wording(sheet, area.w, &format));
}

/* Draws axis, plot and verdicts; in few rows the verdicts in the title, or the verdicts alone. */
void right_draw(Sheet *sheet, Area area, const PanelData *data) {
    enum { ALONE, IN_TITLE, BELOW };
    const int verdicts = area.h >= LABEL_ROWS + 3 ? BELOW : area.h >= LEAST_ROWS ? IN_TITLE : ALONE;
    const bool is_narrow = area.w < SHORT_TITLE_W;
    const char *title = verdicts == IN_TITLE && is_narrow ? "Right?" : "Is it right?";
    Wordings head = {0};
    sheet->origin.dtype = data->state->job.config.dtype;
    if (verdicts == BELOW)
        add_heads(&head, data);
    else if (verdicts == IN_TITLE)
        add_brief_verdicts(&head, data);
    area = sheet_title(sheet, area, title,
                       fitting_wording(sheet, area.w - sheet_width(sheet, title) - 4, &head));
    if (verdicts == ALONE) {
        draw_verdicts(sheet, area, data);
        return;
    }
    if (verdicts == BELOW)
        draw_verdicts(sheet, area_below(area, LABEL_ROWS + 1), data);
    draw_axis(sheet, area);
    draw_plot(sheet, area_below(area, 1), data);
}
