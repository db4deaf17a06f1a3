/* The blocks of the figure's page beside the legend: title, camera views, facts, table. */
#include "src/scene/scatter.h"
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- title and subtitle --------------------------------------------------------------------- */

const char *known(const char *text) {
    return text ? text : "n/a";
}

static void describe(const FigureSpec *spec, char *text, size_t size) {
    const FigureSelection *a = &spec->selections[0], *b = &spec->selections[1];
    const char *view = views[spec->view].title;
    char channel[32] = "", slice[64];
    slice_describe(&spec->slice, spec->rig ? &spec->rig->grid : NULL, slice, sizeof slice);
    if (spec->view == VIEW_CHANNEL)
        snprintf(channel, sizeof channel, " %lld", (long long)spec->channel);
    if (b->scene)
        snprintf(text, size, "%s%s: A is %s, B %s", view, channel, known(a->scene), b->scene);
    else if (spec->selection_count == 2)
        snprintf(text, size, "%s%s: A %s (%s, %s), B %s (%s, %s)", view, channel, known(a->kernel),
                 known(a->dtype), known(a->align), known(b->kernel), known(b->dtype),
                 known(b->align));
    else
        snprintf(text, size, "%s%s of the bird\u2019s-eye-view grid, %s%spooled by %s (%s, %s)",
                 view, channel, slice, slice[0] ? ", " : "", known(a->kernel), known(a->dtype),
                 known(a->align));
}

double header_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureSpec *spec = figure->spec;
    TextStyle title = {.size = SIZE_TITLE, .bold = true, .color = pen->theme->text};
    TextStyle subtitle = {.size = SIZE_HEADING, .color = pen->theme->muted};
    char text[320];
    describe(spec, text, sizeof text);
    pen_text(pen, x, top + SIZE_TITLE, w, &title, spec->title);
    double second = top + SIZE_TITLE + 10 + SIZE_HEADING + 4;
    pen_text(pen, x, second, w, &subtitle, spec->subtitle ? spec->subtitle : text);
    return second + 6 - top;
}

/* ---- camera views, in the order of the rig -------------------------------------------------- */

enum { PICTURE_GAP = 12, NAME_SPACE = 20, MIN_PICTURE_W = 300, MAX_PICTURE_H = 240 };

/* The fewest rows in which a picture is large enough to recognise a car. */
static int columns_for(int64_t cameras, double w) {
    for (int64_t rows = 1; rows < cameras; rows++) {
        int64_t columns = (cameras + rows - 1) / rows;
        if ((w - PICTURE_GAP * (double)(columns - 1)) / (double)columns >= MIN_PICTURE_W)
            return (int)columns;
    }
    return 1;
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
    pen->failed = spec->backward ? !lit_camera(spec, camera, &image, &pen->err)
                                 : !strip_camera(&figure->strip, spec->strip, figure->strip_values,
                                                 &figure->strip_range, camera, spec->cameras->w,
                                                 &image, &pen->err);
    pen_picture(pen, box, &image);
    image_free(&image);
    strongest_draw(pen, spec, camera, box);
}

/* Width over height of the network's input, which the views cover at any resolution. */
static double aspect_of(const FigureSpec *spec) {
    if (spec->rig)
        return (double)spec->rig->frustum.input_w / spec->rig->frustum.input_h;
    return (double)spec->cameras->w / (double)spec->cameras->h;
}

enum { KEY_H = 16 };

/* A bar of colours and what they mean. */
static void key_row(Pen *pen, const Colormap *map, const char *text, double x, double top,
                    double w) {
    enum { BAR_W = 160, BAR_H = 10 };
    TextStyle style = style_muted(pen);
    for (int i = 0; i < BAR_W && !pen->measuring; i++)
        pen_fill(pen, (Box){x + i, top, 1, BAR_H}, colormap_at(map, i / (BAR_W - 1.0)), 1);
    pen_text(pen, x + BAR_W + 10, top + BAR_H, w - BAR_W - 10, &style, text);
}

/* The meaning of the colours over the camera views. */
static double strip_key(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureSpec *spec = figure->spec;
    char text[96];
    double h = 0;
    if (figure->strip_values) {
        snprintf(text, sizeof text,
                 spec->strip == STRIP_DROPPED ? "depth outside the grid, dropped: none to all of it"
                 : spec->strip == STRIP_DEPTH ? "mean of the depth distribution, 0 to %.4g m"
                                              : "norm of the features, 0 to %.3g",
                 figure->strip_range.hi);
        key_row(pen, strip_colormap(spec->strip), text, x, top, w);
        h += KEY_H;
    }
    if (figure->strip.lidar) {
        snprintf(text, sizeof text, "LiDAR points by depth, 0 to %.4g m",
                 strip_lidar_range(spec->rig).hi);
        key_row(pen, strip_colormap(STRIP_DEPTH), text, x, top + h, w);
        h += KEY_H;
    }
    return h;
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
    return rows * row_h + strip_key(pen, figure, x, top + rows * row_h, w);
}

/* ---- facts: what was run, on what, how fast; unknown is "n/a", never 0 ---------------------- */

enum { ROW = 24, HEADING_ROW = 28, LABEL_W = 96, VALUE_MAX = 128 };

/* In the order of the page; those from FACT_GRID on are the same for every selection. */
/* clang-format off */
typedef enum {
    FACT_KERNEL, FACT_DTYPE, FACT_ALIGN, FACT_DEVICE, FACT_LATENCY, FACT_RECORDED,
    FACT_POINTS, FACT_INTERVALS, FACT_LONGEST, FACT_GRID, FACT_CHANNELS, FACT_COUNT
} Fact;
/* clang-format on */
static const char *const fact_labels[FACT_COUNT] = {"Kernel",  "Format",   "Alignment", "Device",
                                                    "Latency", "Recorded", "Points",    "Intervals",
                                                    "Longest", "Grid",     "Channels"};

static void count_text(int64_t count, const char *unit, char *value) {
    char number[32];
    unit_text(UNIT_COUNT, (double)count, number, sizeof number);
    snprintf(value, VALUE_MAX, "%s%s", number, count < 0 ? "" : unit);
}

static void grid_text(const Figure *figure, char *value) {
    const FigureSpec *spec = figure->spec;
    const Grid *grid = spec->rig ? &spec->rig->grid : &figure->grid;
    double dx = (grid->x_max_m - grid->x_min_m) / grid->nx;
    double dy = (grid->y_max_m - grid->y_min_m) / grid->ny;
    int used = snprintf(value, VALUE_MAX, "%d \u00d7 %d cells", grid->nx, grid->ny);
    if (spec->slice.slices > 1) {
        double dz = (grid->z_max_m - grid->z_min_m) / (double)spec->slice.slices;
        used = snprintf(value, VALUE_MAX, "%lld \u00d7 %lld \u00d7 %lld cells",
                        (long long)spec->slice.cells_x, (long long)spec->slice.rows,
                        (long long)spec->slice.slices);
        if (spec->rig && dx == dy && fabs(dx - dz) < 1e-9)
            snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g m", dx);
        else if (spec->rig)
            snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g \u00d7 %.4g \u00d7 %.4g m",
                     dx, dy, dz);
        return;
    }
    if (figure->spec->rig && dx == dy)
        snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g m", dx);
    else if (figure->spec->rig)
        snprintf(value + used, VALUE_MAX - (size_t)used, " of %.4g \u00d7 %.4g m", dx, dy);
}

static void latency_text(const FigureSelection *selection, char *value) {
    char time[32];
    figure_text(UNIT_US, selection->latency_us, time, sizeof time);
    if (selection->latency_source == SOURCE_UNKNOWN || time[0] == 'n')
        snprintf(value, VALUE_MAX, "n/a");
    else
        snprintf(value, VALUE_MAX, "%s (%s)", time, source_names[selection->latency_source]);
}

/* Name and date of a recording's machine: "NVIDIA H200, 2026-11-24". */
static void recorded_text(const char *label, char *value) {
    const char *name = known(label), *date = strrchr(name, ',');
    snprintf(value, VALUE_MAX, "%.*s%s", (int)strcspn(name, ","), name, date ? date : "");
}

static void fact_text(const Figure *figure, Fact fact, int s, char *value) {
    const FigureSpec *spec = figure->spec;
    const FigureSelection *selection = &spec->selections[s];
    const char *const words[] = {selection->kernel, selection->dtype, selection->align,
                                 selection->device};
    ScatterStats stats = {.points = -1, .intervals = -1, .longest = -1};
    if (selection->map && fact >= FACT_POINTS && fact <= FACT_LONGEST)
        stats = scatter_stats(selection->map, 0);
    if (fact <= FACT_DEVICE)
        snprintf(value, VALUE_MAX, "%s", known(words[fact]));
    else if (fact == FACT_LATENCY)
        latency_text(selection, value);
    else if (fact == FACT_RECORDED)
        recorded_text(selection->recorded_on, value);
    else if (fact == FACT_GRID)
        grid_text(figure, value);
    else if (fact == FACT_CHANNELS)
        count_text(spec->channels, "", value);
    else if (fact == FACT_LONGEST)
        count_text(stats.longest, " points", value);
    else
        count_text(fact == FACT_POINTS ? stats.points : stats.intervals, "", value);
}

/* The machine of a recorded latency has a row only where there is one. */
static bool has_row(const FigureSpec *spec, Fact fact) {
    bool recorded = false;
    for (int s = 0; s < spec->selection_count; s++)
        recorded = recorded || spec->selections[s].recorded_on;
    return fact != FACT_RECORDED || recorded;
}

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
    for (Fact fact = 0; fact < FACT_COUNT; fact++) {
        if (!has_row(figure->spec, fact))
            continue;
        double baseline = y + ROW / 2.0 + 0.36 * SIZE_BODY;
        bool shared = fact >= FACT_GRID;
        bool both = fact == FACT_LATENCY && figure->spec->backward;
        pen_text(pen, x, baseline, LABEL_W - 8, &label, both ? "Gradients" : fact_labels[fact]);
        for (int s = 0; s < (shared ? 1 : columns); s++) {
            char value[VALUE_MAX];
            fact_text(figure, fact, s, value);
            pen_text(pen, x + LABEL_W + s * column_w, baseline,
                     shared ? w - LABEL_W : column_w - 12, &value_style, value);
        }
        y += ROW;
    }
    return y - top;
}

/* ---- table, in the style of printed ones: rules above and below, none between columns ------- */

enum { TABLE_HEADING = 30, GAP = 22, MAX_COLUMNS = 12, NARROWEST = 60 };

static const char *cell_text(const FigureTable *table, int row, int column) {
    return row < 0 ? table->header[column] : table->cells[row * table->columns + column];
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

/* The first column gets the width that the others leave. Where that is too little, all others
 * shrink. */
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
