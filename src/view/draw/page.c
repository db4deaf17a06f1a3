#include "src/view/draw/page.h"

#include "src/view/draw/bytes.h"
#include "src/view/draw/svg_ids.h"

#include <cairo-svg.h>
#include <math.h>
#include <string.h>

static double scale_of(const PageSpec *page) {
    return page->scale > 0 ? page->scale : 1;
}

static bool draw_on(cairo_surface_t *surface, const PageSpec *page, double scale,
                    FigureLayout *layout, Err *err) {
    cairo_t *cr = cairo_create(surface);
    Pen pen;
    cairo_scale(cr, scale, scale);
    pen_init(&pen, cr, &themes[page->theme], layout, false);
    pen_fill(&pen, (Box){0, 0, page->w, page->h}, pen.theme->page, 1);
    page->draw(&pen, page->context);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (pen.failed && err)
        *err = pen.err;
    if (!pen.failed && status != CAIRO_STATUS_SUCCESS)
        return err_set(err, ERR_FAILED, "picture", "choose a smaller scale", "cairo: %s",
                       cairo_status_to_string(status));
    return !pen.failed;
}

static void copy_pixels(cairo_surface_t *surface, Image *image) {
    cairo_surface_flush(surface);
    const uint8_t *data = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++) {
            uint32_t word;
            memcpy(&word, data + (size_t)y * (size_t)stride + 4 * (size_t)x, sizeof word);
            image_set(image, x, y, rgb_hex(word & 0xffffff));
        }
}

bool page_image(const PageSpec *page, Image *image, Err *err) {
    double scale = scale_of(page);
    *image = (Image){0};
    if (!image_init(image, lround(page->w * scale), lround(page->h * scale), err))
        return false;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->w, image->h);
    bool drawn = draw_on(surface, page, scale, NULL, err);
    if (drawn)
        copy_pixels(surface, image);
    else
        image_free(image);
    cairo_surface_destroy(surface);
    return drawn;
}

static cairo_status_t append(void *context, const unsigned char *data, unsigned length) {
    Bytes *bytes = context;
    bytes_append(bytes, data, length);
    return bytes->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static bool draw_svg(const PageSpec *page, Bytes *svg, Err *err) {
    double scale = scale_of(page);
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(append, svg, page->w * scale, page->h * scale);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    bool drawn = draw_on(surface, page, scale, NULL, err);
    cairo_surface_finish(surface);
    cairo_status_t status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (drawn && (svg->failed || status != CAIRO_STATUS_SUCCESS))
        return err_set(err, ERR_FAILED, "SVG", "choose a smaller scale", "cairo: %s",
                       cairo_status_to_string(status));
    return drawn;
}

bool page_svg(const PageSpec *page, uint8_t **bytes, size_t *length, Err *err) {
    Bytes svg = {0}, renumbered = {0};
    bool drawn = draw_svg(page, &svg, err);
    if (drawn && !svg_renumber(&svg, &renumbered))
        drawn = err_set(err, ERR_FAILED, "SVG", "", "no memory for %zu bytes", svg.length);
    bytes_free(&svg);
    if (!drawn)
        bytes_free(&renumbered);
    *bytes = renumbered.data;
    *length = renumbered.length;
    return drawn;
}

bool page_layout(const PageSpec *page, FigureLayout *layout, Err *err) {
    *layout = (FigureLayout){.w = page->w, .h = page->h};
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    bool drawn = draw_on(surface, page, 1, layout, err);
    cairo_surface_destroy(surface);
    if (drawn && layout->failed)
        drawn = err_set(err, ERR_FAILED, "layout", "", "no memory for %zu texts", layout->count);
    if (!drawn)
        figure_layout_free(layout);
    return drawn;
}
