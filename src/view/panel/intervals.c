/* SPDX-License-Identifier: MIT */
/* Lengths of the intervals, backward the points of each pixel: why one owner each does not balance
 * the work. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int last_bucket(const MapIntervals *intervals) {
    int last = 0;
    for (int i = 0; i < LENGTH_BUCKETS; i++)
        if (intervals->intervals[i])
            last = i;
    return last;
}

/* Returns the first bucket of the table. That of pixels begins at the shortest length that occurs:
 * few pixels have few points. */
static int first_bucket(const MapIntervals *intervals) {
    int first = 0, last = last_bucket(intervals);
    while (intervals->of_pixels && first < last && !intervals->intervals[first])
        first++;
    return first;
}

static int64_t fullest(const MapIntervals *intervals) {
    int64_t most = 1;
    for (int i = 0; i < LENGTH_BUCKETS; i++)
        most = intervals->intervals[i] > most ? intervals->intervals[i] : most;
    return most;
}

enum { NAME_W = 9, COUNT_W = 7 };

/* Draws a bucket's number of intervals, and its share of the points, which are the work. */
static void draw_bucket(Sheet *sheet, Area line, const MapIntervals *intervals, int bucket,
                        int group) {
    int64_t count = 0, points = 0;
    for (int i = bucket; i < bucket + group && i < LENGTH_BUCKETS; i++) {
        count += intervals->intervals[i];
        points += intervals->points[i];
    }
    char text[32];
    if (bucket + group == 1)
        snprintf(text, sizeof text, "1");
    else
        snprintf(text, sizeof text, "%d-%d", 1 << bucket, (1 << (bucket + group)) - 1);
    bool longest = bucket + group > last_bucket(intervals);
    sheet_right(sheet, line.x, line.y, NAME_W, cell_style(longest ? INK_WARN : INK_MUTED), text);
    int bar_w = (line.w - NAME_W - 2 * COUNT_W - 4) / 2, x = line.x + NAME_W + 1;
    sheet_right(sheet, x, line.y, COUNT_W, cell_style(INK_TEXT),
                text_of_unit(UNIT_COUNT, (double)count).text);
    x += COUNT_W + 1;
    sheet_bar(sheet, x, line.y, bar_w, (double)count, (double)fullest(intervals) * group,
              longest ? INK_WARN : INK_INDEX);
    x += bar_w + 1;
    snprintf(text, sizeof text, "%.0f %%",
             100.0 * (double)points / (double)intervals->stats.points);
    sheet_right(sheet, x, line.y, COUNT_W, cell_style(INK_TEXT), text);
    sheet_bar(sheet, x + COUNT_W + 1, line.y, bar_w, (double)points,
              fmax(0.5 * (double)intervals->stats.points, (double)points),
              longest ? INK_WARN : INK_FEATURES);
}

/* Slices of a grid leave cells without a point, and short intervals. */
static void draw_summary(Sheet *sheet, Area area, const MapIntervals *of, int64_t slices) {
    const ScatterStats *stats = &of->stats;
    char text[160];
    snprintf(text, sizeof text, "%s points in %s %s, median %d, p99 %d",
             text_of_unit(UNIT_COUNT, (double)stats->points).text,
             text_of_unit(UNIT_COUNT, (double)stats->intervals).text,
             of->of_pixels ? "pixels" : "cells", stats->median, stats->p99);
    bool tall = slices > 1 && !of->of_pixels && stats->cells > 0;
    if (tall)
        snprintf(text, sizeof text, "nz %lld: %.0f %% of the cells filled, median %d, p99 %d",
                 (long long)slices, 100.0 * (double)stats->intervals / (double)stats->cells,
                 stats->median, stats->p99);
    if (sheet_width(sheet, text) > area.w)
        snprintf(text, sizeof text, "median %d, p99 %d", stats->median, stats->p99);
    sheet_line(sheet, area, cell_style(INK_TEXT), text);
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
    char text[160], where[64];
    double times = stats->median > 0 ? (double)stats->longest / stats->median : 0;
    int64_t camera = pixels ? stats->longest_cell / pixels : 0;
    snprintf(where, sizeof where, "cell %s",
             state_cell_place(data->state, stats->longest_cell).text);
    if (intervals->of_pixels && pixels)
        snprintf(where, sizeof where, "%s %lld, %lld",
                 camera < scene->camera_count ? scene->cameras[camera] : "pixel",
                 (long long)(stats->longest_cell % shape->feat_w),
                 (long long)(stats->longest_cell % pixels / shape->feat_w));
    snprintf(text, sizeof text, "longest %s %d points, %.3g x the median (%s)",
             intervals->of_pixels ? "list" : "interval", stats->longest, times, where);
    if (sheet_width(sheet, text) > area.w)
        snprintf(text, sizeof text, "longest %d, %.3g x the median", stats->longest, times);
    if (sheet_width(sheet, text) > area.w)
        snprintf(text, sizeof text, "longest %d", stats->longest);
    sheet_line(sheet, area, cell_bold(times >= UNEVEN ? INK_WARN : INK_TEXT), text);
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
    int rows = area.h - 3, first = first_bucket(intervals), end = last_bucket(intervals) + 1;
    Area line = {area.x, area.y + 1, area.w, 1};
    if (rows >= 3 || rows >= end - first) {
        draw_titles(sheet, line, intervals->of_pixels);
        line.y++;
        int group = (end - first + rows - 1) / rows;
        for (int bucket = first; bucket < end; bucket += group, line.y++)
            draw_bucket(sheet, line, intervals, bucket, group);
    }
    if (area.h >= 2)
        draw_longest(sheet, line, data);
}
