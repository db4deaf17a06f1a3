/* SPDX-License-Identifier: MIT */
#include "src/view/bev/decode.h"

#include "kernels/threads.h"
#include "kernels/vector.h"
#include "src/base/ref.h"
#include "src/scene/scene.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t cells_of(const BevContent *content) {
    return (size_t)content->nx * (size_t)content->ny;
}

/* Allocates the arrays of a field as one block, which field->value owns. */
static bool field_init(CellField *field, ViewKind view, int64_t nx, int64_t ny, Err *err) {
    size_t cells = (size_t)nx * (size_t)ny;
    *field = (CellField){.view = view, .nx = nx, .ny = ny, .full_mass = NAN};
    for (int k = 0; k < PCA_COMPONENTS; k++)
        field->explained[k] = NAN;
    field->value = ref_new(
        cells * (2 * sizeof *field->value + sizeof *field->state + sizeof *field->color), NULL);
    if (!field->value)
        return err_set(err, ERR_FAILED, views[view].name, "", "no memory for %zu cells", cells);
    field->scratch = field->value + cells;
    field->state = (uint8_t *)(field->scratch + cells);
    field->color = views[view].unit ? NULL : (Rgb *)(field->state + cells);
    return true;
}

CellField cell_field_keep(const CellField *field) {
    ref_keep(field->value);
    return *field;
}

void cell_field_free(CellField *field) {
    if (!field)
        return;
    ref_drop(field->value);
    *field = (CellField){0};
}

/* Returns the row of a cell in pooled grids and maps. In a grid with height the row differs from
 * the cell's number in the picture. */
static size_t decode_row(const BevContent *content, size_t cell) {
    return content->shown ? (size_t)content->shown[cell] : cell;
}

static const float *decode_vector(const BevContent *content, size_t cell) {
    return content->pooled + decode_row(content, cell) * (size_t)content->channels;
}

/* Returns the state of a vector: NaN if any channel is NaN, else infinite if any channel is. A
 * vector of zeros is empty. The bits of non-negative floats have the order of their values, with
 * infinity and NaN at the top. So the largest bits tell the state. */
CPU_CLONES
static CellState state_of(const float *vector, int64_t channels) {
    const uint32_t infinity = 0x7f800000;
    uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
    for (int64_t c = 0; c < channels; c++) {
        uint32_t bits;
        memcpy(&bits, &vector[c], sizeof bits);
        bits &= 0x7fffffff;
        largest = bits > largest ? bits : largest;
    }
    if (largest >= infinity)
        return largest > infinity ? CELL_NAN : CELL_INF;
    return largest > 0 ? CELL_VALUE : CELL_EMPTY;
}

/* Decodes all cells from their vectors, on all cores. */
static void decode_cells(const BevContent *content, CellField *field,
                         void (*decode)(const BevContent *, CellField *, size_t, const float *)) {
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 256)
    for (size_t cell = 0; cell < cells_of(content); cell++)
        decode(content, field, cell, decode_vector(content, cell));
}

static void find_state(const BevContent *content, CellField *field, size_t cell,
                       const float *vector) {
    field->state[cell] = (uint8_t)state_of(vector, content->channels);
}

/* ---- colour and class ----------------------------------------------------------------------- */

/* Returns the depth weight that is drawn at full strength: the median of the occupied cells. The
 * maximum, of near cells with hundreds of points, would leave all others black. NaN: no cell is
 * occupied. */
static double median_mass(const CellField *field) {
    size_t count = 0;
    for (int64_t cell = 0; cell < field->nx * field->ny; cell++)
        if (field->state[cell] == CELL_VALUE && field->value[cell] > 0)
            field->scratch[count++] = field->value[cell];
    return count ? nth_smallest(field->scratch, count, count / 2) : NAN;
}

double decode_strength(double share) {
    return share > 0 ? cbrt(fmin(share, 1)) : 0; /* the root keeps far cells visible */
}

static void find_strength(const BevContent *content, CellField *field, size_t cell,
                          const float *vector) {
    (void)content, (void)vector;
    field->value[cell] = (float)decode_strength(field->value[cell] / field->full_mass);
}

/* Turns the depth weights in field->value into strengths. */
static bool find_strengths(const BevContent *content, CellField *field, Err *err) {
    (void)err;
    field->full_mass = content->full_mass > 0 ? content->full_mass : median_mass(field);
    decode_cells(content, field, find_strength);
    return true;
}

/* Returns the colour of the class with the largest part. */
static Rgb class_color(const float parts[EMBED_DIMS]) {
    int best = 0;
    for (int class = 1; class < CLASS_COUNT; class ++)
        if (parts[class] > parts[best])
            best = class;
    const uint8_t *color = world_classes[best].color;
    return (Rgb){color[0], color[1], color[2]};
}

/* Colours a cell, in the view class by its class, else by the surface colour of the features. */
static void color_embedding(const BevContent *content, CellField *field, size_t cell,
                            const float *vector) {
    float parts[EMBED_DIMS];
    double mass = 0; /* the depth weight: each sub-ray adds one unit to its class */
    if (field->state[cell] != CELL_VALUE || !embedding_decode(content->embedding, vector, parts))
        return;
    for (int class = 0; class < CLASS_COUNT; class ++)
        mass += fmax(parts[class], 0);
    field->value[cell] = (float)mass;
    if (field->view == VIEW_CLASS)
        field->color[cell] = class_color(parts);
    else if (mass > 0)
        field->color[cell] = rgb_lifted(
            rgb_from_linear(parts[EMBED_R] / mass, parts[EMBED_G] / mass, parts[EMBED_B] / mass));
}

/* ---- numbers -------------------------------------------------------------------------------- */

static void find_number(const BevContent *content, CellField *field, size_t cell,
                        const float *vector) {
    field->value[cell] = field->view == VIEW_NORM ? (float)vector_norm(vector, content->channels)
                                                  : vector[content->channel];
}

/* Allocates a zero for each row of the grid; free() it. NULL: no memory. */
static float *decode_row_values(const BevContent *content, Err *err) {
    float *values = calloc(content->rows, sizeof *values);
    if (!values)
        err_set(err, ERR_FAILED, "picture", "", "no memory for %zu cells", content->rows);
    return values;
}

/* Counts the points of each cell. The points of `other` are subtracted. */
static bool decode_points(const BevContent *content, CellField *field, Err *err) {
    const BevContent *sides[] = {content, content->other};
    for (int side = 0; side < 2 && sides[side]; side++) {
        const BevMap *map = sides[side]->map;
        float *lengths = decode_row_values(content, err);
        if (!lengths)
            return false;
        for (int64_t i = 0; i < map->intervals; i++)
            lengths[map->ranks_bev[map->interval_starts[i]]] = (float)map->interval_lengths[i];
        for (size_t cell = 0; cell < cells_of(content); cell++) {
            float length = lengths[decode_row(content, cell)];
            field->value[cell] += side ? -length : length;
            field->state[cell] |= length > 0 ? CELL_VALUE : CELL_EMPTY;
        }
        free(lengths);
    }
    return true;
}

/* How two vectors differ, over all channels. */
typedef struct {
    double lowest, highest; /* the extremes of the differences and of 0 */
    bool zero;              /* the other vector is all zeros */
    bool unknown;           /* the other vector holds a NaN */
} Difference;

/* Compares a vector with its FP64 values; fp64_original NULL: with the vector `other`. */
CPU_INLINE Difference difference(const float *got, const double *fp64_original, const float *other,
                                 size_t channels) {
    double lowest = 0, highest = 0;
    int values = 0, unknown = 0;
#pragma omp simd reduction(min : lowest) reduction(max : highest) reduction(| : values, unknown)
    for (size_t c = 0; c < channels; c++) {
        double want = fp64_original ? fp64_original[c] : (double)other[c], error = got[c] - want;
        lowest = error < lowest ? error : lowest;
        highest = error > highest ? error : highest;
        values |= want != 0;
        unknown |= want != want; /* only a NaN differs from itself */
    }
    return (Difference){lowest, highest, !values, unknown};
}

CPU_CLONES
static Difference from_fp64(const float *got, const double *fp64_original, size_t channels) {
    return difference(got, fp64_original, NULL, channels);
}

CPU_CLONES
static Difference from_other(const float *got, const float *other, size_t channels) {
    return difference(got, NULL, other, channels);
}

/* Finds the channel in which a cell's vector differs most from that of `other`, and keeps the
 * signed difference. `other` NULL: from the FP64 values. */
static void find_worst(const BevContent *content, CellField *field, size_t cell, const float *got) {
    const BevContent *other = content->other;
    const size_t channels = (size_t)content->channels, first = decode_row(content, cell) * channels;
    Difference d = other ? from_other(got, decode_vector(other, cell), channels)
                         : from_fp64(got, content->fp64_original + first, channels);
    double worst = d.highest >= -d.lowest ? d.highest : d.lowest;
    field->value[cell] = (float)worst;
    if (d.unknown || field->state[cell] == CELL_NAN)
        field->state[cell] = CELL_NAN;
    else if (isinf(worst))
        field->state[cell] = CELL_INF;
    else if (field->state[cell] == CELL_EMPTY && !d.zero)
        field->state[cell] = CELL_VALUE;
}

/* ---- the view "rgb": three channels as red, green and blue ---------------------------------- */

/* Finds the mass of each shown cell: depth times weight, summed over its points. A cell's vector
 * over its mass is the mean feature of the points in the cell, however many points there are. A
 * cell without mass is empty. */
static bool find_masses(const BevContent *content, CellField *field, Err *err) {
    const BevMap *map = content->map;
    float *mass = decode_row_values(content, err);
    if (!mass)
        return false;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 64)
    for (int64_t i = 0; i < map->intervals; i++) {
        int64_t first = map->interval_starts[i];
        double sum = 0;
        for (int64_t t = first; t < first + map->interval_lengths[i]; t++)
            sum += (double)content->depth[map->ranks_depth[t]] *
                   (map->weights ? (double)map->weights[t] : 1);
        mass[map->ranks_bev[first]] = (float)sum;
    }
    for (size_t cell = 0; cell < cells_of(content); cell++) {
        field->value[cell] = mass[decode_row(content, cell)];
        if (field->state[cell] == CELL_VALUE && !(field->value[cell] > 0))
            field->state[cell] = CELL_EMPTY;
    }
    free(mass);
    return true;
}

/* Returns the mean of a channel in a cell, or its sum where the mass is unknown. */
static double value_at(const BevContent *content, const float *vector, int64_t channel,
                       float mass) {
    return content->depth ? vector[channel] / mass : vector[channel];
}

/* Finds the range of a channel: all cells but the outermost 2 % on either side. */
static void find_range(const BevContent *content, CellField *field, int k) {
    float *values = field->scratch;
    size_t count = 0;
    for (size_t cell = 0; cell < cells_of(content); cell++) {
        double value = value_at(content, decode_vector(content, cell), field->rgb.channel[k],
                                field->value[cell]);
        if (field->state[cell] == CELL_VALUE && isfinite(value))
            values[count++] = (float)value;
    }
    if (!count)
        return;
    field->rgb.lo[k] = nth_smallest(values, count, count / 50);
    field->rgb.hi[k] = nth_smallest(values, count, count - 1 - count / 50);
}

/* Colours a cell: each channel's place within its range, from 0 to 255. */
static void color_channels(const BevContent *content, CellField *field, size_t cell,
                           const float *vector) {
    uint8_t level[3];
    if (field->state[cell] != CELL_VALUE)
        return;
    for (int k = 0; k < 3; k++) {
        const double lo = field->rgb.lo[k], hi = field->rgb.hi[k];
        double value = value_at(content, vector, field->rgb.channel[k], field->value[cell]);
        double t = hi > lo ? fmin(fmax((value - lo) / (hi - lo), 0), 1) : 0.5;
        level[k] = content->light ? rgb_from_linear(t, t, t).r : (uint8_t)lround(255 * t);
    }
    field->color[cell] = (Rgb){level[0], level[1], level[2]};
    if (!content->depth)
        field->value[cell] = 1;
}

static bool decode_rgb(const BevContent *content, CellField *field, Err *err) {
    field->rgb = content->rgb;
    if (content->depth && !find_masses(content, field, err))
        return false;
    for (int k = 0; k < 3; k++) {
        field->rgb.channel[k] %= content->channels; /* the features may have fewer channels */
        if (!(field->rgb.lo[k] < field->rgb.hi[k]))
            find_range(content, field, k);
    }
    const double largest = fmax(field->rgb.hi[0], fmax(field->rgb.hi[1], field->rgb.hi[2]));
    const bool range_given = content->rgb.lo[0] < content->rgb.hi[0];
    const bool shows_photo =
        content->light && field->rgb.channel[0] == 0 && field->rgb.channel[2] == 2;
    if (shows_photo && !range_given)
        for (int k = 0; k < 3; k++) { /* the same range for all three keeps the hues of a photo */
            field->rgb.lo[k] = 0;
            field->rgb.hi[k] = largest;
        }
    decode_cells(content, field, color_channels);
    return !content->depth || find_strengths(content, field, err);
}

/* ---- principal components ------------------------------------------------------------------- */

/* Scales a vector to length 1. The length tells the number of points in a cell, the direction their
 * content. The components are fitted to the content alone. */
CPU_CLONES
static void unit_vector(const float *restrict vector, int64_t channels, float *restrict unit) {
    double length = vector_norm(vector, channels);
    CPU_SIMD
    for (int64_t c = 0; c < channels; c++)
        unit[c] = (float)(vector[c] / length);
}

bool decode_fit_pca(const BevContent *content, Pca *pca, Err *err) {
    int64_t channels = content->channels;
    size_t cells = cells_of(content), values = PCA_SAMPLES * (size_t)channels;
    float *units = malloc(values * sizeof *units);
    size_t *filled = malloc(cells * sizeof *filled);
    bool done = units && filled;
    if (!done)
        err_set(err, ERR_FAILED, "pca", "", "no memory for %zu values", values);
    int64_t count = 0, samples = 0;
    for (size_t cell = 0; cell < cells && done; cell++)
        if (state_of(decode_vector(content, cell), channels) == CELL_VALUE)
            filled[count++] = cell;
    for (int64_t i = 0; i < count; i += count / PCA_SAMPLES + 1)
        unit_vector(decode_vector(content, filled[i]), channels, units + samples++ * channels);
    done = done && pca_fit(units, samples, channels, pca, err);
    free(filled);
    free(units);
    return done;
}

static uint8_t component_level(double sigmas) {
    double t = 0.5 + sigmas / 4; /* the range is two standard deviations to either side */
    return (uint8_t)lround(255 * fmin(fmax(t, 0), 1));
}

static void color_components(const BevContent *content, CellField *field, size_t cell,
                             const float *vector) {
    double at[PCA_COMPONENTS];
    if (field->state[cell] != CELL_VALUE)
        return;
    pca_project(content->pca, vector, vector_norm(vector, content->channels), at);
    field->color[cell] =
        (Rgb){component_level(at[0]), component_level(at[1]), component_level(at[2])};
    field->value[cell] = 1;
}

static bool decode_pca(const BevContent *content, CellField *field, Err *err) {
    Pca own = {0};
    BevContent with = *content;
    if (!content->pca && !decode_fit_pca(content, &own, err))
        return false;
    with.pca = content->pca ? content->pca : &own;
    decode_cells(&with, field, color_components);
    memcpy(field->explained, with.pca->explained, sizeof field->explained);
    pca_free(&own);
    return true;
}

const ViewInfo views[VIEW_COUNT] = {
    [VIEW_COLOR] = {"color", "Decoded colour",
                    "surface colour, stronger where more depth weight is accumulated", NULL,
                    NEEDS_POOLED | NEEDS_EMBEDDING, LEGEND_BRIGHTNESS, NULL, false, false,
                    color_embedding, find_strengths},
    [VIEW_CLASS] = {"class", "Decoded class", "the class with the largest share of a cell", NULL,
                    NEEDS_POOLED | NEEDS_EMBEDDING, LEGEND_CLASSES, NULL, false, false,
                    color_embedding, find_strengths},
    [VIEW_NORM] = {"norm", "L2 norm", "length of the pooled feature vector", "feature units",
                   NEEDS_POOLED, LEGEND_BAR, "viridis", true, false, find_number, NULL},
    [VIEW_CHANNEL] = {"channel", "Channel", "one channel of the pooled features", "feature units",
                      NEEDS_POOLED, LEGEND_BAR, "viridis", false, false, find_number, NULL},
    [VIEW_PCA] = {"pca", "Principal components", "three leading components as red, green, blue",
                  NULL, NEEDS_POOLED, LEGEND_COMPONENTS, NULL, false, false, NULL, decode_pca},
    [VIEW_RGB] = {"rgb", "Three channels", "their means as red, green, blue", NULL, NEEDS_POOLED,
                  LEGEND_CHANNELS, NULL, false, false, NULL, decode_rgb},
    [VIEW_POINTS] = {"points", "Points per cell", "how many points the scatter map sends to a cell",
                     "points", NEEDS_MAP, LEGEND_BAR, "viridis", true, false, NULL, decode_points},
    [VIEW_ERROR] = {"error", "Error against FP64", "signed error of the channel that is most off",
                    "feature units", NEEDS_POOLED | NEEDS_FP64, LEGEND_BAR, "signed", false, true,
                    find_worst, NULL},
};

const char *view_missing(ViewKind view, const BevContent *content) {
    unsigned needs = views[view].needs;
    if ((needs & NEEDS_POOLED) && !content->pooled)
        return "no pooled features";
    if ((needs & NEEDS_EMBEDDING) && !content->embedding)
        return "the features are no known embedding of classes and colours";
    if ((needs & NEEDS_EMBEDDING) && content->embedding->channels < EMBED_DIMS)
        return "too few channels to tell classes and colours apart";
    if ((needs & NEEDS_MAP) && !content->map)
        return "no scatter map";
    if ((needs & NEEDS_FP64) && !content->fp64_original && !content->other)
        return "no FP64 reference to compare with";
    if (view == VIEW_CHANNEL && (content->channel < 0 || content->channel >= content->channels))
        return "no such channel";
    return NULL;
}

bool decode_view(ViewKind view, const BevContent *content, CellField *field, Err *err) {
    *field = (CellField){0};
    const char *missing = view_missing(view, content);
    if (missing)
        return err_set(err, ERR_USAGE, views[view].name, "choose another view", "%s", missing);
    if (!field_init(field, view, content->nx, content->ny, err))
        return false;
    if (views[view].needs & NEEDS_POOLED)
        decode_cells(content, field, find_state);
    if (views[view].cell)
        decode_cells(content, field, views[view].cell);
    if (views[view].finish && !views[view].finish(content, field, err)) {
        cell_field_free(field);
        return false;
    }
    for (size_t cell = 0; cell < cells_of(content); cell++) {
        field->nan_cells += field->state[cell] == CELL_NAN;
        field->inf_cells += field->state[cell] == CELL_INF;
    }
    return true;
}

bool decode_difference(ViewKind view, const BevContent *a, const BevContent *b, CellField *field,
                       Err *err) {
    assert(a->nx == b->nx && a->ny == b->ny && a->channels == b->channels);
    const bool points = view == VIEW_POINTS;
    BevContent both = *a;
    both.other = b;
    *field = (CellField){0};
    if (points ? !b->map : !b->pooled)
        return err_set(err, ERR_USAGE, views[view].name, "choose another view",
                       points ? "no scatter map" : "no pooled features");
    bool done = decode_view(points ? VIEW_POINTS : VIEW_ERROR, &both, field, err);
    field->difference = points && done;
    return done;
}
