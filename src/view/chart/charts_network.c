/* SPDX-License-Identifier: MIT */
/* The chart of pooling within a whole network: Amdahl's law with published times. */
#include "src/view/chart/charts_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns how many times as fast as the network's kernel the selection is, on the chosen GPU by the
 * model. NaN: unknown, or the selection goes backward, which no deployed network does. */
static double pooling_gain(const ChartInput *input, const Network *network) {
    if (!input->kernel || input->kernel->direction != BEV_FORWARD)
        return NAN;
    const PredictedKernel *from =
        chart_predicted(input, bev_kernel_find(network->kernel), input->gpu);
    const PredictedKernel *to = chart_predicted(input, input->kernel, input->gpu);
    if (!from || !to)
        return NAN;
    return chart_prediction(input, from, input->gpu).latency_us /
           chart_prediction(input, to, input->gpu).latency_us;
}

/* Makes the bar of the network with its pooling `gain` times as fast. */
static PlotBar network_bar(const Network *network, const char *label, double gain) {
    PlotBar bar = {.label = label};
    for (int part = 0; part < NETWORK_PARTS; part++)
        bar.parts[part] = network->part_ms[part] / (part == NETWORK_POOLING ? gain : 1);
    snprintf(bar.text, sizeof bar.text, "%.2f ms, %.2f times as fast",
             network_ms(network) / network_speedup(network, gain), network_speedup(network, gain));
    return bar;
}

/* Makes the bars of a network: as published, with the selection in V2's place, and if pooling took
 * no time. */
static int network_bars(ChartData *data, const Network *network, double gain, PlotBar *bars,
                        char labels[2][TEXT]) {
    int count = 0;
    double pooling = network->part_ms[NETWORK_POOLING];
    snprintf(labels[0], TEXT, "%s on %s (published)", network->title, network->gpu);
    bars[count] = network_bar(network, "as published", 1);
    bars[count].group = labels[0];
    snprintf(bars[count++].text, BAR_TEXT, "%.2f ms, pooling %.2f", network_ms(network), pooling);
    if (isfinite(gain)) {
        snprintf(labels[1], TEXT, "with %s",
                 chart_predicted(data->input, data->input->kernel, data->input->gpu)->title);
        bars[count] = network_bar(network, labels[1], gain);
        bars[count++].strong = true;
    }
    bars[count] = network_bar(network, "pooling free", INFINITY);
    snprintf(bars[count++].text, BAR_TEXT, "%.2f ms, at most %.2f times",
             network_ms(network) - pooling, network_speedup(network, INFINITY));
    return count;
}

/* "Pooling is 1.2 % of BEVDet-R50: V4 makes that 1.01 times as fast" */
static void network_finding(const ChartInput *input, const Network *network, double gain,
                            char title[TEXT]) {
    double share = 100 * network->part_ms[NETWORK_POOLING] / network_ms(network);
    if (input->room == ROOM_LOW || !isfinite(gain))
        snprintf(title, TEXT, "Pooling is %.1f %% of %s", share, network->title);
    else
        snprintf(title, TEXT, "Pooling is %.1f %% of %s: %s makes the whole %.2f times as fast",
                 share, network->title, chart_predicted(input, input->kernel, input->gpu)->title,
                 network_speedup(network, gain));
}

static void network_note(ChartData *data, const double *gains) {
    const Networks *networks = &data->input->model->networks;
    size_t at = 0, size = sizeof data->note;
    char on[128];
    chart_describe_gpu(data->input, on, sizeof on);
    for (int i = 0; i < networks->count && at < size; i++)
        if (isfinite(gains[i]))
            at +=
                (size_t)snprintf(data->note + at, size - at,
                                 at ? "; %s's by %.1f, %s over it"
                                    : "The published pooling is divided: %s's by %.1f, %s over the "
                                      "selection",
                                 networks->list[i].title, gains[i],
                                 bev_kernel_find(networks->list[i].kernel)->title);
    if (at && at < size)
        at += (size_t)snprintf(
            data->note + at, size - at,
            " (model of %s). Softmax and transpositions are within other stages.", on);
    for (int i = 0; i < networks->count && at < size; i++)
        at += (size_t)snprintf(data->note + at, size - at, "%s%s: %s.", at ? "\n" : "",
                               networks->list[i].title, networks->list[i].source);
}

void fill_network(ChartData *data) {
    /* Pooling is what the chart is about. */
    static const Ink inks[PLOT_COLORS] = {INK_RULE, INK_MUTED, INK_ACCENT, INK_RULE, INK_MUTED};
    const Networks *networks = &data->input->model->networks;
    ChartSpec *spec = &data->spec;
    double gains[NETWORKS], longest = 1, budget = 0;
    int count = 0;
    for (int i = 0; i < networks->count; i++) {
        const Network *network = &networks->list[i];
        gains[i] = pooling_gain(data->input, network);
        count += network_bars(data, network, gains[i], &data->bars[count], &data->labels[2 * i]);
        longest = fmax(longest, network_ms(network));
        budget = fmax(budget, network->budget_ms);
    }
    chart_describe(data->input, data->subtitle);
    network_note(data, gains);
    if (networks->count)
        network_finding(data->input, &networks->list[0], gains[0], data->title);
    snprintf(data->labels[2 * NETWORKS], TEXT, "ms of a frame's budget of %g", budget);
    spec->x = (PlotAxis){data->labels[2 * NETWORKS], false, 0,
                         fmax(chart_round_up(longest), budget), "ms"};
    spec->part_names = network_parts;
    spec->part_inks = inks;
    spec->part_count = NETWORK_PARTS;
    spec->bar_count = count;
}
