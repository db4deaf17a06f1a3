/* Ranges of the tensors, chosen beforehand, and their file. A file holds magnitudes, not scales:
 * the scale of each format follows (bev_tensor_scale). */
#pragma once

#include "src/scales/cuts.h"

enum { RANGES_MAX_CHANNELS = 1024 };

/* Numbers of a JSON row, as json_fields reads them. */
typedef struct {
    int64_t count; /* 0: one range serves all channels */
    double values[RANGES_MAX_CHANNELS];
} ChannelRanges;

typedef struct {
    int method; /* ScaleMethod */
    double percentile;
    int dtype;        /* the format that entropy and mse were chosen for */
    char scenes[256]; /* "highway, parking" */
    int64_t moments;
    int64_t channels;        /* of the features */
    double depth, feat, out; /* the largest magnitude that is kept; 0: that of the very frame */
    ChannelRanges feat_channels;
    bool ideal_by_channel; /* INT8 features: of the very frame, of each channel */
    char label[64];        /* by which scales, for people: the file's name, or the method */
} ScaleRanges;

/* Chooses ranges from histograms for features of `dtype`. NaN and infinite values have no part in
 * them; the label says so. Fails where all other values of a tensor are 0, or so small that a
 * format's scale is subnormal. A channel of zeros gets the tensor's range. */
typedef struct {
    ScaleMethod method;
    double percentile;
    BevDtype dtype;
    bool per_channel;
} RangesRequest;
bool ranges_choose(ScaleRanges *ranges, const TensorHistograms *histograms,
                   const RangesRequest *request, const char *where, Err *err);

/* Ideal ones, of the very frame, but of INT8 features one a channel: the word "channel" in place of
 * a file. */
extern const ScaleRanges ranges_by_channel;

/* By which scales features of a format are encoded: "ideal" (of the very frame) without ranges,
 * "none" of a format without scales, else the label. */
const char *ranges_label(const ScaleRanges *ranges, BevDtype dtype);

/* "FP8, ideal scales", "FP8, scales of parking.json", "FP16": the format and its label. */
void ranges_format(const ScaleRanges *ranges, BevDtype dtype, char *text, size_t size);

/* "max", "percentile 99.99": how they were chosen. */
void ranges_describe(ScaleMethod method, double percentile, char *text, size_t size);

/* Takes ranges_by_channel or reads a file, which must be of features with so many channels. */
bool ranges_take(ScaleRanges *ranges, const char *word, int64_t channels, Err *err);

bool ranges_read(ScaleRanges *ranges, const char *path, Err *err);
bool ranges_write(const ScaleRanges *ranges, const char *path, Err *err);
