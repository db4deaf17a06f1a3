/* SPDX-License-Identifier: MIT */
/* Draws decoded cells as pixels: the range of the colours, the smoothing, the BEV of a frame, and
 * the whole picture of a frame. */

#include "kernels/threads.h"
#include "src/base/ref.h"
#include "src/view/bev/strip.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranges --------------------------------------------------------------------------------- */

static double percentile(float *values, size_t n, double percent) {
    return nth_smallest(values, n, (size_t)lround(percent / 100 * (double)(n - 1)));
}

/* Finds whether values lie beyond the range; returns whether there are any values. */
static bool find_beyond(const CellField *const fields[], int count, ValueRange *range) {
    bool any = false;
    for (int i = 0; i < count; i++)
        for (int64_t cell = 0; cell < fields[i]->nx * fields[i]->ny; cell++)
            if (fields[i]->state[cell] == CELL_VALUE) {
                range->below = range->below || fields[i]->value[cell] < range->lo;
                range->above = range->above || fields[i]->value[cell] > range->hi;
                any = true;
            }
    return any;
}

/* Magnitudes decide a symmetric range. Only a linear range counts zeros: they have no logarithm. */
bool range_auto(const CellField *const fields[], int count, ValueRange *range, Err *err) {
    const double most_ratio = 1e3; /* a logarithmic range spans three decades */
    const ViewInfo *view = &views[fields[0]->view];
    const bool symmetric = fields[0]->difference || view->symmetric;
    const bool linear = !symmetric && !view->logarithmic;
    size_t n = 0, cells = (size_t)(fields[0]->nx * fields[0]->ny); /* all fields have these cells */
    float *values = malloc((size_t)count * cells * sizeof *values);
    if (!values)
        return err_set(err, ERR_FAILED, view->name, "", "no memory for a range");
    for (size_t i = 0; i < (size_t)count * cells; i++) {
        const CellField *field = fields[i / cells];
        const float number = field->value[i % cells];
        const float value = symmetric ? fabsf(number) : number;
        if (field->state[i % cells] == CELL_VALUE && (linear || value > 0))
            values[n++] = value;
    }
    *range = (ValueRange){.logarithmic = n && !linear};
    if (n) {
        const double lo = percentile(values, n, linear ? 2 : 0);
        range->hi = fmax(percentile(values, n, linear ? 98 : 100), 0);
        range->lo = linear      ? fmin(lo, 0)
                    : symmetric ? -range->hi
                                : fmax(lo, range->hi / most_ratio);
    }
    free(values);
    if (!find_beyond(fields, count, range))
        *range = (ValueRange){.lo = NAN, .hi = NAN};
    return true;
}

ValueRange range_locked(const CellField *const fields[], int count, ValueRange kept) {
    ValueRange range = {.lo = kept.lo, .hi = kept.hi, .logarithmic = kept.logarithmic};
    find_beyond(fields, count, &range);
    return range;
}

double range_position(const ValueRange *range, double value) {
    if (!(range->hi > range->lo))
        return 0.5;
    if (!range->logarithmic)
        return (value - range->lo) / (range->hi - range->lo);
    if (range->lo < 0) { /* both signs: each half is linear near zero, then logarithmic */
        double times = fabs(value) / range->hi * RANGE_SPAN;
        double far = times < 1 ? RANGE_LINEAR * times
                               : RANGE_LINEAR + (1 - RANGE_LINEAR) * log(times) / log(RANGE_SPAN);
        return 0.5 + copysign(far / 2, value);
    }
    return value > 0 ? log(value / range->lo) / log(range->hi / range->lo) : 0;
}

bool raster_fills(const CellField *field, bool fill) {
    return fill && !(views[field->view].needs & (NEEDS_MAP | NEEDS_FP64));
}

static Rgb ground_of(const RasterStyle *style) {
    return panel_themes[style->light].background;
}

static Rgb cell_color(const CellField *field, const RasterStyle *style, int64_t cell) {
    if (field->state[cell] == CELL_EMPTY)
        return ground_of(style);
    if (field->state[cell] != CELL_VALUE)
        return panel_theme.bad;
    if (field->color)
        return rgb_blend(ground_of(style), field->color[cell], field->value[cell]);
    return colormap_on(style->colormap, range_position(&style->range, field->value[cell]),
                       style->light);
}

int64_t raster_cell(int64_t nx, int64_t ny, int64_t column, int64_t row) {
    assert(column >= 0 && column < ny && row >= 0 && row < nx);
    return (ny - 1 - column) * nx + (nx - 1 - row);
}

/* ---- smoothing ------------------------------------------------------------------------------- */

/* Far from a camera only one cell in four has a point. Near a camera the masses of neighbours
 * differ by chance. A window around each pixel, weighted by nearness, smooths both. */
enum { REACH = 4 };

static float weight_at(int64_t offset) {
    return (float)(REACH + 1 - llabs(offset)) / ((REACH + 1) * (REACH + 1));
}

/* Sums over a window: colour times mass, mass, cells with a value, and the offsets of these cells.
 */
enum { RED, GREEN, BLUE, MASS, CELLS, RIGHT, DOWN, SUMS = 8 };
typedef struct {
    float of[SUMS];
} Around;

CPU_INLINE void add_around(Around *sum, const Around *one, float weight) {
    for (int k = 0; k < SUMS; k++)
        sum->of[k] += weight * one->of[k];
}

/* Returns the mass of a cell: for a colour the square of its strength, for a number 1. */
static float mass_of(const CellField *field, int64_t cell) {
    if (field->state[cell] != CELL_VALUE)
        return 0;
    return field->color ? field->value[cell] * field->value[cell] : 1;
}

/* Returns the sums over a window that has only one cell. */
static Around sums_of_cell(const CellField *field, const RasterStyle *style, int64_t cell) {
    const float mass = mass_of(field, cell);
    Rgb color = ground_of(style);
    if (mass > 0)
        color = field->color ? field->color[cell] : cell_color(field, style, cell);
    return (Around){{mass * color.r, mass * color.g, mass * color.b, mass, mass > 0}};
}

/* Adds each cell of a row to the sums of the pixels within REACH of this cell. */
static CPU_CLONES void sum_row(const CellField *field, const RasterStyle *style, int64_t row,
                               Around *sums) {
    int64_t w = field->ny;
    for (int64_t x = 0; x < w; x++) {
        Around one = sums_of_cell(field, style, raster_cell(field->nx, w, x, row));
        if (!(one.of[CELLS] > 0))
            continue;
        for (int64_t to = x - REACH; to <= x + REACH; to++) {
            one.of[RIGHT] = (float)(x - to);
            if (to >= 0 && to < w)
                add_around(&sums[to], &one, weight_at(x - to));
        }
    }
}

/* Sums along each row of pixels: the first half of the windows' sums. NULL: no memory. */
static Around *sum_rows(const CellField *field, const RasterStyle *style) {
    int64_t w = field->ny, h = field->nx;
    Around *sums = calloc((size_t)(w * h), sizeof *sums);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t row = 0; row < (sums ? h : 0); row++)
        sum_row(field, style, row, sums + row * w);
    return sums;
}

CPU_INLINE Around sum_around(const CellField *field, const Around *rows, int64_t column,
                             int64_t row) {
    Around sum = {{0}};
    for (int64_t from = row - REACH; from <= row + REACH; from++)
        if (from >= 0 && from < field->nx) {
            const Around *one = &rows[from * field->ny + column];
            add_around(&sum, one, weight_at(from - row));
            sum.of[DOWN] += weight_at(from - row) * one->of[CELLS] * (float)(from - row);
        }
    return sum;
}

/* Whether several cells with values lie all around a pixel. Their mean place is then near. */
static bool is_surrounded(const Around *around) {
    const double far = 1.45, few = 0.03;
    double cells = around->of[CELLS];
    return cells > few && hypot(around->of[RIGHT], around->of[DOWN]) < far * cells;
}

static Rgb mean_color(const Around *around) {
    float mass = around->of[MASS];
    return (Rgb){(uint8_t)(around->of[RED] / mass), (uint8_t)(around->of[GREEN] / mass),
                 (uint8_t)(around->of[BLUE] / mass)};
}

/* Returns the smoothed colour of a cell. The brightness is the mean mass of the window. A cell with
 * less than the mean mass is mixed with the window's mean colour. */
static Rgb smooth_color(const CellField *field, const RasterStyle *style, const Around *around,
                        int64_t cell) {
    float mass = around->of[MASS] / around->of[CELLS], own = mass_of(field, cell);
    Rgb color = mean_color(around);
    if (own > 0)
        color = rgb_mix(color, field->color[cell], own / mass);
    return rgb_blend(ground_of(style), color, pow(mass, 0.42));
}

/* Returns the colour of the nearest cell with a value in the window; without one, the ground's. */
static Rgb nearest_color(const CellField *field, const RasterStyle *style, int64_t column,
                         int64_t row) {
    Rgb color = ground_of(style);
    float best = 0;
    for (int64_t y = row - REACH; y <= row + REACH; y++)
        for (int64_t x = column - REACH; x <= column + REACH; x++) {
            bool inside = x >= 0 && y >= 0 && x < field->ny && y < field->nx;
            int64_t cell = inside ? raster_cell(field->nx, field->ny, x, y) : -1;
            float near =
                inside && mass_of(field, cell) > 0 ? weight_at(x - column) * weight_at(y - row) : 0;
            if (near > best)
                color = cell_color(field, style, cell);
            best = fmaxf(best, near);
        }
    return color;
}

/* Returns the colour of a pixel. `rows` NULL: cells are neither filled nor smoothed. */
CPU_INLINE Rgb pixel_color(const CellField *field, const RasterStyle *style, const Around *rows,
                           int64_t column, int64_t row) {
    const double dim = 0.85;
    int64_t cell = raster_cell(field->nx, field->ny, column, row);
    const bool is_bad = field->state[cell] > CELL_VALUE; /* NaN or infinite */
    bool empty = rows && !(mass_of(field, cell) > 0) && !is_bad;
    bool smooth = rows && field->color && field->view != VIEW_CLASS;
    if (!empty && !(smooth && field->state[cell] == CELL_VALUE))
        return cell_color(field, style, cell);
    const Around around = sum_around(field, rows, column, row);
    if (empty && !is_surrounded(&around))
        return ground_of(style);
    if (smooth)
        return smooth_color(field, style, &around, cell);
    Rgb color = field->view == VIEW_CLASS /* a mean of classes would be another class */
                    ? nearest_color(field, style, column, row)
                    : mean_color(&around);
    return rgb_mix(ground_of(style), color, dim);
}

static CPU_CLONES void paint_row(const CellField *field, const RasterStyle *style,
                                 const Around *rows, int64_t row, Image *image) {
    for (int column = 0; column < image->w; column++)
        image_set(image, column, (int)row, pixel_color(field, style, rows, column, row));
}

bool raster_render(const CellField *field, const RasterStyle *style, Image *image, Err *err) {
    assert(field->color || style->colormap);
    Around *rows = NULL;
    if (raster_fills(field, style->fill) && !(rows = sum_rows(field, style)))
        return err_no_memory(err, "picture", "");
    bool ok = image_init(image, field->ny, field->nx, err);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int row = 0; row < (ok ? image->h : 0); row++)
        paint_row(field, style, rows, row, image);
    free(rows);
    return ok;
}

/* ---- the BEV --------------------------------------------------------------------------------- */

void bev_picture_menus(StateMenu *menu) {
    enum { MAX_MAPS = 16 };
    static const char *view_names[VIEW_COUNT], *ideas[VIEW_COUNT];
    static const char *map_names[MAX_MAPS + 1] = {"auto"};
    for (int i = 0; i < VIEW_COUNT; i++) {
        view_names[i] = views[i].name;
        ideas[i] = views[i].idea;
        menu->world_views |= (unsigned)(views[i].needs & NEEDS_EMBEDDING ? 1 : 0) << i;
    }
    menu->view_ideas = ideas;
    int maps = colormap_count < MAX_MAPS ? colormap_count : MAX_MAPS;
    for (int i = 0; i < maps; i++)
        map_names[i + 1] = colormaps[i].name;
    menu->views = (Menu){view_names, VIEW_COUNT};
    menu->colormaps = (Menu){map_names, maps + 1};
    menu->error_view = VIEW_ERROR;
    menu->channel_view = VIEW_CHANNEL;
    menu->rgb_view = VIEW_RGB;
    menu->plain_view = VIEW_NORM;
}

void bev_picture_free(BevPicture *picture) {
    if (!picture)
        return;
    image_free(&picture->image);
    image_free(&picture->baseline);
    cell_field_free(&picture->field);
    cell_field_free(&picture->other);
    *picture = (BevPicture){0};
}

static BevContent content_of(const State *state, const LiveFrame *frame, bool of_baseline) {
    return (BevContent){.nx = frame->nx,
                        .ny = frame->ny,
                        .channels = frame->channels,
                        .rows = (size_t)(frame->nx * frame->ny),
                        .pooled = of_baseline ? frame->baseline : frame->pooled,
                        .fp64_original = of_baseline ? frame->baseline_fp64 : frame->fp64_original,
                        .map = of_baseline ? frame->baseline_map : frame->map,
                        .embedding = frame->embedding,
                        .channel = state->channel < frame->channels ? state->channel : 0,
                        .rgb = state->rgb,
                        .depth = of_baseline       ? frame->baseline_depth
                                 : frame->features ? frame->features->depth
                                                   : NULL,
                        .light = frame->photo_features};
}

/* Returns the reason why there is no picture; NULL: there is one. */
static const char *missing(const BevContent *content, const State *state, const LiveFrame *frame) {
    if (!frame->nx || !frame->pooled)
        return "no picture yet";
    if (state->compare != COMPARE_OFF && !frame->baseline)
        return "the baseline is being pooled";
    if (state->compare == COMPARE_DIFFERENCE)
        return NULL;
    if (state->compare == COMPARE_WIPE && views[state->view].needs & NEEDS_FP64 &&
        frame->fp64_original && !frame->baseline_fp64)
        return "no error for two rigs or files: FP64 is that of the selection's";
    return view_missing((ViewKind)state->view, content);
}

/* Whether decoding the baseline would repeat `last`. The baseline's vectors alone decide that,
 * except in the views pca and rgb, whose components and ranges are those of the selection. */
static bool same_other(const BevPicture *next, const BevPicture *last) {
    return last && last->other.nx && last->view == next->view && last->slice == next->slice &&
           (next->slice >= 0 || !next->chosen) && next->view != VIEW_PCA &&
           next->view != VIEW_RGB && last->other_content == next->other_content &&
           last->other_channel == next->other_channel &&
           (isnan(next->field.full_mass) || last->other.full_mass == next->field.full_mass) &&
           !(views[next->view].needs & (NEEDS_MAP | NEEDS_FP64));
}

/* Decodes both sides of a wipe. Equal colours mean equal values: the baseline has the components,
 * the ranges and the full strength of the selection. */
static bool decode_wipe(BevPicture *next, const BevPicture *last, BevContent *content,
                        BevContent *baseline, const LiveFrame *frame, const GiveUp *give_up,
                        Err *err) {
    Pca pca = {0};
    bool ok = next->view != VIEW_PCA || decode_fit_pca(content, &pca, err);
    if (pca.axes)
        content->pca = baseline->pca = &pca;
    ok = ok && decode_view(next->view, content, &next->field, err) && !given_up(give_up);
    if (ok && next->view == VIEW_RGB)
        baseline->rgb = next->field.rgb;
    if (ok && isfinite(next->field.full_mass))
        baseline->full_mass = next->field.full_mass;
    next->other_content = frame->baseline_content;
    next->other_channel = baseline->channel;
    if (ok && same_other(next, last))
        next->other = cell_field_keep(&last->other);
    else
        ok = ok && decode_view(next->view, baseline, &next->other, err);
    pca_free(&pca);
    return ok;
}

/* Narrows `content` from a grid with height to the cells of the picture. content->shown then has
 * the grid's cell for each cell of the picture; the caller frees the array. If `shown` is set
 * before, it stays: both sides of a comparison show the same cells. Returns false without memory.
 */
static bool slice_content(const Slice *slice, BevContent *content, Err *err) {
    if (slice->slices <= 1)
        return true;
    content->nx = slice->nx;
    content->ny = slice->ny;
    if (content->shown)
        return true;
    int32_t *shown = malloc((size_t)(slice->nx * slice->ny) * sizeof *shown);
    if (shown && slice_choose(slice, content->map, content->channels, content->pooled, shown)) {
        content->shown = shown;
        return true;
    }
    free(shown);
    return err_no_memory(err, "slice", "choose a smaller grid");
}

/* Decodes the cells of the picture: of the selection, of both sides of a wipe, or a difference. */
static bool decode_all(BevPicture *next, const BevPicture *last, const State *state,
                       const LiveFrame *frame, const GiveUp *give_up, Err *err) {
    BevContent content = content_of(state, frame, false);
    BevContent baseline = content_of(state, frame, true);
    Slice slice = slice_of(&frame->shape, state->job.slice);
    bool ok = slice_content(&slice, &content, err);
    baseline.shown = content.shown;
    ok = ok && slice_content(&slice, &baseline, err);
    if (ok && state->compare == COMPARE_DIFFERENCE)
        ok = decode_difference(next->view, &content, &baseline, &next->field, err);
    else if (ok && state->compare == COMPARE_WIPE)
        ok = decode_wipe(next, last, &content, &baseline, frame, give_up, err);
    else if (ok)
        ok = decode_view(next->view, &content, &next->field, err);
    free(content.shown);
    return ok;
}

/* Chooses the range of the colours. A wipe against a pinned baseline has the baseline's range, so
 * that changes of the selection are seen. */
static bool choose_range(BevPicture *next, const BevPicture *last, const State *state, Err *err) {
    const CellField *fields[] = {&next->field, &next->other};
    int count = next->other.nx ? 2 : 1;
    bool same =
        last && last->ready && last->view == next->view && last->difference == next->difference;
    next->locked = state->range_locked && same && last->colormap;
    next->of_baseline = !next->locked && state->job.baseline_pinned && count == 2;
    if (!next->locked &&
        !range_auto(fields + next->of_baseline, count - next->of_baseline, &next->range, err))
        return false;
    if (next->locked || next->of_baseline)
        next->range = range_locked(fields, count, next->locked ? last->range : next->range);
    return true;
}

static const Colormap *choose_map(const BevPicture *next, const State *state) {
    if (next->difference)
        return colormap_find("signed");
    if (!views[next->view].unit)
        return NULL;
    return state->colormap > 0 ? &colormaps[state->colormap - 1]
                               : colormap_find(views[next->view].colormap);
}

bool bev_picture_alike(const BevPicture *picture) {
    return picture->difference && !(picture->range.hi > 0);
}

/* Whether empty cells are filled. They stay empty where the user looks at single cells: in a zoom,
 * at a pinned cell, or in a lesson. */
static bool fills_empty_cells(const State *state) {
    return state->fill && state->viewport.zoom <= 1 && !state->pinned && !state->lesson.open;
}

Rgb bev_picture_pixel(const BevPicture *picture, const State *state, int x, int y) {
    bool left = picture->baseline.w && x < lround(state->wipe * picture->image.w);
    return image_get(left ? &picture->baseline : &picture->image, x, y);
}

Rgb bev_picture_over(const State *state, Rgb color, double x, double y, double pixel_m) {
    static const double rings_m[] = {20, 40};
    const Grid *grid = &state->scene.grid;
    if (!state->scene.has_rig || state_slice(state).slice == SLICE_SIDE)
        return color;
    double ahead = grid->x_min_m + x * (grid->x_max_m - grid->x_min_m) / grid->nx;
    double left = grid->y_min_m + y * (grid->y_max_m - grid->y_min_m) / grid->ny;
    double reach = pixel_m > EGO_HALF_WIDTH_M ? pixel_m / 2 : EGO_HALF_WIDTH_M;
    double away = hypot(ahead, left);
    if (ahead < EGO_FRONT_M && ahead > EGO_REAR_M && left > -reach && left <= reach)
        return panel_theme.line;
    for (int i = 0; i < 2; i++)
        if (fabs(away - rings_m[i]) < pixel_m / 2)
            return rgb_mix(color, panel_theme.line, 0.2);
    return color;
}

static bool render_cells(BevPicture *next, const BevPicture *last, const State *state,
                         const LiveFrame *frame, const GiveUp *give_up, Err *err) {
    if (!decode_all(next, last, state, frame, give_up, err) || given_up(give_up))
        return false;
    next->colormap = choose_map(next, state);
    if (next->colormap && !choose_range(next, last, state, err))
        return false;
    const RasterStyle style = {next->colormap, next->range, next->filled, next->light};
    return !given_up(give_up) && raster_render(&next->field, &style, &next->image, err) &&
           (!next->other.nx || raster_render(&next->other, &style, &next->baseline, err));
}

bool bev_picture_render(BevPicture *picture, const BevPicture *previous, const State *state,
                        const LiveFrame *frame, const GiveUp *give_up, Err *err) {
    BevPicture next = {.view = (ViewKind)state->view,
                       .slice = state->job.slice,
                       .chosen = frame->shape.nz > 1,
                       .light = previous && previous->light,
                       .difference = state->compare == COMPARE_DIFFERENCE,
                       .filled = fills_empty_cells(state)};
    BevContent content = content_of(state, frame, false);
    const char *reason = missing(&content, state, frame);
    if (reason)
        snprintf(next.reason, sizeof next.reason, "%s", reason);
    else if (!render_cells(&next, previous, state, frame, give_up, err)) {
        bev_picture_free(&next);
        return false;
    } else
        next.ready = true;
    *picture = next;
    return true;
}

/* ---- the picture of a frame ------------------------------------------------------------------ */

static bool is_same(const Picture *previous, const Picture *want) {
    return previous && previous->content == want->content && previous->bev.view == want->bev.view &&
           previous->colormap == want->colormap && previous->channel == want->channel &&
           !memcmp(&previous->rgb, &want->rgb, sizeof want->rgb) && previous->lock == want->lock &&
           previous->compare == want->compare && previous->strip == want->strip &&
           previous->lidar == want->lidar && previous->bev.slice == want->bev.slice &&
           previous->bev.filled == want->bev.filled;
}

static void destroy(void *contents) {
    Picture *picture = contents;
    bev_picture_free(&picture->bev);
    for (int i = 0; i < picture->camera_count; i++)
        image_free(&picture->cameras[i]);
    ref_drop(picture->sweep);
}

/* Makes a picture, or keeps `previous` if nothing has changed. `most_w`: columns of a photograph in
 * the strip; 0: the picture has no strip. */
static Picture *make_picture(const State *state, const LiveData *live, Picture *previous,
                             const BevPicture *last, int64_t most_w, const GiveUp *give_up,
                             Err *err) {
    const LiveFrame *frame = &live->frame;
    Picture want = {.content = frame->content,
                    .bev.view = (ViewKind)state->view,
                    .bev.slice = state->job.slice,
                    .colormap = state->colormap,
                    .channel = state->channel,
                    .rgb = state->rgb,
                    .lock = state->range_locked,
                    .bev.filled = fills_empty_cells(state),
                    .compare = state->compare,
                    .strip = state->strip,
                    .lidar = state->lidar,
                    .strip_content = frame->seen_content};
    if (want.strip == STRIP_IMAGE && !frame->cameras && frame->rig)
        want.strip = STRIP_NORM; /* the scene has tensors but no images */
    if (is_same(previous, &want))
        return ref_keep(previous);
    Picture *picture = ref_new(sizeof *picture, destroy);
    if (!picture) {
        err_no_memory(err, "picture", "");
        return NULL;
    }
    *picture = want;
    if (bev_picture_render(&picture->bev, last, state, frame, give_up, err) && !given_up(give_up) &&
        (!most_w || strip_decode(frame, previous, most_w, picture, err)))
        return picture;
    ref_drop(picture);
    return NULL;
}

Picture *picture_make(const State *state, const LiveData *live, Picture *previous,
                      const GiveUp *give_up, Err *err) {
    const BevPicture *last = previous ? &previous->bev : NULL;
    return make_picture(state, live, previous, last, STRIP_MOST_W, give_up, err);
}

Picture *picture_of_figure(const State *state, const LiveData *live, bool strip, Err *err) {
    const BevPicture page = {.light = state->light};
    Picture *picture = make_picture(state, live, NULL, &page, strip ? STRIP_WHOLE_W : 0, NULL, err);
    if (!picture || picture->bev.ready)
        return picture;
    err_set(err, ERR_USAGE, views[state->view].name, "choose another view", "%s",
            picture->bev.reason);
    ref_drop(picture);
    return NULL;
}
