/* SPDX-License-Identifier: MIT */
/* The race and the straggler. The grids fill in the order in which the kernels' blocks write. */
#include "kernels/threads.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GAP = 2 };

static const double LONGEST_S = 12, REST_S = 3;
static const double BEGUN = 0.15; /* brightness of a cell after its first write */

/* Returns how many milliseconds of the display show a microsecond of the kernels. */
static double race_ms(const Race *race) {
    static const double steps[] = {50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1};
    int i = 0;
    while (i < 8 && steps[i] * race_end_us(race) > LONGEST_S * 1e3)
        i++;
    return steps[i];
}

/* Returns the kernels' time in us when the race has run for so many seconds. The race begins again
 * a while after its end. */
static double race_us(const Race *race, double seconds) {
    double end = race_end_us(race), round_s = end * race_ms(race) * 1e-3 + REST_S;
    return fmin(fmod(seconds, round_s) * 1e3 / race_ms(race), end);
}

/* ---- words ----------------------------------------------------------------------------------- */

static ShortText us_text(double us) {
    return text_of_figure(UNIT_US, us);
}

/* Returns the fastest kernel. */
static const Schedule *winner_of(const Race *race) {
    const Schedule *best = race->lanes;
    for (int i = 1; i < race->count; i++)
        best = race->lanes[i].latency_us < best->latency_us ? &race->lanes[i] : best;
    return best;
}

static ShortText source_text(const RaceView *view) {
    bool model = view->race->source == SOURCE_MODEL;
    return short_text("model of %s on %s: %s", model ? "latency and order" : "the order",
                      view->race->gpu.title, view->where.text);
}

/* ---- a grid ---------------------------------------------------------------------------------- */

/* Returns the share of the cell's writes. Of a cell without points, which the picture may fill: of
 * its neighbour that is written last. */
static double written(const Race *race, const Schedule *lane, int64_t cell, double us) {
    double share = -1;
    if (race->points[cell])
        return schedule_written(lane, cell, us);
    for (int64_t dy = -1; dy <= 1; dy++)
        for (int64_t dx = -1; dx <= 1; dx++) {
            int64_t x = cell % race->nx + dx, y = cell / race->nx + dy;
            bool inside = x >= 0 && y >= 0 && x < race->nx && y < race->ny;
            if (!inside || !race->points[y * race->nx + x])
                continue;
            double own = schedule_written(lane, y * race->nx + x, us);
            share = share < 0 ? own : fmin(share, own);
        }
    return share < 0 ? 0 : share;
}

/* Returns a cell's colour as far as its writes have come. Without a picture it is grey, by the
 * logarithm of the cell's points. */
static Rgb cell_by_now(const RaceView *view, const Schedule *lane, double us, int64_t x,
                       int64_t y) {
    const Race *race = view->race;
    const int64_t cell = raster_cell(race->nx, race->ny, x, y);
    const double share = written(race, lane, cell, us);
    const double tone = log1p(race->points[cell]) / log1p((double)race->longest_points);
    Rgb color = rgb_mix(panel_theme.background, panel_theme.line, 0.2 + 0.8 * tone);
    if (view->bev && view->bev->w == race->ny && view->bev->h == race->nx)
        color = image_get(view->bev, (int)x, (int)y);
    return rgb_mix(panel_theme.background, color, share > 0 ? BEGUN + (1 - BEGUN) * share : 0);
}

/* Returns the mean of cells of a pixel that have points, of two along each edge where it has more;
 * without any, its middle cell. */
static Rgb grid_pixel(const RaceView *view, const Schedule *lane, double us, const Image *image,
                      int px, int py) {
    const Race *race = view->race;
    const int64_t x0 = px * race->ny / image->w, y0 = py * race->nx / image->h;
    int64_t x1 = (px + 1) * race->ny / image->w, y1 = (py + 1) * race->nx / image->h;
    x1 += x1 == x0, y1 += y1 == y0;
    const int64_t step_x = (x1 - x0 + 1) / 2, step_y = (y1 - y0 + 1) / 2;
    int sum[3] = {0}, count = 0;
    for (int64_t y = y0 + step_y / 2; y < y1; y += step_y)
        for (int64_t x = x0 + step_x / 2; x < x1; x += step_x) {
            if (!race->points[raster_cell(race->nx, race->ny, x, y)])
                continue;
            Rgb color = cell_by_now(view, lane, us, x, y);
            sum[0] += color.r, sum[1] += color.g, sum[2] += color.b;
            count++;
        }
    if (!count)
        return cell_by_now(view, lane, us, (x0 + x1) / 2, (y0 + y1) / 2);
    return (Rgb){(uint8_t)(sum[0] / count), (uint8_t)(sum[1] / count), (uint8_t)(sum[2] / count)};
}

/* Draws a square frame around the cell with the longest interval. */
static void mark_longest(const Race *race, Image *image) {
    int64_t cell = race->longest_cell;
    int x = (int)((race->ny - 1 - cell / race->nx) * image->w / race->ny);
    int y = (int)((race->nx - 1 - cell % race->nx) * image->h / race->nx);
    int out = image->w / 30 + 1, in = out - image->w / 120;
    for (int i = -out; i <= out; i++)
        for (int j = -out; j <= out; j++) {
            bool edge = abs(i) >= in || abs(j) >= in;
            bool inside = x + i >= 0 && y + j >= 0 && x + i < image->w && y + j < image->h;
            if (edge && inside)
                image_set(image, x + i, y + j, ink_color(INK_WARN, false, false));
        }
}

/* Draws the largest grid that fits the area, with its columns and rows in proportion. */
static void grid_draw(Sheet *sheet, Area area, const RaceView *view, const Schedule *lane,
                      double us, bool marked) {
    enum { SMALL = 20000 }; /* pixels: threads would take the cores of the next frame's pooling */
    const Race *race = view->race;
    Image image;
    Err ignored; /* without memory the place stays empty */
    int w, h;
    sheet_pixels(sheet, area, &w, &h);
    w = (int)fmin(w, (double)h * (double)race->ny / (double)race->nx);
    h = (int)fmin(h, (double)w * (double)race->nx / (double)race->ny);
    if (w < 2 || h < 2 || !image_init(&image, w, h, &ignored))
        return;
#pragma omp parallel for num_threads(bev_threads()) schedule(static) if (w * h > SMALL)
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            image_set(&image, x, y, grid_pixel(view, lane, us, &image, x, y));
    if (marked && race->longest_cell >= 0)
        mark_longest(race, &image);
    sheet_picture(sheet, area, &image);
    image_free(&image);
}

/* ---- the race -------------------------------------------------------------------------------- */

static Ink lane_ink(const Race *race, const Schedule *lane) {
    return lane == winner_of(race) ? INK_ACCENT : INK_TEXT;
}

/* Returns the share of its output that a kernel has written: "55 %", "under 1 %". Only all of it is
 * 100 %. */
static ShortText written_text(const Schedule *lane, double us) {
    const double percent = 100 * schedule_done(lane, us);
    return short_text(percent > 0 && percent < 1 ? "under 1 %%" : "%.0f %%",
                      fmin(percent, us < lane->latency_us ? 99 : 100));
}

/* Returns "V4 is done after 5.0 us: V3 has written 18 %, V2+DO 6 %, V2 2 %" */
static ShortText finding_text(const Race *race) {
    const Schedule *best = winner_of(race);
    ShortText text =
        short_text("%s is done after %s:", best->rung->title, us_text(best->latency_us).text);
    const char *verb = " has written";
    for (int i = race->count - 1; i >= 0; i--) {
        const Schedule *lane = &race->lanes[i];
        if (lane == best)
            continue;
        text_add(text.text, sizeof text.text, "%s %s%s %s", verb[0] ? "" : ",", lane->rung->title,
                 verb, written_text(lane, best->latency_us).text);
        verb = "";
    }
    return text;
}

static void lane_draw(Sheet *sheet, Area area, const RaceView *view, const Schedule *lane,
                      double us) {
    const bool done = us >= lane->latency_us;
    Area head = area_row(&area);
    area_columns(&head,
                 sheet_line(sheet, head, cell_bold(lane_ink(view->race, lane)), lane->rung->title) +
                     1);
    sheet_right(sheet, head, done ? cell_bold(INK_GOOD) : cell_style(INK_MUTED),
                done ? "done" : written_text(lane, us).text);
    grid_draw(sheet, area, view, lane, us, false);
}

/* Draws the kernels' latencies on one scale, as far as the race has run; where there is room, below
 * each bar what takes the time. */
static void bars_draw(Sheet *sheet, Area area, const Race *race, double us) {
    enum { NAME_W = 16, TIME_W = 10 };
    const int each = (int)fmin(area.h / race->count, 3);
    for (int i = 0; i < race->count; i++) {
        const Schedule *lane = &race->lanes[i];
        const Ink ink = lane_ink(race, lane);
        Area row = {area.x, area.y + i * each, area.w, 1};
        sheet_cell(sheet, &row, NAME_W, cell_bold(ink), lane->rung->title);
        if (each > 1)
            sheet_line(sheet, (Area){row.x, row.y + 1, row.w, 1}, cell_style(INK_MUTED),
                       lane->reason);
        sheet_bar(sheet, area_columns(&row, row.w - TIME_W), fmin(us, lane->latency_us),
                  race_end_us(race), ink);
        sheet_right(sheet, row,
                    us >= lane->latency_us ? cell_bold(INK_TEXT) : cell_style(INK_MUTED),
                    us_text(lane->latency_us).text);
    }
}

/* Draws the grids beside each other. Returns the rows that they take. */
static int grids_draw(Sheet *sheet, Area area, const RaceView *view, double us) {
    const Race *race = view->race;
    int w = (area.w - GAP * (race->count - 1)) / race->count, wide, high;
    sheet_pixels(sheet, (Area){0, 0, w, area.h}, &wide, &high);
    double square = (double)wide * (double)race->nx / (double)race->ny; /* height of a grid */
    int h = (int)fmin(ceil(square * area.h / high) + 2, area.h);
    for (int i = 0; i < race->count; i++)
        lane_draw(sheet, (Area){area.x + i * (w + GAP), area.y, w, h - 1}, view, &race->lanes[i],
                  us);
    return h;
}

/* Draws the grids side by side as they are at `us`. */
static void race_grids_draw(Sheet *sheet, Area area, const RaceView *view, double us) {
    const Race *race = view->race;
    area = sheet_title(sheet, area,
                       short_text("Race, in slow motion: 1 µs takes %g ms", race_ms(race)).text,
                       short_text("%.1f µs", us).text);
    sheet_line(sheet, area, cell_bold(INK_TEXT), finding_text(race).text);
    sheet_line(sheet, area_below(area, 1), cell_style(INK_MUTED), source_text(view).text);
    area = area_below(area, 2 + (area.h > 20));
    int least = race->count * (area.h > 30 ? 2 : 1); /* rows of the bars */
    int used = grids_draw(sheet, (Area){area.x, area.y, area.w, area.h - least}, view, us);
    bars_draw(sheet, area_below(area, used), race, us);
}

void race_moments_draw(Sheet *sheet, Area area, const RaceView *view) {
    enum { NAME_W = 18 };
    const Race *race = view->race;
    double moments[RACE_KERNELS];
    for (int i = 0; i < race->count; i++)
        moments[i] = race->lanes[i].latency_us;
    sort_ascending(moments, race->count);
    area = sheet_title(sheet, area, finding_text(race).text, "");
    sheet_line(sheet, area, cell_style(INK_MUTED), source_text(view).text);
    area = area_below(area, 2);
    const int w = (area.w - NAME_W) / race->count, h = (area.h - 1) / race->count;
    Area head = area_behind(area_row(&area), NAME_W);
    for (int m = 0; m < race->count; m++)
        sheet_cell(sheet, &head, w, cell_bold(INK_TEXT), us_text(moments[m]).text);
    for (int i = 0; i < race->count; i++) {
        const Schedule *lane = &race->lanes[i];
        Area name = {area.x, area.y + i * h, NAME_W - 2, h - 1};
        for (int m = 0; m < race->count; m++)
            grid_draw(sheet, (Area){area.x + NAME_W + m * w, name.y, w - 1, name.h}, view, lane,
                      moments[m], false);
        sheet_line(sheet, area_row(&name), cell_bold(lane_ink(race, lane)), lane->rung->title);
        sheet_line(sheet, area_row(&name), cell_style(INK_TEXT), us_text(lane->latency_us).text);
        sheet_paragraph(sheet, name, INK_MUTED, lane->reason);
    }
}

/* ---- the straggler --------------------------------------------------------------------------- */

/* Pixels of a strip: the share of each pixel in which a multiprocessor works. */
typedef struct {
    const Schedule *lane;
    double scale_us; /* at the right edge */
    int w, h;
    float *works; /* [h][w] */
} Gantt;

/* Adds a block to the pixels of its row. Rows that are high enough have a gap between them. */
static void add_block(const Gantt *gantt, const BlockSpan *span) {
    double a_row = (double)gantt->h / gantt->lane->multiprocessors;
    double x0 = span->begin_us / gantt->scale_us * gantt->w;
    double x1 = fmax(span->end_us / gantt->scale_us * gantt->w, x0 + 0.5);
    double y0 = span->multiprocessor * a_row, y1 = y0 + a_row - (a_row >= 2 ? 0.7 : 0);
    for (int y = (int)y0; y < y1 && y < gantt->h; y++)
        for (int x = (int)x0; x < x1 && x < gantt->w; x++) {
            double across = fmin(x1, x + 1) - fmax(x0, x), down = fmin(y1, y + 1) - fmax(y0, y);
            gantt->works[y * gantt->w + x] += (float)(across * down);
        }
}

/* Draws the last block in the ink of warnings, at least five pixels high. */
static void mark_block(const Sheet *sheet, const Gantt *gantt, const BlockSpan *span,
                       Image *image) {
    double a_row = (double)gantt->h / gantt->lane->multiprocessors;
    int h = (int)fmax(ceil(a_row), sheet->pixels ? 5 : 1);
    int y0 = (int)fmin((span->multiprocessor + 0.5) * a_row - h / 2, gantt->h - h);
    int x1 = (int)(span->end_us / gantt->scale_us * gantt->w);
    for (int y = y0 > 0 ? y0 : 0; y < y0 + h && y < gantt->h; y++)
        for (int x = (int)(span->begin_us / gantt->scale_us * gantt->w); x < x1; x++)
            image_set(image, x, y, ink_color(INK_WARN, sheet->light, false));
}

/* Draws a row for each multiprocessor, from 0 to scale_us. Cells stay blank where nothing works. */
static void strip_draw(Sheet *sheet, Area area, const Schedule *lane, double scale_us, Ink ink,
                       bool marked) {
    Gantt gantt = {.lane = lane, .scale_us = scale_us};
    Image image;
    Err ignored; /* without memory the place stays empty */
    sheet_pixels(sheet, area, &gantt.w, &gantt.h);
    if (!image_init(&image, gantt.w, gantt.h, &ignored))
        return;
    gantt.works = calloc((size_t)gantt.w * (size_t)gantt.h, sizeof *gantt.works);
    for (int64_t i = 0; gantt.works && i < lane->block_count; i++)
        add_block(&gantt, &lane->blocks[i]);
    const Rgb paper = themes[sheet->light ? THEME_LIGHT : THEME_DARK].page;
    for (int i = 0; gantt.works && i < gantt.w * gantt.h; i++)
        if (sheet->pixels || gantt.works[i] > 0.05)
            image_set(&image, i % gantt.w, i / gantt.w,
                      rgb_mix(paper, ink_color(ink, sheet->light, false), gantt.works[i]));
    if (marked)
        mark_block(sheet, &gantt, schedule_last_block(lane), &image);
    sheet_picture(sheet, area, &image);
    image_free(&image);
    free(gantt.works);
}

static void lane_strip(Sheet *sheet, Area area, const Schedule *lane, double scale_us,
                       bool marked) {
    const ShortText text = short_text("%s: half end by %s, the last of %d at %s", lane->rung->title,
                                      us_text(schedule_ended_us(lane, 0.5)).text,
                                      lane->multiprocessors, us_text(lane->latency_us).text);
    sheet_line(sheet, area, cell_bold(marked ? INK_TEXT : INK_ACCENT), text.text);
    strip_draw(sheet, area_below(area, 1), lane, scale_us, marked ? INK_MUTED : INK_ACCENT, marked);
}

void straggler_strips_draw(Sheet *sheet, Area area, const RaceView *view) {
    const Race *race = view->race;
    const Schedule *slow = race_straggler(race), *best = winner_of(race);
    const ShortText note = source_text(view);
    char legend[256];
    const ShortText title =
        short_text("Straggler: %d multiprocessors from top to bottom, time to the right",
                   slow->multiprocessors);
    area = sheet_title(sheet, area, title.text, "");
    bool waits = slow->limiter == TERM_DEPENDENT_LOADS && slow->longest == race->longest_points;
    sheet_line(sheet, area, cell_bold(INK_WARN),
               short_text(waits ? "%s waits for long cells, up to %lld points"
                                : "%s is the slowest kernel here",
                          slow->rung->title, (long long)race->longest_points)
                   .text);
    snprintf(legend, sizeof legend,
             "%s; blank: idle, lighter: more of a row's multiprocessors work", note.text);
    sheet_line(sheet, area_below(area, 1), cell_style(INK_MUTED),
               sheet_width(sheet, legend) <= area.w ? legend : note.text);
    area = area_below(area, 2 + (area.h > 20));
    int grid_w = area.w * 3 / 10, w = area.w - grid_w - GAP, h = area.h - 2;
    lane_strip(sheet, (Area){area.x, area.y, w, h * 3 / 5}, slow, slow->latency_us, true);
    if (best != slow)
        lane_strip(sheet, (Area){area.x, area.y + h * 3 / 5 + 1, w, h - h * 3 / 5}, best,
                   slow->latency_us, false);
    Area axis = {area.x, area.y + area.h - 1, w, 1};
    const CellStyle style = cell_style(INK_MUTED);
    sheet_right(sheet, axis, style, us_text(slow->latency_us).text);
    sheet_line(sheet, area_columns(&axis, w / 2), style, us_text(0).text);
    sheet_line(sheet, axis, style, us_text(slow->latency_us / 2).text);
    Area side = {area.x + w + GAP, area.y, grid_w, area.h};
    sheet_line(sheet, side, cell_bold(INK_WARN),
               short_text("the longest cell: %lld points", (long long)race->longest_points).text);
    grid_draw(sheet, area_below(side, 1), view, slow, slow->latency_us, true);
}

/* ---- the page, and the panel beside the questions -------------------------------------------- */

static RaceView view_of(const PanelData *data) {
    const KernelConfig *config = &data->live->job.config;
    return (RaceView){data->live->race, data->picture ? &data->picture->bev.image : NULL,
                      short_text("%s, %s, %s", data->state->scene.name,
                                 bev_dtypes[config->dtype].title, bev_aligns[config->align].name)};
}

/* Draws what each kernel has written when the fastest is done, two grids beside each other. */
void race_draw(Sheet *sheet, Area area, const PanelData *data) {
    const RaceView view = view_of(data);
    const Race *race = view.race;
    if (!race || !race->count) {
        sheet_title(sheet, area, "Race", "being replayed");
        return;
    }
    const Schedule *best = winner_of(race);
    const ShortText title = short_text("Written when %s is done, after %s", best->rung->title,
                                       us_text(best->latency_us).text);
    area = sheet_title(sheet, area, title.text, ":race");
    int w = (area.w - GAP) / 2, h = area.h / ((race->count + 1) / 2);
    for (int i = 0; i < race->count; i++)
        lane_draw(sheet, (Area){area.x + i % 2 * (w + GAP), area.y + i / 2 * h, w, h}, &view,
                  &race->lanes[i], best->latency_us);
}

/* Returns how many kernels of the race are replayed. The schedules are made after the last one. */
static int replayed(const State *state, const LiveData *live) {
    const MemoryModel *model = live->model;
    int done = 0;
    for (int i = 0; model && model->dtype == live->job.config.dtype && race_kernel(i); i++) {
        const PredictedKernel *row = model_of_kernel(model, race_kernel(i), &gpus[state->gpu]);
        done += row && !row->estimate;
    }
    return done;
}

/* Draws in the middle when the race will start. */
static void draw_start(Sheet *sheet, Area area, int done) {
    const ShortText text =
        short_text("The race starts when all %d kernels are replayed: %d now", RACE_KERNELS, done);
    const int blank = (int)fmax(area.w - sheet_width(sheet, text.text) * 9 / 8, 0) / 2;
    sheet_line(sheet, (Area){area.x + blank, area.y + area.h / 2, area.w - blank, 1},
               cell_bold(INK_TITLE), text.text);
}

void race_page_draw(Sheet *sheet, Area area, const PanelData *data) {
    const LiveData *live = data->live;
    const State *state = data->state;
    const RaceView view = view_of(data);
    sheet_origin(sheet, ORIGIN_MODEL, NULL);
    if (!live->race || !live->race->count)
        draw_start(sheet, area, replayed(state, live));
    else if (state->race == RACE_GRIDS)
        race_grids_draw(sheet, area, &view, race_us(live->race, state->race_s));
    else
        straggler_strips_draw(sheet, area, &view);
}
