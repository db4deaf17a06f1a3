/* SPDX-License-Identifier: MIT */
/* One number of the selected format, bit by bit: its parts, its value, its neighbours, its scale.
 */

#include "kernels/codec.h"
#include "src/view/panel/panel.h"
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
    Sheet *sheet;
    Area left; /* the rows that are not drawn yet */
} View;

/* ---- the bits -------------------------------------------------------------------------------- */

/* Returns the column of a bit: cells of one width, and a gap between two parts. */
static int column_of(const View *view, int bit, int *width) {
    const BevDtypeInfo *format = &bev_dtypes[view->page.dtype];
    int cell = (view->left.w - 4) / format->bits;
    cell = cell > CELL_MOST ? CELL_MOST : cell < 1 ? 1 : cell;
    int gap = cell > 1 ? 2 : 1, x = view->left.x + (format->bits - 1 - bit) * cell;
    for (int other = format->bits - 1; other > bit; other--)
        x += bits_part(view->page.dtype, other) != bits_part(view->page.dtype, other - 1) ? gap : 0;
    *width = cell;
    return x;
}

/* Draws the code's bits over their letters: sign, exponent, fraction. A click flips one. */
static void draw_bits(View *view) {
    Sheet *sheet = view->sheet;
    Area digits = area_row(&view->left), letters = area_row(&view->left);
    for (int bit = bev_dtypes[view->page.dtype].bits - 1; digits.h && bit >= 0; bit--) {
        BitsPart part = bits_part(view->page.dtype, bit);
        int width, x = column_of(view, bit, &width);
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

/* Draws "^ bit 3, exponent; flipped: 28", on the side that has room. */
static void draw_chosen(View *view) {
    Sheet *sheet = view->sheet;
    const BitsPage *page = &view->page;
    int width, x = column_of(view, page->at, &width);
    Area row = area_row(&view->left);
    const ShortText text = short_text(
        "bit %d, %s; flipped: %s", page->at, bits_parts[bits_part(page->dtype, page->at)],
        bits_value(bev_code_value(page->dtype, page->code ^ 1u << page->at)).text);
    int length = sheet_width(sheet, text.text);
    const Area before = area_columns(&row, x - row.x);
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
        int used = sheet_line(
            view->sheet, row, cell_bold(parts[part].ink),
            short_text("%c %s %u%s", parts[part].letter, bits_parts[part], field, of.text).text);
        area_columns(&row, used + 3);
    }
}

/* ---- what they mean -------------------------------------------------------------------------- */

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

/* Returns "below 416, 32 less", or why there is nothing. */
static ShortText neighbour(const View *view, int step) {
    const char *side = step > 0 ? "above" : "below";
    const BitsPage *page = &view->page;
    uint32_t code;
    const bool outward = step > 0 ? view->value > 0 : view->value < 0;
    if (!bits_next(page->dtype, page->code, step, &code))
        return short_text(
            "%s none%s", side,
            outward && bits_then_nan(page->dtype, page->code) ? ": the next code is NaN" : "");
    const double other = bev_code_value(page->dtype, code), distance = fabs(other - view->value);
    return short_text(isfinite(distance) ? "%s %s, %.4g %s" : "%s %s", side, bits_value(other).text,
                      distance, step > 0 ? "more" : "less");
}

static void draw_neighbours(View *view) {
    const ShortText below = neighbour(view, -1), above = neighbour(view, 1);
    sheet_line(view->sheet, area_row(&view->left), cell_style(INK_TEXT),
               isnan(view->value) ? "not a number: no neighbours"
               : lesson_asks(&view->data->state->lesson)
                   ? "below and above: step to see"
                   : short_text("%s; %s", below.text, above.text).text);
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
    sheet_line(view->sheet, area_row(&view->left), cell_style(INK_TEXT), text);
}

void bits_draw(Sheet *sheet, Area area, const PanelData *data) {
    View view = {.data = data, .page = state_bits(data->state), .sheet = sheet};
    const BitsPage *page = &view.page;
    view.value = bev_code_value(page->dtype, page->code);
    const ShortText title = short_text("Bits: %s", bits_title(page->dtype).text);
    const ShortText note = short_text("%s, code %u = 0x%0*x", bits_names[page->of], page->code,
                                      (bev_dtypes[page->dtype].bits + 3) / 4, page->code);
    view.left = sheet_title(sheet, area, title.text, note.text);
    bool roomy = area.h >= BITS_ROOMY;
    void (*const rows[])(View *) = {draw_bits,  draw_chosen,     draw_parts,
                                    draw_value, draw_neighbours, draw_scale};
    static const bool blank[] = {true, false, true, true, false, true};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (roomy && blank[i])
            area_row(&view.left);
        rows[i](&view);
    }
}
