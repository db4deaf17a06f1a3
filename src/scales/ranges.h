/* SPDX-License-Identifier: MIT */
/* Ranges of tensors, chosen before a frame is seen, and the file of these ranges. A range is the
 * largest magnitude that is kept. bev_tensor_scale() computes a format's scale from the range. */
#pragma once

#include "src/base/units.h"
#include "src/scales/cuts.h"

enum { RANGES_MAX_CHANNELS = 1024 };

/* The ranges of feature channels, as json_fields reads a JSON row. */
typedef struct {
    int64_t count; /* 0: one range serves all channels */
    double values[RANGES_MAX_CHANNELS];
} ChannelRanges;

typedef struct {
    int method; /* ScaleMethod */
    double percentile;
    int dtype;        /* the BevDtype that entropy and mse chose the ranges for */
    char scenes[256]; /* calibrated on these: "highway, parking" */
    int64_t moments;
    int64_t channels;        /* number of feature channels */
    double depth, feat, out; /* largest magnitude kept; 0: the frame's own largest */
    ChannelRanges feat_channels;
    bool ideal_by_channel; /* the frame gives INT8 features a scale for each channel */
    char label[64];        /* the name of these ranges on screens: the file, or the method */
} ScaleRanges;

/* Chooses ranges from histograms, for features of `dtype`. NaN and infinite values are ignored, and
 * the label says so. Fails where all other values of a tensor are 0, or so small that a format's
 * scale is subnormal. A channel of zeros gets the tensor's range. */
typedef struct {
    ScaleMethod method;
    double percentile;
    BevDtype dtype;
    bool per_channel;
} RangesRequest;
bool ranges_choose(ScaleRanges *ranges, const TensorHistograms *histograms,
                   const RangesRequest *request, const char *where, Err *err);

/* Ideal ranges: each frame's own, with a range for each channel of INT8 features. The word
 * "channel" selects them in place of a file. */
extern const ScaleRanges ranges_by_channel;

/* Returns the name of the scales of a format: "none", "ideal" (`ranges` NULL), or the label. */
const char *ranges_label(const ScaleRanges *ranges, BevDtype dtype);

/* Returns the format and its scales: "FP8, ideal scales", "FP8, scales of parking.json", "FP16". */
ShortText ranges_format(const ScaleRanges *ranges, BevDtype dtype);

/* Returns the method: "max", "percentile 99.99". */
ShortText ranges_describe(ScaleMethod method, double percentile);

/* Sets the ranges from a word of the command line: "channel" gives ranges_by_channel. Any other
 * word is a file, which must have `channels` channels. */
bool ranges_take(ScaleRanges *ranges, const char *word, int64_t channels, Err *err);

bool ranges_read(ScaleRanges *ranges, const char *path, Err *err);
bool ranges_write(const ScaleRanges *ranges, const char *path, Err *err);
