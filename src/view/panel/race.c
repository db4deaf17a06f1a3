/* SPDX-License-Identifier: MIT */
/* The race: the grids of all kernels fill in the order in which the kernels' blocks write. The
 * straggler: when each multiprocessor of a slow kernel works. */
#include "kernels/threads.h"
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GAP = 2 };

static const double LONGEST_S = 12, REST_S = 3; /* of a race; the pause before the next race */
static const double BEGUN = 0.15;               /* brightness of a cell after its first write */

/* Returns the slow motion: how many milliseconds on the screen show 1 us of the kernels. */
static double race_ms_per_us(const Race *race) {
    static const double paces[] = {50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1};
    const int last = sizeof paces / sizeof *paces - 1;
    int i = 0;
    while (i < last && paces[i] * race_end_us(race) > LONGEST_S * 1e3)
        i++;
    return paces[i];
}

/* Returns the kernels' time in us when the race has run for so many seconds on the screen. The race
 * begins again after a pause. */
static double race_us(const Race *race, double seconds) {
    const double end_us = race_end_us(race), ms_per_us = race_ms_per_us(race);
    const double round_s = end_us * ms_per_us * 1e-3 + REST_S;
    return fmin(fmod(seconds, round_s) * 1e3 / ms_per_us, end_us);
}

static ShortText us_text(double us) {
    return text_of_figure(UNIT_US, us);
}

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

/* Returns the share of a cell's writes that a kernel has done at `us`. A cell without points, which
 * the picture may fill, has the share of the neighbour that is written last. */
static double written_share(const Race *race, const Schedule *lane, int64_t cell, double us) {
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

/* Returns a cell's colour at `us`: dark before the first write, and brighter with each write. If
 * there is no picture, the colour is a grey by the logarithm of the cell's points. */
static Rgb cell_color(const RaceView *view, const Schedule *lane, double us, int64_t x, int64_t y) {
    const Race *race = view->race;
    const int64_t cell = raster_cell(race->nx, race->ny, x, y);
    const double share = written_share(race, lane, cell, us);
    const double tone = log1p(race->points[cell]) / log1p((double)race->longest_points);
    Rgb color = rgb_mix(panel_theme.background, panel_theme.line, 0.2 + 0.8 * tone);
    if (view->bev && view->bev->w == race->ny && view->bev->h == race->nx)
        color = image_get(view->bev, (int)x, (int)y);
    return rgb_mix(panel_theme.background, color, share > 0 ? BEGUN + (1 - BEGUN) * share : 0);
}

/* Returns the colour of a pixel of a grid: the mean of its cells that have points, or else the
 * colour of its middle cell. To be fast, at most two cells along each edge are read. */
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
            Rgb color = cell_color(view, lane, us, x, y);
            sum[0] += color.r, sum[1] += color.g, sum[2] += color.b;
            count++;
        }
    if (!count)
        return cell_color(view, lane, us, (x0 + x1) / 2, (y0 + y1) / 2);
    return (Rgb){(uint8_t)(sum[0] / count), (uint8_t)(sum[1] / count), (uint8_t)(sum[2] / count)};
}

/* Draws a square frame around the cell with the longest interval. */
static void mark_longest(const Race *race, Image *image) {
    const int64_t cell = race->longest_cell;
    const int middle_x = (int)((race->ny - 1 - cell / race->nx) * image->w / race->ny);
    const int middle_y = (int)((race->nx - 1 - cell % race->nx) * image->h / race->nx);
    const int outer = image->w / 30 + 1, inner = outer - image->w / 120; /* half sides */
    for (int dx = -outer; dx <= outer; dx++)
        for (int dy = -outer; dy <= outer; dy++) {
            const int x = middle_x + dx, y = middle_y + dy;
            const bool on_frame = abs(dx) >= inner || abs(dy) >= inner;
            const bool inside = x >= 0 && y >= 0 && x < image->w && y < image->h;
            if (on_frame && inside)
                image_set(image, x, y, ink_color(INK_WARN, false, false));
        }
}

/* Draws a kernel's grid at `us`, as large as the area allows. `marked`: frames the longest cell. */
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

/* Returns the share of its output that a kernel has written: "55 %", "under 1 %". Before its end a
 * kernel has at most 99 %, however the share is rounded. */
static ShortText written_text(const Schedule *lane, double us) {
    const double percent = 100 * schedule_done(lane, us);
    if (percent > 0 && percent < 1)
        return short_text("under 1 %%");
    return short_text("%.0f %%", fmin(percent, us < lane->latency_us ? 99 : 100));
}

/* Returns "V4 is done after 5.0 us: V3 has written 18 %, V2+DO 6 %, V2 2 %". */
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
    const CellStyle name_style = cell_bold(lane_ink(view->race, lane));
    area_columns(&head, sheet_line(sheet, head, name_style, lane->rung->title) + 1);
    sheet_right(sheet, head, done ? cell_bold(INK_GOOD) : cell_style(INK_MUTED),
                done ? "done" : written_text(lane, us).text);
    grid_draw(sheet, area, view, lane, us, false);
}

/* Draws the kernels' latencies as bars, which grow as the race runs. Below each bar stands what
 * limits the kernel, where the area has rows for it. */
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

/* Draws all kernels' grids beside each other. Returns the rows used. */
static int grids_draw(Sheet *sheet, Area area, const RaceView *view, double us) {
    const Race *race = view->race;
    int w = (area.w - GAP * (race->count - 1)) / race->count, wide, high;
    sheet_pixels(sheet, (Area){0, 0, w, area.h}, &wide, &high);
    const double pixels_h = (double)wide * (double)race->nx / (double)race->ny; /* of a grid */
    const double grid_rows = ceil(pixels_h * area.h / high);
    int h = (int)fmin(1 + grid_rows + 1, area.h); /* the head, the grid, and a blank row */
    for (int i = 0; i < race->count; i++)
        lane_draw(sheet, (Area){area.x + i * (w + GAP), area.y, w, h - 1}, view, &race->lanes[i],
                  us);
    return h;
}

/* Draws the grids side by side as they are at `us`. */
static void race_grids_draw(Sheet *sheet, Area area, const RaceView *view, double us) {
    const Race *race = view->race;
    const ShortText title =
        short_text("Race, in slow motion: 1 µs takes %g ms", race_ms_per_us(race));
    area = sheet_title(sheet, area, title.text, short_text("%.1f µs", us).text);
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

/* The pixels of a strip. Each row of the strip is a multiprocessor. */
typedef struct {
    const Schedule *lane;
    double scale_us; /* at the right edge */
    int w, h;
    float *works; /* [h][w]: the share of the pixel in which a multiprocessor works */
} Gantt;

/* Adds a block to the pixels of its multiprocessor's row. High rows have a gap between them. */
static void add_block(const Gantt *gantt, const BlockSpan *span) {
    const double row_h = (double)gantt->h / gantt->lane->multiprocessors;
    const double gap = row_h >= 2 ? 0.7 : 0;
    double x0 = span->begin_us / gantt->scale_us * gantt->w;
    double x1 = fmax(span->end_us / gantt->scale_us * gantt->w, x0 + 0.5);
    double y0 = span->multiprocessor * row_h, y1 = y0 + row_h - gap;
    for (int y = (int)y0; y < y1 && y < gantt->h; y++)
        for (int x = (int)x0; x < x1 && x < gantt->w; x++) {
            double across = fmin(x1, x + 1) - fmax(x0, x), down = fmin(y1, y + 1) - fmax(y0, y);
            gantt->works[y * gantt->w + x] += (float)(across * down);
        }
}

/* Draws a block in the ink of warnings. On a screen of pixels the block is at least five high, so
 * that it is seen. */
static void mark_block(const Sheet *sheet, const Gantt *gantt, const BlockSpan *span,
                       Image *image) {
    const double row_h = (double)gantt->h / gantt->lane->multiprocessors;
    const int h = (int)fmax(ceil(row_h), sheet->pixels ? 5 : 1);
    const int y0 = (int)fmin((span->multiprocessor + 0.5) * row_h - h / 2, gantt->h - h);
    const int x0 = (int)(span->begin_us / gantt->scale_us * gantt->w);
    const int x1 = (int)(span->end_us / gantt->scale_us * gantt->w);
    for (int y = y0 > 0 ? y0 : 0; y < y0 + h && y < gantt->h; y++)
        for (int x = x0; x < x1; x++)
            image_set(image, x, y, ink_color(INK_WARN, sheet->light, false));
}

/* Draws a row for each multiprocessor, from 0 to `scale_us`. `marked`: marks the last block. Cells
 * of a character screen stay blank where no multiprocessor works. */
static void strip_draw(Sheet *sheet, Area area, const Schedule *lane, double scale_us, Ink ink,
                       bool marked) {
    Gantt gantt = {.lane = lane, .scale_us = scale_us};
    Image image;
    Err ignored; /* without memory the area stays empty */
    sheet_pixels(sheet, area, &gantt.w, &gantt.h);
    if (!image_init(&image, gantt.w, gantt.h, &ignored))
        return;
    gantt.works = calloc((size_t)gantt.w * (size_t)gantt.h, sizeof *gantt.works);
    for (int64_t i = 0; gantt.works && i < lane->block_count; i++)
        add_block(&gantt, &lane->blocks[i]);
    const Rgb paper = themes[sheet->light ? THEME_LIGHT : THEME_DARK].page;
    const Rgb busy = ink_color(ink, sheet->light, false);
    for (int i = 0; gantt.works && i < gantt.w * gantt.h; i++)
        if (sheet->pixels || gantt.works[i] > 0.05)
            image_set(&image, i % gantt.w, i / gantt.w, rgb_mix(paper, busy, gantt.works[i]));
    if (marked)
        mark_block(sheet, &gantt, schedule_last_block(lane), &image);
    sheet_picture(sheet, area, &image);
    image_free(&image);
    free(gantt.works);
}

/* Draws a kernel's strip below a line about its multiprocessors. `marked`: the straggler. */
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
    const bool straggler = true, plain = false;
    const ShortText note = source_text(view);
    char legend[256];
    const ShortText title =
        short_text("Straggler: %d multiprocessors from top to bottom, time to the right",
                   slow->multiprocessors);
    area = sheet_title(sheet, area, title.text, "");
    bool waits = slow->limiter == TERM_DEPENDENT_LOADS && slow->longest == race->longest_points;
    const char *format =
        waits ? "%s waits for long cells, up to %lld points" : "%s is the slowest kernel here";
    sheet_line(sheet, area, cell_bold(INK_WARN),
               short_text(format, slow->rung->title, (long long)race->longest_points).text);
    snprintf(legend, sizeof legend,
             "%s; blank: idle, lighter: more of a row's multiprocessors work", note.text);
    sheet_line(sheet, area_below(area, 1), cell_style(INK_MUTED),
               sheet_width(sheet, legend) <= area.w ? legend : note.text);
    area = area_below(area, 2 + (area.h > 20));
    int grid_w = area.w * 3 / 10, w = area.w - grid_w - GAP, h = area.h - 2;
    lane_strip(sheet, (Area){area.x, area.y, w, h * 3 / 5}, slow, slow->latency_us, straggler);
    if (best != slow)
        lane_strip(sheet, (Area){area.x, area.y + h * 3 / 5 + 1, w, h - h * 3 / 5}, best,
                   slow->latency_us, plain);
    Area axis = {area.x, area.y + area.h - 1, w, 1};
    const CellStyle style = cell_style(INK_MUTED);
    sheet_right(sheet, axis, style, us_text(slow->latency_us).text);
    sheet_line(sheet, area_columns(&axis, w / 2), style, us_text(0).text);
    sheet_line(sheet, axis, style, us_text(slow->latency_us / 2).text);
    Area side = {area.x + w + GAP, area.y, grid_w, area.h};
    sheet_line(sheet, side, cell_bold(INK_WARN),
               short_text("the longest cell: %lld points", (long long)race->longest_points).text);
    grid_draw(sheet, area_below(side, 1), view, slow, slow->latency_us, straggler);
}

/* ---- the page, and the panel beside the questions -------------------------------------------- */

static RaceView view_of(const PanelData *data) {
    const KernelConfig *config = &data->live->job.config;
    return (RaceView){data->live->race, data->picture ? &data->picture->bev.image : NULL,
                      short_text("%s, %s, %s", data->state->scene.name,
                                 bev_dtypes[config->dtype].title, bev_aligns[config->align].name)};
}

/* Draws what each kernel has written when the fastest kernel is done. Two grids stand in a row. */
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

/* Returns how many kernels the model has replayed. A race begins after all of its kernels. */
static int count_replayed(const State *state, const LiveData *live) {
    const MemoryModel *model = live->model;
    int done = 0;
    if (!model || model->dtype != live->job.config.dtype)
        return done;
    for (int i = 0; race_kernel(i); i++) {
        const PredictedKernel *row = model_of_kernel(model, race_kernel(i), &gpus[state->gpu]);
        done += row && !row->estimate;
    }
    return done;
}

/* Draws in the middle of the area how many of the kernels are replayed, for the race to begin. */
static void draw_start(Sheet *sheet, Area area, int done) {
    const ShortText text =
        short_text("The model replays all %d kernels first: %d done", RACE_KERNELS, done);
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
        draw_start(sheet, area, count_replayed(state, live));
    else if (state->race == RACE_GRIDS)
        race_grids_draw(sheet, area, &view, race_us(live->race, state->race_s));
    else
        straggler_strips_draw(sheet, area, &view);
}
