/* SPDX-License-Identifier: MIT */
/* The BEV in a terminal: two pixels a cell as half blocks, or one character without colour. */
#include "src/view/bev/gradient_strip.h"
#include "src/view/term/dashboard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The part of the picture that is shown: pixels [left, left + w) x [top, top + h), with fractions.
 * Columns of the picture run against y and rows against x, because x (forward) is up. */
typedef struct {
    double left, top, w, h;
} Part;

/* Returns how much larger heights are drawn (slice.h). */
static int stretch_of(const State *state) {
    Slice slice = state_slice(state);
    return slice_stretch(&slice, state->scene.has_rig ? &state->scene.grid : NULL);
}

static Part part_of(const State *state) {
    const Viewport *viewport = &state->viewport;
    double nx = (double)state->scene.nx, ny = (double)state->scene.ny;
    double w = ny / viewport->zoom, h = nx / viewport->zoom;
    return (Part){ny - viewport->center_y - w / 2, nx - viewport->center_x - h / 2, w, h};
}

/* Returns the largest area for the part. A terminal's cell is about twice as high as wide: h rows
 * show 2 h square pixels. */
static Area fit_part(Area area, const Part *part, int stretch) {
    double ratio = part->w / part->h / stretch;
    int w = (int)fmin(area.w, floor(2 * area.h * ratio)), h = (int)fmin(area.h, area.w / ratio / 2);
    w = w < 1 ? 1 : w;
    h = h < 1 ? 1 : h;
    return (Area){area.x + (area.w - w) / 2, area.y, w, h};
}

typedef struct {
    double r, g, b, weight;
} Sum;

static bool is_full(Rgb color) {
    return memcmp(&color, &panel_theme.background, sizeof color) != 0;
}

static void add_color(Sum *sum, Rgb color, double share) {
    sum->r += share * color.r;
    sum->g += share * color.g;
    sum->b += share * color.b;
    sum->weight += share;
}

static Rgb mean_of(const Sum *sum) {
    return (Rgb){(uint8_t)lround(sum->r / sum->weight), (uint8_t)lround(sum->g / sum->weight),
                 (uint8_t)lround(sum->b / sum->weight)};
}

/* Returns how much of [at, at + 1] lies in [from, to]. */
static double overlap(double from, double to, int at) {
    return (to < at + 1 ? to : at + 1) - (from > at ? from : at);
}

/* Returns the mean colour of a part of the picture. Far from the cameras only about every third
 * cell is hit. Empty cells therefore do not count where a third of the part is occupied; otherwise
 * far streets would disappear. */
static Rgb mean_color(const BevPicture *picture, const State *state, double x0, double y0,
                      double x1, double y1) {
    int left = (int)floor(x0), right = (int)fmax(ceil(x1 - 1e-9), left + 1);
    int top = (int)floor(y0), bottom = (int)fmax(ceil(y1 - 1e-9), top + 1);
    Sum full = {0}, empty = {0};
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            if (x < 0 || y < 0 || x >= picture->image.w || y >= picture->image.h)
                continue;
            double share = overlap(x0, x1, x) * overlap(y0, y1, y);
            Rgb color = bev_picture_pixel(picture, state, x, y);
            add_color(is_full(color) ? &full : &empty, color, share);
        }
    if (!(full.weight > 0))
        return empty.weight > 0 ? mean_of(&empty) : rgb_hex(0);
    if (!(empty.weight > 0))
        return mean_of(&full);
    return rgb_mix(mean_of(&empty), mean_of(&full), 3 * full.weight / (full.weight + empty.weight));
}

static double luminance_of(Rgb color) {
    return (0.299 * color.r + 0.587 * color.g + 0.114 * color.b) / 255;
}

/* Returns one of ten shades from empty to full. Of signed values the least difference shows. */
static uint32_t shade_of(Rgb color, bool is_signed) {
    static const char steps[] = " .:-=+*#%@";
    double light = luminance_of(color), ground = luminance_of(panel_theme.background);
    int step = is_signed ? (int)ceil((light - ground) * 10 - 1e-9) : (int)(light * 1.15 * 10);
    return (unsigned char)steps[step > 9 ? 9 : step < 0 ? 0 : step];
}

/* Returns the colour of a pixel of the terminal: a part of the picture, and what lies over it. */
static Rgb pixel_at(const BevPicture *picture, const State *state, double x, double y, double w,
                    double h) {
    const Grid *grid = &state->scene.grid;
    Rgb color = mean_color(picture, state, x, y, x + w, y + h);
    double metres = w * (grid->y_max_m - grid->y_min_m) / fmax(grid->ny, 1);
    return bev_picture_over(state, color, (double)state->scene.nx - y - h / 2,
                            (double)state->scene.ny - x - w / 2, metres);
}

static void put_half_block(Cells *cells, int x, int y, Rgb upper, Rgb lower, bool is_signed) {
    if (cells->color)
        cells_put(cells, x, y, 0x2580, (CellStyle){.ink = ink_rgb(upper), .paper = ink_rgb(lower)});
    else
        cells_put(cells, x, y, shade_of(rgb_mix(upper, lower, 0.5), is_signed),
                  cell_style(INK_DEFAULT));
}

static void draw_pixels(Cells *cells, Area used, const BevPicture *picture, const State *state,
                        const Part *part) {
    double sx = part->w / used.w, sy = part->h / (2 * used.h);
    bool is_signed = picture->difference || state_shows_errors(state);
    for (int y = 0; y < used.h; y++)
        for (int x = 0; x < used.w; x++) {
            double x0 = part->left + x * sx, y0 = part->top + 2 * y * sy;
            Rgb upper = pixel_at(picture, state, x0, y0, sx, sy);
            Rgb lower = pixel_at(picture, state, x0, y0 + sy, sx, sy);
            put_half_block(cells, used.x + x, used.y + y, upper, lower, is_signed);
        }
}

/* Draws a sign over the picture, on the colour of the picture there. */
static void draw_sign(Cells *cells, Area used, const Part *part, double grid_x, double grid_y,
                      const State *state, uint32_t glyph, Ink ink) {
    double column = ((double)state->scene.ny - grid_y - part->left) / part->w * used.w;
    double row = ((double)state->scene.nx - grid_x - part->top) / part->h * used.h;
    int x = used.x + (int)floor(column), y = used.y + (int)floor(row);
    if (column < 0 || row < 0 || x >= used.x + used.w || y >= used.y + used.h)
        return;
    Ink paper = cells_at(cells, x, y)->style.paper;
    /* The sign must stand out on any colour: empty cells of a difference are white. */
    Rgb under = ink_color(paper, state->light, true);
    if (cells->color && rgb_contrast(ink_color(ink, state->light, false), under) < 3)
        ink = INK_RGB | (rgb_luminance(under) > 0.3 ? 0x000000 : 0xffffff);
    cells_erase(cells, (Area){x, y, 1, 1}, paper);
    cells_put(cells, x, y, glyph,
              (CellStyle){.ink = ink,
                          .paper = paper,
                          .attributes = CELL_BOLD | (cells->color ? 0 : CELL_REVERSE)});
}

static void mark_cell(Cells *cells, Area used, const Part *part, const State *state, int64_t cell,
                      Ink ink) {
    Slice slice = state_slice(state);
    int64_t place = slice_place(&slice, cell);
    if (place >= 0)
        draw_sign(cells, used, part, (double)(place % slice.nx) + 0.5,
                  (double)(place / slice.nx) + 0.5, state, '*', ink);
}

static void draw_step(Cells *cells, Area used, const Part *part, const PanelData *data) {
    const State *state = data->state;
    const StepPoint *points[LIVE_MAX_CONTRIBUTIONS];
    int count = live_step_points(data->live, state, points);
    for (int i = 0; i < count; i++)
        mark_cell(cells, used, part, state, points[i]->cell, ink_rgb(panel_theme.mark));
}

/* Returns the column between the baseline on the left and the selection on the right; -1: not in
 * view. */
static int divider_of(Area used, const BevPicture *picture, const State *state, const Part *part) {
    double column = (state->wipe * picture->image.w - part->left) / part->w * used.w;
    bool seen = picture->baseline.w && column >= 0 && column < used.w;
    return seen ? used.x + (int)floor(column) : -1;
}

/* Draws a line between the two sides, which often look alike. */
static void draw_divider(Cells *cells, Area used, const BevPicture *picture, const State *state,
                         const Part *part) {
    int x = divider_of(used, picture, state, part);
    if (x < 0)
        return;
    cells_erase(cells, (Area){x, used.y, 1, used.h}, INK_DEFAULT);
    for (int y = 0; y < used.h; y++)
        cells_put(cells, x, used.y + y, 0x2502, cell_bold(INK_ACCENT));
}

Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state) {
    Part part = part_of(state);
    Area used = fit_part(area, &part, stretch_of(state));
    draw_pixels(cells, used, picture, state, &part);
    draw_divider(cells, used, picture, state, &part);
    const Grid *grid = &state->scene.grid;
    if (state->scene.has_rig && !cells->color)
        draw_sign(cells, used, &part, -grid->x_min_m / (grid->x_max_m - grid->x_min_m) * grid->nx,
                  -grid->y_min_m / (grid->y_max_m - grid->y_min_m) * grid->ny, state, 0x25b2,
                  INK_RGB | 0xffffff);
    if (state->cursor_shown)
        draw_sign(cells, used, &part, (double)state->cursor_x + 0.5, (double)state->cursor_y + 0.5,
                  state, 0x253c, INK_RGB | 0xffd866);
    if (state->pinned)
        draw_sign(cells, used, &part, (double)state->pin_x + 0.5, (double)state->pin_y + 0.5, state,
                  0x25c6, ink_rgb(panel_theme.mark));
    return used;
}

/* ---- as a panel ----------------------------------------------------------------------------- */

static int bev_want(Sheet *sheet, const PanelData *data, int width) {
    (void)sheet;
    const SceneFacts *scene = &data->state->scene;
    double ratio = scene->ny > 0 ? (double)scene->nx / (double)scene->ny : 1;
    return 3 + (int)ceil(width * ratio * stretch_of(data->state) / 2);
}

/* Metres at the edges of the shown part. */
static void edges_text(const State *state, char *text, size_t size) {
    const Grid *grid = &state->scene.grid;
    Part part = part_of(state);
    double x_cell_m = (grid->x_max_m - grid->x_min_m) / grid->nx;
    double y_cell_m = (grid->y_max_m - grid->y_min_m) / grid->ny;
    double x_max_m = grid->x_max_m - part.top * x_cell_m;
    double y_max_m = grid->y_max_m - part.left * y_cell_m;
    bool side = state_slice(state).slice == SLICE_SIDE;
    snprintf(text, size, "%s %.3g to %.3g m up, %s %.3g to %.3g m left", side ? "z" : "x",
             x_max_m - part.h * x_cell_m, x_max_m, side ? "x" : "y", y_max_m - part.w * y_cell_m,
             y_max_m);
}

/* Writes the edges in metres or cells, and whether empty cells are filled, where that has room. */
static void scale_text(const PanelData *data, int w, char *text, size_t size) {
    const State *state = data->state;
    const BevPicture *picture = &data->picture->bev;
    if (state->scene.has_rig)
        edges_text(state, text, size);
    else
        snprintf(text, size, "%lld x %lld cells", (long long)state->scene.nx,
                 (long long)state->scene.ny);
    const char *fills = ", empty cells interpolated";
    if (raster_fills(&picture->field, picture->filled) &&
        cells_width(text) + cells_width(fills) <= w)
        text_add(text, size, "%s", fills);
}

/* Writes the values of the cell under the cursor. Without a cell: what differs in a comparison, or
 * "". */
static void probe_text(const PanelData *data, int w, char *text, size_t size) {
    const LiveProbe *probe = &data->live->probe;
    int64_t nx = data->state->scene.nx;
    text[0] = '\0';
    if (!bev_picture_alike(&data->picture->bev))
        comparison_text(data->state, data->live, text, size);
    if (probe->cell < 0 || nx <= 0)
        return;
    char value[32], fp64_original[32];
    snprintf(value, sizeof value, isfinite(probe->value) ? "%.4g" : "n/a", probe->value);
    snprintf(fp64_original, sizeof fp64_original, isfinite(probe->fp64_original) ? "%.4g" : "n/a",
             probe->fp64_original);
    if (live_probe_empty(probe))
        snprintf(text, size, "cell %s: %lld points, all of probability 0",
                 state_cell_place(data->state, probe->cell).text, (long long)probe->points);
    else
        snprintf(text, size, "cell %s: %lld points, norm %s, FP64 %s",
                 state_cell_place(data->state, probe->cell).text, (long long)probe->points, value,
                 fp64_original);
    if (cells_width(text) > w)
        snprintf(text, size, "%lld points, %s", (long long)probe->points, value);
}

/* "front, dropout, yaw +3.0 deg": the first camera with a fault. */
static void faults_text(const PanelData *data, char *text, size_t size) {
    const SceneFacts *scene = &data->state->scene;
    char faults[96];
    for (int i = 0; scene->has_rig && i < scene->camera_count; i++)
        if (camera_faults(&data->state->job, i, faults, sizeof faults)) {
            snprintf(text, size, "%s%s", scene->cameras[i], faults);
            return;
        }
}

/* Draws a text over the old picture, while the new one is being computed. */
static void draw_waiting(Cells *cells, Area area, const char *text) {
    int w = cells_width(text);
    if (!text[0] || w + 2 > area.w || area.h < 1)
        return;
    Area box = {area.x + (area.w - w - 2) / 2, area.y + area.h / 2, w + 2, 1};
    cells_erase(cells, box, INK_DEFAULT);
    cells_text(cells, box.x + 1, box.y, w, cell_bold(INK_ACCENT), text);
}

/* Draws the cells of the loss, where they are few: signs hide the picture under them. */
static void draw_loss(Cells *cells, Area used, const Part *part, const PanelData *data) {
    enum { FEW = 400 };
    const GridLoss *loss = data->live->frame.gradients.loss;
    const BevShape *shape = &data->live->frame.shape;
    Slice slice = state_slice(data->state);
    if (!loss || !loss->inside || loss->count > FEW || slice.cells_x != shape->nx ||
        slice.rows * slice.slices != shape->ny)
        return;
    for (int64_t cell = 0; cell < shape->nx * shape->ny; cell++)
        if (loss->inside[cell])
            mark_cell(cells, used, part, data->state, cell, ink_rgb(gradient_light));
}

/* Signs along the edge from one corner of a box to the next. */
static void draw_edge(Cells *cells, Area used, const Part *part, const State *state,
                      const double from[2], const double to[2]) {
    enum { MOST = 400 };
    double x = to[0] - from[0], y = to[1] - from[1];
    int steps = (int)fmin(fmax(ceil(2 * hypot(x, y) * used.w / part->w), 1), MOST);
    for (int i = 0; i < steps; i++)
        draw_sign(cells, used, part, from[0] + x * i / steps, from[1] + y * i / steps, state, '+',
                  INK_RGB | 0xb0b8c0);
}

static void cell_of(const Grid *grid, double x_m, double y_m, double cell[2]) {
    cell[0] = (x_m - grid->x_min_m) / (grid->x_max_m - grid->x_min_m) * grid->nx;
    cell[1] = (y_m - grid->y_min_m) / (grid->y_max_m - grid->y_min_m) * grid->ny;
}

/* Draws true boxes and LiDAR, as far as a terminal resolves them. */
static void draw_truth(Cells *cells, Area used, const Part *part, const PanelData *data) {
    const State *state = data->state;
    const Photos *photos = data->live->frame.photos;
    const Grid *grid = &state->scene.grid;
    if (!photos || !state->scene.has_rig)
        return;
    for (int64_t i = 0; state->truth & TRUTH_LIDAR && i < photos->sweep_count; i++) {
        double cell[2];
        cell_of(grid, photos->sweep_m[3 * i], photos->sweep_m[3 * i + 1], cell);
        draw_sign(cells, used, part, cell[0], cell[1], state, ':', INK_RGB | 0xff8fa3);
    }
    for (int64_t i = 0; state->truth & TRUTH_BOXES && i < photos->box_count; i++) {
        double corners[4][2], cell[4][2];
        photos_box_corners(&photos->boxes[i], corners);
        for (int k = 0; k < 4; k++)
            cell_of(grid, corners[k][0], corners[k][1], cell[k]);
        for (int k = 0; k < 4; k++)
            draw_edge(cells, used, part, state, cell[k], cell[(k + 1) % 4]);
    }
}

static void note_place(Spots *spots, const PanelData *data, Area used, const Part *part) {
    const State *state = data->state;
    if (!spots)
        return;
    int divider = divider_of(used, &data->picture->bev, state, part);
    spots->bev = (Box){used.x, used.y, used.w, used.h};
    spots->x_hi = (double)state->scene.nx - part->top;
    spots->x_lo = spots->x_hi - part->h;
    spots->y_hi = (double)state->scene.ny - part->left;
    spots->y_lo = spots->y_hi - part->w;
    spots->wipe_x = divider >= 0 ? divider + 0.5 : NAN;
}

static void bev_draw(Sheet *sheet, Area area, const PanelData *data) {
    Cells *cells = sheet->surface;
    const State *state = data->state;
    bool difference = state->compare == COMPARE_DIFFERENCE;
    sheet_figure(sheet, area);
    char title[176], text[300] = "";
    Slice slice = state_slice(state);
    slice_describe(&slice, state->scene.has_rig ? &state->scene.whole : NULL, text, sizeof text);
    snprintf(title, sizeof title, "%s, %s%s%s", state->scene.has_operator ? "Cells" : "BEV",
             difference ? "difference" : state->menu.views.names[state->view], text[0] ? ", " : "",
             text);
    text[0] = '\0';
    const ShortText baseline = live_side_label(data->live, true);
    const ShortText config = live_side_label(data->live, false);
    if (difference)
        snprintf(text, sizeof text, "against %s", baseline.text);
    else if (state->compare == COMPARE_WIPE && pooled_alike(data->live))
        comparison_text(state, data->live, text, sizeof text);
    else if (state->compare == COMPARE_WIPE)
        snprintf(text, sizeof text, "%s | %s", baseline.text, config.text);
    else if (state_shows_errors(state) && data->live->stand_in &&
             data->live->job.config.kernel->direction == BEV_FORWARD)
        snprintf(text, sizeof text, "of %s: %s %s", data->live->stand_in->title,
                 data->live->job.config.kernel->title,
                 state->playing ? "is slow or untimed" : "is being computed");
    else if (!lesson_asks(&state->lesson))
        faults_text(data, text, sizeof text);
    area = sheet_title(sheet, area, title, text);
    const BevPicture *bev = data->picture ? &data->picture->bev : NULL;
    if (!bev || !bev->ready) {
        const char *reason = state->waiting[0]       ? state->waiting
                             : bev && bev->reason[0] ? bev->reason
                                                     : "computing the first picture";
        cells_text(cells, area.x, area.y, area.w, cell_style(INK_MUTED), reason);
        return;
    }
    Area picture = area;
    picture.h -= 2;
    Area used = bev_cells_draw(cells, picture, bev, state);
    Part part = part_of(state);
    note_place(sheet->spots, data, used, &part);
    draw_truth(cells, used, &part, data);
    draw_step(cells, used, &part, data);
    draw_loss(cells, used, &part, data);
    draw_waiting(cells, (Area){picture.x, picture.y, picture.w, used.h}, state->waiting);
    int y = used.y + used.h;
    scale_text(data, area.w, text, sizeof text);
    if (cells_width(text) <= area.w)
        cells_text(cells, area.x, y, area.w, cell_style(INK_MUTED), text);
    probe_text(data, area.w, text, sizeof text);
    if (cells_width(text) <= area.w)
        cells_text(cells, area.x, y + 1, area.w, cell_style(INK_TEXT), text);
}

const Panel bev_panel = {.origin = ORIGIN_PICTURE,
                         .menu = "view ",
                         .point = PANEL_BEV,
                         .fold = 7,
                         .grow = 1,
                         .height = 10,
                         .want = bev_want,
                         .draw = bev_draw};
