/* What the colours of a panel mean: classes, a colour bar, or a note; then the lines over it. */
#include "src/view/parts.h"
#include "src/view/text.h"
#include "src/view/ticks.h"

#include <math.h>
#include <stdio.h>

enum { ROW = 24, SWATCH = 14, BAR_HEIGHT = 16, HEADING_ROW = 28 };

static double heading(Pen *pen, double x, double top, double w, const char *text) {
    TextStyle style = style_heading(pen);
    pen_text(pen, x, top + SIZE_HEADING, w, &style, text);
    return HEADING_ROW;
}

static void swatch(Pen *pen, double x, double row_top, Rgb color) {
    Box box = {x, row_top + (ROW - SWATCH) / 2.0, SWATCH, SWATCH};
    pen_fill(pen, box, color, 1);
    pen_frame(pen, box, pen->theme->muted, 0.6, 1);
}

static void row_text(Pen *pen, double x, double row_top, double w, const char *text) {
    TextStyle style = style_body(pen);
    pen_text(pen, x, row_top + ROW / 2.0 + 0.36 * SIZE_BODY, w, &style, text);
}

/* Two columns of swatches where there is room. */
static double classes(Pen *pen, double x, double top, double w) {
    int columns = w >= 300 ? 2 : 1, rows = (CLASS_COUNT + columns - 1) / columns;
    double column_w = w / columns;
    for (int class = 0; class < CLASS_COUNT; class ++) {
        double cx = x + class / rows * column_w, cy = top + class % rows * ROW;
        const uint8_t *color = world_classes[class].color;
        swatch(pen, cx, cy, (Rgb){color[0], color[1], color[2]});
        row_text(pen, cx + SWATCH + 8, cy, column_w - SWATCH - 16, world_classes[class].title);
    }
    return rows * ROW;
}

/* ---- colour bar ---------------------------------------------------------------------------- */

/* A strip of small rectangles: the same in pixels and in SVG. */
static void ramp(Pen *pen, Box bar, const RasterStyle *style) {
    for (int i = 0; i < COLORMAP_ENTRIES; i++) {
        double from = bar.x + bar.w * i / COLORMAP_ENTRIES;
        double to = fmin(bar.x + bar.w * (i + 1) / COLORMAP_ENTRIES + 0.5, bar.x + bar.w);
        pen_fill(pen, (Box){from, bar.y, to - from, bar.h},
                 colormap_at(style->colormap, (i + 0.5) / COLORMAP_ENTRIES), 1);
    }
    pen_frame(pen, bar, pen->theme->muted, 0.6, 1);
}

/* A pointed end says that some cells lie beyond the number. */
static void beyond(Pen *pen, Box bar, bool right, Rgb color) {
    if (pen->measuring)
        return;
    double x = right ? bar.x + bar.w + 1 : bar.x - 1, tip = right ? 9 : -9;
    cairo_move_to(pen->cr, x, bar.y - 1);
    cairo_line_to(pen->cr, x + tip, bar.y + bar.h / 2);
    cairo_line_to(pen->cr, x, bar.y + bar.h + 1);
    cairo_close_path(pen->cr);
    pen_color(pen, color, 1);
    cairo_fill(pen->cr);
}

static Ticks bar_ticks(const ValueRange *range, double w) {
    int target = (int)fmax(w / 80, 2);
    return range->logarithmic ? ticks_log(range->lo, range->hi, target)
                              : ticks_linear(range->lo, range->hi, target);
}

static double bar_labels(Pen *pen, Box bar, const ValueRange *range, const Ticks *ticks) {
    TextStyle style = style_muted(pen);
    style.align = ALIGN_CENTER;
    for (int i = 0; i < ticks->count; i++) {
        double x = bar.x + bar.w * range_position(range, ticks->at[i]);
        pen_line(pen, x, bar.y + bar.h, x, bar.y + bar.h + 5, pen->theme->muted, 1, 1);
        pen_text(pen, x, bar.y + bar.h + 8 + 0.8 * SIZE_SMALL, 60, &style, ticks->label[i]);
    }
    return 8 + SIZE_SMALL + 4;
}

static double color_bar(Pen *pen, const Panel *panel, const char *unit, double x, double top,
                        double w) {
    const ValueRange *range = &panel->style.range;
    Box bar = {x + 12, top, w - 24, BAR_HEIGHT};
    Ticks ticks = bar_ticks(range, bar.w);
    ramp(pen, bar, &panel->style);
    if (range->below)
        beyond(pen, bar, false, colormap_at(panel->style.colormap, 0));
    if (range->above)
        beyond(pen, bar, true, colormap_at(panel->style.colormap, 1));
    double height = BAR_HEIGHT + bar_labels(pen, bar, range, &ticks);
    char multiplier[40], text[128];
    ticks_multiplier(ticks.exponent, multiplier, sizeof multiplier);
    snprintf(text, sizeof text, "%s%s%s%s", multiplier, multiplier[0] ? " " : "", unit,
             range->logarithmic ? ", logarithmic" : "");
    TextStyle style = style_muted(pen);
    style.align = ALIGN_CENTER;
    pen_text(pen, x + w / 2, top + height + SIZE_SMALL, w, &style, text);
    return height + SIZE_SMALL + 8;
}

/* ---- colour views ------------------------------------------------------------------------------
 */

/* A grey ramp from the background: how strongly a cell shows its colour. */
static double strength_bar(Pen *pen, const Panel *panel, double x, double top, double w) {
    enum { STEPS = 64 };
    Box bar = {x + 12, top, w - 24, BAR_HEIGHT};
    for (int i = 0; i < STEPS; i++) {
        double from = bar.x + bar.w * i / STEPS, to = bar.x + bar.w * (i + 1) / STEPS;
        Rgb white = {255, 255, 255};
        pen_fill(pen, (Box){from, bar.y, fmin(to + 0.5, bar.x + bar.w) - from, bar.h},
                 rgb_mix(panel->theme->background, white, sqrt((i + 0.5) / STEPS)), 1);
    }
    pen_frame(pen, bar, pen->theme->muted, 0.6, 1);
    TextStyle style = style_muted(pen);
    style.align = ALIGN_CENTER;
    char full[48] = "n/a";
    if (isfinite(panel->field.full_mass))
        snprintf(full, sizeof full, "\u2265 %.2g", panel->field.full_mass);
    double baseline = bar.y + bar.h + 6 + 0.8 * SIZE_SMALL;
    pen_text(pen, bar.x, baseline, 40, &style, "0");
    pen_text(pen, bar.x + bar.w, baseline, 80, &style, full);
    pen_text(pen, bar.x + bar.w / 2, baseline, bar.w - 120, &style,
             "depth mass pooled into a cell");
    return BAR_HEIGHT + 6 + SIZE_SMALL + 10;
}

static double components(Pen *pen, const Panel *panel, double x, double top, double w) {
    static const Rgb colors[3] = {{230, 60, 60}, {60, 190, 80}, {70, 110, 240}};
    for (int k = 0; k < 3; k++) {
        char text[96], share[32] = "n/a";
        if (!isnan(panel->field.explained[k]))
            snprintf(share, sizeof share, "%.1f %%", 100 * panel->field.explained[k]);
        snprintf(text, sizeof text, "Component %d: %s of the variance", k + 1, share);
        swatch(pen, x, top + k * ROW, colors[k]);
        row_text(pen, x + SWATCH + 8, top + k * ROW, w - SWATCH - 8, text);
    }
    return 3 * ROW;
}

/* ---- the block ------------------------------------------------------------------------------- */

static double bad_cells(Pen *pen, const Panel *panel, double x, double top, double w) {
    if (!panel->field.nan_cells && !panel->field.inf_cells)
        return 0;
    char nan[32], inf[32], text[128];
    text_count(panel->field.nan_cells, nan, sizeof nan);
    text_count(panel->field.inf_cells, inf, sizeof inf);
    snprintf(text, sizeof text, "not a number: %s cells, infinite: %s cells", nan, inf);
    swatch(pen, x, top, panel->theme->bad);
    row_text(pen, x + SWATCH + 8, top, w - SWATCH - 8, text);
    return ROW;
}

static void title_of(const Figure *figure, const Panel *panel, char *text, size_t size) {
    const FigureSpec *spec = figure->spec;
    if (panel->difference)
        snprintf(text, size, "Difference A \u2212 B, %s",
                 spec->view == VIEW_POINTS ? "points per cell" : "channel that differs most");
    else if (spec->view == VIEW_CHANNEL)
        snprintf(text, size, "Channel %lld", (long long)spec->channel);
    else
        snprintf(text, size, "%s", views[spec->view].title);
}

double legend_block(Pen *pen, const Figure *figure, const Panel *panel, double x, double top,
                    double w) {
    const ViewInfo *view = &views[panel->field.view];
    char title[96];
    title_of(figure, panel, title, sizeof title);
    double y = top + heading(pen, x, top, w, title);
    switch (view->legend) {
    case LEGEND_BRIGHTNESS:
        y += strength_bar(pen, panel, x, y, w);
        break;
    case LEGEND_CLASSES:
        y += classes(pen, x, y, w) + 8;
        y += strength_bar(pen, panel, x, y, w);
        break;
    case LEGEND_COMPONENTS:
        y += components(pen, panel, x, y, w);
        break;
    case LEGEND_BAR:
        y += color_bar(pen, panel, view->unit, x, y, w);
        break;
    }
    return y + bad_cells(pen, panel, x, y, w) - top;
}

/* ---- lines over the picture ---------------------------------------------------------------------
 */

/* A dark chip with the line as it looks on the panel. */
static void line_sample(Pen *pen, const Figure *figure, double x, double row_top, double alpha) {
    const PanelTheme *theme = figure->panels[0].theme;
    Box chip = {x, row_top + (ROW - SWATCH) / 2.0, 2 * SWATCH, SWATCH};
    pen_fill(pen, chip, theme->background, 1);
    pen_frame(pen, chip, pen->theme->muted, 0.6, 1);
    pen_line(pen, chip.x + 4, chip.y + 0.5 * SWATCH, chip.x + 2 * SWATCH - 4, chip.y + 0.5 * SWATCH,
             theme->line, alpha, 1);
}

double overlay_key_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureSpec *spec = figure->spec;
    if (!spec->rig)
        return 0;
    double y = top + heading(pen, x, top, w, "Lines"), indent = 2 * SWATCH + 8;
    char number[24], text[128];
    if (figure->ring_step_m > 0) {
        double step = figure->ring_step_m;
        ticks_number(step, step < 1 ? (int)ceil(-log10(step)) : 0, number, sizeof number);
        snprintf(text, sizeof text, "range from the ego origin, every %s m", number);
        line_sample(pen, figure, x, y, 0.4);
        row_text(pen, x + indent, y, w - indent, text);
        y += ROW;
    }
    line_sample(pen, figure, x, y, 0.3);
    row_text(pen, x + indent, y, w - indent, "edges of the cameras\u2019 fields of view");
    y += ROW;
    if (spec->world && spec->outlines) {
        snprintf(text, sizeof text, "true outlines at t = %.2f s", spec->time_s);
        line_sample(pen, figure, x, y, 0.9);
        row_text(pen, x + indent, y, w - indent, text);
        y += ROW;
    }
    return y - top;
}
