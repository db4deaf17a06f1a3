/* SPDX-License-Identifier: MIT */
#include "src/view/draw/pen.h"

#include "kernels/clean.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAGRAPH_MAX = 1024 };

void pen_init(Pen *pen, cairo_t *cr, const Theme *theme, FigureLayout *layout) {
    *pen = (Pen){.cr = cr, .theme = theme, .layout = layout};
    /* Set all options, so that the user's font configuration does not change the picture. */
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
}

void pen_open_measuring(Pen *pen, const Theme *theme) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    pen_init(pen, cairo_create(surface), theme, NULL);
    pen->measuring = true;
    cairo_surface_destroy(surface); /* the pen's context keeps it */
}

void pen_close(Pen *pen) {
    cairo_destroy(pen->cr);
}

/* The leak checker of sanitizer builds calls these two functions from its own library: they must be
 * visible. fontconfig keeps its configuration until the process ends, which is no leak of ours. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libfontconfig\nleak:libdbus-1\n"; /* SDL, in the same programs, uses D-Bus */
}

__attribute__((visibility("default"))) const char *__lsan_default_options(void);
const char *__lsan_default_options(void) {
    return "print_suppressions=0";
}

/* ---- text ----------------------------------------------------------------------------------- */

static void select_font(Pen *pen, const TextStyle *style) {
    cairo_select_font_face(pen->cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           style->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(pen->cr, style->size);
}

/* Without a font, cairo uses characters of its own: a font of the type "user". */
const char *pen_font_missing(void) {
    Pen pen;
    pen_open_measuring(&pen, NULL);
    select_font(&pen, &(TextStyle){.size = SIZE_BODY});
    bool own = cairo_scaled_font_get_type(cairo_get_scaled_font(pen.cr)) == CAIRO_FONT_TYPE_USER;
    pen_close(&pen);
    return own ? "no scalable font found, texts are coarse and slow: install fonts-dejavu-core"
               : NULL;
}

static double clean_width(Pen *pen, const char *text) {
    cairo_text_extents_t extents;
    cairo_text_extents(pen->cr, text, &extents);
    return extents.x_advance;
}

double pen_text_width(Pen *pen, const TextStyle *style, const char *text) {
    char clean[PEN_TEXT_MAX];
    clean_text(text, clean, sizeof clean);
    select_font(pen, style);
    return clean_width(pen, clean);
}

/* Cleans a text and cuts the text to `max_w`. Returns the width of `fitted`. */
static double fit_text(Pen *pen, const TextStyle *style, double max_w, const char *text,
                       char fitted[PEN_TEXT_MAX]) {
    char cut[PEN_TEXT_MAX - 4];
    clean_text(text, cut, sizeof cut);
    snprintf(fitted, PEN_TEXT_MAX, "%s", cut);
    select_font(pen, style);
    double width = clean_width(pen, fitted);
    while (width > max_w && text_drop_last(cut)) {
        size_t length = strlen(cut);
        while (length && cut[length - 1] == ' ')
            cut[--length] = '\0';
        snprintf(fitted, PEN_TEXT_MAX, "%s\u2026", cut);
        width = clean_width(pen, fitted);
    }
    return width;
}

/* The share of a text's width that lies before its anchor. */
static const double before_anchor[] = {[ALIGN_LEFT] = 0, [ALIGN_CENTER] = 0.5, [ALIGN_RIGHT] = 1};

static Box box_of(double x, double baseline, double width, const TextStyle *style) {
    double along = before_anchor[style->align];
    double ascent = 0.76 * style->size, descent = 0.24 * style->size; /* DejaVu Sans, capitals */
    if (style->upwards)
        return (Box){x - ascent, baseline - (1 - along) * width, ascent + descent, width};
    return (Box){x - along * width, baseline - ascent, width, ascent + descent};
}

Box pen_text_box(Pen *pen, double x, double baseline, double max_w, const TextStyle *style,
                 const char *text) {
    char fitted[PEN_TEXT_MAX];
    return box_of(x, baseline, fit_text(pen, style, max_w, text, fitted), style);
}

/* Adds a text to the layout, in place of drawing. Without memory the pen has failed. */
static void note_text(Pen *pen, Box box, double x, double baseline, const TextStyle *style,
                      const char *text) {
    FigureLayout *layout = pen->layout;
    if (pen->failed)
        return;
    if (layout->count == layout->capacity) {
        size_t capacity = layout->capacity ? 2 * layout->capacity : 128;
        FigureText *texts = realloc(layout->texts, capacity * sizeof *texts);
        if (!texts) {
            pen->failed = !err_set(&pen->err, ERR_FAILED, "SVG", "", "no memory for %zu texts",
                                   layout->count);
            return;
        }
        layout->texts = texts;
        layout->capacity = capacity;
    }
    FigureText *entry = &layout->texts[layout->count++];
    *entry = (FigureText){box.x, box.y, box.w, box.h, x, baseline, *style, ""};
    clean_text(text, entry->text, sizeof entry->text);
}

static void show_text(Pen *pen, double x, double baseline, double width, const TextStyle *style,
                      const char *text) {
    const double left = -before_anchor[style->align] * width;
    cairo_t *cr = pen->cr;
    cairo_save(cr);
    cairo_translate(cr, x, baseline);
    if (style->upwards)
        cairo_rotate(cr, -M_PI / 2);
    if (style->outlined) {
        cairo_move_to(cr, left, 0);
        cairo_text_path(cr, text);
        pen_stroke(pen, style->rim, 0.8, 3);
    }
    cairo_move_to(cr, left, 0);
    pen_color(pen, style->color, 1);
    cairo_show_text(cr, text);
    cairo_restore(cr);
}

double pen_text(Pen *pen, double x, double baseline, double max_w, const TextStyle *style,
                const char *text) {
    char fitted[PEN_TEXT_MAX];
    double width = fit_text(pen, style, max_w, text, fitted);
    if (pen->measuring)
        return width;
    if (pen->layout)
        note_text(pen, box_of(x, baseline, width, style), x, baseline, style, fitted);
    else
        show_text(pen, x, baseline, width, style, fitted);
    return width;
}

double pen_paragraph(Pen *pen, double x, double top, double w, const TextStyle *style,
                     const char *text) {
    double leading = ceil(1.4 * style->size), y = top;
    char clean[PARAGRAPH_MAX], line[PEN_TEXT_MAX] = "", *rest = NULL;
    clean_text(text, clean, sizeof clean);
    for (char *word = strtok_r(clean, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        size_t length = strlen(line);
        snprintf(line + length, sizeof line - length, "%s%s", length ? " " : "", word);
        if (length && pen_text_width(pen, style, line) > w) {
            line[length] = '\0';
            pen_text(pen, x, y + style->size, w, style, line);
            y += leading;
            snprintf(line, sizeof line, "%s", word);
        }
    }
    pen_text(pen, x, y + style->size, w, style, line);
    return y + leading - top;
}

TextStyle style_body(const Pen *pen) {
    return (TextStyle){.size = SIZE_BODY, .color = pen->theme->text};
}

TextStyle style_muted(const Pen *pen) {
    return (TextStyle){.size = SIZE_SMALL, .color = pen->theme->muted};
}

TextStyle style_heading(const Pen *pen) {
    return (TextStyle){.size = SIZE_HEADING, .bold = true, .color = pen->theme->text};
}

TextStyle style_over(const PanelTheme *theme, double size, TextAlign align) {
    return (TextStyle){
        .size = size, .color = theme->line, .align = align, .outlined = true, .rim = theme->halo};
}

TextStyle aligned(TextStyle style, TextAlign align) {
    style.align = align;
    return style;
}

/* ---- drawings that are kept as pixels ------------------------------------------------------- */

/* The last still drawing on a surface. */
typedef struct {
    cairo_surface_t *pixels; /* NULL: nothing is drawn yet */
    cairo_matrix_t matrix;   /* scale and place of that drawing */
    uint64_t key;            /* the caller's key of that drawing */
} Still;

static const cairo_user_data_key_t still_of;

static void still_free(void *contents) {
    Still *still = contents;
    cairo_surface_destroy(still->pixels);
    free(still);
}

void pen_keep_still(cairo_surface_t *surface) {
    Still *still = calloc(1, sizeof *still);
    if (still && cairo_surface_set_user_data(surface, &still_of, still, still_free))
        still_free(still); /* without memory all is drawn each time */
}

void pen_still(Pen *pen, Box box, uint64_t key, void (*draw)(Pen *pen, const void *context),
               const void *context) {
    Still *still = cairo_surface_get_user_data(cairo_get_target(pen->cr), &still_of);
    cairo_matrix_t to;
    cairo_get_matrix(pen->cr, &to);
    if (!still) {
        draw(pen, context);
        return;
    }
    const double x = floor(to.x0 + box.x * to.xx), y = floor(to.y0 + box.y * to.yy);
    if (!still->pixels || still->key != key || memcmp(&still->matrix, &to, sizeof to)) {
        cairo_surface_destroy(still->pixels);
        still->pixels = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)(box.w * to.xx) + 2,
                                                   (int)(box.h * to.yy) + 2);
        still->matrix = to;
        still->key = key;
        cairo_t *cr = cairo_create(still->pixels);
        Pen apart;
        pen_init(&apart, cr, pen->theme, NULL);
        cairo_set_matrix(cr, &(cairo_matrix_t){to.xx, 0, 0, to.yy, to.x0 - x, to.y0 - y});
        draw(&apart, context);
        cairo_destroy(cr);
    }
    cairo_save(pen->cr);
    cairo_identity_matrix(pen->cr);
    cairo_set_source_surface(pen->cr, still->pixels, x, y);
    cairo_paint(pen->cr);
    cairo_restore(pen->cr);
}

/* ---- lines and pictures --------------------------------------------------------------------- */

void pen_color(Pen *pen, Rgb color, double alpha) {
    cairo_set_source_rgba(pen->cr, color.r / 255.0, color.g / 255.0, color.b / 255.0, alpha);
}

void pen_stroke(Pen *pen, Rgb color, double alpha, double width) {
    pen_color(pen, color, alpha);
    cairo_set_line_width(pen->cr, fmax(width, pen->least_width));
    cairo_stroke(pen->cr);
}

void pen_clip(Pen *pen, Box box) {
    cairo_save(pen->cr);
    cairo_rectangle(pen->cr, box.x, box.y, box.w, box.h);
    cairo_clip(pen->cr);
}

void pen_fill(Pen *pen, Box box, Rgb color, double alpha) {
    if (pen->measuring)
        return;
    pen_color(pen, color, alpha);
    cairo_rectangle(pen->cr, box.x, box.y, box.w, box.h);
    cairo_fill(pen->cr);
}

void pen_frame(Pen *pen, Box box, Rgb color, double alpha, double width) {
    if (pen->measuring)
        return;
    cairo_rectangle(pen->cr, box.x - width / 2, box.y - width / 2, box.w + width, box.h + width);
    pen_stroke(pen, color, alpha, width);
}

void pen_line(Pen *pen, double x0, double y0, double x1, double y1, Rgb color, double alpha,
              double width) {
    if (pen->measuring)
        return;
    cairo_move_to(pen->cr, x0, y0);
    cairo_line_to(pen->cr, x1, y1);
    pen_stroke(pen, color, alpha, width);
}

void pen_circle(Pen *pen, double x, double y, double radius, Rgb color, double alpha,
                double width) {
    if (pen->measuring)
        return;
    cairo_new_sub_path(pen->cr);
    cairo_arc(pen->cr, x, y, radius, 0, 2 * M_PI);
    if (width > 0) {
        pen_stroke(pen, color, alpha, width);
        return;
    }
    pen_color(pen, color, alpha);
    cairo_fill(pen->cr);
}

typedef enum { TO_IMAGE, TO_SURFACE } CopyTo;

/* Copies pixels between a surface of the format RGB24 and a picture of the same size. */
static void copy_pixels(cairo_surface_t *surface, const Image *image, CopyTo to) {
    cairo_surface_flush(surface);
    uint8_t *data = cairo_image_surface_get_data(surface), *p = image->rgba;
    int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < image->h; y++, data += stride) {
        uint32_t *words = (uint32_t *)(void *)data;
        for (int x = 0; x < image->w; x++, p += 4)
            if (to == TO_SURFACE)
                words[x] = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
            else
                memcpy(p,
                       (uint8_t[]){words[x] >> 16 & 255, words[x] >> 8 & 255, words[x] & 255, 255},
                       4);
    }
    cairo_surface_mark_dirty(surface);
}

cairo_surface_t *pen_surface(const Image *image) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->w, image->h);
    if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS)
        copy_pixels(surface, image, TO_SURFACE);
    return surface;
}

cairo_t *pen_begin(Image *image, int64_t w, int64_t h, Err *err) {
    if (!image_init(image, w, h, err))
        return NULL;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, image->w, image->h);
    cairo_t *cr = cairo_create(surface); /* holds the surface */
    cairo_surface_destroy(surface);
    return cr;
}

bool pen_finish(cairo_t *cr, bool drawn, Image *image) {
    if (drawn)
        copy_pixels(cairo_get_target(cr), image, TO_IMAGE);
    else
        image_free(image);
    cairo_destroy(cr);
    return drawn;
}

bool pen_status(cairo_status_t status, const char *what, Err *err) {
    return status == CAIRO_STATUS_SUCCESS ||
           err_set(err, ERR_FAILED, what, "choose a smaller scale", "cairo: %s",
                   cairo_status_to_string(status));
}

static void paint_image(Pen *pen, Box box, const Image *image, cairo_filter_t filter) {
    cairo_surface_t *surface = pen_surface(image);
    cairo_save(pen->cr);
    cairo_translate(pen->cr, box.x, box.y);
    cairo_scale(pen->cr, box.w / image->w, box.h / image->h);
    cairo_set_source_surface(pen->cr, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(pen->cr), filter);
    cairo_pattern_set_extend(cairo_get_source(pen->cr), CAIRO_EXTEND_PAD);
    cairo_rectangle(pen->cr, 0, 0, image->w, image->h);
    cairo_fill(pen->cr);
    cairo_restore(pen->cr);
    cairo_surface_destroy(surface);
}

/* Whether a part of the box is seen. A layout is drawn onto a surface of one pixel: no picture has
 * to be enlarged there. */
static bool on_surface(Pen *pen, Box box) {
    double x0, y0, x1, y1;
    cairo_clip_extents(pen->cr, &x0, &y0, &x1, &y1);
    return boxes_overlap(box, (Box){x0, y0, x1 - x0, y1 - y0});
}

/* Enlarges a picture to the pixels of the device, so that an SVG viewer does not smooth it. */
void pen_picture(Pen *pen, Box box, const Image *image) {
    if (pen->measuring || pen->failed || !on_surface(pen, box))
        return;
    double w = box.w, h = box.h;
    cairo_user_to_device_distance(pen->cr, &w, &h);
    if (lround(w) < image->w || lround(h) < image->h) {
        paint_image(pen, box, image, CAIRO_FILTER_GOOD);
        return;
    }
    Image scaled;
    pen->failed = !image_scale(image, lround(w), lround(h), &scaled, &pen->err);
    if (!pen->failed)
        paint_image(pen, box, &scaled, CAIRO_FILTER_NEAREST);
    image_free(&scaled);
}

bool boxes_overlap(Box a, Box b) {
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

void figure_layout_free(FigureLayout *layout) {
    if (!layout)
        return;
    free(layout->texts);
    *layout = (FigureLayout){0};
}

static double scale_of(const PageSpec *page) {
    return page->scale > 0 ? page->scale : 1;
}

static bool draw_on(cairo_t *cr, const PageSpec *page, double scale, FigureLayout *layout,
                    Err *err) {
    Pen pen;
    pen_init(&pen, cr, &themes[page->theme], layout);
    pen_color(&pen, pen.theme->page, 1);
    cairo_paint(cr);
    cairo_scale(cr, scale, scale);
    page->draw(&pen, page->context);
    if (pen.failed && err)
        *err = pen.err;
    return !pen.failed && pen_status(cairo_status(cr), "picture", err);
}

bool page_image(const PageSpec *page, Image *image, Err *err) {
    double scale = scale_of(page);
    cairo_t *cr = pen_begin(image, lround(page->w * scale), lround(page->h * scale), err);
    return cr && pen_finish(cr, draw_on(cr, page, scale, NULL, err), image);
}

/* ---- SVG and PDF ---------------------------------------------------------------------------- */

static cairo_status_t append(void *stream, const unsigned char *data, unsigned length) {
    return fwrite(data, 1, length, stream) == length ? CAIRO_STATUS_SUCCESS
                                                     : CAIRO_STATUS_NO_MEMORY;
}

static cairo_surface_t *svg_surface(const PageSpec *page, double scale, FILE *stream) {
    cairo_surface_t *surface =
        cairo_svg_surface_create_for_stream(append, stream, page->w * scale, page->h * scale);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    return surface;
}

/* Returns a PDF surface. In PDF 1.4 tools find the title, because its objects are not packed. */
static cairo_surface_t *pdf_surface(const PageSpec *page, double scale, FILE *stream) {
    cairo_surface_t *surface =
        cairo_pdf_surface_create_for_stream(append, stream, page->w * scale, page->h * scale);
    cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
                                   page->title ? page->title : "");
    /* The same page gives the same bytes. */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
    return surface;
}

/* Draws the page into memory as an SVG, whose texts are noted and not drawn, or as a PDF, whose
 * unit is a point. Returns false with nothing to free. */
static bool draw_file(const PageSpec *page, FigureLayout *texts, MemoryStream *file, Err *err) {
    const char *what = texts ? "SVG" : "PDF";
    double scale = (texts ? 1 : 0.75) * scale_of(page);
    if (!memory_stream_open(file, err))
        return false;
    cairo_surface_t *surface = (texts ? svg_surface : pdf_surface)(page, scale, file->stream);
    cairo_t *cr = cairo_create(surface);
    bool drawn = draw_on(cr, page, scale, texts, err);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    drawn = drawn && pen_status(cairo_surface_status(surface), what, err);
    cairo_surface_destroy(surface);
    bool whole = memory_stream_close(file, what, drawn ? err : NULL);
    if (drawn && whole)
        return true;
    free(file->bytes);
    *file = (MemoryStream){.length = 0};
    return false;
}

/* ---- texts of an SVG: cairo would write letters as outlines, so texts are written here ------- */

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
    const TextStyle *style = &text->style;
    const Rgb color = style->color, rim = style->rim;
    fprintf(out, "<text transform=\"translate(%.1f %.1f)", text->at_x, text->at_y);
    if (style->upwards)
        fputs(" rotate(-90)", out);
    fprintf(out, "\" font-size=\"%g\" fill=\"#%02x%02x%02x\" text-anchor=\"%s\"", style->size,
            color.r, color.g, color.b, anchors[style->align]);
    if (style->bold)
        fputs(" font-weight=\"bold\"", out);
    if (style->outlined)
        fprintf(out,
                " stroke=\"#%02x%02x%02x\" stroke-width=\"3\" stroke-opacity=\"0.8\" "
                "stroke-linejoin=\"round\" paint-order=\"stroke\"",
                rim.r, rim.g, rim.b);
    fprintf(out, " textLength=\"%.1f\">", text->w > text->h || !style->upwards ? text->w : text->h);
    put_escaped(out, text->text);
    fputs("</text>\n", out);
}

/* Writes the document that cairo drew, and adds title and texts. Each text has its length, so that
 * a viewer with another font keeps the layout. */
static void put_document(const char *svg, const PageSpec *page, const FigureLayout *layout,
                         FILE *out) {
    static const char end[] = "</svg>";
    const char *body = strchr(strstr(svg, "<svg"), '>') + 1, *last = strstr(body, end);
    fprintf(out, "%.*s\n<title>", (int)(body - svg), svg);
    put_escaped(out, page->title ? page->title : "");
    fputs("</title>", out);
    fwrite(body, 1, (size_t)(last - body), out);
    fprintf(out, "<g transform=\"scale(%g)\" font-family=\"'DejaVu Sans', Verdana, sans-serif\">\n",
            scale_of(page));
    for (size_t i = 0; i < layout->count; i++)
        if (layout->texts[i].text[0])
            put_text(&layout->texts[i], out);
    fprintf(out, "</g>\n%s\n", end);
}

static bool page_svg(const PageSpec *page, MemoryStream *file, Err *err) {
    MemoryStream svg;
    FigureLayout texts = {.w = page->w, .h = page->h};
    bool drawn = draw_file(page, &texts, &svg, err), whole = false;
    if (drawn && memory_stream_open(file, err)) {
        put_document(svg.bytes, page, &texts, file->stream);
        whole = memory_stream_close(file, "SVG", err);
    }
    if (drawn)
        free(svg.bytes);
    figure_layout_free(&texts);
    return whole;
}

bool page_file(const PageSpec *page, PictureFormat format, MemoryStream *file, Err *err) {
    Image image = {0};
    *file = (MemoryStream){.length = 0};
    if (format != PICTURE_PNG)
        return format == PICTURE_SVG ? page_svg(page, file, err) : draw_file(page, NULL, file, err);
    bool ok = page_image(page, &image, err) && image_png(&image, false, file, err);
    image_free(&image);
    return ok;
}

bool page_layout(const PageSpec *page, FigureLayout *layout, Err *err) {
    *layout = (FigureLayout){.w = page->w, .h = page->h};
    Image pixel;
    cairo_t *cr = pen_begin(&pixel, 1, 1, err);
    bool drawn = cr && pen_finish(cr, draw_on(cr, page, 1, layout, err), &pixel);
    image_free(&pixel);
    if (!drawn)
        figure_layout_free(layout);
    return drawn;
}
