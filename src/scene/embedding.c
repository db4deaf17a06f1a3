/* SPDX-License-Identifier: MIT */
#include "src/scene/features.h"

#include "kernels/vector.h"
#include "src/base/random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static double dot(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Makes the rows orthonormal by Gram-Schmidt, in two rounds. The second removes rounding errors. */
static void orthonormalise(double *rows, int64_t channels) {
    for (int i = 0; i < EMBED_DIMS; i++) {
        double *row = rows + i * channels;
        for (int round = 0; round < 2 && channels >= EMBED_DIMS; round++)
            for (int j = 0; j < i; j++) {
                const double *unit = rows + j * channels;
                double along = dot(row, unit, channels);
                for (int64_t c = 0; c < channels; c++)
                    row[c] -= along * unit[c];
            }
        double length = sqrt(dot(row, row, channels));
        for (int64_t c = 0; c < channels; c++)
            row[c] /= length;
    }
}

bool embedding_init(Embedding *embedding, int64_t channels, uint64_t seed, Err *err) {
    assert(channels >= 1);
    size_t count = (size_t)channels * EMBED_DIMS;
    double *rows = malloc(count * sizeof *rows);
    *embedding = (Embedding){.channels = channels,
                             .rows = malloc(count * sizeof(float)),
                             .columns = malloc(count * sizeof(double))};
    if (!rows || !embedding->rows || !embedding->columns) {
        free(rows);
        embedding_free(embedding);
        return err_no_memory(err, "embedding", "");
    }
    for (size_t i = 0; i < count; i++) {
        /* The Box-Muller transform makes normally distributed numbers. random_unit() can be 0,
         * where the logarithm is infinite; 1 - random_unit() cannot. */
        double radius = sqrt(-2 * log(1 - random_unit(&seed)));
        rows[i] = radius * cos(2 * M_PI * random_unit(&seed));
    }
    orthonormalise(rows, channels);
    for (size_t i = 0; i < count; i++) {
        size_t dim = i / (size_t)channels, channel = i % (size_t)channels;
        embedding->rows[i] = (float)rows[i];
        embedding->columns[channel * EMBED_DIMS + dim] = embedding->rows[i];
    }
    free(rows);
    return true;
}

void embedding_free(Embedding *embedding) {
    if (!embedding)
        return;
    free(embedding->rows);
    free(embedding->columns);
    *embedding = (Embedding){.channels = 0};
}

void embedding_add_outlier(Embedding *embedding, double factor) {
    for (int i = 0; i < EMBED_DIMS; i++) {
        embedding->rows[i * embedding->channels] *= (float)factor;
        embedding->columns[i] /= factor;
    }
}

void embedding_encode(const Embedding *embedding, const float parts[EMBED_DIMS], float *vector) {
    int64_t channels = embedding->channels;
    for (int64_t c = 0; c < channels; c++)
        vector[c] = 0;
    for (int i = 0; i < EMBED_DIMS; i++)
        for (int64_t c = 0; c < channels && parts[i] != 0; c++)
            vector[c] += parts[i] * embedding->rows[i * channels + c];
}

CPU_CLONES
bool embedding_decode(const Embedding *embedding, const float *vector, float parts[EMBED_DIMS]) {
    int64_t channels = embedding->channels;
    const double *column = embedding->columns;
    double sums[EMBED_DIMS] = {0};
    for (int64_t c = 0; c < channels; c++, column += EMBED_DIMS) {
        double value = vector[c];
        CPU_SIMD
        for (int i = 0; i < EMBED_DIMS; i++)
            sums[i] += value * column[i];
    }
    for (int i = 0; i < EMBED_DIMS; i++)
        parts[i] = (float)sums[i];
    return channels >= EMBED_DIMS;
}

WorldClass embedding_class(const Embedding *embedding, const float *vector) {
    float parts[EMBED_DIMS];
    int best = 0;
    if (!embedding_decode(embedding, vector, parts))
        return CLASS_COUNT;
    for (int class = 1; class < CLASS_COUNT; class ++)
        if (parts[class] > parts[best])
            best = class;
    return parts[best] > 0 ? (WorldClass)best : CLASS_COUNT;
}
