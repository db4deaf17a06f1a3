/* SPDX-License-Identifier: MIT */
/* Arranges and draws the figure's page. */
#include "src/state/live_text.h"
#include "src/view/draw/page.h"
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_W = 400, SIDE_TABLE_W = 620, PAGE_MIN = 1000, BLOCK_GAP = 28, TICK_SPACE = 6 };
enum { PANEL_TITLE = 28, COMPARE_GAP = 28, SLOT_MIN = 400 };

/* The places of all parts. A measuring pen finds them, then another pen draws. */
typedef struct {
    double w, h;
    double strip_top, panels_top;
    bool blocks_below; /* legends and facts stand below the panels, not beside them */
    double side_x, side_w, side_top;
} Places;

/* ---- blocks --------------------------------------------------------------------------------- */

static double height_with_gap(double height) {
    return height > 0 ? height + BLOCK_GAP : 0;
}

/* Draws the run, and how its points spread over the cells. */
static double run_blocks(Pen *pen, const Figure *figure, double x, double top, double w) {
    double y = top + height_with_gap(run_block(pen, figure, x, top, w));
    return y +
           height_with_gap(
               panel_block(pen, figure, &intervals_panel, figure->panels[0].bev, x, y, w)) -
           top;
}

static double table_blocks(Pen *pen, const Figure *figure, double x, double top, double w) {
    const BevPicture *bev = figure->panels[0].bev;
    if (!figure->spec->table)
        return 0;
    double y = top + height_with_gap(panel_block(pen, figure, &kernels_panel, bev, x, top, w));
    return y + height_with_gap(panel_block(pen, figure, &accuracy_panel, bev, x, y, w)) - top;
}

static double side_blocks(Pen *pen, const Figure *figure, const Places *page) {
    const BevPicture *bev = figure->panels[0].bev;
    double x = page->side_x, w = page->side_w, y = page->side_top;
    y += height_with_gap(panel_block(pen, figure, &legend_panel, bev, x, y, w));
    y += height_with_gap(panel_block(pen, figure, &gradients_panel, bev, x, y, w));
    y += height_with_gap(lines_block(pen, figure, x, y, w));
    y += run_blocks(pen, figure, x, y, w);
    return y + table_blocks(pen, figure, x, y, w) - BLOCK_GAP;
}

/* Draws three columns of blocks. With three panels each column stands below its panel. */
static double below_blocks(Pen *pen, const Figure *figure, const Places *page) {
    bool compare = figure->panel_count > 1;
    double left = figure->panels[0].box.x, right = page->w - MARGIN, bottoms[3], xs[3];
    double w = (right - left - 2 * GUTTER) / 3;
    for (int i = 0; i < 3; i++) {
        xs[i] = compare ? figure->panels[i].box.x : left + i * (w + GUTTER);
        bottoms[i] = page->side_top;
    }
    w = compare ? fmax(figure->panel_w, xs[1] - xs[0] - COMPARE_GAP) : w;
    const BevPicture *bev = figure->panels[0].bev;
    bottoms[0] +=
        height_with_gap(panel_block(pen, figure, &legend_panel, bev, xs[0], bottoms[0], w));
    bottoms[0] += height_with_gap(lines_block(pen, figure, xs[0], bottoms[0], w));
    bottoms[1] += run_blocks(pen, figure, xs[1], bottoms[1], w);
    if (compare)
        bottoms[2] += height_with_gap(
            panel_block(pen, figure, &legend_panel, figure->panels[2].bev, xs[2], bottoms[2], w));
    bottoms[2] +=
        height_with_gap(panel_block(pen, figure, &gradients_panel, bev, xs[2], bottoms[2], w));
    bottoms[2] += table_blocks(pen, figure, xs[2], bottoms[2], w);
    return fmax(bottoms[0], fmax(bottoms[1], bottoms[2])) - BLOCK_GAP;
}

static void panel_title(Pen *pen, const Figure *figure, const FigurePanel *panel) {
    TextStyle style = style_heading(pen);
    char label[128], text[192];
    if (!panel->letter)
        return;
    live_side_label(figure->spec->live, panel->baseline, label, sizeof label);
    if (panel->bev->difference)
        comparison_text(figure->spec->state, figure->spec->live, label, sizeof label);
    snprintf(text, sizeof text, "%s   %s", panel->letter, label);
    pen_text(pen, panel->box.x, panel->box.y - TICK_SPACE - 8, fmax(panel->box.w, 100), &style,
             text);
}

/* ---- arrangement ---------------------------------------------------------------------------- */

/* Places the panels in a row from the left. Only the first has numbers on its upright x axis.
 * Returns the right edge. */
static double place_panels(Figure *figure, double top) {
    double x = MARGIN + axes_left(true);
    double gap = COMPARE_GAP + axes_left(false);
    double slot = figure->panel_count > 1 ? fmax(figure->panel_w, SLOT_MIN) : figure->panel_w;
    for (int i = 0; i < figure->panel_count; i++, x += slot + gap)
        figure->panels[i].box = (Box){x, top, figure->panel_w, figure->panel_h};
    return x - gap + TICK_SPACE;
}

static void arrange_page(Pen *pen, Figure *figure, Places *page) {
    bool compare = figure->panel_count > 1;
    *page = (Places){0};
    page->blocks_below = compare || figure->panel_w > 1.6 * figure->panel_h;
    double right = place_panels(figure, 0); /* their top depends on their width */
    page->side_x = right + GUTTER;
    page->side_w = figure->spec->table ? SIDE_TABLE_W : SIDE_W;
    page->w = page->blocks_below ? right + MARGIN : page->side_x + page->side_w + MARGIN;
    page->w = ceil(fmax(page->w, PAGE_MIN));
    page->side_w = page->w - MARGIN - page->side_x;

    double w = page->w - 2 * MARGIN;
    page->strip_top = MARGIN + height_with_gap(header_block(pen, figure, MARGIN, MARGIN, w));
    double strip_h = height_with_gap(strip_block(pen, figure, MARGIN, page->strip_top, w));
    page->panels_top = page->strip_top + strip_h + TICK_SPACE + (compare ? PANEL_TITLE : 0);
    page->panels_top = ceil(page->panels_top);
    place_panels(figure, page->panels_top);
    double bottom = page->panels_top + figure->panel_h + axes_bottom();
    page->side_top = page->blocks_below ? bottom + BLOCK_GAP : page->panels_top;
    double blocks =
        page->blocks_below ? below_blocks(pen, figure, page) : side_blocks(pen, figure, page);
    page->h = ceil(fmax(bottom, blocks) + MARGIN);
}

static void draw_page(Pen *pen, const Figure *figure, const Places *page) {
    double w = page->w - 2 * MARGIN;
    header_block(pen, figure, MARGIN, MARGIN, w);
    strip_block(pen, figure, MARGIN, page->strip_top, w);
    for (int i = 0; i < figure->panel_count; i++) {
        const FigurePanel *panel = &figure->panels[i];
        panel_title(pen, figure, panel);
        pen_picture(pen, panel->box,
                    panel->baseline ? &panel->bev->baseline : &panel->bev->image);
        loss_draw(pen, figure, panel, true);
        overlay_draw(pen, figure, panel);
        if (figure->panel_count == 1)
            names_draw(pen, figure, panel);
        pen_frame(pen, panel->box, pen->theme->muted, 1, 1);
        axes_draw(pen, figure, panel, i == 0);
    }
    if (page->blocks_below)
        below_blocks(pen, figure, page);
    else
        side_blocks(pen, figure, page);
}

typedef struct {
    Figure figure;
    Places page;
} Composition;

static void draw_composition(Pen *pen, const void *context) {
    const Composition *composition = context;
    draw_page(pen, &composition->figure, &composition->page);
}

static PageSpec compose_page(const FigureSpec *spec, Composition *composition) {
    Pen pen;
    composition->figure = figure_prepare(spec);
    pen_open_measuring(&pen, composition->figure.theme);
    arrange_page(&pen, &composition->figure, &composition->page);
    pen_close(&pen);
    return (PageSpec){composition->page.w,
                      composition->page.h,
                      spec->scale,
                      spec->state->light ? THEME_LIGHT : THEME_DARK,
                      draw_composition,
                      composition,
                      spec->title ? spec->title : spec->scene};
}

bool figure_image(const FigureSpec *spec, Image *image, Err *err) {
    Composition composition;
    const PageSpec page = compose_page(spec, &composition);
    return page_image(&page, image, err);
}

bool figure_file(const FigureSpec *spec, PictureFormat format, uint8_t **bytes, size_t *length,
                 Err *err) {
    Composition composition;
    const PageSpec page = compose_page(spec, &composition);
    return page_file(&page, format, bytes, length, err);
}

bool figure_layout(const FigureSpec *spec, FigureLayout *layout, Err *err) {
    Composition composition;
    const PageSpec page = compose_page(spec, &composition);
    return page_layout(&page, layout, err);
}
