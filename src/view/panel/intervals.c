/* SPDX-License-Identifier: MIT */
/* Lengths of the intervals, backward the points of each pixel: why one owner each does not balance
 * the work. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The rows of the table: of `group` buckets of lengths each. */
typedef struct {
    int first, end, group;
    double most; /* intervals of the fullest bucket */
} Buckets;

/* The table of pixels begins at the shortest length that occurs: few pixels have few points. */
static Buckets buckets_of(const MapIntervals *intervals, int rows) {
    Buckets of = {.first = -1, .most = 1};
    for (int i = 0; i < LENGTH_BUCKETS; i++)
        if (intervals->intervals[i]) {
            of.first = of.first < 0 ? i : of.first;
            of.end = i + 1;
            of.most = fmax(of.most, (double)intervals->intervals[i]);
        }
    of.first = intervals->of_pixels ? of.first : 0;
    of.group = (of.end - of.first + rows - 1) / rows;
    return of;
}

enum { NAME_W = 9, COUNT_W = 7 };

/* Draws a bucket's number of intervals, and its share of the points, which are the work. */
static void draw_bucket(Sheet *sheet, Area line, const MapIntervals *intervals, const Buckets *of,
                        int bucket) {
    int64_t count = 0, points = 0;
    const int end = bucket + of->group;
    for (int i = bucket; i < end && i < LENGTH_BUCKETS; i++) {
        count += intervals->intervals[i];
        points += intervals->points[i];
    }
    const double all = (double)intervals->stats.points;
    const bool longest = end >= of->end;
    sheet_right(sheet, line.x, line.y, NAME_W, cell_style(longest ? INK_WARN : INK_MUTED),
                short_text(end == 1 ? "%d" : "%d-%d", 1 << bucket, (1 << end) - 1).text);
    int bar_w = (line.w - NAME_W - 2 * COUNT_W - 4) / 2, x = line.x + NAME_W + 1;
    sheet_right(sheet, x, line.y, COUNT_W, cell_style(INK_TEXT),
                text_of_unit(UNIT_COUNT, (double)count).text);
    x += COUNT_W + 1;
    sheet_bar(sheet, x, line.y, bar_w, (double)count, of->most * of->group,
              longest ? INK_WARN : INK_INDEX);
    x += bar_w + 1;
    sheet_right(sheet, x, line.y, COUNT_W, cell_style(INK_TEXT),
                short_text("%.0f %%", 100.0 * (double)points / all).text);
    sheet_bar(sheet, x + COUNT_W + 1, line.y, bar_w, (double)points,
              fmax(0.5 * all, (double)points), longest ? INK_WARN : INK_FEATURES);
}

/* Slices of a grid leave cells without a point, and short intervals. */
static void draw_summary(Sheet *sheet, Area area, const MapIntervals *of, int64_t slices) {
    const ScatterStats *stats = &of->stats;
    const bool tall = slices > 1 && !of->of_pixels && stats->cells > 0;
    const ShortText brief = short_text("median %d, p99 %d", stats->median, stats->p99);
    const ShortText text =
        tall ? short_text("nz %lld: %.0f %% of the cells filled, %s", (long long)slices,
                          100.0 * (double)stats->intervals / (double)stats->cells, brief.text)
             : short_text("%s points in %s %s, %s",
                          text_of_unit(UNIT_COUNT, (double)stats->points).text,
                          text_of_unit(UNIT_COUNT, (double)stats->intervals).text,
                          of->of_pixels ? "pixels" : "cells", brief.text);
    sheet_line(sheet, area, cell_style(INK_TEXT),
               sheet_width(sheet, text.text) > area.w ? brief.text : text.text);
}

/* Draws the longest interval, or backward the pixel with the most points; in a short form where the
 * long one does not fit. */
static void draw_longest(Sheet *sheet, Area area, const PanelData *data) {
    enum { UNEVEN = 3 }; /* times the median: the panel's warning */
    const MapIntervals *intervals = &data->live->intervals;
    const ScatterStats *stats = &intervals->stats;
    const BevShape *shape = &data->live->frame.shape;
    const SceneFacts *scene = &data->state->scene;
    const int64_t pixels = shape->feat_h * shape->feat_w;
    const double times = stats->median > 0 ? (double)stats->longest / stats->median : 0;
    const int64_t camera = pixels ? stats->longest_cell / pixels : 0;
    ShortText where =
        short_text("cell %s", state_cell_place(data->state, stats->longest_cell).text);
    if (intervals->of_pixels && pixels)
        where = short_text("%s %lld, %lld",
                           camera < scene->camera_count ? scene->cameras[camera] : "pixel",
                           (long long)(stats->longest_cell % shape->feat_w),
                           (long long)(stats->longest_cell % pixels / shape->feat_w));
    ShortText text =
        short_text("longest %s %d points, %.3g x the median (%s)",
                   intervals->of_pixels ? "list" : "interval", stats->longest, times, where.text);
    if (sheet_width(sheet, text.text) > area.w)
        text = short_text("longest %d, %.3g x the median", stats->longest, times);
    if (sheet_width(sheet, text.text) > area.w)
        text = short_text("longest %d", stats->longest);
    sheet_line(sheet, area, cell_bold(times >= UNEVEN ? INK_WARN : INK_TEXT), text.text);
}

static void draw_titles(Sheet *sheet, Area line, bool of_pixels) {
    enum { OVER_COUNT = 5 }; /* a title begins so many columns before its bars */
    int bar_w = (line.w - NAME_W - 2 * COUNT_W - 4) / 2, title_w = bar_w + OVER_COUNT;
    int first_x = line.x + NAME_W + 1 + COUNT_W - OVER_COUNT;
    int second_x = first_x + 1 + bar_w + 1 + COUNT_W;
    CellStyle style = cell_style(INK_MUTED);
    sheet_right(sheet, line.x, line.y, NAME_W, style, "length");
    sheet_text(sheet, first_x, line.y, title_w, style,
               of_pixels                             ? "pixels"
               : title_w >= (int)strlen("intervals") ? "intervals"
                                                     : "cells");
    sheet_text(sheet, second_x, line.y, title_w, style,
               title_w >= (int)strlen("share of points") ? "share of points" : "points");
}

void intervals_draw(Sheet *sheet, Area area, const PanelData *data) {
    const MapIntervals *intervals = &data->live->intervals;
    char note[64] = "";
    const Pruned *pruned = &intervals->pruned;
    if (intervals->known && pruned->points)
        snprintf(note, sizeof note, "%.2g %% of points hold %.4g %% of mass",
                 100.0 * (double)pruned->points_kept / (double)pruned->points,
                 100 * kept_share(pruned->mass_kept, pruned->mass));
    else if (intervals->known)
        snprintf(note, sizeof note, "counted%s", data->live->job.balance ? ", made even" : "");
    area = sheet_title(sheet, area, intervals->of_pixels ? "Points of a pixel" : "Intervals", note);
    if (!intervals->known || !intervals->stats.intervals) {
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   intervals->known ? scatter_empty_reason(pruned) : "the counts follow");
        return;
    }
    draw_summary(sheet, area, intervals, data->live->frame.shape.nz);
    const int rows = area.h - 3;
    const Buckets of = buckets_of(intervals, rows > 0 ? rows : 1);
    Area line = {area.x, area.y + 1, area.w, 1};
    if (rows >= 3 || rows >= of.end - of.first) {
        draw_titles(sheet, line, intervals->of_pixels);
        for (int bucket = of.first; bucket < of.end; bucket += of.group) {
            line.y++;
            draw_bucket(sheet, line, intervals, &of, bucket);
        }
        line.y++;
    }
    if (area.h >= 2)
        draw_longest(sheet, line, data);
}
