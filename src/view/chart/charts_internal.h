/* SPDX-License-Identifier: MIT */
/* What the charts of the memory model share. Internal to the chart*.c files. */
#pragma once

#include "src/view/chart/chart.h"

enum { TEXT = 200, ARRAYS = 4, MAX_BARS = 2 * MODEL_GPUS, ROOFS = 3 };
enum { MRC_SIZES = 73 }; /* the last ones of what_if_l2: from 0.5 MiB on */

/* A spec with the room for its texts and values, so that one free() frees all. */
typedef struct {
    ChartSpec spec; /* first: chart_make() returns its address */
    const ChartInput *input;
    char title[TEXT], subtitle[TEXT + 144], note[4 * TEXT];
    double x[MRC_SIZES], y[MODEL_KERNELS][MRC_SIZES];
    double roof_x[ROOFS][3], roof_y[ROOFS][3];
    PlotSeries series[ROOFS + MODEL_KERNELS];
    PlotMark marks[MODEL_GPUS];
    PlotBar bars[MAX_BARS];
    PlotSpan spans[TIMELINE_WAYS][LANE_COUNT][TIMELINE_LAUNCHES];
    char labels[MAX_BARS][TEXT];
    const char *parts[ARRAYS];
} ChartData;

/* "canonical, FP16, nearest, C = 80, 209,019 points" */
void chart_describe(const ChartInput *input, char text[TEXT]);
/* Writes the GPU of charts of one GPU, and its changes. */
void chart_describe_gpu(const ChartInput *input, char *text, size_t size);
/* Writes scene and GPU as the subtitle. */
void chart_describe_on(ChartData *data);
Gpu chart_gpu(const ChartInput *input, int gpu);
/* Returns the model's row for the kernel on a GPU. NULL: there is none yet. */
const PredictedKernel *chart_predicted(const ChartInput *input, const BevKernel *kernel, int gpu);
Prediction chart_prediction(const ChartInput *input, const PredictedKernel *kernel, int gpu);
/* Whether `row` stands for the kernel on the chosen GPU. */
bool chart_is_kernel(const ChartInput *input, const PredictedKernel *row, const BevKernel *kernel);
/* Returns the end of an axis: the value, rounded up in its first digit. */
double chart_round_up(double value);

/* Fill the spec of a chart. */
void fill_dtype(ChartData *data);
void fill_terms(ChartData *data);
void fill_network(ChartData *data);
void fill_timeline(ChartData *data);
