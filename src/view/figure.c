/* The page: where the parts stand, and the three ways out (pixels, SVG, text boxes). */
#include "src/view/bytes.h"
#include "src/view/parts.h"
#include "src/view/svg_ids.h"

#include <assert.h>
#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MIN = 400, SIDE_MAX = 620, PAGE_MIN = 1000, BLOCK_GAP = 28, TICK_SPACE = 6 };
enum { PANEL_TITLE = 28, COMPARE_GAP = 28, SLOT_MIN = 400 };

/* Everything but the drawing: computed once by a measuring pen, then drawn by another. */
typedef struct {
    double w, h;
    double strip_top, panels_top;
    bool blocks_below; /* legends and facts under the panels, else beside them */
    double side_x, side_w, side_top;
} Page;

/* ---- blocks ---------------------------------------------------------------------------------- */

static double gap_after(double height) {
    return height > 0 ? height + BLOCK_GAP : 0;
}

static double side_blocks(Pen *pen, const Figure *figure, const Page *page) {
    double x = page->side_x, w = page->side_w, y = page->side_top;
    y += gap_after(legend_block(pen, figure, &figure->panels[0], x, y, w));
    y += gap_after(overlay_key_block(pen, figure, x, y, w));
    y += gap_after(facts_block(pen, figure, x, y, w));
    y += gap_after(table_block(pen, figure, x, y, w));
    return y - BLOCK_GAP;
}

/* Three columns; under three panels they line up with them. */
static double below_blocks(Pen *pen, const Figure *figure, const Page *page) {
    bool compare = figure->panel_count > 1;
    double left = figure->panels[0].box.x, right = page->w - MARGIN, bottoms[3], xs[3];
    double w = (right - left - 2 * GUTTER) / 3;
    for (int i = 0; i < 3; i++) {
        xs[i] = compare ? figure->panels[i].box.x : left + i * (w + GUTTER);
        bottoms[i] = page->side_top;
    }
    w = compare ? fmax(figure->panel_w, xs[1] - xs[0] - COMPARE_GAP) : w;
    bottoms[0] += gap_after(legend_block(pen, figure, &figure->panels[0], xs[0], bottoms[0], w));
    bottoms[0] += gap_after(overlay_key_block(pen, figure, xs[0], bottoms[0], w));
    bottoms[1] += gap_after(facts_block(pen, figure, xs[1], bottoms[1], w));
    if (compare)
        bottoms[2] +=
            gap_after(legend_block(pen, figure, &figure->panels[2], xs[2], bottoms[2], w));
    bottoms[2] += gap_after(table_block(pen, figure, xs[2], bottoms[2], w));
    return fmax(bottoms[0], fmax(bottoms[1], bottoms[2])) - BLOCK_GAP;
}

static void panel_title(Pen *pen, const Figure *figure, const Panel *panel) {
    if (!panel->letter)
        return;
    const FigureSpec *spec = figure->spec;
    TextStyle style = style_heading(pen);
    const FigureSelection *s = &spec->selections[panel == &figure->panels[1]];
    char text[192];
    if (panel->difference)
        snprintf(text, sizeof text, "%s   Difference", panel->letter);
    else
        snprintf(text, sizeof text, "%s   %s, %s, %s", panel->letter, s->kernel ? s->kernel : "n/a",
                 s->dtype ? s->dtype : "n/a", s->align ? s->align : "n/a");
    pen_text(pen, panel->box.x, panel->box.y - figure->band - TICK_SPACE - 8,
             fmax(panel->box.w, 100), &style, text);
}

/* ---- arrangement --------------------------------------------------------------------------------
 */

/* Panels in a row from the left; only the first carries numbers on its x axis. */
static double place_panels(Figure *figure, double top) {
    double x = MARGIN + axes_left(figure, true);
    double gap = COMPARE_GAP + axes_left(figure, false);
    double slot = figure->panel_count > 1 ? fmax(figure->panel_w, SLOT_MIN) : figure->panel_w;
    for (int i = 0; i < figure->panel_count; i++, x += slot + gap)
        figure->panels[i].box = (Box){x, top, figure->panel_w, figure->panel_h};
    return x - gap + figure->band + TICK_SPACE;
}

static void arrange(Pen *pen, Figure *figure, Page *page) {
    bool compare = figure->panel_count > 1;
    *page = (Page){0};
    page->blocks_below = compare || figure->panel_w > 1.6 * figure->panel_h;
    double right = place_panels(figure, 0);
    page->side_x = right + GUTTER;
    page->side_w = fmin(fmax(ceil(table_width(pen, figure)), SIDE_MIN), SIDE_MAX);
    page->w = page->blocks_below ? right + MARGIN : page->side_x + page->side_w + MARGIN;
    page->w = ceil(fmax(page->w, PAGE_MIN));
    page->side_w = page->w - MARGIN - page->side_x;

    double w = page->w - 2 * MARGIN;
    page->strip_top = MARGIN + gap_after(header_block(pen, figure, MARGIN, MARGIN, w));
    double strip_h = gap_after(strip_block(pen, figure, MARGIN, page->strip_top, w));
    page->panels_top =
        page->strip_top + strip_h + figure->band + TICK_SPACE + (compare ? PANEL_TITLE : 0);
    page->panels_top = ceil(page->panels_top);
    place_panels(figure, page->panels_top);
    double bottom = page->panels_top + figure->panel_h + axes_bottom(figure);
    page->side_top = page->blocks_below ? bottom + BLOCK_GAP : page->panels_top - figure->band;
    double blocks =
        page->blocks_below ? below_blocks(pen, figure, page) : side_blocks(pen, figure, page);
    page->h = ceil(fmax(bottom, blocks) + MARGIN);
}

static void draw_page(Pen *pen, Figure *figure, const Page *page) {
    double w = page->w - 2 * MARGIN;
    pen_fill(pen, (Box){0, 0, page->w, page->h}, pen->theme->page, 1);
    header_block(pen, figure, MARGIN, MARGIN, w);
    strip_block(pen, figure, MARGIN, page->strip_top, w);
    for (int i = 0; i < figure->panel_count; i++) {
        const Panel *panel = &figure->panels[i];
        panel_title(pen, figure, panel);
        pen_picture(pen, panel->box, &panel->raster);
        overlay_draw(pen, figure, panel);
        band_draw(pen, figure, panel);
        pen_frame(pen, panel->box, pen->theme->muted, 1, 1);
        axes_draw(pen, figure, panel, i == 0);
    }
    if (page->blocks_below)
        below_blocks(pen, figure, page);
    else
        side_blocks(pen, figure, page);
}

/* Decodes and arranges; `figure` must be freed also after a failure. */
static bool compose(const FigureSpec *spec, Figure *figure, Page *page, Err *err) {
    assert(spec->selection_count >= 1 && spec->selection_count <= FIGURE_MAX_SELECTIONS);
    if (!figure_prepare(spec, figure, err))
        return false;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = cairo_create(surface);
    Pen pen;
    pen_init(&pen, cr, figure->theme, NULL, true);
    arrange(&pen, figure, page);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return true;
}

/* Draws onto `surface`, whose units are page units times `scale`. */
static bool draw_on(cairo_surface_t *surface, double scale, Figure *figure, const Page *page,
                    FigureLayout *layout, Err *err) {
    cairo_t *cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    Pen pen;
    pen_init(&pen, cr, figure->theme, layout, false);
    draw_page(&pen, figure, page);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (pen.failed && err)
        *err = pen.err;
    if (!pen.failed && status != CAIRO_STATUS_SUCCESS)
        return err_set(err, ERR_FAILED, "figure", "choose a smaller scale", "cairo: %s",
                       cairo_status_to_string(status));
    return !pen.failed;
}

static double scale_of(const FigureSpec *spec) {
    return spec->scale > 0 ? spec->scale : 1;
}

/* ---- pixels
 * --------------------------------------------------------------------------------------- */

static void copy_pixels(cairo_surface_t *surface, Image *image) {
    cairo_surface_flush(surface);
    const uint8_t *data = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++) {
            uint32_t word;
            memcpy(&word, data + (size_t)y * (size_t)stride + 4 * (size_t)x, 4);
            image_set(image, x, y, rgb_hex(word & 0xffffff));
        }
}

static bool draw_image(Figure *figure, const Page *page, Image *image, Err *err) {
    double scale = scale_of(figure->spec);
    if (!image_init(image, lround(page->w * scale), lround(page->h * scale), err))
        return false;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->w, image->h);
    bool drawn = draw_on(surface, scale, figure, page, NULL, err);
    if (drawn)
        copy_pixels(surface, image);
    else
        image_free(image);
    cairo_surface_destroy(surface);
    return drawn;
}

bool figure_image(const FigureSpec *spec, Image *image, Err *err) {
    Figure figure;
    Page page;
    *image = (Image){0};
    bool drawn = compose(spec, &figure, &page, err) && draw_image(&figure, &page, image, err);
    figure_free(&figure);
    return drawn;
}

/* ---- SVG
 * ------------------------------------------------------------------------------------------ */

static cairo_status_t append(void *context, const unsigned char *data, unsigned length) {
    Bytes *bytes = context;
    bytes_append(bytes, data, length);
    return bytes->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static bool draw_svg(Figure *figure, const Page *page, Bytes *svg, Err *err) {
    double scale = scale_of(figure->spec);
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(append, svg, page->w * scale, page->h * scale);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    bool drawn = draw_on(surface, scale, figure, page, NULL, err);
    cairo_surface_finish(surface);
    cairo_status_t status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (drawn && (svg->failed || status != CAIRO_STATUS_SUCCESS))
        return err_set(err, ERR_FAILED, "SVG", "choose a smaller scale", "cairo: %s",
                       cairo_status_to_string(status));
    return drawn;
}

bool figure_svg(const FigureSpec *spec, uint8_t **bytes, size_t *length, Err *err) {
    Figure figure;
    Page page;
    Bytes svg = {0}, renumbered = {0};
    bool drawn = compose(spec, &figure, &page, err) && draw_svg(&figure, &page, &svg, err);
    figure_free(&figure);
    if (drawn && !svg_renumber(&svg, &renumbered))
        drawn = err_set(err, ERR_FAILED, "SVG", "", "no memory for %zu bytes", svg.length);
    bytes_free(&svg);
    if (!drawn)
        bytes_free(&renumbered);
    *bytes = renumbered.data;
    *length = renumbered.length;
    return drawn;
}

/* ---- layout
 * --------------------------------------------------------------------------------------- */

bool figure_layout(const FigureSpec *spec, FigureLayout *layout, Err *err) {
    Figure figure;
    Page page;
    *layout = (FigureLayout){0};
    bool drawn = compose(spec, &figure, &page, err);
    if (drawn) {
        cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
        drawn = draw_on(surface, 1, &figure, &page, layout, err);
        cairo_surface_destroy(surface);
        layout->w = page.w;
        layout->h = page.h;
    }
    figure_free(&figure);
    if (drawn && layout->failed)
        drawn = err_set(err, ERR_FAILED, "layout", "", "no memory for %zu texts", layout->count);
    if (!drawn)
        figure_layout_free(layout);
    return drawn;
}

void figure_layout_free(FigureLayout *layout) {
    if (!layout)
        return;
    free(layout->texts);
    *layout = (FigureLayout){0};
}
