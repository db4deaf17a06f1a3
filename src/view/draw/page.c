/* SPDX-License-Identifier: MIT */
#include "src/view/draw/page.h"

#include "kernels/clean.h"
#include "src/base/data.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double scale_of(const PageSpec *page) {
    return page->scale > 0 ? page->scale : 1;
}

static bool draw_on(cairo_t *cr, const PageSpec *page, double scale, FigureLayout *layout,
                    bool texts_apart, Err *err) {
    Pen pen;
    cairo_scale(cr, scale, scale);
    pen_init(&pen, cr, &themes[page->theme], layout);
    pen.texts_apart = texts_apart;
    pen_fill(&pen, (Box){0, 0, page->w, page->h}, pen.theme->page, 1);
    page->draw(&pen, page->context);
    if (pen.failed && err)
        *err = pen.err;
    return !pen.failed && pen_status(cairo_status(cr), "picture", err);
}

/* Paints the whole surface. The page may end within the last row or column of pixels, which would
 * stay half black. */
static void paint_whole(cairo_t *cr, Rgb color) {
    cairo_set_source_rgb(cr, color.r / 255.0, color.g / 255.0, color.b / 255.0);
    cairo_paint(cr);
}

bool page_image(const PageSpec *page, Image *image, Err *err) {
    double scale = scale_of(page);
    cairo_t *cr = pen_begin(image, lround(page->w * scale), lround(page->h * scale), err);
    if (cr)
        paint_whole(cr, themes[page->theme].page);
    return cr && pen_finish(cr, draw_on(cr, page, scale, NULL, false, err), image);
}

/* ---- SVG ------------------------------------------------------------------------------------ */

/* cairo numbers the images and groups of an SVG by a counter of the process: the same figure drawn
 * twice would differ. So they are renumbered in order of appearance. Up to cairo 1.16 their names
 * are image1 and surface1, since 1.18 source-1. */
static const char *const prefixes[] = {"image", "surface", "source-"};

typedef struct {
    unsigned long *old; /* index = new number */
    size_t count;
} Numbers;

static size_t new_number(Numbers *numbers, unsigned long old) {
    size_t i = 0;
    while (i < numbers->count && numbers->old[i] != old)
        i++;
    if (i == numbers->count)
        numbers->old[numbers->count++] = old;
    return i;
}

/* Returns the length of the prefix of an id like image17 at `p`; 0: none. */
static size_t prefix_at(const char *p) {
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (!strncmp(p, prefixes[i], length) && isdigit((unsigned char)p[length]))
            return length;
    }
    return 0;
}

/* Writes `svg` to `out` with its ids renumbered; false: no memory. */
static bool renumber(const char *svg, size_t svg_length, FILE *out) {
    /* An id takes more than eight characters, so there are fewer ids than this. */
    Numbers numbers = {.old = malloc(svg_length + sizeof *numbers.old)};
    const char *copied = svg;
    for (const char *p = svg; numbers.old && *p; p++) {
        /* A quote or a reference's '#' stands before an id. Embedded base64 data holds neither. */
        size_t prefix = *p == '"' || *p == '#' ? prefix_at(p + 1) : 0;
        if (!prefix)
            continue;
        fwrite(copied, 1, (size_t)(p + 1 - copied) + prefix, out);
        char *end;
        fprintf(out, "%zu", new_number(&numbers, strtoul(p + 1 + prefix, &end, 10)));
        copied = end;
        p = end - 1;
    }
    fputs(copied, out);
    free(numbers.old);
    return numbers.old != NULL;
}

static cairo_status_t append(void *stream, const unsigned char *data, unsigned length) {
    return fwrite(data, 1, length, stream) == length ? CAIRO_STATUS_SUCCESS
                                                     : CAIRO_STATUS_NO_MEMORY;
}

/* Draws the page on a surface that writes to a stream, and closes the surface. */
static bool draw_stream(cairo_surface_t *surface, const PageSpec *page, double scale,
                        FigureLayout *texts, const char *what, Err *err) {
    cairo_t *cr = cairo_create(surface);
    bool drawn = draw_on(cr, page, scale, texts, texts != NULL, err);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    drawn = drawn && pen_status(cairo_surface_status(surface), what, err);
    cairo_surface_destroy(surface);
    return drawn;
}

static bool draw_svg(const PageSpec *page, FILE *stream, FigureLayout *texts, Err *err) {
    double scale = scale_of(page);
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(append, stream, page->w * scale, page->h * scale);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    return draw_stream(surface, page, scale, texts, "SVG", err);
}

/* ---- texts of an SVG: cairo would write letters as outlines, so they are written here -------- */

/* Writes any text into SVG, cleaned and escaped. */
static void put_escaped(FILE *out, const char *text) {
    static const char special[] = "<>&\"";
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
    while (*text) {
        bool shown;
        size_t length = clean_character(text, &shown);
        const char *at = strchr(special, *text);
        if (at)
            fputs(entities[at - special], out);
        else
            fwrite(shown ? text : "?", 1, shown ? length : 1, out);
        text += length;
    }
}

static void put_text(const FigureText *text, FILE *out) {
    static const char *const anchors[] = {"start", "middle", "end"};
    static const int degrees[] = {0, -90, 90};
    const TextStyle *style = &text->style;
    const Rgb color = style->color, rim = style->rim;
    fprintf(out, "<text transform=\"translate(%.1f %.1f)", text->at_x, text->at_y);
    if (style->turn)
        fprintf(out, " rotate(%d)", degrees[style->turn]);
    fprintf(out, "\" font-size=\"%g\" fill=\"#%02x%02x%02x\" text-anchor=\"%s\"", style->size,
            color.r, color.g, color.b, anchors[style->align]);
    if (style->bold)
        fputs(" font-weight=\"bold\"", out);
    if (style->outlined)
        fprintf(out,
                " stroke=\"#%02x%02x%02x\" stroke-width=\"3\" stroke-opacity=\"0.8\" "
                "stroke-linejoin=\"round\" paint-order=\"stroke\"",
                rim.r, rim.g, rim.b);
    fprintf(out, " textLength=\"%.1f\">", text->w > text->h || !style->turn ? text->w : text->h);
    put_escaped(out, text->text);
    fputs("</text>\n", out);
}

/* Writes the texts with their lengths, which a viewer without this font keeps. */
static void put_texts(const FigureLayout *layout, double scale, FILE *out) {
    fprintf(out, "<g transform=\"scale(%g)\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n",
            scale);
    for (size_t i = 0; i < layout->count; i++)
        if (layout->texts[i].text[0])
            put_text(&layout->texts[i], out);
    fputs("</g>\n", out);
}

/* Writes the document that cairo drew, with numbers, title and texts. False: no memory. */
static bool put_document(char *svg, const PageSpec *page, const FigureLayout *layout, FILE *out) {
    static const char end[] = "</svg>";
    char *root = strstr(svg, "<svg"), *body = root ? strchr(root, '>') : NULL;
    char *last = body ? strstr(body, end) : NULL;
    if (!last)
        return false;
    *last = '\0';
    fwrite(svg, 1, (size_t)(++body - svg), out);
    fputs("\n<title>", out);
    put_escaped(out, page->title ? page->title : "");
    fputs("</title>", out);
    bool numbered = renumber(body, strlen(body), out);
    put_texts(layout, scale_of(page), out);
    fprintf(out, "%s\n", end);
    return numbered;
}

static bool page_svg(const PageSpec *page, uint8_t **bytes, size_t *length, Err *err) {
    MemoryStream svg, out;
    FigureLayout texts = {.w = page->w, .h = page->h};
    bool opened = memory_stream_open(&svg, err);
    bool drawn = opened && draw_svg(page, svg.stream, &texts, err);
    drawn = opened && memory_stream_close(&svg, "SVG", drawn ? err : NULL) && drawn;
    if (drawn && texts.failed)
        drawn = err_set(err, ERR_FAILED, "SVG", "", "no memory for %zu texts", texts.count);
    if (drawn && memory_stream_open(&out, err)) {
        bool whole = put_document(svg.bytes, page, &texts, out.stream) ||
                     err_set(err, ERR_FAILED, "SVG", "", "no memory for %zu bytes", svg.length);
        if (memory_stream_close(&out, "SVG", whole ? err : NULL) && whole) {
            *bytes = (uint8_t *)out.bytes;
            *length = out.length;
        } else if (!whole)
            free(out.bytes);
    }
    if (opened)
        free(svg.bytes);
    figure_layout_free(&texts);
    return *bytes != NULL;
}

/* ---- PDF: cairo embeds the letters that are used --------------------------------------------- */

/* A unit of the page is a pixel of 1/96 inch. PDF 1.4 has the title outside of packed objects. */
static bool draw_pdf(const PageSpec *page, FILE *stream, Err *err) {
    const double scale = 0.75 * scale_of(page);
    cairo_surface_t *surface =
        cairo_pdf_surface_create_for_stream(append, stream, page->w * scale, page->h * scale);
    cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
                                   page->title ? page->title : "");
    /* The same page gives the same bytes. */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
    return draw_stream(surface, page, scale, NULL, "PDF", err);
}

static bool page_pdf(const PageSpec *page, uint8_t **bytes, size_t *length, Err *err) {
    MemoryStream pdf;
    if (!memory_stream_open(&pdf, err))
        return false;
    bool drawn = draw_pdf(page, pdf.stream, err);
    if (!memory_stream_close(&pdf, "PDF", drawn ? err : NULL) || !drawn) {
        free(pdf.bytes);
        return false;
    }
    *bytes = (uint8_t *)pdf.bytes;
    *length = pdf.length;
    return true;
}

static bool page_png(const PageSpec *page, uint8_t **bytes, size_t *length, Err *err) {
    Image image = {0};
    bool ok = page_image(page, &image, err) && image_png(&image, bytes, length, err);
    image_free(&image);
    return ok;
}

bool page_file(const PageSpec *page, PictureFormat format, uint8_t **bytes, size_t *length,
               Err *err) {
    *bytes = NULL;
    *length = 0;
    return (format == PICTURE_SVG   ? page_svg
            : format == PICTURE_PDF ? page_pdf
                                    : page_png)(page, bytes, length, err);
}

bool page_layout(const PageSpec *page, FigureLayout *layout, Err *err) {
    *layout = (FigureLayout){.w = page->w, .h = page->h};
    Image pixel;
    cairo_t *cr = pen_begin(&pixel, 1, 1, err);
    bool drawn = cr && pen_finish(cr, draw_on(cr, page, 1, layout, false, err), &pixel);
    image_free(&pixel);
    if (drawn && layout->failed)
        drawn = err_set(err, ERR_FAILED, "layout", "", "no memory for %zu texts", layout->count);
    if (!drawn)
        figure_layout_free(layout);
    return drawn;
}
