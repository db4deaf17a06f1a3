/* SPDX-License-Identifier: MIT */
/* The chart of launches over time: a lane for the host's calls, for copies and for kernels, in each
 * way of launching. */
#include "src/view/chart/charts_internal.h"

#include <math.h>
#include <stdio.h>

static PlotBar lane_bar(ChartData *data, const TimelineRun *run, int way, int lane) {
    PlotSpan *spans = data->spans[way][lane];
    for (int i = 0; i < run->count[lane]; i++)
        spans[i] = (PlotSpan){lane, run->spans[lane][i].begin_us, run->spans[lane][i].end_us};
    return (PlotBar){
        .label = timeline_lanes[lane].title, .spans = spans, .span_count = run->count[lane]};
}

/* Makes the bars of one way's lanes, below each other. Where rows are few, they are the kernels
 * alone. */
static int way_bars(ChartData *data, const Timeline *t, int way, int count) {
    const TimelineRun *run = &t->runs[way];
    bool low = data->input->room == ROOM_LOW;
    int first = count;
    for (int lane = low ? LANE_KERNEL : 0; lane < LANE_COUNT; lane++) {
        if (!run->count[lane])
            continue;
        PlotBar *bar = &data->bars[count++];
        *bar = lane_bar(data, run, way, lane);
        char end[24], each[24], calls[24];
        figure_text(UNIT_US, run->end_us, end, sizeof end);
        figure_text(UNIT_US, run->end_us / t->launches, each, sizeof each);
        figure_text(UNIT_US, run->calls_us, calls, sizeof calls);
        if (lane == LANE_HOST)
            snprintf(bar->text, BAR_TEXT, "%s, calls returned", calls);
        else if (lane == LANE_KERNEL)
            snprintf(bar->text, BAR_TEXT, "%s in all, %s a launch%s%s", end, each,
                     low ? ", calls " : "", low ? calls : "");
    }
    if (low && count > first)
        data->bars[first].label = timeline_ways[way].word;
    else if (count > first)
        data->bars[first].group = timeline_ways[way].title;
    return count;
}

static const TimelineRun *run_of(const Timeline *t, TimelineWay way) {
    return t->runs[way].end_us > 0 ? &t->runs[way] : NULL;
}

/* "8 launches: 105 us if each is waited for, 46.5 us in a graph" */
static void timeline_finding(const Timeline *t, char title[TEXT]) {
    const TimelineRun *waited = run_of(t, TIMELINE_WAITED), *graph = run_of(t, TIMELINE_GRAPH);
    char each[32], all[32];
    if (!waited || !graph)
        return;
    figure_text(UNIT_US, waited->end_us, each, sizeof each);
    figure_text(UNIT_US, graph->end_us, all, sizeof all);
    snprintf(title, TEXT, "%d launches: %s if each is waited for, %s in a graph", t->launches, each,
             all);
}

static void timeline_note(ChartData *data, const Timeline *t) {
    const TimelineRun *row = run_of(t, TIMELINE_ROW);
    int at = snprintf(data->note, sizeof data->note, "recorded: %s.", t->label);
    if (row)
        at += snprintf(data->note + at, sizeof data->note - (size_t)at,
                       " Without a synchronise a clock says %.1f µs for the %d launches in a row, "
                       "with one %.1f.",
                       row->calls_us, t->launches, row->end_us);
    snprintf(
        data->note + at, sizeof data->note - (size_t)at,
        "\nEnds are measured. A launch begins when the one before it ends, or %.1f µs (in a graph "
        "from end to end) before its end; beside copies begins are measured, too. Host and "
        "GPU have clocks of their own, some µs apart.",
        t->kernel_us);
}

void fill_timeline(ChartData *data) {
    static const char *const parts[] = {"host: a call", "copy to the GPU", "kernel"};
    const ChartInput *input = data->input;
    const BevKernel *kernel = input->kernel ? model_row(input->kernel) : NULL;
    const Timeline *t =
        timeline_find(&input->model->timelines, input->scene, kernel ? kernel->name : NULL);
    ChartSpec *spec = &data->spec;
    double longest = 1;
    int count = 0;
    spec->x = (PlotAxis){"µs since the run began", false, 0, 1, "µs"};
    spec->part_names = parts;
    spec->part_count = LANE_COUNT;
    if (!t) {
        data->bars[count] = (PlotBar){.label = "n/a"};
        snprintf(data->bars[count++].text, BAR_TEXT, "not recorded");
        snprintf(data->note, sizeof data->note,
                 "Not recorded: no file in samples/recorded has time lines. On a GPU, nsys profile "
                 "shows those of bevscope bench --once.");
    }
    for (int way = 0; t && way < TIMELINE_WAYS; way++) {
        if (!run_of(t, (TimelineWay)way))
            continue;
        count = way_bars(data, t, way, count);
        longest = fmax(longest, t->runs[way].end_us);
    }
    if (t) {
        const BevKernel *row = bev_kernel_find(t->kernel);
        snprintf(data->subtitle, sizeof data->subtitle, "%s, %s, %s, %s", t->scene,
                 row ? row->title : t->kernel, t->dtype, t->align);
        timeline_note(data, t);
        if (input->room != ROOM_LOW)
            timeline_finding(t, data->title);
    }
    spec->x.hi = chart_round_up(longest);
    spec->bar_count = count;
}
