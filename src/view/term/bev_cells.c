/* SPDX-License-Identifier: MIT */
/* The BEV in a terminal: each cell has two pixels as half blocks, or without colour a character. */
#include "src/view/bev/strip.h"
#include "src/view/term/dashboard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The shown part of the picture: pixels [left, left + w) x [top, top + h), with fractions. x
 * (forward) is up and y (left) is at the left: columns run against y, and rows against x. */
typedef struct {
    double left, top, w, h;
} Part;

/* A drawing of the BEV. */
typedef struct {
    Cells *cells;
    const State *state;
    const BevPicture *picture;
    Part part;
    Area used; /* the cells that the part fills */
} BevCells;

/* Returns how many times larger heights are drawn (slice.h). */
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

/* Returns the largest area that shows the part undistorted. A terminal's cell is about twice as
 * high as wide, so `h` rows are as high as 2 h columns are wide. */
static Area fit_part(Area area, const Part *part, int stretch) {
    double ratio = part->w / part->h / stretch;
    int w = (int)fmin(area.w, floor(2 * area.h * ratio)), h = (int)fmin(area.h, area.w / ratio / 2);
    w = w < 1 ? 1 : w;
    h = h < 1 ? 1 : h;
    return (Area){area.x + (area.w - w) / 2, area.y, w, h};
}

/* Sums of red, green and blue, and their weight. */
typedef double Sum[4];

static Rgb mean_of(const Sum sum) {
    return (Rgb){(uint8_t)lround(sum[0] / sum[3]), (uint8_t)lround(sum[1] / sum[3]),
                 (uint8_t)lround(sum[2] / sum[3])};
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
    Sum sums[2] = {{0}}; /* [0]: the sums of empty cells, [1]: of occupied cells */
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) {
            if (x < 0 || y < 0 || x >= picture->image.w || y >= picture->image.h)
                continue;
            double share = overlap(x0, x1, x) * overlap(y0, y1, y);
            Rgb color = bev_picture_pixel(picture, state, x, y);
            const double parts[] = {color.r, color.g, color.b, 1};
            const bool occupied = memcmp(&color, &panel_theme.background, sizeof color) != 0;
            for (int i = 0; i < 4; i++)
                sums[occupied][i] += share * parts[i];
        }
    const double empty = sums[0][3], full = sums[1][3];
    if (!(full > 0))
        return empty > 0 ? mean_of(sums[0]) : rgb_hex(0);
    if (!(empty > 0))
        return mean_of(sums[1]);
    return rgb_mix(mean_of(sums[0]), mean_of(sums[1]), 3 * full / (full + empty));
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

/* Draws two pixels in each cell: the upper one as ink, the lower one as paper. A screen without
 * colour gets a character of their mean brightness. */
static void draw_pixels(const BevCells *bev) {
    const Part *part = &bev->part;
    double w = part->w / bev->used.w, h = part->h / (2 * bev->used.h);
    bool is_signed = bev->picture->difference || state_shows_errors(bev->state);
    for (int y = 0; y < bev->used.h; y++)
        for (int x = 0; x < bev->used.w; x++) {
            double left = part->left + x * w, top = part->top + 2 * y * h;
            Rgb upper = pixel_at(bev->picture, bev->state, left, top, w, h);
            Rgb lower = pixel_at(bev->picture, bev->state, left, top + h, w, h);
            CellStyle style = {.ink = ink_rgb(upper), .paper = ink_rgb(lower)};
            bool color = bev->cells->color;
            cells_put(bev->cells, bev->used.x + x, bev->used.y + y,
                      color ? 0x2580 : shade_of(rgb_mix(upper, lower, 0.5), is_signed),
                      color ? style : cell_style(INK_DEFAULT));
        }
}

/* Draws a sign over a place of the grid. The picture's colour stays as the paper of the sign. */
static void draw_sign(const BevCells *bev, double grid_x, double grid_y, uint32_t glyph, Ink ink) {
    const State *state = bev->state;
    const Area *used = &bev->used;
    Cells *cells = bev->cells;
    double column = ((double)state->scene.ny - grid_y - bev->part.left) / bev->part.w * used->w;
    double row = ((double)state->scene.nx - grid_x - bev->part.top) / bev->part.h * used->h;
    int x = used->x + (int)floor(column), y = used->y + (int)floor(row);
    if (column < 0 || row < 0 || x >= used->x + used->w || y >= used->y + used->h)
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

/* Draws a star on a cell of the grid, if the slice shows that cell. */
static void mark_cell(const BevCells *bev, int64_t cell, Ink ink) {
    Slice slice = state_slice(bev->state);
    int64_t place = slice_place(&slice, cell);
    if (place >= 0)
        draw_sign(bev, (double)(place % slice.nx) + 0.5, (double)(place / slice.nx) + 0.5, '*',
                  ink);
}

/* Marks the cells of the points that the shown step of a warp adds. */
static void draw_step(const BevCells *bev, const LiveData *live) {
    const StepPoint *points[LIVE_MAX_CONTRIBUTIONS];
    int count = live_step_points(live, bev->state, points);
    for (int i = 0; i < count; i++)
        mark_cell(bev, points[i]->cell, ink_rgb(panel_theme.mark));
}

/* Returns the column that divides baseline (left) and selection (right) in a wipe; -1: no such
 * column is in view. */
static int divider_of(const BevCells *bev) {
    double pixel = bev->state->wipe * bev->picture->image.w;
    double column = (pixel - bev->part.left) / bev->part.w * bev->used.w;
    bool seen = bev->picture->baseline.w && column >= 0 && column < bev->used.w;
    return seen ? bev->used.x + (int)floor(column) : -1;
}

/* Draws a line between the two sides of a wipe, because the sides often look alike. */
static void draw_divider(const BevCells *bev) {
    const Area *used = &bev->used;
    int x = divider_of(bev);
    if (x < 0)
        return;
    cells_erase(bev->cells, (Area){x, used->y, 1, used->h}, INK_DEFAULT);
    for (int y = 0; y < used->h; y++)
        cells_put(bev->cells, x, used->y + y, 0x2502, cell_bold(INK_ACCENT));
}

static void cell_of(const Grid *grid, double x_m, double y_m, double cell[2]) {
    cell[0] = (x_m - grid->x_min_m) / (grid->x_max_m - grid->x_min_m) * grid->nx;
    cell[1] = (y_m - grid->y_min_m) / (grid->y_max_m - grid->y_min_m) * grid->ny;
}

/* Draws the picture as large as `area` allows, with the vehicle, the cursor and the pinned cell. */
static BevCells draw_bev(Cells *cells, Area area, const BevPicture *picture, const State *state) {
    const Part part = part_of(state);
    enum { VEHICLE = 0x25b2, CURSOR = 0x253c, PINNED = 0x25c6 }; /* a triangle, a cross, a rhomb */
    const BevCells bev = {cells, state, picture, part, fit_part(area, &part, stretch_of(state))};
    double vehicle[2];
    draw_pixels(&bev);
    draw_divider(&bev);
    cell_of(&state->scene.grid, 0, 0, vehicle);
    if (state->scene.has_rig && !cells->color)
        draw_sign(&bev, vehicle[0], vehicle[1], VEHICLE, INK_RGB | 0xffffff);
    if (state->cursor_shown)
        draw_sign(&bev, (double)state->cursor_x + 0.5, (double)state->cursor_y + 0.5, CURSOR,
                  INK_RGB | 0xffd866);
    if (state->pinned)
        draw_sign(&bev, (double)state->pin_x + 0.5, (double)state->pin_y + 0.5, PINNED,
                  ink_rgb(panel_theme.mark));
    return bev;
}

Area bev_cells_draw(Cells *cells, Area area, const BevPicture *picture, const State *state) {
    return draw_bev(cells, area, picture, state).used;
}

static int bev_want(Sheet *sheet, const PanelData *data, int width) {
    (void)sheet;
    const SceneFacts *scene = &data->state->scene;
    double ratio = scene->ny > 0 ? (double)scene->nx / (double)scene->ny : 1;
    return 3 + (int)ceil(width * ratio * stretch_of(data->state) / 2);
}

/* Writes the metres at the edges of the shown part: "x -51.2 to 51.2 m up, y ... m left". */
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

/* Writes the edges in metres or cells, and if there is room whether empty cells are filled. */
static void scale_text(const PanelData *data, int w, char *text, size_t size) {
    const State *state = data->state;
    const BevPicture *picture = &data->picture->bev;
    if (state->scene.has_rig)
        edges_text(state, text, size);
    else
        snprintf(text, size, "%lld x %lld cells", (long long)state->scene.nx,
                 (long long)state->scene.ny);
    const char *fills = raster_fills(&picture->field, picture->filled)
                            ? ", empty cells interpolated"
                            : ", empty cells stay empty";
    if (state->fill && cells_width(text) + cells_width(fills) <= w)
        text_add(text, size, "%s", fills);
}

/* Writes the values of the cell under the cursor. Without a cell, writes what differs in a
 * comparison, or "". */
static void probe_text(const PanelData *data, int w, char *text, size_t size) {
    const LiveProbe *probe = &data->live->probe;
    text[0] = '\0';
    if (!bev_picture_alike(&data->picture->bev))
        comparison_text(data->state, data->live, text, size);
    if (probe->cell < 0 || data->state->scene.nx <= 0)
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

/* Writes the first camera with a fault: "front, dropout, yaw +3.0 deg". */
static void faults_text(const PanelData *data, char *text, size_t size) {
    const SceneFacts *scene = &data->state->scene;
    char faults[96];
    int count = data->state->tours ? state_seeing(data->state) : scene->camera_count;
    for (int i = 0; scene->has_rig && i < count; i++)
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
static void draw_loss(const BevCells *bev, const LiveFrame *frame) {
    enum { FEW = 400 };
    const GridLoss *loss = frame->gradients.loss;
    const BevShape *shape = &frame->shape;
    Slice slice = state_slice(bev->state);
    if (!loss || !loss->inside || loss->count > FEW || slice.cells_x != shape->nx ||
        slice.rows * slice.slices != shape->ny)
        return;
    for (int64_t cell = 0; cell < shape->nx * shape->ny; cell++)
        if (loss->inside[cell])
            mark_cell(bev, cell, ink_rgb(gradient_light));
}

/* Draws signs along the edge from one corner of a box to the next. */
static void draw_edge(const BevCells *bev, const double from[2], const double to[2]) {
    enum { MOST = 400 };
    double x = to[0] - from[0], y = to[1] - from[1];
    int steps = (int)fmin(fmax(ceil(2 * hypot(x, y) * bev->used.w / bev->part.w), 1), MOST);
    for (int i = 0; i < steps; i++)
        draw_sign(bev, from[0] + x * i / steps, from[1] + y * i / steps, '+', INK_RGB | 0xb0b8c0);
}

/* Draws true boxes and LiDAR points, as finely as a terminal can. */
static void draw_truth(const BevCells *bev, const Photos *photos) {
    const State *state = bev->state;
    const Grid *grid = &state->scene.grid;
    if (!photos || !state->scene.has_rig)
        return;
    for (int64_t i = 0; state->truth & TRUTH_LIDAR && i < photos->sweep_count; i++) {
        double cell[2];
        cell_of(grid, photos->sweep_m[3 * i], photos->sweep_m[3 * i + 1], cell);
        draw_sign(bev, cell[0], cell[1], ':', INK_RGB | 0xff8fa3);
    }
    for (int64_t i = 0; state->truth & TRUTH_BOXES && i < photos->box_count; i++) {
        double corners[4][2], cell[4][2];
        photos_box_corners(&photos->boxes[i], corners);
        for (int k = 0; k < 4; k++)
            cell_of(grid, corners[k][0], corners[k][1], cell[k]);
        for (int k = 0; k < 4; k++)
            draw_edge(bev, cell[k], cell[(k + 1) % 4]);
    }
}

/* Notes for the mouse where the picture stands, and which cells of the grid it shows. */
static void note_place(const BevCells *bev, Spots *spots) {
    const Area *used = &bev->used;
    int divider = divider_of(bev);
    if (!spots)
        return;
    spots->bev = (Box){used->x, used->y, used->w, used->h};
    spots->x_hi = (double)bev->state->scene.nx - bev->part.top;
    spots->x_lo = spots->x_hi - bev->part.h;
    spots->y_hi = (double)bev->state->scene.ny - bev->part.left;
    spots->y_lo = spots->y_hi - bev->part.w;
    spots->wipe_x = divider >= 0 ? divider + 0.5 : NAN;
}

/* Writes what the picture shows: "BEV, norm, seen from the side". */
static void title_text(const State *state, char *title, size_t size) {
    const Slice slice = state_slice(state);
    const char *view =
        state->compare == COMPARE_DIFFERENCE ? "difference" : state->menu.views.names[state->view];
    const ShortText shown =
        slice_describe(&slice, state->scene.has_rig ? &state->scene.whole : NULL);
    snprintf(title, size, "%s, %s%s%s", state->scene.has_operator ? "Cells" : "BEV", view,
             shown.text[0] ? ", " : "", shown.text);
}

/* Writes the note at the end of the title: the sides of a comparison, a stand-in, or a fault. */
static void note_text(const PanelData *data, char *text, size_t size) {
    const State *state = data->state;
    const LiveData *live = data->live;
    const BevKernel *kernel = live->job.config.kernel;
    const LiveAccuracy *judged = live_judged_elsewhere(live);
    const ShortText baseline = live_side_label(live, true);
    text[0] = '\0';
    if (state->compare == COMPARE_DIFFERENCE)
        snprintf(text, size, "against %s", baseline.text);
    else if (state->compare == COMPARE_WIPE && pooled_alike(live))
        comparison_text(state, live, text, size);
    else if (state->compare == COMPARE_WIPE)
        snprintf(text, size, "%s | %s", baseline.text, live_side_label(live, false).text);
    else if (state_shows_errors(state) && live->stand_in && kernel->direction == BEV_FORWARD)
        snprintf(text, size, "of %s: %s %s", live->stand_in->title, kernel->title,
                 state->playing ? "is too slow or untimed here" : "is being computed");
    else if (state_shows_errors(state) && judged)
        snprintf(text, size, "at t %.2f s; judged at %g (:time %g)", live->frame.time_s,
                 judged->time_s, judged->time_s);
    else if (!lesson_asks(&state->lesson))
        faults_text(data, text, size);
}

/* Draws the picture and the two rows of text under it. */
static void draw_picture(Sheet *sheet, Area area, const PanelData *data) {
    const State *state = data->state;
    const LiveFrame *frame = &data->live->frame;
    Cells *cells = sheet->surface;
    char text[300];
    Area room = {area.x, area.y, area.w, area.h - 2};
    const BevCells bev = draw_bev(cells, room, &data->picture->bev, state);
    note_place(&bev, sheet->spots);
    draw_truth(&bev, frame->photos);
    draw_step(&bev, data->live);
    draw_loss(&bev, frame);
    draw_waiting(cells, (Area){room.x, room.y, room.w, bev.used.h}, state->waiting);
    int y = bev.used.y + bev.used.h;
    scale_text(data, area.w, text, sizeof text);
    if (cells_width(text) <= area.w)
        cells_text(cells, area.x, y, area.w, cell_style(INK_MUTED), text);
    probe_text(data, area.w, text, sizeof text);
    if (cells_width(text) <= area.w)
        cells_text(cells, area.x, y + 1, area.w, cell_style(INK_TEXT), text);
}

/* Draws the BEV with its title, or a line that says why there is no picture. */
static void bev_draw(Sheet *sheet, Area area, const PanelData *data) {
    const BevPicture *bev = data->picture ? &data->picture->bev : NULL;
    const char *waiting = data->state->waiting;
    char title[176], note[300];
    sheet_origin(sheet, ORIGIN_PICTURE, NULL);
    sheet_figure(sheet, area);
    if (area.h > 0)
        sheet_spot(sheet, (Area){area.x, area.y, area.w, 1}, ACTION_COMMANDS, 0, "view ");
    title_text(data->state, title, sizeof title);
    note_text(data, note, sizeof note);
    area = sheet_title(sheet, area, title, note);
    const ShortText alike = difference_missing(data->state, data->live);
    if (bev && bev->ready && alike.text[0])
        sheet_paragraph(sheet, area_below(area, area.h / 3), INK_TITLE, alike.text);
    else if (bev && bev->ready)
        draw_picture(sheet, area, data);
    else
        cells_text(sheet->surface, area.x, area.y, area.w, cell_style(INK_MUTED),
                   waiting[0]              ? waiting
                   : bev && bev->reason[0] ? bev->reason
                                           : "computing the first picture");
}

const Panel bev_panel = {.want = bev_want, .draw = bev_draw};
