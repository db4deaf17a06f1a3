/* SPDX-License-Identifier: MIT */
/* Two panels about the lengths of the intervals. The lengths tell why a kernel does not balance its
 * work where one owner takes each interval. Backward an interval holds the points of a pixel. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The buckets of lengths that a table shows: `first` to `end` - 1. Bucket i counts the intervals of
 * 2^i to 2^(i+1) - 1 points. */
typedef struct {
    int first, end;
    int group;   /* how many buckets share a row */
    double most; /* intervals of the fullest bucket */
} Buckets;

/* Chooses the buckets for a table of `rows` rows. The table of pixels begins at the shortest length
 * that occurs, because few pixels have few points. */
static Buckets buckets_of(const MapIntervals *intervals, int rows) {
    Buckets shown = {.first = -1, .most = 1};
    for (int i = 0; i < LENGTH_BUCKETS; i++)
        if (intervals->intervals[i]) {
            shown.first = shown.first < 0 ? i : shown.first;
            shown.end = i + 1;
            shown.most = fmax(shown.most, (double)intervals->intervals[i]);
        }
    shown.first = intervals->of_pixels ? shown.first : 0;
    shown.group = (shown.end - shown.first + rows - 1) / rows;
    return shown;
}

enum { NAME_W = 9, COUNT_W = 8 };

/* Draws a figure and its bar in one half of a bucket's row. */
static void draw_half_row(Sheet *sheet, Area half, const char *text, double value, double most,
                          Ink ink) {
    sheet_right(sheet, area_columns(&half, COUNT_W), cell_style(INK_TEXT), text);
    sheet_bar(sheet, area_behind(half, 1), value, most, ink);
}

/* Draws a bucket's number of intervals, and its share of the points, which are the work. */
static void draw_bucket(Sheet *sheet, Area line, const MapIntervals *intervals, const Buckets *of,
                        int bucket) {
    double count = 0, points = 0;
    const int end = bucket + of->group, half = (line.w - NAME_W) / 2;
    for (int i = bucket; i < end && i < LENGTH_BUCKETS; i++) {
        count += (double)intervals->intervals[i];
        points += (double)intervals->points[i];
    }
    const double all = (double)intervals->stats.points;
    const bool longest = end >= of->end;
    sheet_right(sheet, area_columns(&line, NAME_W), cell_style(longest ? INK_WARN : INK_MUTED),
                short_text(end == 1 ? "%d" : "%d-%d", 1 << bucket, (1 << end) - 1).text);
    draw_half_row(sheet, area_columns(&line, half), text_of_unit(UNIT_COUNT, count).text, count,
                  of->most * of->group, longest ? INK_WARN : INK_INDEX);
    draw_half_row(sheet, area_columns(&line, half), short_text("%.0f %%", 100 * points / all).text,
                  points, fmax(0.5 * all, points), longest ? INK_WARN : INK_FEATURES);
}

/* Draws the number of points and their cells. A grid of several slices has the share of its cells
 * that have points: slices leave cells empty and make intervals short. */
static void draw_summary(Sheet *sheet, Area area, const MapIntervals *of, int64_t slices) {
    const ScatterStats *stats = &of->stats;
    const double cells = (double)stats->intervals; /* with points; backward: pixels */
    const ShortText brief = short_text("median %d, p99 %d", stats->median, stats->p99);
    const ShortText points = text_of_unit(UNIT_COUNT, (double)stats->points);
    ShortText text =
        short_text("%s points in %s %s, %s", points.text, text_of_unit(UNIT_COUNT, cells).text,
                   of->of_pixels ? "pixels" : "cells", brief.text);
    if (slices > 1 && !of->of_pixels && stats->cells > 0)
        text = short_text("nz %lld: %.0f %% of the cells filled, %s", (long long)slices,
                          100.0 * cells / (double)stats->cells, brief.text);
    sheet_line(sheet, area, cell_style(INK_TEXT),
               sheet_width(sheet, text.text) > area.w ? brief.text : text.text);
}

/* Draws the longest interval, or backward the pixel with the most points, in the words that have
 * room. */
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
    const ShortText least = short_text("longest %d", stats->longest);
    const ShortText brief = short_text("%s, %.3g x the median", least.text, times);
    const ShortText whole =
        short_text("longest %s %d points, %.3g x the median (%s)",
                   intervals->of_pixels ? "list" : "interval", stats->longest, times, where.text);
    const char *const texts[] = {whole.text, brief.text, least.text, NULL};
    sheet_line(sheet, area, cell_bold(times >= UNEVEN ? INK_WARN : INK_TEXT),
               sheet_shortened(sheet, area.w, texts));
}

static void draw_column_titles(Sheet *sheet, Area line, bool of_pixels) {
    enum { INDENT = 3 }; /* a title begins before its bars */
    const CellStyle style = cell_style(INK_MUTED);
    const int half = (line.w - NAME_W) / 2, title_w = half - INDENT - 1;
    const char *owners = title_w >= (int)strlen("intervals") ? "intervals" : "cells";
    const char *share = title_w >= (int)strlen("share of points") ? "share of points" : "points";
    sheet_right(sheet, area_columns(&line, NAME_W), style, "length");
    sheet_line(sheet, area_behind(area_columns(&line, half), INDENT), style,
               of_pixels ? "pixels" : owners);
    sheet_line(sheet, area_behind(area_columns(&line, half), INDENT), style, share);
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
    area_row(&area);
    if (rows >= 3 || rows >= of.end - of.first) {
        draw_column_titles(sheet, area_row(&area), intervals->of_pixels);
        for (int bucket = of.first; bucket < of.end; bucket += of.group)
            draw_bucket(sheet, area_row(&area), intervals, &of, bucket);
    }
    draw_longest(sheet, area, data);
}

/* ---- the points of a cell -------------------------------------------------------------------- */

enum { BUCKET_W = 5 };

/* Draws the lengths of the intervals in three rows: bars over the lengths, and the fullest cell. */
void points_draw(Sheet *sheet, Area area, const PanelData *data) {
    const MapIntervals *intervals = &data->live->intervals;
    const ScatterStats *stats = &intervals->stats;
    const char *of = intervals->of_pixels ? "pixel" : "cell";
    const Buckets lengths = buckets_of(intervals, LENGTH_BUCKETS);
    const int room = area.w / BUCKET_W, buckets = lengths.end < room ? lengths.end : room;
    ShortText note = {""};
    double heights[LENGTH_BUCKETS];
    const ShortText count = text_of_unit(UNIT_COUNT, (double)stats->intervals);
    if (intervals->known)
        note = short_text("%s %ss, median %d", count.text, of, stats->median);
    area = sheet_title(sheet, area, short_text("Points of a %s", of).text, note.text);
    if (!intervals->known)
        return;
    for (int i = 0; i < buckets; i++)
        heights[i] = sqrt((double)intervals->intervals[i] / lengths.most);
    Area bars = area_columns(&area, buckets * BUCKET_W);
    area_columns(&area, 1);
    if (buckets)
        sheet_bars(sheet, area_row(&bars), heights, buckets, INK_INDEX);
    for (int i = 0; i < buckets; i++)
        sheet_line(sheet, area_columns(&bars, BUCKET_W), cell_style(INK_MUTED),
                   short_text("%d", 1 << i).text);
    const ShortText brief = short_text("fullest %s: %d", of, stats->longest);
    const ShortText whole = short_text(
        "%s points%s", brief.text, live_longest_empty(data->live) ? ", all of probability 0" : "");
    if (sheet_width(sheet, brief.text) > area.w)
        return;
    const bool whole_fits = sheet_width(sheet, whole.text) <= area.w;
    sheet_right(sheet, area, cell_bold(INK_WARN), whole_fits ? whole.text : brief.text);
    if (intervals->of_pixels || stats->longest_cell < 0)
        return;
    sheet_spot(sheet, (Area){area.x, area.y, area.w, 2}, ACTION_FULLEST, 0, "");
    const ShortText pins = short_text(":fullest or a click pins %s",
                                      state_cell_place(data->state, stats->longest_cell).text);
    if (sheet_width(sheet, pins.text) <= area.w)
        sheet_right(sheet, area_below(area, 1), cell_style(INK_MUTED), pins.text);
}
