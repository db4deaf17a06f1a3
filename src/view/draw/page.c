#include "src/view/draw/page.h"

#include <cairo-svg.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

bool page_image(const PageSpec *page, Image *image, Err *err) {
    double scale = scale_of(page);
    *image = (Image){0};
    if (!image_init(image, lround(page->w * scale), lround(page->h * scale), err))
        return false;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->w, image->h);
    bool drawn = draw_on(surface, page, scale, NULL, err);
    if (drawn)
        pen_pixels(surface, image);
    else
        image_free(image);
    cairo_surface_destroy(surface);
    return drawn;
}

/* ---- SVG ------------------------------------------------------------------------------------ */

/* cairo numbers the images and groups of an SVG by a counter of the process: the same figure drawn
 * twice would differ. Renumbered in order of appearance, it does not. */
static const char *const prefixes[] = {"image", "surface"};

typedef struct {
    unsigned long *old; /* index = new number */
    size_t count, capacity;
    bool failed;
} Numbers;

static size_t new_number(Numbers *numbers, unsigned long old) {
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->old[i] == old)
            return i;
    if (numbers->count == numbers->capacity) {
        size_t capacity = numbers->capacity ? 2 * numbers->capacity : 16;
        unsigned long *grown = realloc(numbers->old, capacity * sizeof *grown);
        if (!grown) {
            numbers->failed = true;
            return 0;
        }
        numbers->old = grown;
        numbers->capacity = capacity;
    }
    numbers->old[numbers->count] = old;
    return numbers->count++;
}

/* Length of an id like image17 at `p`, with its prefix length and number; 0: none. */
static size_t id_at(const char *p, const char *end, size_t *prefix, unsigned long *number) {
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]), at = length;
        if ((size_t)(end - p) <= length || memcmp(p, prefixes[i], length) != 0)
            continue;
        *number = 0;
        for (; p + at < end && isdigit((unsigned char)p[at]); at++)
            *number = 10 * *number + (unsigned long)(p[at] - '0');
        *prefix = length;
        return at > length ? at : 0;
    }
    return 0;
}

/* Writes `svg` to `out` with its ids renumbered; false: no memory. */
static bool renumber(const char *svg, size_t svg_length, FILE *out) {
    Numbers numbers = {0};
    const char *p = svg, *end = p + svg_length, *copied = p;
    for (; p < end; p++) {
        size_t prefix, length;
        unsigned long old;
        /* An id follows a quote or a reference's '#'; embedded base64 data holds neither. */
        if ((*p != '"' && *p != '#') || !(length = id_at(p + 1, end, &prefix, &old)))
            continue;
        fwrite(copied, 1, (size_t)(p + 1 - copied) + prefix, out);
        fprintf(out, "%zu", new_number(&numbers, old));
        copied = p + 1 + length;
        p += length;
    }
    fwrite(copied, 1, (size_t)(end - copied), out);
    free(numbers.old);
    return !numbers.failed;
}

static cairo_status_t append(void *stream, const unsigned char *data, unsigned length) {
    return fwrite(data, 1, length, stream) == length ? CAIRO_STATUS_SUCCESS
                                                     : CAIRO_STATUS_NO_MEMORY;
}

static bool draw_svg(const PageSpec *page, FILE *stream, Err *err) {
    double scale = scale_of(page);
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(append, stream, page->w * scale, page->h * scale);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    bool drawn = draw_on(surface, page, scale, NULL, err);
    cairo_surface_finish(surface);
    cairo_status_t status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (drawn && status != CAIRO_STATUS_SUCCESS)
        return err_set(err, ERR_FAILED, "SVG", "choose a smaller scale", "cairo: %s",
                       cairo_status_to_string(status));
    return drawn;
}

/* Closes a memory stream; false: something is missing in it. */
static bool close_stream(FILE *stream) {
    bool whole = stream && !ferror(stream);
    return stream && !fclose(stream) && whole;
}

bool page_svg(const PageSpec *page, uint8_t **bytes, size_t *length, Err *err) {
    char *svg = NULL, *renumbered = NULL;
    size_t svg_length = 0;
    FILE *stream = open_memstream(&svg, &svg_length), *out = open_memstream(&renumbered, length);
    bool opened = stream && out;
    bool drawn = opened && draw_svg(page, stream, err);
    bool said = opened && !drawn; /* draw_svg filled `err` */
    drawn = close_stream(stream) && drawn;
    drawn = drawn && renumber(svg, svg_length, out);
    drawn = close_stream(out) && drawn;
    if (!drawn && !said)
        err_set(err, ERR_FAILED, "SVG", "", "no memory for %zu bytes", svg_length);
    free(svg);
    if (!drawn) {
        free(renumbered);
        renumbered = NULL;
        *length = 0;
    }
    *bytes = (uint8_t *)renumbered;
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
