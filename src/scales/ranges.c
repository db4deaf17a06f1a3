/* SPDX-License-Identifier: MIT */
#include "src/scales/ranges.h"

#include "kernels/clean.h"
#include "kernels/threads.h"
#include "src/base/json_fields.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The smallest range whose scale is no subnormal float. NVFP4 has the smallest scales. */
#define LEAST_RANGE (448 * 6 * (double)FLT_MIN)
enum { MAX_FILE_BYTES = 1 << 18 };

ShortText ranges_describe(ScaleMethod method, double percentile) {
    return short_text(method == SCALE_PERCENTILE ? "%s %g" : "%s", scale_method_names[method],
                      percentile);
}

const ScaleRanges ranges_by_channel = {.ideal_by_channel = true, .label = "ideal, by channel"};

/* Returns whether each tensor of this format gets one scale, from the frame's own largest value. */
static bool are_ideal(const ScaleRanges *ranges, BevDtype dtype) {
    return !ranges || (ranges->ideal_by_channel && !bev_is_whole(dtype));
}

/* Returns whether features of this format have a scale, or the depths of the same problem. */
static bool has_scales(BevDtype dtype) {
    return scale_exists(dtype) || scale_exists(bev_dtypes[dtype].depth);
}

const char *ranges_label(const ScaleRanges *ranges, BevDtype dtype) {
    if (!has_scales(dtype))
        return "none";
    return are_ideal(ranges, dtype) ? "ideal" : ranges->label;
}

ShortText ranges_format(const ScaleRanges *ranges, BevDtype dtype) {
    const char *title = bev_dtypes[dtype].title;
    if (!has_scales(dtype))
        return short_text("%s", title);
    if (are_ideal(ranges, dtype))
        return short_text("%s, ideal scales", title);
    return ranges->ideal_by_channel ? short_text("%s, ideal scales by channel", title)
                                    : short_text("%s, scales of %s", title, ranges->label);
}

/* ---- choosing -------------------------------------------------------------------------------- */

static bool check_range(const char *where, const char *tensor, const Histogram *histogram,
                        double range, Err *err) {
    const ShortText place = short_text("%.99s: %s", where, tensor);
    if (range == 0)
        return err_set(err, ERR_FAILED, place.text, "a scale needs a value other than 0",
                       "an empty histogram: all values are %s", histogram_kinds(histogram));
    return range >= LEAST_RANGE ||
           err_set(err, ERR_FAILED, place.text, "the tensor is as good as 0",
                   "the range %.3g is so small that a scale is subnormal", range);
}

bool ranges_choose(ScaleRanges *ranges, const TensorHistograms *histograms,
                   const RangesRequest *request, const char *where, Err *err) {
    const BevDtypeInfo *format = &bev_dtypes[request->dtype];
    Histogram feat;
    *ranges = (ScaleRanges){.method = (int)request->method,
                            .percentile = request->percentile,
                            .dtype = (int)request->dtype,
                            .moments = histograms->moments,
                            .channels = histograms->channel_count};
    snprintf(ranges->label, sizeof ranges->label, "%s",
             ranges_describe(request->method, request->percentile).text);
    if (!tensor_histograms_feat(histograms, &feat))
        return err_no_memory(err, where, "");
    if (histograms->depth.not_finite || feat.not_finite || histograms->out.not_finite)
        strcat(ranges->label, ", NaN left out");
    const ScaleMethod method = request->method;
    ranges->depth = scale_cut(&histograms->depth, method, request->percentile, format->depth);
    ranges->feat = scale_cut(&feat, method, request->percentile, request->dtype);
    ranges->out = scale_cut(&histograms->out, method, request->percentile, format->out);
    ranges->feat_channels.count = request->per_channel ? histograms->channel_count : 0;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic)
    for (int64_t c = 0; c < ranges->feat_channels.count; c++) {
        double range =
            scale_cut(&histograms->channels[c], method, request->percentile, request->dtype);
        ranges->feat_channels.values[c] = range >= LEAST_RANGE ? range : ranges->feat;
    }
    bool ok = check_range(where, "depth", &histograms->depth, ranges->depth, err) &&
              check_range(where, "feat", &feat, ranges->feat, err) &&
              check_range(where, "out", &histograms->out, ranges->out, err);
    histogram_free(&feat);
    return ok;
}

/* ---- the file -------------------------------------------------------------------------------- */

#define RANGE(key, type) #key, type, offsetof(ScaleRanges, key), .min = LEAST_RANGE, .max = FLT_MAX
#define COUNT(key)       #key, FIELD_INT64, offsetof(ScaleRanges, key), .min = 1
static const Field fields[] = {
    {"method", FIELD_WORD, offsetof(ScaleRanges, method),
     FIELD_WORDS(scale_method_names[0], *scale_method_names, SCALE_METHOD_COUNT)},
    {"percentile", FIELD_DOUBLE, offsetof(ScaleRanges, percentile), .max = 100, .optional = true},
    {"dtype", FIELD_WORD, offsetof(ScaleRanges, dtype),
     FIELD_WORDS(bev_dtypes[0].name, *bev_dtypes, BEV_DTYPE_COUNT)},
    {"scenes", FIELD_TEXT, offsetof(ScaleRanges, scenes), .max = 255},
    {COUNT(moments), .max = 1e9},
    {COUNT(channels), .max = RANGES_MAX_CHANNELS},
    {RANGE(depth, FIELD_DOUBLE)},
    {RANGE(feat, FIELD_DOUBLE)},
    {RANGE(out, FIELD_DOUBLE)},
    {RANGE(feat_channels, FIELD_ROW), .numbers = RANGES_MAX_CHANNELS, .optional = true},
};
static const FieldTable table = FIELD_TABLE(fields, ScaleRanges);

bool ranges_read(ScaleRanges *ranges, const char *path, Err *err) {
    *ranges = (ScaleRanges){0};
    if (!fields_read_file(path, MAX_FILE_BYTES, &table, ranges, err))
        return false;
    clean_text(data_file_name(path), ranges->label, sizeof ranges->label);
    const ChannelRanges *own = &ranges->feat_channels;
    return !own->count || own->count == ranges->channels ||
           data_refuse(err, path, "$.feat_channels", "a range for each channel",
                       "has %lld elements, but there are %lld channels", (long long)own->count,
                       (long long)ranges->channels);
}

bool ranges_take(ScaleRanges *ranges, const char *word, int64_t channels, Err *err) {
    if (!strcmp(word, "channel")) {
        *ranges = ranges_by_channel;
        return true;
    }
    if (!ranges_read(ranges, word, err))
        return false;
    return ranges->channels == channels ||
           err_set(err, ERR_USAGE, ranges->label, "calibrate on features of this shape",
                   "scales for %lld channels, but the scene has %lld", (long long)ranges->channels,
                   (long long)channels);
}

bool ranges_write(const ScaleRanges *ranges, const char *path, Err *err) {
    const ChannelRanges *own = &ranges->feat_channels;
    json_t *channels = own->count ? json_array() : NULL;
    for (int64_t c = 0; c < own->count; c++)
        json_array_append_new(channels, json_real(own->values[c]));
    json_t *root = json_pack(
        "{ss ss ss sI sI so* sf sf sf so*}", "method", scale_method_names[ranges->method], "dtype",
        bev_dtypes[ranges->dtype].name, "scenes", ranges->scenes, "moments",
        (json_int_t)ranges->moments, "channels", (json_int_t)ranges->channels, "percentile",
        ranges->method == SCALE_PERCENTILE ? json_real(ranges->percentile) : NULL, "depth",
        ranges->depth, "feat", ranges->feat, "out", ranges->out, "feat_channels", channels);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(root);
    if (!text)
        return err_no_memory(err, path, "");
    bool ok = data_write(path, text, strlen(text), err);
    free(text);
    return ok;
}
