/* SPDX-License-Identifier: MIT */
/* Reads tensor scenes from .npz, and writes them. */
#include "kernels/threads.h"
#include "src/base/units.h"
#include "src/scene/scatter.h"
#include "src/scene/scene_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- photographs ----------------------------------------------------------------------------- */

/* The part of a camera's image that is kept. Pixel x of the network's input lies at pixel (x +
 * from) / scale of the image. Index 0 is for rows, 1 for columns. */
typedef struct {
    int64_t size[2]; /* size of the image */
    double from[2], scale[2];
} ImagePart;

typedef struct {
    int64_t h, w; /* rows and columns of the array */
    double input[2];
    bool padded; /* images begin in the upper left corner */
} Images;

/* Chooses the part of an image. An image with the proportions of the network's input shows that
 * input, at any resolution. Any other image is the camera's own, in the pixels of `intrinsics`, and
 * must hold the resized crop. */
static bool choose_part(const ArrayReader *reader, const Camera *camera, const Images *images,
                        ImagePart *part) {
    const ImageCut *own = &camera->cut;
    const double h = (double)images->h, w = (double)images->w;
    *part = (ImagePart){.size = {images->h, images->w},
                        .scale = {images->input[0] / h, images->input[1] / w}};
    if (!images->padded && fabs(part->scale[0] - part->scale[1]) <= 0.01 * part->scale[0])
        return true;
    REFUSE_IF(h + 2 < own->image_h || w + 2 < own->image_w, ARRAY_IMAGES,
              "save what the network saw, or the camera's whole image; a crop that "
              "goes beyond it needs own_size",
              "%lld x %lld pixels, must have the shape of image_size, %g x %g, or "
              "hold the %d x %d that resize and crop take of %s",
              (long long)images->h, (long long)images->w, images->input[0], images->input[1],
              own->image_h, own->image_w, camera->name);
    *part = (ImagePart){.size = {images->padded ? own->image_h : images->h,
                                 images->padded ? own->image_w : images->w},
                        .from = {own->crop_y, own->crop_x},
                        .scale = {own->resize_y, own->resize_x}};
    return true;
}

/* Describes the images. They are padded where the file has the array own_size and all images have
 * the largest of these sizes. */
static Images describe_images(const ArrayReader *reader, const Scene *scene) {
    const Rig *rig = &scene->rig;
    Images images = {.h = reader->size[SIZE_IMAGE_ROWS], .w = reader->size[SIZE_IMAGE_COLUMNS]};
    int h = 0, w = 0;
    for (int i = 0; i < rig->camera_count; i++) {
        const ImageCut *own = &rig->cameras[i].cut;
        h = own->image_h > h ? own->image_h : h;
        w = own->image_w > w ? own->image_w : w;
    }
    images.padded = arrays_has(reader, ARRAY_OWN_SIZE) && images.h == h && images.w == w;
    images.input[0] = scene->has_rig ? rig->frustum.input_h : (double)images.h;
    images.input[1] = scene->has_rig ? rig->frustum.input_w : (double)images.w;
    return images;
}

/* Finds the image's pixels under pixel `at` of the `kept` pixels of an axis. Inside the image there
 * is at least one pixel; outside, `range` is empty. A rounding error of 1e-6 adds no pixel. */
static void pixels_under(const Images *images, const ImagePart *part, int axis, int64_t at,
                         int64_t kept, int64_t range[2]) {
    double step = images->input[axis] / (double)kept;
    double low = ((double)at * step + part->from[axis]) / part->scale[axis];
    double high = ((double)(at + 1) * step + part->from[axis]) / part->scale[axis];
    range[0] = (int64_t)fmax(0, floor(low + 1e-6));
    range[1] = (int64_t)fmin((double)part->size[axis],
                             fmax(ceil(high - 1e-6), high > 0 ? (double)range[0] + 1 : 0));
}

static void mean_pixel(const unsigned char *image, int64_t image_w, const int64_t rows[2],
                       const int64_t columns[2], uint8_t *pixel) {
    uint32_t sum[3] = {0};
    int64_t count = (rows[1] - rows[0]) * (columns[1] - columns[0]);
    for (int64_t y = rows[0]; y < rows[1]; y++)
        for (const unsigned char *p = image + 3 * (y * image_w + columns[0]),
                                 *end = image + 3 * (y * image_w + columns[1]);
             p < end; p += 3)
            for (int i = 0; i < 3; i++)
                sum[i] += p[i];
    for (int i = 0; i < 3; i++)
        pixel[i] = count > 0 ? (uint8_t)((sum[i] + count / 2) / count) : 0;
}

static void reduce_image(const Images *images, const ImagePart *part, const uint8_t *image,
                         const Photos *photos, uint8_t *kept) {
    int64_t columns[PHOTOS_KEPT_W][2]; /* the image's columns under each kept column */
    for (int64_t x = 0; x < photos->w; x++)
        pixels_under(images, part, 1, x, photos->w, columns[x]);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t y = 0; y < photos->h; y++) {
        int64_t rows[2];
        pixels_under(images, part, 0, y, photos->h, rows);
        for (int64_t x = 0; x < photos->w; x++)
            mean_pixel(image, images->w, rows, columns[x], kept + 3 * (y * photos->w + x));
    }
}

static bool read_images(ArrayReader *reader, Scene *scene) {
    enum { MOST_PIXELS = 1 << 24 };
    Photos *photos = &scene->photos;
    const Images images = describe_images(reader, scene);
    if (!arrays_has(reader, ARRAY_IMAGES))
        return true;
    REFUSE_IF(images.h * images.w > MOST_PIXELS, ARRAY_IMAGES, "save smaller ones",
              "%lld x %lld pixels, must be at most %d in all", (long long)images.h,
              (long long)images.w, MOST_PIXELS);
    photos->cameras = reader->size[SIZE_CAMERAS];
    photos_kept_size((int64_t)images.input[0], (int64_t)images.input[1], &photos->h, &photos->w);
    const int64_t kept = photos->h * photos->w * 3;
    photos->srgb = malloc((size_t)(photos->cameras * kept));
    if (!photos->srgb)
        return err_no_memory(reader->err, "images", "");
    uint8_t *pixels = arrays_take(reader, ARRAY_IMAGES, NPY_U1);
    bool ok = pixels;
    for (int64_t i = 0; ok && i < photos->cameras; i++) {
        ImagePart part;
        ok = choose_part(reader, &scene->rig.cameras[i], &images, &part);
        if (ok)
            reduce_image(&images, &part, pixels + 3 * images.h * images.w * i, photos,
                         photos->srgb + kept * i);
    }
    free(pixels);
    return ok;
}

/* ---- boxes, LiDAR, time ---------------------------------------------------------------------- */

static bool read_boxes(ArrayReader *reader, Photos *photos) {
    if (!arrays_has(reader, ARRAY_BOXES))
        return true;
    const int64_t columns = reader->array[ARRAY_BOXES].shape[1];
    photos->box_count = reader->size[SIZE_BOXES];
    photos->boxes = calloc((size_t)photos->box_count + 1, sizeof *photos->boxes);
    if (!photos->boxes)
        return err_no_memory(reader->err, "boxes", "");
    const double *row = reader->numbers[ARRAY_BOXES];
    for (int64_t i = 0; i < photos->box_count; i++, row += columns) {
        for (int k = 3; k < 6; k++)
            if (!arrays_check_between(reader, ARRAY_BOXES, i * columns + k, row[k], 0, SCENE_FAR_M))
                return false;
        memcpy(&photos->boxes[i], row, TRUE_BOX_NUMBERS * sizeof *row);
    }
    return arrays_read_texts(reader, ARRAY_BOX_LABELS, photos->boxes->label, sizeof *photos->boxes);
}

/* Reads x, y, z of each LiDAR point. A point with NaN has no echo and is left out. */
static bool read_lidar(ArrayReader *reader, Photos *photos) {
    const NpyArray *array = &reader->array[ARRAY_LIDAR];
    if (!arrays_has(reader, ARRAY_LIDAR))
        return true;
    float *values = photos->sweep_m = arrays_take(reader, ARRAY_LIDAR, NPY_F4);
    for (int64_t i = 0; values && i < array->shape[0]; i++) {
        const float *p = values + i * array->shape[1];
        if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))
            memmove(values + 3 * photos->sweep_count++, p, 3 * sizeof *values);
    }
    if (!values)
        return false;
    float *less = realloc(values, (size_t)photos->sweep_count * 3 * sizeof *values + 1);
    photos->sweep_m = less ? less : values;
    return true;
}

static void set_time(const ArrayReader *reader, Photos *photos) {
    const int64_t count = reader->array[ARRAY_TIMESTAMPS].count;
    photos->has_time = count > 0;
    for (int64_t i = 0; i < count; i++)
        photos->time_s += reader->numbers[ARRAY_TIMESTAMPS][i] / (double)count;
}

/* ---- calibration: the terms of BEVDet and CUDA-BEVFusion ------------------------------------- */

/* Checks that the last row of a matrix is 0 ... 0 1. */
static bool check_matrix_row(ArrayReader *reader, ArrayId id, int64_t first, const double *row,
                             int columns) {
    for (int i = 0; i < columns; i++) {
        double wanted = i == columns - 1;
        REFUSE_ELEMENT_IF(fabs(row[i] - wanted) > 1e-6, id, first + i,
                          "%.9g, must be %g in the last row", row[i], wanted);
    }
    return true;
}

/* Names the cameras, for error messages. A camera without a name gets its number. */
static bool read_names(ArrayReader *reader, Rig *rig) {
    Camera *cameras = rig->cameras;
    bool ok = arrays_read_texts(reader, ARRAY_CAMERA_NAMES, cameras->name, sizeof *cameras);
    for (int i = 0; i < reader->size[SIZE_CAMERAS]; i++)
        if (!cameras[i].name[0])
            snprintf(cameras[i].name, sizeof cameras[i].name, "camera %d", i);
    return ok;
}

static bool set_cameras(ArrayReader *reader, Rig *rig) {
    rig->camera_count = (int)reader->size[SIZE_CAMERAS];
    for (int i = 0; i < rig->camera_count; i++) {
        Camera *camera = &rig->cameras[i];
        const double *k = reader->numbers[ARRAY_INTRINSICS] + 9 * i,
                     *m = reader->numbers[ARRAY_CAM2EGO] + 16 * i;
        if (!check_matrix_row(reader, ARRAY_INTRINSICS, 9 * i + 6, k + 6, 3) ||
            !check_matrix_row(reader, ARRAY_CAM2EGO, 16 * i + 12, m + 12, 4))
            return false;
        memcpy(camera->intrinsics, k, 6 * sizeof(double)); /* the last row becomes exactly 0 0 1 */
        camera->intrinsics[8] = 1;
        for (int row = 0; row < 3; row++) {
            memcpy(&camera->rotation[3 * row], m + 4 * row, 3 * sizeof(double));
            camera->position_m[row] = m[4 * row + 3];
        }
    }
    return true;
}

/* Sets the sizes of the network's input and of its features. The array may repeat the input's size
 * for each camera. */
static bool set_input(ArrayReader *reader, Rig *rig) {
    Frustum *frustum = &rig->frustum;
    const double *sizes = reader->numbers[ARRAY_IMAGE_SIZE];
    for (int64_t i = 0; i < reader->array[ARRAY_IMAGE_SIZE].count; i++) {
        REFUSE_ELEMENT_IF(sizes[i] != floor(sizes[i]), ARRAY_IMAGE_SIZE, i,
                          "%.9g, must be a whole number", sizes[i]);
        REFUSE_IF(sizes[i] != sizes[i % 2], ARRAY_IMAGE_SIZE,
                  "sizes of the cameras' own images are the array own_size",
                  "%s has %g, but %s has %g: a network takes inputs of one size",
                  rig->cameras[i / 2].name, sizes[i], rig->cameras[0].name, sizes[i % 2]);
    }
    frustum->input_h = (int)sizes[0];
    frustum->input_w = (int)sizes[1];
    frustum->feat_h = (int)reader->size[SIZE_ROWS];
    frustum->feat_w = (int)reader->size[SIZE_COLUMNS];
    return true;
}

/* Sets the crop of a camera. BEVDet's crop is the rectangle that is kept after the resize. The size
 * of this rectangle must be image_size. */
static bool set_crop(ArrayReader *reader, int camera, const Frustum *frustum, ImageCut *cut) {
    const double size[2] = {frustum->input_w, frustum->input_h};
    const int64_t own = arrays_by_camera(reader, ARRAY_CROP), first = camera * own;
    const double *crop = reader->numbers[ARRAY_CROP] + first;
    for (int axis = 0; axis < 2; axis++) {
        if (!arrays_check_between(reader, ARRAY_CROP, first + axis, crop[axis], -65536, 65536))
            return false;
        REFUSE_ELEMENT_IF((own ? own : reader->array[ARRAY_CROP].count) == 4 &&
                              fabs(crop[2 + axis] - crop[axis] - size[axis]) > 0.5,
                          ARRAY_CROP, first + 2 + axis,
                          "%g ends a crop of %g pixels, but image_size has %g", crop[2 + axis],
                          crop[2 + axis] - crop[axis], size[axis]);
    }
    cut->crop_x = crop[0];
    cut->crop_y = crop[1];
    return true;
}

/* Sets how the cameras' own images are cut. By default an own image has the smallest size that the
 * crop needs. */
static bool set_cuts(ArrayReader *reader, Rig *rig) {
    const int64_t own = arrays_by_camera(reader, ARRAY_RESIZE);
    for (int i = 0; i < rig->camera_count; i++) {
        ImageCut *cut = &rig->cameras[i].cut;
        cut->resize_x = reader->numbers[ARRAY_RESIZE][i * own];
        cut->resize_y = reader->numbers[ARRAY_RESIZE][i * own + (own == 2)];
        if (!set_crop(reader, i, &rig->frustum, cut))
            return false;
        cut->image_w = (int)fmax(1, round((cut->crop_x + rig->frustum.input_w) / cut->resize_x));
        cut->image_h = (int)fmax(1, round((cut->crop_y + rig->frustum.input_h) / cut->resize_y));
        const double *size = reader->numbers[ARRAY_OWN_SIZE];
        if (!size)
            continue;
        size += i * arrays_by_camera(reader, ARRAY_OWN_SIZE);
        cut->image_h = (int)size[0];
        cut->image_w = (int)size[1];
        if (!camera_check_cut(&rig->cameras[i], &rig->frustum, reader->npz.where, "crop",
                              reader->err))
            return false;
    }
    return true;
}

static bool set_depth(ArrayReader *reader, Frustum *frustum) {
    const double *range = reader->numbers[ARRAY_DEPTH_RANGE];
    if (arrays_has(reader, ARRAY_DEPTH_BINS)) {
        frustum_set_bins(frustum, reader->numbers[ARRAY_DEPTH_BINS], reader->size[SIZE_BINS]);
        return true;
    }
    REFUSE_ELEMENT_IF(!(range[0] < range[1]), ARRAY_DEPTH_RANGE, 1,
                      "empty range: the stop %g is not above the start %g", range[1], range[0]);
    frustum->depth_start_m = range[0];
    frustum->depth_stop_m = range[1];
    frustum->depth_step_m = range[2];
    /* In float32 the range can end slightly behind the last bin, which would give one bin more. */
    const double found = (double)reader->size[SIZE_BINS];
    if (frustum_depth_bins(frustum) != reader->size[SIZE_BINS] &&
        fabs((range[1] - range[0]) / range[2] - found) < 1e-4)
        frustum->depth_stop_m = range[0] + (found - 0.5) * range[2];
    int64_t bins = frustum_depth_bins(frustum);
    REFUSE_ELEMENT_IF(bins != reader->size[SIZE_BINS], ARRAY_DEPTH_RANGE, 2,
                      "step %g gives %lld depth bins, but depth has %lld", range[2],
                      (long long)bins, (long long)reader->size[SIZE_BINS]);
    return true;
}

/* Sets one axis of the grid. A row is lower end, upper end, cell size. It must be whole cells. */
static bool set_grid_axis(ArrayReader *reader, int axis, double *min_m, double *max_m, int *cells) {
    const double *row = reader->numbers[ARRAY_GRID] + 3 * axis;
    REFUSE_ELEMENT_IF(!(row[0] < row[1]), ARRAY_GRID, 3 * axis + 1,
                      "empty range: the upper end %g is not above the lower end %g", row[1],
                      row[0]);
    double count = (row[1] - row[0]) / row[2];
    REFUSE_ELEMENT_IF(!(row[2] > 0) || !(round(count) >= 1 && round(count) <= SCENE_MAX_CELLS) ||
                          fabs(count - round(count)) > 1e-3,
                      ARRAY_GRID, 3 * axis + 2,
                      "cells of %g m: %g of them, must be a whole number, 1 to %d", row[2], count,
                      SCENE_MAX_CELLS);
    *min_m = row[0];
    *max_m = row[1];
    *cells = (int)round(count);
    return true;
}

static bool read_rounding(ArrayReader *reader, Grid *grid) {
    char word[NPZ_TEXT] = "floor";
    if (!arrays_read_texts(reader, ARRAY_ROUNDING, word, sizeof word))
        return false;
    grid->truncate = !strcmp(word, rounding_names[ROUNDING_TRUNCATE]);
    REFUSE_IF(strcmp(word, rounding_names[ROUNDING_FLOOR + grid->truncate]) != 0, ARRAY_ROUNDING,
              "LSS, BEVDet and CUDA-BEVFusion truncate", "'%.20s', must be floor or truncate",
              word);
    return true;
}

static bool read_rig(ArrayReader *reader, Scene *scene) {
    Rig *rig = &scene->rig;
    Grid *g = &rig->grid;
    if (!set_cameras(reader, rig) || !set_input(reader, rig) || !set_depth(reader, &rig->frustum) ||
        !set_cuts(reader, rig) || !set_grid_axis(reader, 0, &g->x_min_m, &g->x_max_m, &g->nx) ||
        !set_grid_axis(reader, 1, &g->y_min_m, &g->y_max_m, &g->ny) ||
        !set_grid_axis(reader, 2, &g->z_min_m, &g->z_max_m, &g->nz) || !read_rounding(reader, g) ||
        !rig_check(rig, reader->npz.where, reader->err))
        return false;
    scene->has_rig = true;
    scene->shape = rig_shape(rig, scene->channels);
    return true;
}

/* ---- index arrays ---------------------------------------------------------------------------- */

/* Reads bev_shape: (ny, nx), or BEVDet's (1, nz, ny, nx, C). It equals the calibration's grid. */
static bool read_bev_shape(ArrayReader *reader, BevShape *shape) {
    const double channels = (double)shape->channels, most = SCENE_MAX_CELLS;
    const double bounds[5][2] = {{1, 1}, {1, most}, {1, most}, {1, most}, {channels, channels}};
    double all[5] = {1, 1, 0, 0, channels}; /* samples, nz, ny, nx, channels */
    const int count = (int)reader->array[ARRAY_BEV_SHAPE].count, first = count == 5 ? 0 : 2;
    memcpy(all + first, reader->numbers[ARRAY_BEV_SHAPE], (size_t)count * sizeof *all);
    REFUSE_IF(all[0] > 1, ARRAY_BEV_SHAPE,
              "ranks number the cells of all samples: run the network with one",
              "a batch of %g samples, must be 1", all[0]);
    for (int i = first; i < first + count; i++)
        if (!arrays_check_between(reader, ARRAY_BEV_SHAPE, i - first, all[i], bounds[i][0],
                                  bounds[i][1]))
            return false;
    const int64_t cells[3] = {(int64_t)all[1], (int64_t)all[2], (int64_t)all[3]};
    const int64_t slices = shape_slices(shape);
    const int64_t grid[3] = {slices, shape->ny / slices, shape->nx};
    for (int i = 0; reader->has_calibration && i < 3; i++)
        REFUSE_ELEMENT_IF(cells[i] != grid[i], ARRAY_BEV_SHAPE, i + 1 > first ? i + 1 - first : 0,
                          "%lld x %lld x %lld cells (nz, ny, nx), but grid has "
                          "%lld x %lld x %lld",
                          (long long)cells[0], (long long)cells[1], (long long)cells[2],
                          (long long)grid[0], (long long)grid[1], (long long)grid[2]);
    shape->nz = cells[0];
    shape->ny = cells[0] * cells[1];
    shape->nx = cells[2];
    return true;
}

/* Reads the index arrays. scene.h says when the map from the file is used. */
static bool read_map(ArrayReader *reader, Scene *scene) {
    BevMap *map = &scene->map;
    map->points = reader->size[SIZE_POINTS];
    map->intervals = reader->size[SIZE_INTERVALS];
    if (!(map->ranks_depth = arrays_take(reader, ARRAY_RANKS_DEPTH, NPY_I4)) ||
        !(map->ranks_feat = arrays_take(reader, ARRAY_RANKS_FEAT, NPY_I4)) ||
        !(map->ranks_bev = arrays_take(reader, ARRAY_RANKS_BEV, NPY_I4)) ||
        !(map->interval_starts = arrays_take(reader, ARRAY_INTERVAL_STARTS, NPY_I4)) ||
        !(map->interval_lengths = arrays_take(reader, ARRAY_INTERVAL_LENGTHS, NPY_I4)) ||
        (arrays_has(reader, ARRAY_WEIGHTS) &&
         !(map->weights = arrays_take(reader, ARRAY_WEIGHTS, NPY_F4))) ||
        !scatter_check(map, &scene->shape, reader->npz.where, reader->err))
        return false;
    if (scene->has_rig && !map->weights)
        scene->agreement = agreement_find(&scene->rig, map, scene->remark, sizeof scene->remark);
    if (!scene->has_rig && numbering_is_transposed(map, &scene->shape))
        snprintf(scene->remark, sizeof scene->remark,
                 "the cells seem to be numbered x * ny + y, as BEVFusion does, and the picture is "
                 "mirrored: export_ranks(..., x_major=True) of samples/export_scene.py turns them");
    scene->has_map = !scene->has_rig || !map->weights;
    if (!scene->has_map)
        scatter_free(map);
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int64_t count_non_finite(const float *values, size_t count) {
    int64_t bad = 0;
    for (size_t i = 0; i < count; i++)
        bad += !isfinite(values[i]);
    return bad;
}

/* Remarks on poses of another frame or unit. Cameras stand above the ego frame's ground. */
static void remark_rig(Scene *scene) {
    enum { HIGHEST_M = 20 };
    for (int i = 0; scene->has_rig && i < scene->rig.camera_count; i++) {
        double height_m = scene->rig.cameras[i].position_m[2];
        if (height_m >= 0 && height_m <= HIGHEST_M)
            continue;
        text_add(scene->remark, sizeof scene->remark, "%s%s stands %.4g m %s the ground: %s",
                 scene->remark[0] ? "; " : "", scene->rig.cameras[i].name, fabs(height_m),
                 height_m < 0 ? "below" : "above",
                 height_m < 0 ? "is cam2ego inverted, or the frame that of a LiDAR? (bevscope info "
                                "shows headings)"
                              : "are poses in mm, or in the world's frame?");
        return;
    }
}

/* Remarks on depth that is no distribution over the bins of a pixel, as before a network's softmax.
 * Pixels without depth are usual. */
static void remark_depth(Scene *scene) {
    const BevShape *s = &scene->shape;
    const int64_t pixels = s->feat_h * s->feat_w;
    double *sums = calloc((size_t)pixels, sizeof *sums), largest = 0;
    float least = 0;
    for (int64_t camera = 0; sums && camera < s->cameras; camera++) {
        const float *depth = scene->tensors.depth + camera * s->depth_bins * pixels;
        memset(sums, 0, (size_t)pixels * sizeof *sums);
        for (int64_t bin = 0; bin < s->depth_bins; bin++, depth += pixels)
            for (int64_t i = 0; i < pixels; i++) {
                least = depth[i] < least ? depth[i] : least;
                sums[i] += depth[i];
            }
        for (int64_t i = 0; i < pixels; i++)
            largest = sums[i] > largest ? sums[i] : largest;
    }
    free(sums);
    const char *between = scene->remark[0] ? "; " : "";
    if (least < 0)
        text_add(scene->remark, sizeof scene->remark,
                 "%sdepth: values down to %.3g: logits? (save depth after its softmax)", between,
                 (double)least);
    else if (largest > 1.05)
        text_add(scene->remark, sizeof scene->remark,
                 "%sdepth: a pixel's bins sum up to %.4g, not to 1: logits? (save depth after its "
                 "softmax)",
                 between, largest);
}

/* Reads a scene. Small arrays come first: a bad file fails before tensors are allocated. The rig is
 * known before the photographs, which are cut to the network's input and reduced. */
static bool read_scene(ArrayReader *reader, void *to) {
    Scene *scene = to;
    bool has_feat = arrays_has(reader, ARRAY_FEAT);
    scene->channels = has_feat ? reader->size[SIZE_CHANNELS] : PHOTO_CHANNELS;
    scene->temperature = 1;
    scene->shape = (BevShape){.cameras = reader->size[SIZE_CAMERAS],
                              .depth_bins = reader->size[SIZE_BINS],
                              .feat_h = reader->size[SIZE_ROWS],
                              .feat_w = reader->size[SIZE_COLUMNS],
                              .channels = scene->channels};
    if (!arrays_read_small(reader) || !read_names(reader, &scene->rig) ||
        (reader->has_calibration && !read_rig(reader, scene)) ||
        (reader->has_index && !read_bev_shape(reader, &scene->shape)) ||
        !scene_check_size(&scene->shape, reader->npz.where, reader->err) ||
        (reader->has_index && !read_map(reader, scene)) || !read_boxes(reader, &scene->photos) ||
        !read_lidar(reader, &scene->photos) || !read_images(reader, scene) ||
        !(scene->tensors.depth = arrays_take(reader, ARRAY_DEPTH, NPY_F4)) ||
        (has_feat ? !(scene->tensors.feat = arrays_take(reader, ARRAY_FEAT, NPY_F4))
                  : !scene_use_photo_features(scene, reader->err)))
        return false;
    set_time(reader, &scene->photos);
    remark_rig(scene);
    remark_depth(scene);
    scene->non_finite =
        count_non_finite(scene->tensors.depth, features_depth_count(&scene->shape)) +
        count_non_finite(scene->tensors.feat, features_feat_count(&scene->shape));
    return true;
}

bool scene_read_npz(FILE *file, const char *where, Scene *scene, Err *err) {
    memset(scene, 0, sizeof *scene);
    if (arrays_read_file(file, where, read_scene, scene, err))
        return true;
    scene_free(scene);
    return false;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Whether any camera has a name of its own, unlike "camera 0". */
static bool cameras_have_names(const Scene *scene) {
    for (int i = 0; scene->has_rig && i < scene->rig.camera_count; i++)
        if (strncmp(scene->rig.cameras[i].name, "camera ", 7))
            return true;
    return false;
}

/* The arrays of a calibration that the rig holds in another form. */
typedef struct {
    double cam2ego[RIG_MAX_CAMERAS * 16], crop[RIG_MAX_CAMERAS * 4], own_size[RIG_MAX_CAMERAS * 2];
    double image_size[2], grid[9];
    bool sizes_differ; /* own_size is needed: the cameras' images have several sizes */
} WrittenRig;

/* Fills a zeroed struct. */
static void fill_written_rig(const Rig *rig, WrittenRig *written) {
    const Frustum *f = &rig->frustum;
    const GridAxes axes = axes_of_grid(&rig->grid);
    written->image_size[0] = f->input_h;
    written->image_size[1] = f->input_w;
    for (int i = 0; i < rig->camera_count; i++) {
        const Camera *camera = &rig->cameras[i];
        const ImageCut *cut = &camera->cut;
        const double crop[] = {cut->crop_x, cut->crop_y, cut->crop_x + f->input_w,
                               cut->crop_y + f->input_h};
        double *m = written->cam2ego + 16 * i, *size = written->own_size + 2 * i;
        for (int row = 0; row < 3; row++) {
            memcpy(m + 4 * row, &camera->rotation[3 * row], 3 * sizeof *m);
            m[4 * row + 3] = camera->position_m[row];
        }
        m[15] = 1;
        memcpy(written->crop + 4 * i, crop, sizeof crop);
        size[0] = cut->image_h;
        size[1] = cut->image_w;
        written->sizes_differ |= memcmp(size, written->own_size, 2 * sizeof *size) != 0;
    }
    for (int axis = 0; axis < 3; axis++) {
        const double row[] = {axes.min_m[axis], axes.max_m[axis], axes.cell_m[axis]};
        memcpy(written->grid + 3 * axis, row, sizeof row);
    }
}

bool scene_write_npz(const char *path, const Scene *scene, const Features *features,
                     const BevMap *map, bool half, Err *err) {
    const BevShape *s = &scene->shape;
    const Photos *photos = &scene->photos;
    const int64_t sizes[SIZE_COUNT] = {s->cameras,        s->depth_bins,       s->feat_h,
                                       s->feat_w,         s->channels,         map->points,
                                       map->intervals,    photos->h,           photos->w,
                                       photos->box_count, photos->sweep_count, 3};
    const Rig *rig = &scene->rig;
    const Camera *first = rig->cameras;
    const bool by_camera = !rig_has_one_cut(rig) || first->cut.resize_x != first->cut.resize_y;
    const double nz = (double)shape_slices(s);
    const double bev_shape[] = {1, nz, (double)s->ny / nz, (double)s->nx, (double)s->channels};
    const char truncate[NPZ_TEXT] = "truncate";
    WrittenRig written = {.sizes_differ = false};
    if (scene->has_rig)
        fill_written_rig(rig, &written);
    /* clang-format off */
    const void *const elements[ARRAY_COUNT] = {
        [ARRAY_DEPTH] = features->depth, [ARRAY_FEAT] = features->feat,
        [ARRAY_INTRINSICS] = first->intrinsics, [ARRAY_CAM2EGO] = written.cam2ego,
        [ARRAY_IMAGE_SIZE] = written.image_size, [ARRAY_RESIZE] = &first->cut.resize_x,
        [ARRAY_CROP] = written.crop, [ARRAY_DEPTH_RANGE] = &rig->frustum.depth_start_m,
        [ARRAY_GRID] = written.grid, [ARRAY_BEV_SHAPE] = bev_shape + (nz > 1 ? 0 : 2),
        [ARRAY_RANKS_DEPTH] = map->ranks_depth, [ARRAY_RANKS_FEAT] = map->ranks_feat,
        [ARRAY_RANKS_BEV] = map->ranks_bev, [ARRAY_INTERVAL_STARTS] = map->interval_starts,
        [ARRAY_INTERVAL_LENGTHS] = map->interval_lengths, [ARRAY_WEIGHTS] = map->weights,
        [ARRAY_DEPTH_BINS] = rig->frustum.bins.count ? rig->frustum.bins.m : NULL,
        [ARRAY_OWN_SIZE] = written.sizes_differ ? written.own_size : NULL,
        [ARRAY_IMAGES] = photos->srgb,
        [ARRAY_CAMERA_NAMES] = cameras_have_names(scene) ? first->name : NULL,
        [ARRAY_BOXES] = photos->box_count ? photos->boxes : NULL,
        [ARRAY_BOX_LABELS] = photos->box_count ? photos->boxes->label : NULL,
        [ARRAY_LIDAR] = photos->sweep_count ? photos->sweep_m : NULL,
        [ARRAY_TIMESTAMPS] = photos->has_time ? &photos->time_s : NULL,
        [ARRAY_ROUNDING] = rig->grid.truncate ? truncate : NULL,
    };
    /* The index of each array's shape in the table. A grid with slices has BEVDet's shape. */
    const int which[ARRAY_COUNT] = {
        [ARRAY_RESIZE] = by_camera ? 3 : 0, [ARRAY_CROP] = by_camera ? 2 : 0,
        [ARRAY_BEV_SHAPE] = nz > 1, [ARRAY_ROUNDING] = 1,
    };
    const size_t strides[ARRAY_COUNT] = {
        [ARRAY_INTRINSICS] = sizeof(Camera), [ARRAY_RESIZE] = sizeof(Camera),
        [ARRAY_CAMERA_NAMES] = sizeof(Camera),
        [ARRAY_BOXES] = sizeof(TrueBox), [ARRAY_BOX_LABELS] = sizeof(TrueBox),
    };
    /* clang-format on */
    NpzEntry entries[ARRAY_COUNT];
    int count = 0;
    for (ArrayId id = 0; id < ARRAY_COUNT; id++) {
        const ArrayRow *row = &scene_arrays[id];
        if ((row->group == GROUP_CALIBRATION && !scene->has_rig) ||
            (row->group == GROUP_EXTRA && !elements[id]))
            continue;
        NpyType type = row->group == GROUP_TENSORS && half ? NPY_F2 : row->written;
        entries[count++] = (NpzEntry){row->name, arrays_layout(id, which[id], type, sizes),
                                      elements[id], arrays_is_small(id), strides[id]};
    }
    return npz_write(path, entries, count, err);
}
