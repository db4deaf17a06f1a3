#include "src/view/draw/page.h"

#include "src/base/markup.h"
#include "src/base/memory_stream.h"

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
                    Err *err) {
    Pen pen;
    cairo_scale(cr, scale, scale);
    pen_init(&pen, cr, &themes[page->theme], layout);
    pen_fill(&pen, (Box){0, 0, page->w, page->h}, pen.theme->page, 1);
    page->draw(&pen, page->context);
    if (pen.failed && err)
        *err = pen.err;
    return !pen.failed && pen_status(cairo_status(cr), "picture", err);
}

/* The page may end within the last row or column of pixels: they would stay half black. */
static void paint_whole(cairo_t *cr, Rgb color) {
    cairo_set_source_rgb(cr, color.r / 255.0, color.g / 255.0, color.b / 255.0);
    cairo_paint(cr);
}

bool page_image(const PageSpec *page, Image *image, Err *err) {
    double scale = scale_of(page);
    cairo_t *cr = pen_begin(image, lround(page->w * scale), lround(page->h * scale), err);
    if (cr)
        paint_whole(cr, themes[page->theme].page);
    return cr && pen_finish(cr, draw_on(cr, page, scale, NULL, err), image);
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

/* Length of the prefix of an id like image17 at `p`; 0: none. */
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

static bool draw_svg(const PageSpec *page, FILE *stream, Err *err) {
    double scale = scale_of(page);
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(append, stream, page->w * scale, page->h * scale);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    cairo_t *cr = cairo_create(surface);
    bool drawn = draw_on(cr, page, scale, NULL, err);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    drawn = drawn && pen_status(cairo_surface_status(surface), "SVG", err);
    cairo_surface_destroy(surface);
    return drawn;
}

/* ---- texts of an SVG: cairo writes letters as outlines, so words are laid over them, unseen
 * ------ */

/* The title is the text in the largest letters. */
static void put_title(const FigureLayout *layout, FILE *out) {
    const FigureText *title = NULL;
    for (size_t i = 0; i < layout->count; i++)
        if (!title || layout->texts[i].h > title->h)
            title = layout->texts[i].w > layout->texts[i].h ? &layout->texts[i] : title;
    fputs("\n<title>", out);
    markup_text(out, title ? title->text : "");
    fputs("</title>", out);
}

/* Texts that can be searched, marked and read aloud. One that is higher than wide is turned. */
static void put_texts(const FigureLayout *layout, double scale, FILE *out) {
    const double ascent = 0.8; /* of a box's height, about */
    fprintf(out, "<g transform=\"scale(%g)\" font-family=\"sans-serif\" fill-opacity=\"0\">\n",
            scale);
    for (size_t i = 0; i < layout->count; i++) {
        const FigureText *text = &layout->texts[i];
        bool turned = text->h > text->w && text->text[0] && text->text[1];
        double high = turned ? text->w : text->h, wide = turned ? text->h : text->w;
        fprintf(out, "<text transform=\"translate(%.1f %.1f)%s\" font-size=\"%.1f\" ",
                text->x + (turned ? ascent * high : 0),
                text->y + (turned ? text->h : ascent * high), turned ? " rotate(-90)" : "",
                ascent * high);
        fprintf(out, "textLength=\"%.1f\">", wide);
        markup_text(out, text->text);
        fputs("</text>\n", out);
    }
    fputs("</g>\n", out);
}

/* The document that cairo drew, with numbers, title and texts. False: no memory. */
static bool put_document(char *svg, const FigureLayout *layout, double scale, FILE *out) {
    static const char end[] = "</svg>";
    char *root = strstr(svg, "<svg"), *body = root ? strchr(root, '>') : NULL;
    char *last = body ? strstr(body, end) : NULL;
    if (!last)
        return false;
    *last = '\0';
    fwrite(svg, 1, (size_t)(++body - svg), out);
    put_title(layout, out);
    bool numbered = renumber(body, strlen(body), out);
    put_texts(layout, scale, out);
    fprintf(out, "%s\n", end);
    return numbered;
}

static bool page_svg(const PageSpec *page, uint8_t **bytes, size_t *length, Err *err) {
    MemoryStream svg, out;
    FigureLayout layout;
    *bytes = NULL;
    *length = 0;
    if (!page_layout(page, &layout, err))
        return false;
    bool opened = memory_stream_open(&svg, err), drawn = opened && draw_svg(page, svg.stream, err);
    drawn = opened && memory_stream_close(&svg, "SVG", drawn ? err : NULL) && drawn;
    if (drawn && memory_stream_open(&out, err)) {
        bool whole = put_document(svg.bytes, &layout, scale_of(page), out.stream) ||
                     err_set(err, ERR_FAILED, "SVG", "", "no memory for %zu bytes", svg.length);
        if (memory_stream_close(&out, "SVG", whole ? err : NULL) && whole) {
            *bytes = (uint8_t *)out.bytes;
            *length = out.length;
        } else if (!whole)
            free(out.bytes);
    }
    if (opened)
        free(svg.bytes);
    figure_layout_free(&layout);
    return *bytes != NULL;
}

bool page_file(const PageSpec *page, bool svg, uint8_t **bytes, size_t *length, Err *err) {
    Image image = {0};
    *bytes = NULL;
    if (svg)
        return page_svg(page, bytes, length, err);
    bool ok = page_image(page, &image, err) && image_png(&image, bytes, length, err);
    image_free(&image);
    return ok;
}

bool page_layout(const PageSpec *page, FigureLayout *layout, Err *err) {
    *layout = (FigureLayout){.w = page->w, .h = page->h};
    Image pixel;
    cairo_t *cr = pen_begin(&pixel, 1, 1, err);
    bool drawn = cr && pen_finish(cr, draw_on(cr, page, 1, layout, err), &pixel);
    image_free(&pixel);
    if (drawn && layout->failed)
        drawn = err_set(err, ERR_FAILED, "layout", "", "no memory for %zu texts", layout->count);
    if (!drawn)
        figure_layout_free(layout);
    return drawn;
}
