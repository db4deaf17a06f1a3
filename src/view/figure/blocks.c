/* The blocks of the figure's page beside the legend: title, camera views, facts, table. */
#include "src/scene/scatter.h"
#include "src/view/draw/text.h"
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdio.h>

/* ---- title and subtitle ---------------------------------------------------------------------- */

static const char *known(const char *text) {
    return text ? text : "n/a";
}

static void describe(const FigureSpec *spec, char *text, size_t size) {
    const FigureSelection *a = &spec->selections[0], *b = &spec->selections[1];
    const char *view = views[spec->view].title;
    char channel[32] = "";
    if (spec->view == VIEW_CHANNEL)
        snprintf(channel, sizeof channel, " %lld", (long long)spec->channel);
    if (spec->selection_count == 2)
        snprintf(text, size, "%s%s: A %s (%s, %s), B %s (%s, %s)", view, channel, known(a->kernel),
                 known(a->dtype), known(a->align), known(b->kernel), known(b->dtype),
                 known(b->align));
    else
        snprintf(text, size, "%s%s of the bird\u2019s-eye-view grid, pooled by %s (%s, %s)", view,
                 channel, known(a->kernel), known(a->dtype), known(a->align));
}

double header_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureSpec *spec = figure->spec;
    TextStyle title = {.size = SIZE_TITLE, .bold = true, .color = pen->theme->text};
    TextStyle subtitle = {.size = SIZE_HEADING, .color = pen->theme->muted};
    char text[256];
    describe(spec, text, sizeof text);
    pen_text(pen, x, top + SIZE_TITLE, w, &title, known(spec->title));
    double second = top + SIZE_TITLE + 10 + SIZE_HEADING + 4;
    pen_text(pen, x, second, w, &subtitle, spec->subtitle ? spec->subtitle : text);
    return second + 6 - top;
}

/* ---- camera views, in the order of the rig -----------------------------------------------------
 */

enum { PICTURE_GAP = 12, NAME_SPACE = 20, MIN_PICTURE_W = 300, MAX_PICTURE_H = 240 };

/* The fewest rows in which a picture is still large enough to recognise a car. */
static int columns_for(int64_t cameras, double w) {
    for (int64_t rows = 1; rows < cameras; rows++) {
        int64_t columns = (cameras + rows - 1) / rows;
        if ((w - PICTURE_GAP * (double)(columns - 1)) / (double)columns >= MIN_PICTURE_W)
            return (int)columns;
    }
    return 1;
}

static bool camera_image(const CameraViews *cameras, int64_t camera, Image *image, Err *err) {
    if (!image_init(image, cameras->w, cameras->h, err))
        return false;
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++) {
            const float *p =
                cameras->color + 3 * ((camera * cameras->h + y) * cameras->w + (int64_t)x);
            bool bad = !isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]);
            image_set(image, x, y, bad ? panel_dark.bad : rgb_from_linear(p[0], p[1], p[2]));
        }
    return true;
}

static void draw_camera(Pen *pen, const Figure *figure, int64_t camera, Box box) {
    const FigureSpec *spec = figure->spec;
    char number[32];
    snprintf(number, sizeof number, "camera %lld", (long long)camera);
    bool named = spec->rig && camera < spec->rig->camera_count;
    TextStyle style = style_muted(pen);
    pen_text(pen, box.x, box.y + box.h + 5 + 0.8 * SIZE_SMALL, box.w, &style,
             named ? spec->rig->cameras[camera].name : number);
    Image image;
    if (pen->measuring || pen->failed)
        return;
    pen->failed = !camera_image(spec->cameras, camera, &image, &pen->err);
    pen_picture(pen, box, &image);
    image_free(&image);
}

/* Width over height of the network's input, which the views cover whatever their resolution. */
static double aspect_of(const FigureSpec *spec) {
    if (spec->rig)
        return (double)spec->rig->frustum.input_w / spec->rig->frustum.input_h;
    return (double)spec->cameras->w / (double)spec->cameras->h;
}

double strip_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const CameraViews *cameras = figure->spec->cameras;
    if (!cameras || !cameras->cameras)
        return 0;
    int columns = columns_for(cameras->cameras, w);
    int rows = (int)((cameras->cameras + columns - 1) / columns);
    double aspect = aspect_of(figure->spec);
    double picture_w = floor((w - PICTURE_GAP * (columns - 1)) / columns);
    picture_w = fmax(fmin(picture_w, round(MAX_PICTURE_H * aspect)), 1);
    double picture_h = fmax(round(picture_w / aspect), 1);
    double row_h = picture_h + NAME_SPACE + PICTURE_GAP / 2.0;
    for (int64_t camera = 0; camera < cameras->cameras; camera++)
        draw_camera(pen, figure, camera,
                    (Box){x + (double)(camera % columns) * (picture_w + PICTURE_GAP),
                          top + (double)(camera / columns) * row_h, picture_w, picture_h});
    return rows * row_h;
}

/* ---- facts: what was run, on what, how fast; unknown is "n/a", never 0
 * --------------------------- */

enum { ROW = 24, HEADING_ROW = 28, LABEL_W = 96, VALUE_MAX = 128 };

static const char *const source_titles[] = {"n/a", "measured", "recorded", "model"};

static void copy(const char *text, char *value) {
    snprintf(value, VALUE_MAX, "%s", text ? text : "n/a");
}

static void kernel_fact(const Figure *figure, int s, char *value) {
    copy(figure->spec->selections[s].kernel, value);
}

static void dtype_fact(const Figure *figure, int s, char *value) {
    copy(figure->spec->selections[s].dtype, value);
}

static void align_fact(const Figure *figure, int s, char *value) {
    copy(figure->spec->selections[s].align, value);
}

static void device_fact(const Figure *figure, int s, char *value) {
    copy(figure->spec->selections[s].device, value);
}

static void latency_fact(const Figure *figure, int s, char *value) {
    const FigureSelection *config = &figure->spec->selections[s];
    char time[32];
    text_microseconds(config->latency_us, time, sizeof time);
    if (config->latency_source == SOURCE_UNKNOWN || time[0] == 'n')
        copy(NULL, value);
    else
        snprintf(value, VALUE_MAX, "%s (%s)", time, source_titles[config->latency_source]);
}

static ScatterStats stats_of(const Figure *figure, int s) {
    const BevMap *map = figure->spec->selections[s].map;
    if (!map)
        return (ScatterStats){.points = -1, .intervals = -1, .longest = -1};
    return scatter_stats(map, figure->spec->nx * figure->spec->ny);
}

static void points_fact(const Figure *figure, int s, char *value) {
    text_count(stats_of(figure, s).points, value, VALUE_MAX);
}

static void intervals_fact(const Figure *figure, int s, char *value) {
    text_count(stats_of(figure, s).intervals, value, VALUE_MAX);
}

static void longest_fact(const Figure *figure, int s, char *value) {
    ScatterStats stats = stats_of(figure, s);
    char count[32];
    text_count(stats.longest, count, sizeof count);
    if (stats.longest < 0)
        copy(NULL, value);
    else
        snprintf(value, VALUE_MAX, "%s points", count);
}

static void grid_fact(const Figure *figure, int s, char *value) {
    (void)s;
    const Grid *grid = &figure->grid;
    double dx = (grid->x_max_m - grid->x_min_m) / grid->nx;
    double dy = (grid->y_max_m - grid->y_min_m) / grid->ny;
    int used = snprintf(value, VALUE_MAX, "%d \u00d7 %d cells", grid->nx, grid->ny);
    if (figure->spec->rig && dx == dy)
        snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g m", dx);
    else if (figure->spec->rig)
        snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g \u00d7 %.4g m", dx, dy);
}

static void channels_fact(const Figure *figure, int s, char *value) {
    (void)s;
    text_count(figure->spec->channels, value, VALUE_MAX);
}

static const struct {
    const char *label;
    void (*write)(const Figure *figure, int config, char *value);
    bool shared; /* the same for every selection: written once, across the columns */
} facts[] = {
    {"Kernel", kernel_fact, false},
    {"Format", dtype_fact, false},
    {"Alignment", align_fact, false},
    {"Device", device_fact, false},
    {"Latency", latency_fact, false},
    {"Points", points_fact, false},
    {"Intervals", intervals_fact, false},
    {"Longest", longest_fact, false},
    {"Grid", grid_fact, true},
    {"Channels", channels_fact, true},
};

double facts_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    int columns = figure->spec->selection_count;
    double column_w = (w - LABEL_W) / columns, y = top;
    TextStyle head = style_heading(pen), label = style_body(pen), value_style = style_body(pen);
    label.color = pen->theme->muted;
    pen_text(pen, x, y + SIZE_HEADING, LABEL_W, &head, "Run");
    for (int s = 0; columns > 1 && s < columns; s++)
        pen_text(pen, x + LABEL_W + s * column_w, y + SIZE_HEADING, column_w, &head,
                 figure->panels[s].letter);
    y += HEADING_ROW;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++, y += ROW) {
        double baseline = y + ROW / 2.0 + 0.36 * SIZE_BODY;
        pen_text(pen, x, baseline, LABEL_W - 8, &label, facts[i].label);
        int written = facts[i].shared ? 1 : columns;
        for (int s = 0; s < written; s++) {
            char value[VALUE_MAX];
            facts[i].write(figure, s, value);
            pen_text(pen, x + LABEL_W + s * column_w, baseline,
                     facts[i].shared ? w - LABEL_W : column_w - 12, &value_style, value);
        }
    }
    return y - top;
}

/* ---- table, in the style of printed ones: rules above and below, none between columns
 * ------------ */

enum { TABLE_HEADING = 30, GAP = 22, MAX_COLUMNS = 12, NARROWEST = 60 };

static const char *cell_text(const FigureTable *table, int row, int column) {
    const char *text =
        row < 0 ? table->header[column] : table->cells[row * table->columns + column];
    return text ? text : "n/a";
}

static int columns_of(const FigureTable *table) {
    return table->columns < MAX_COLUMNS ? table->columns : MAX_COLUMNS;
}

/* The row that the picture shows is set in bold. */
static TextStyle row_style(const Pen *pen, const FigureTable *table, int row) {
    TextStyle style = row < 0 ? style_muted(pen) : style_body(pen);
    style.bold = row >= 0 && row == table->highlight;
    return style;
}

static double natural_widths(Pen *pen, const FigureTable *table, double widths[MAX_COLUMNS]) {
    double total = 0;
    for (int column = 0; column < columns_of(table); column++) {
        widths[column] = 0;
        for (int row = -1; row < table->rows; row++) {
            TextStyle style = row_style(pen, table, row);
            double width = pen_text_width(pen, &style, cell_text(table, row, column));
            widths[column] = fmax(widths[column], ceil(width));
        }
        total += widths[column] + (column ? GAP : 0);
    }
    return total;
}

double table_width(Pen *pen, const Figure *figure) {
    double widths[MAX_COLUMNS];
    return figure->spec->table ? natural_widths(pen, figure->spec->table, widths) + 16 : 0;
}

/* Gives the names what the numbers leave; takes from all when that is too little. */
static void fit_widths(double widths[MAX_COLUMNS], int columns, double total, double w) {
    if (!columns)
        return;
    double spare = w - total;
    double first = fmax(widths[0] + spare, fmin(widths[0], NARROWEST));
    double rest_before = total - widths[0], rest_after = w - first;
    widths[0] = first;
    if (rest_after >= rest_before)
        return;
    double gaps = GAP * (columns - 1);
    double shrink = fmax(rest_after - gaps, 0) / fmax(rest_before - gaps, 1);
    for (int column = 1; column < columns; column++)
        widths[column] *= shrink;
}

static void table_row(Pen *pen, const FigureTable *table, int row, const double widths[MAX_COLUMNS],
                      double x, double top) {
    TextStyle style = row_style(pen, table, row);
    double right = x;
    for (int column = 0; column < columns_of(table); column++) {
        right += widths[column] + (column ? GAP : 0);
        style.align = column ? ALIGN_RIGHT : ALIGN_LEFT;
        pen_text(pen, column ? right : x, top + ROW / 2.0 + 0.36 * style.size, widths[column],
                 &style, cell_text(table, row, column));
    }
}

double table_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureTable *table = figure->spec->table;
    if (!table)
        return 0;
    double widths[MAX_COLUMNS], inset = 8;
    double total = natural_widths(pen, table, widths);
    fit_widths(widths, columns_of(table), total, w - 2 * inset);
    TextStyle head = style_heading(pen), small = style_muted(pen);
    pen_text(pen, x, top + SIZE_HEADING, w, &head, table->title);
    double y = top + TABLE_HEADING;
    pen_line(pen, x, y, x + w, y, pen->theme->text, 1, 1.5);
    table_row(pen, table, -1, widths, x + inset, y + 2);
    y += ROW + 4;
    pen_line(pen, x, y, x + w, y, pen->theme->rule, 1, 1);
    for (int row = 0; row < table->rows; row++, y += ROW) {
        if (row == table->highlight)
            pen_fill(pen, (Box){x, y + 0.5, w, ROW}, pen->theme->tint, 1);
        table_row(pen, table, row, widths, x + inset, y);
    }
    pen_line(pen, x, y + 2, x + w, y + 2, pen->theme->text, 1, 1.5);
    y += 10;
    if (table->note)
        y += pen_paragraph(pen, x, y, w, &small, table->note);
    return y - top;
}
