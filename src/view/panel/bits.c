/* SPDX-License-Identifier: MIT */
/* One number of the selected format, bit by bit: its parts, its value, its neighbours, its scale.
 */

#include "kernels/codec.h"
#include "src/view/panel/panel.h"
#include "src/view/panel/steps_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_MOST = 4 };

static const struct {
    char letter; /* below each bit */
    Ink ink;
} parts[PART_COUNT] = {[PART_SIGN] = {'S', INK_WARN},
                       [PART_EXPONENT] = {'E', INK_FEATURES},
                       [PART_FRACTION] = {'F', INK_GOOD},
                       [PART_NUMBER] = {'N', INK_GOOD}};

/* The page. */
typedef struct {
    const PanelData *data;
    BitsPage page;
    double value;
    Rows rows;
} View;

/* ---- the bits -------------------------------------------------------------------------------- */

/* Returns the column of a bit: cells of one width, and a gap between two parts. */
static int column_of(const View *view, int bit, int *width) {
    const BevDtypeInfo *format = &bev_dtypes[view->page.dtype];
    int cell = (view->rows.area.w - 4) / format->bits;
    cell = cell > CELL_MOST ? CELL_MOST : cell < 1 ? 1 : cell;
    int gap = cell > 1 ? 2 : 1, x = view->rows.area.x + (format->bits - 1 - bit) * cell;
    for (int other = format->bits - 1; other > bit; other--)
        x += bits_part(view->page.dtype, other) != bits_part(view->page.dtype, other - 1) ? gap : 0;
    *width = cell;
    return x;
}

/* Draws the code's bits over their letters: sign, exponent, fraction. A click flips one. */
static void draw_bits(View *view) {
    Area digits = rows_next(&view->rows), letters = rows_next(&view->rows);
    for (int bit = bev_dtypes[view->page.dtype].bits - 1; bit >= 0; bit--) {
        BitsPart part = bits_part(view->page.dtype, bit);
        int width, x = column_of(view, bit, &width);
        CellStyle style = cell_bold(parts[part].ink);
        char number[12], letter[] = {parts[part].letter, '\0'};
        if (bit == view->page.at && digits.h)
            sheet_paper(view->rows.sheet, (Area){x, digits.y, 1, 1}, INK_SELECTED);
        style.attributes |= bit == view->page.at ? CELL_REVERSE : 0;
        snprintf(number, sizeof number, "%d", bit);
        if (digits.h)
            sheet_text(view->rows.sheet, x, digits.y, 1, style,
                       view->page.code >> bit & 1 ? "1" : "0");
        if (letters.h)
            sheet_text(view->rows.sheet, x, letters.y, 1, cell_style(parts[part].ink), letter);
        if (digits.h)
            sheet_spot(view->rows.sheet, (Area){x, digits.y, width, digits.h + letters.h},
                       ACTION_BITS_FLIP, 0, number);
    }
}

/* Draws "^ bit 3, exponent; flipped: 28", on the side that has room. */
static void draw_chosen(View *view) {
    char text[160];
    const BitsPage *page = &view->page;
    int width, x = column_of(view, page->at, &width);
    Area row = rows_next(&view->rows);
    snprintf(text, sizeof text, "bit %d, %s; flipped: %s", page->at,
             bits_parts[bits_part(page->dtype, page->at)],
             bits_value(bev_code_value(page->dtype, page->code ^ 1u << page->at)).text);
    if (!row.h)
        return;
    int length = sheet_width(view->rows.sheet, text), room = row.x + row.w - x - 2;
    sheet_text(view->rows.sheet, x, row.y, 1, cell_bold(INK_TITLE), "^");
    if (length <= room || x - row.x <= length)
        sheet_text(view->rows.sheet, x + 2, row.y, room, cell_style(INK_MUTED), text);
    else
        sheet_right(view->rows.sheet, row.x, row.y, x - 1 - row.x, cell_style(INK_MUTED), text);
}

/* Draws "S sign 0 + E exponent 15 F fraction 6 of 8". */
static void draw_parts(View *view) {
    const BitsPage *page = &view->page;
    Area row = rows_next(&view->rows);
    for (BitsPart part = 0; part < PART_COUNT && row.h && row.w > 0; part++) {
        char text[64], of[32] = "";
        if (!bits_width(page->dtype, part))
            continue;
        uint32_t field = bits_field(page->dtype, page->code, part);
        if (part == PART_FRACTION)
            snprintf(of, sizeof of, " of %lld", 1LL << bits_width(page->dtype, part));
        else if (part == PART_SIGN)
            snprintf(of, sizeof of, " %c", field ? '-' : '+');
        snprintf(text, sizeof text, "%c %s %u%s", parts[part].letter, bits_parts[part], field, of);
        int used =
            sheet_text(view->rows.sheet, row.x, row.y, row.w, cell_bold(parts[part].ink), text);
        row.x += used + 3;
        row.w -= used + 3;
    }
}

/* ---- what they mean -------------------------------------------------------------------------- */

/* Draws the value of the code, its formula and its class. */
static void draw_value(View *view) {
    const BevDtypeInfo *format = &bev_dtypes[view->page.dtype];
    const char *class = bits_class(view->page.dtype, view->page.code);
    ShortText formula = bits_formula(view->page.dtype, view->page.code);
    char text[160];
    snprintf(text, sizeof text, "%s%s%s", bits_value(view->value).text, *formula.text ? " = " : "",
             formula.text);
    if (!isnan(view->value))
        text_add(text, sizeof text, ", %s%s", class,
                 view->value == format->largest    ? ", the largest"
                 : view->value == -format->largest ? ", the least"
                                                   : "");
    rows_say(&view->rows, cell_bold(INK_TITLE), text);
}

/* Writes "below 416, 32 less", or why there is nothing. */
static void neighbour(const View *view, int step, char *text, size_t size) {
    const char *side = step > 0 ? "above" : "below";
    const BitsPage *page = &view->page;
    uint32_t code;
    bool outward = step > 0 ? view->value > 0 : view->value < 0;
    if (!bits_next(page->dtype, page->code, step, &code)) {
        snprintf(text, size, "%s none%s", side,
                 outward && bits_then_nan(page->dtype, page->code) ? ": the next code is NaN" : "");
        return;
    }
    double other = bev_code_value(page->dtype, code), distance = fabs(other - view->value);
    snprintf(text, size, "%s %s", side, bits_value(other).text);
    if (isfinite(distance))
        text_add(text, size, ", %.4g %s", distance, step > 0 ? "more" : "less");
}

static void draw_neighbours(View *view) {
    char below[64], above[64], text[160];
    neighbour(view, -1, below, sizeof below);
    neighbour(view, 1, above, sizeof above);
    snprintf(text, sizeof text, "%s; %s", below, above);
    rows_say(&view->rows, cell_style(INK_TEXT),
             isnan(view->value)                        ? "not a number: no neighbours"
             : lesson_asks(&view->data->state->lesson) ? "below and above: step to see"
                                                       : text);
}

/* Draws what the value becomes with the scale of its tensor in the frame. */
static void draw_scale(View *view) {
    const State *state = view->data->state;
    const LiveScales *scales = &view->data->live->scales;
    const BitsPage *page = &view->page;
    BevDtype dtype = state->job.config.dtype;
    const char *name = bits_names[page->of], *by = scales_name(state, view->data->live->job.scales);
    double scaled = view->value * scales->tensor[page->of];
    double least = scaled * scales->channel_least, most = scaled * scales->channel_most;
    char text[200];
    if (isnan(view->value))
        snprintf(text, sizeof text, "NaN, whatever its scale");
    else if (page->of == BITS_E5M2)
        snprintf(text, sizeof text, "no tensor has this format");
    else if (!strcmp(bev_dtypes[page->dtype].scaling, "none"))
        snprintf(text, sizeof text, "no scale: %s of this format are stored as they are", name);
    else if (!scales->known || scales->dtype != dtype)
        snprintf(text, sizeof text, "scale of the %s n/a: being computed", name);
    else if (page->of == BITS_FEATURES && scales->channel_least != scales->channel_most)
        snprintf(text, sizeof text, "x %.4g to %.4g, scales of the channels (%s): %.4g to %.4g",
                 (double)(scales->tensor[0] * scales->channel_least),
                 (double)(scales->tensor[0] * scales->channel_most), by, least, most);
    else
        snprintf(text, sizeof text, "x %.4g, scale of the %s (%s)%s: %.4g",
                 (double)scales->tensor[page->of], name, by,
                 bev_dtypes[page->dtype].block ? ", x 1 of its block" : "",
                 page->of == BITS_FEATURES ? most : scaled);
    rows_say(&view->rows, cell_style(INK_TEXT), text);
}

void bits_draw(Sheet *sheet, Area area, const PanelData *data) {
    char title[112], note[64];
    View view = {.data = data, .page = state_bits(data->state)};
    const BitsPage *page = &view.page;
    view.value = bev_code_value(page->dtype, page->code);
    snprintf(title, sizeof title, "Bits: %s", bits_title(page->dtype).text);
    snprintf(note, sizeof note, "%s, code %u = 0x%0*x", bits_names[page->of], page->code,
             (bev_dtypes[page->dtype].bits + 3) / 4, page->code);
    view.rows = (Rows){sheet, sheet_title(sheet, area, title, note), 0};
    bool roomy = area.h >= BITS_ROOMY;
    void (*const rows[])(View *) = {draw_bits,  draw_chosen,     draw_parts,
                                    draw_value, draw_neighbours, draw_scale};
    static const bool blank[] = {true, false, true, true, false, true};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (roomy && blank[i])
            rows_next(&view.rows);
        rows[i](&view);
    }
}
