/* SPDX-License-Identifier: MIT */
/* Two panels. Accuracy: the error of each number format, and whether the selected kernel passes the
 * gates in that format. Bits: one number of a format, bit by bit, with its value and its scale. */
#include "kernels/codec.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <string.h>

/* clang-format off */
enum {
    COL_DTYPE, COL_A, COL_B, COL_C, COL_MAX, COL_REL, COL_COSINE, COL_SPECIAL, COL_WORST, COL_ATOL,
    COL_COUNT
};
/* clang-format on */

static const Column columns[COL_COUNT] = {
    [COL_DTYPE] = {"", 9, 0, true},
    [COL_A] = {"gate A", 6, 0, true},
    [COL_B] = {"gate B", 6, 0, true},
    [COL_C] = {"gate C", 6, 0, true},
    [COL_MAX] = {"max abs", 7, 1, false},
    [COL_REL] = {"rel L2", 7, 3, false},
    [COL_COSINE] = {"cosine", 8, 4, false},
    [COL_SPECIAL] = {"NaN+Inf", 7, 5, false},
    [COL_WORST] = {"worst cell", 10, 6, false},
    [COL_ATOL] = {"at 1e-2", 7, 2, true},
};

/* The words for a gate's verdict, and for NVIDIA's tolerance. The tolerance has no colours: healthy
 * formats of few bits exceed it. */
static const struct {
    const char *gate, *tolerance;
    Ink ink;
} verdicts[] = {[LIVE_UNKNOWN] = {"", "skip", INK_MUTED},
                [LIVE_PASS] = {"pass", "within", INK_GOOD},
                [LIVE_FAIL] = {"FAIL", "above", INK_BAD},
                [LIVE_SKIP] = {"skip", "skip", INK_MUTED}};

static void draw_verdict_cell(Table *table, int column, LiveVerdict verdict) {
    CellStyle style = table->style;
    table->style.ink = verdicts[verdict].ink;
    if (verdict == LIVE_FAIL)
        table->style.attributes |= CELL_BOLD;
    table_cell(table, column, verdicts[verdict].gate);
    table->style = style;
}

static void draw_error_cell(Table *table, int column, double value) {
    table_cell(table, column, isnan(value) ? "" : text_of_unit(UNIT_ERROR, value).text);
}

static void draw_judgement(Table *table, const PanelData *data, const LiveAccuracy *accuracy) {
    draw_verdict_cell(table, COL_A, accuracy->gate_a);
    draw_verdict_cell(table, COL_B, accuracy->gate_b);
    draw_verdict_cell(table, COL_C, accuracy->gate_c);
    draw_error_cell(table, COL_MAX, accuracy->max_abs);
    draw_error_cell(table, COL_REL, accuracy->rel_l2);
    table_number(table, COL_COSINE, "%.6f", accuracy->cosine);
    table_number(table, COL_SPECIAL, "%.0f",
                 (double)(accuracy->nan_count + accuracy->inf_count + accuracy->left_out));
    ShortText worst = short_text("%s", accuracy->output ? accuracy->output : "none");
    if (!accuracy->output && accuracy->worst_cell >= 0 && data->state->scene.nx > 0)
        worst = state_cell_place(data->state, accuracy->worst_cell);
    table_cell(table, COL_WORST, worst.text);
    table_cell(table, COL_ATOL, verdicts[live_tolerance(accuracy)].tolerance);
}

/* Returns why the format has no figures; NULL: the format has figures. */
static const char *reason_of_no_figures(const PanelData *data, BevDtype dtype) {
    const KernelConfig *config = &data->state->job.config;
    bool supported = config->kernel->dtypes >> dtype & 1;
    if (supported && data->live->accuracy[dtype].source != SOURCE_UNKNOWN)
        return NULL;
    return unknown_reason(UNKNOWN_ACCURACY, data->live, live_kernel(data->live, config->kernel),
                          dtype);
}

/* Draws a format's row: verdicts and errors, or why there are none. A click selects the format. */
static void draw_format_row(Table *table, Area area, const PanelData *data, BevDtype dtype) {
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    const char *reason = reason_of_no_figures(data, dtype);
    const Area row = {area.x, table->y, area.w, 1};
    bool selected = dtype == data->state->job.config.dtype;
    if (selected)
        sheet_paper(table->sheet, row, INK_SELECTED);
    sheet_spot(table->sheet, row, ACTION_DTYPE, 0, bev_dtypes[dtype].name);
    const Ink unselected = accuracy->stale ? INK_MUTED : INK_TEXT;
    table->style = selected ? cell_bold(INK_ACCENT) : cell_style(unselected);
    table->sheet->origin.dtype = dtype;
    const char *mark = live_accuracy_mark(data->live, dtype);
    table_cell(table, COL_DTYPE, short_text("%s%s", bev_dtypes[dtype].title, mark).text);
    if (reason) {
        table->style.ink = INK_MUTED;
        sheet_line(table->sheet, area_behind(row, table->x[COL_A] - row.x), table->style, reason);
    } else
        draw_judgement(table, data, accuracy);
    table->y++;
}

/* Returns the end of the title's note: ", at t 14.00 s", the moment at which all rows are judged,
 * and ", ! stale" if a row has the mark "!". */
static ShortText marks_text(const PanelData *data) {
    const int selected = data->state->job.config.dtype;
    const ShortText at = live_judged_text(&data->state->scene, &data->live->accuracy[selected]);
    bool any_stale = false;
    for (BevDtype dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        any_stale |= !reason_of_no_figures(data, dtype) && live_accuracy_mark(data->live, dtype)[0];
    return short_text("%s%s%s", at.text[0] ? ", " : "", at.text, any_stale ? ", ! stale" : "");
}

void accuracy_draw(Sheet *sheet, Area area, const PanelData *data) {
    const KernelConfig *config = &data->state->job.config;
    const FigureSource source = data->live->accuracy[config->dtype].source;
    const bool backward = config->kernel->direction == BEV_BACKWARD;
    const ShortText title = short_text("Accuracy of %s, %s%s", config->kernel->title,
                                       bev_aligns[config->align].name, kernel_way(config->kernel));
    const ShortText marks = marks_text(data);
    const ShortText by =
        short_text("scales %s, ", scales_name(data->state, data->live->job.scales));
    const ShortText note =
        !source ? short_text("not checked")
                : short_text("%s%s%s%s", backward ? "" : by.text, source_names[source],
                             backward ? " against FP64" : "", marks.text);
    const char *brief_note = marks.text[0] ? marks.text + strlen(", ") : note.text;
    sheet->origin.dtype = config->dtype;
    area = sheet_title(sheet, area, title.text,
                       sheet_note(sheet, area, title.text, note.text, brief_note));
    Table table;
    Column shown[COL_COUNT];
    memcpy(shown, columns, sizeof shown);
    if (backward)
        shown[COL_WORST].title = "worst in";
    table_begin(&table, sheet, area, shown, COL_COUNT, NULL);
    const int room = (int)fmin(area.h - 1, BEV_DTYPE_COUNT);
    const int middle = (int)config->dtype; /* where not all rows fit */
    const int first = (int)fmax(fmin(middle - room / 2, BEV_DTYPE_COUNT - room), 0);
    for (int i = first; i < first + room; i++) {
        const bool has_figures = !reason_of_no_figures(data, (BevDtype)i);
        if (has_figures || !data->still) /* a printed page leaves out rows without figures */
            draw_format_row(&table, area, data, (BevDtype)i);
    }
}

/* ---- one number, bit by bit ------------------------------------------------------------------ */

enum { CELL_MOST = 4 };

static const struct {
    char letter; /* below each bit */
    Ink ink;
} parts[PART_COUNT] = {[PART_SIGN] = {'S', INK_WARN},
                       [PART_EXPONENT] = {'E', INK_FEATURES},
                       [PART_FRACTION] = {'F', INK_GOOD},
                       [PART_NUMBER] = {'N', INK_GOOD}};

/* The panel of bits while it is drawn. */
typedef struct {
    const PanelData *data;
    BitsPage page;
    double value; /* of the code */
    Sheet *sheet;
    Area left; /* the rows that are not drawn yet */
} View;

/* Returns the width of the cell of one bit. Two gaps divide sign, exponent and fraction. */
static int bit_width(const View *view) {
    enum { GAPS_W = 4 };
    const int room = (view->left.w - GAPS_W) / bev_dtypes[view->page.dtype].bits;
    return (int)fmax(fmin(room, CELL_MOST), 1);
}

/* Returns the column of a bit. A gap stands between two parts of the number. */
static int bit_x(const View *view, int bit) {
    const BevDtype dtype = view->page.dtype;
    const int top_bit = bev_dtypes[dtype].bits - 1, width = bit_width(view);
    int x = view->left.x + (top_bit - bit) * width;
    for (int before = top_bit; before > bit; before--)
        if (bits_part(dtype, before) != bits_part(dtype, before - 1))
            x += width > 1 ? 2 : 1;
    return x;
}

/* Draws the code's bits over their letters: S sign, E exponent, F fraction. A click flips a bit. */
static void draw_bits(View *view) {
    Sheet *sheet = view->sheet;
    Area digits = area_row(&view->left), letters = area_row(&view->left);
    for (int bit = bev_dtypes[view->page.dtype].bits - 1; digits.h && bit >= 0; bit--) {
        BitsPart part = bits_part(view->page.dtype, bit);
        const int width = bit_width(view), x = bit_x(view, bit);
        CellStyle style = cell_bold(parts[part].ink);
        const char letter[] = {parts[part].letter, '\0'};
        if (bit == view->page.at)
            sheet_paper(sheet, (Area){x, digits.y, 1, 1}, INK_SELECTED);
        style.attributes |= bit == view->page.at ? CELL_REVERSE : 0;
        sheet_line(sheet, (Area){x, digits.y, 1, 1}, style, view->page.code >> bit & 1 ? "1" : "0");
        sheet_line(sheet, (Area){x, letters.y, 1, letters.h}, cell_style(parts[part].ink), letter);
        sheet_spot(sheet, (Area){x, digits.y, width, digits.h + letters.h}, ACTION_BITS_FLIP, 0,
                   short_text("%d", bit).text);
    }
}

/* Draws "^ bit 3, exponent; flipped: 28" under the chosen bit, on the side of "^" that has room. */
static void draw_chosen(View *view) {
    Sheet *sheet = view->sheet;
    const BitsPage *page = &view->page;
    Area row = area_row(&view->left);
    const double flipped = bev_code_value(page->dtype, page->code ^ 1u << page->at);
    const char *part = bits_parts[bits_part(page->dtype, page->at)];
    const ShortText text =
        short_text("bit %d, %s; flipped: %s", page->at, part, bits_value(flipped).text);
    int length = sheet_width(sheet, text.text);
    const Area before = area_columns(&row, bit_x(view, page->at) - row.x);
    sheet_line(sheet, area_columns(&row, 2), cell_bold(INK_TITLE), "^");
    if (length <= row.w || before.w <= length)
        sheet_line(sheet, row, cell_style(INK_MUTED), text.text);
    else
        sheet_right(sheet, (Area){before.x, before.y, before.w - 1, before.h},
                    cell_style(INK_MUTED), text.text);
}

/* Draws "S sign 0 + E exponent 15 F fraction 6 of 8". */
static void draw_parts(View *view) {
    const BitsPage *page = &view->page;
    Area row = area_row(&view->left);
    for (BitsPart part = 0; part < PART_COUNT; part++) {
        ShortText of = {""};
        if (!bits_width(page->dtype, part))
            continue;
        uint32_t field = bits_field(page->dtype, page->code, part);
        if (part == PART_FRACTION)
            of = short_text(" of %lld", 1LL << bits_width(page->dtype, part));
        else if (part == PART_SIGN)
            of = short_text(" %c", field ? '-' : '+');
        const ShortText text =
            short_text("%c %s %u%s", parts[part].letter, bits_parts[part], field, of.text);
        int used = sheet_line(view->sheet, row, cell_bold(parts[part].ink), text.text);
        area_columns(&row, used + 3);
    }
}

/* Draws the value of the code, its formula and its class. */
static void draw_value(View *view) {
    const BevDtypeInfo *format = &bev_dtypes[view->page.dtype];
    ShortText formula = bits_formula(view->page.dtype, view->page.code);
    ShortText text = short_text("%s%s%s", bits_value(view->value).text, *formula.text ? " = " : "",
                                formula.text);
    if (!isnan(view->value))
        text_add(text.text, sizeof text.text, ", %s%s",
                 bits_class(view->page.dtype, view->page.code),
                 view->value == format->largest    ? ", the largest"
                 : view->value == -format->largest ? ", the least"
                                                   : "");
    sheet_line(view->sheet, area_row(&view->left), cell_bold(INK_TITLE), text.text);
}

typedef enum { BELOW = -1, ABOVE = 1 } Side;

/* Returns the format's next value on a side, "below 416, 32 less", or why there is none. */
static ShortText neighbour_text(const View *view, Side side) {
    const char *name = side == ABOVE ? "above" : "below";
    const BitsPage *page = &view->page;
    uint32_t code;
    const bool outward = side == ABOVE ? view->value > 0 : view->value < 0;
    const bool before_nan = outward && bits_then_nan(page->dtype, page->code);
    if (!bits_next(page->dtype, page->code, side, &code))
        return short_text("%s none%s", name, before_nan ? ": the next code is NaN" : "");
    const double value = bev_code_value(page->dtype, code), distance = fabs(value - view->value);
    if (!isfinite(distance))
        return short_text("%s %s", name, bits_value(value).text);
    return short_text("%s %s, %.4g %s", name, bits_value(value).text, distance,
                      side == ABOVE ? "more" : "less");
}

static void draw_neighbours(View *view) {
    ShortText text =
        short_text("%s; %s", neighbour_text(view, BELOW).text, neighbour_text(view, ABOVE).text);
    if (isnan(view->value))
        text = short_text("not a number: no neighbours");
    else if (lesson_asks(&view->data->state->lesson))
        text = short_text("below and above: step to see");
    sheet_line(view->sheet, area_row(&view->left), cell_style(INK_TEXT), text.text);
}

/* Returns why the value is shown without a scale; "": its tensor's scale is known. */
static ShortText unscaled_reason(const View *view) {
    const LiveScales *scales = &view->data->live->scales;
    const BitsPage *page = &view->page;
    const char *tensor = bits_names[page->of];
    if (isnan(view->value))
        return short_text("NaN, whatever its scale");
    if (page->of == BITS_E5M2)
        return short_text("no tensor has this format");
    if (!strcmp(bev_dtypes[page->dtype].scaling, "none"))
        return short_text("no scale: %s of this format are stored as they are", tensor);
    if (!scales->known || scales->dtype != view->data->state->job.config.dtype)
        return short_text("scale of the %s n/a: being computed", tensor);
    return (ShortText){""};
}

/* Draws the value times its tensor's scale. Features have a second factor, that of a channel. */
static void draw_scale(View *view) {
    const LiveScales *scales = &view->data->live->scales;
    const BitsPage *page = &view->page;
    const char *by = scales_name(view->data->state, view->data->live->job.scales);
    const bool is_feature = page->of == BITS_FEATURES;
    const float scale = scales->tensor[page->of];
    const float least = scales->channel_least, most = scales->channel_most;
    const double scaled = view->value * scale;
    ShortText text = unscaled_reason(view);
    if (!text.text[0] && is_feature && least != most)
        text = short_text("x %.4g to %.4g, scales of the channels (%s): %.4g to %.4g",
                          (double)(scale * least), (double)(scale * most), by, scaled * least,
                          scaled * most);
    else if (!text.text[0])
        text =
            short_text("x %.4g, scale of the %s (%s)%s: %.4g", (double)scale, bits_names[page->of],
                       by, bev_dtypes[page->dtype].block ? ", x 1 of its block" : "",
                       is_feature ? scaled * most : scaled);
    sheet_line(view->sheet, area_row(&view->left), cell_style(INK_TEXT), text.text);
}

void bits_draw(Sheet *sheet, Area area, const PanelData *data) {
    View view = {.data = data, .page = state_bits(data->state), .sheet = sheet};
    const BitsPage *page = &view.page;
    view.value = bev_code_value(page->dtype, page->code);
    const ShortText title = short_text("Bits: %s", bits_title(page->dtype).text);
    const ShortText note = short_text("%s, code %u = 0x%0*x", bits_names[page->of], page->code,
                                      (bev_dtypes[page->dtype].bits + 3) / 4, page->code);
    view.left = sheet_title(sheet, area, title.text, note.text);
    void (*const rows[])(View *) = {draw_bits,  draw_chosen,     draw_parts,
                                    draw_value, draw_neighbours, draw_scale};
    static const bool blank_above[] = {true, false, true, true, false, true};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (area.h >= BITS_ROOMY && blank_above[i])
            area_row(&view.left);
        rows[i](&view);
    }
}
