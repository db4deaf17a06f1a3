/* SPDX-License-Identifier: MIT */
/* Reads photographs, boxes and LiDAR from .npz. */
#include "src/scene/scene_internal.h"

#include "kernels/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- photographs ----------------------------------------------------------------------------- */

/* The part of a camera's image that is kept. Pixel x of the network's input lies at (x + from) /
 * scale of the image. Index 0 is for rows, 1 for columns. */
typedef struct {
    int64_t size[2]; /* size of the image */
    double from[2], scale[2];
} Cut;

typedef struct {
    int64_t h, w; /* rows and columns of the array */
    double input[2];
    Cut cuts[RIG_MAX_CAMERAS];
    int64_t (*columns)[2]; /* (kept columns): the image's columns under each kept column */
} Images;

/* Chooses the part of an image. An image with the proportions of the network's input shows that
 * input, at any resolution. Any other image is the camera's own, in the pixels of `intrinsics`, and
 * must hold the resized crop. Padded images begin in the upper left corner. */
static bool choose_cut(const ArrayReader *reader, const Camera *camera, bool padded, Images *images,
                       Cut *cut) {
    const ImageCut *own = &camera->cut;
    const double h = (double)images->h, w = (double)images->w;
    *cut = (Cut){.size = {images->h, images->w},
                 .scale = {images->input[0] / h, images->input[1] / w}};
    if (!padded && fabs(cut->scale[0] - cut->scale[1]) <= 0.01 * cut->scale[0])
        return true;
    if (h + 2 < own->image_h || w + 2 < own->image_w)
        return ARRAYS_REFUSE(reader, ARRAY_IMAGES,
                             "save what the network saw, or the camera's whole image; a crop that "
                             "goes beyond it needs own_size",
                             "%lld x %lld pixels, must have the shape of image_size, %g x %g, or "
                             "hold the %d x %d that resize and crop take of %s",
                             (long long)images->h, (long long)images->w, images->input[0],
                             images->input[1], own->image_h, own->image_w, camera->name);
    if (padded) {
        cut->size[0] = own->image_h;
        cut->size[1] = own->image_w;
    }
    cut->scale[0] = own->resize_y;
    cut->scale[1] = own->resize_x;
    cut->from[0] = own->crop_y;
    cut->from[1] = own->crop_x;
    return true;
}

/* Images are padded if the file has their own sizes and they have the size of the largest one. */
static bool choose_cuts(const ArrayReader *reader, const Scene *scene, Images *images) {
    const Rig *rig = &scene->rig;
    int h = 0, w = 0;
    for (int i = 0; i < rig->camera_count; i++) {
        const ImageCut *own = &rig->cameras[i].cut;
        h = own->image_h > h ? own->image_h : h;
        w = own->image_w > w ? own->image_w : w;
    }
    const bool padded =
        scene->has_rig && arrays_has(reader, ARRAY_OWN_SIZE) && images->h == h && images->w == w;
    images->input[0] = scene->has_rig ? rig->frustum.input_h : (double)images->h;
    images->input[1] = scene->has_rig ? rig->frustum.input_w : (double)images->w;
    for (int i = 0; i < reader->size[SIZE_CAMERAS]; i++)
        if (!choose_cut(reader, &rig->cameras[i], padded, images, &images->cuts[i]))
            return false;
    return true;
}

/* Finds the image's pixels under pixel `at` of the `kept` pixels of an axis: at least one.
 * Outside the image, `range` is empty. A rounding error of 1e-6 takes no further pixel. */
static void pixels_under(const Images *images, const Cut *cut, int axis, int64_t at, int64_t kept,
                         int64_t range[2]) {
    double step = images->input[axis] / (double)kept;
    double low = ((double)at * step + cut->from[axis]) / cut->scale[axis];
    double high = ((double)(at + 1) * step + cut->from[axis]) / cut->scale[axis];
    range[0] = (int64_t)fmax(0, floor(low + 1e-6));
    range[1] = (int64_t)fmin((double)cut->size[axis],
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

static void take_image(const Images *images, int64_t camera, const uint8_t *image,
                       const Photos *photos) {
    const Cut *cut = &images->cuts[camera];
    uint8_t *kept = photos->srgb + 3 * photos->h * photos->w * camera;
    for (int64_t x = 0; x < photos->w; x++)
        pixels_under(images, cut, 1, x, photos->w, images->columns[x]);
#pragma omp parallel for num_threads(bev_threads()) schedule(static)
    for (int64_t y = 0; y < photos->h; y++) {
        int64_t rows[2];
        pixels_under(images, cut, 0, y, photos->h, rows);
        for (int64_t x = 0; x < photos->w; x++)
            mean_pixel(image, images->w, rows, images->columns[x], kept + 3 * (y * photos->w + x));
    }
}

static bool read_images(const ArrayReader *reader, Scene *scene) {
    enum { MOST_PIXELS = 1 << 24 };
    Photos *photos = &scene->photos;
    Images images = {.h = reader->size[SIZE_IMAGE_ROWS], .w = reader->size[SIZE_IMAGE_COLUMNS]};
    if (!arrays_has(reader, ARRAY_IMAGES))
        return true;
    if (images.h * images.w > MOST_PIXELS)
        return ARRAYS_REFUSE(reader, ARRAY_IMAGES, "save smaller ones",
                             "%lld x %lld pixels, must be at most %d in all", (long long)images.h,
                             (long long)images.w, MOST_PIXELS);
    photos->cameras = reader->size[SIZE_CAMERAS];
    if (!choose_cuts(reader, scene, &images))
        return false;
    photos_kept_size((int64_t)images.input[0], (int64_t)images.input[1], &photos->h, &photos->w);
    photos->srgb = malloc((size_t)(photos->cameras * photos->h * photos->w * 3));
    images.columns = malloc((size_t)photos->w * sizeof *images.columns);
    bool ok = (photos->srgb && images.columns) || err_no_memory(reader->err, "images", "");
    uint8_t *pixels = ok ? arrays_take(reader, ARRAY_IMAGES, NPY_U1) : NULL;
    for (int64_t i = 0; pixels && i < photos->cameras; i++)
        take_image(&images, i, pixels + 3 * images.h * images.w * i, photos);
    free(images.columns);
    free(pixels);
    return pixels;
}

/* ---- boxes, LiDAR, time ---------------------------------------------------------------------- */

static bool fill_boxes(const ArrayReader *reader, const double *rows, Photos *photos) {
    int64_t columns = reader->array[ARRAY_BOXES].shape[1];
    for (int64_t i = 0; i < photos->box_count; i++) {
        const double *row = rows + i * columns;
        TrueBox *box = &photos->boxes[i];
        for (int k = 3; k < 6; k++)
            if (!arrays_check_between(reader, ARRAY_BOXES, i * columns + k, row[k], 0, SCENE_FAR_M))
                return false;
        memcpy(box, row, TRUE_BOX_NUMBERS * sizeof *row);
    }
    return true;
}

static bool read_boxes(const ArrayReader *reader, Photos *photos) {
    if (!arrays_has(reader, ARRAY_BOXES))
        return true;
    photos->box_count = reader->size[SIZE_BOXES];
    double *rows = malloc((size_t)reader->array[ARRAY_BOXES].count * sizeof *rows + 1);
    photos->boxes = calloc((size_t)photos->box_count + 1, sizeof *photos->boxes);
    bool ok =
        ((photos->boxes && rows) || err_no_memory(reader->err, "boxes", "")) &&
        arrays_read_doubles(reader, ARRAY_BOXES, rows) && fill_boxes(reader, rows, photos) &&
        arrays_read_texts(reader, ARRAY_BOX_LABELS, photos->boxes->label, sizeof *photos->boxes);
    free(rows);
    return ok;
}

/* Reads x, y, z of each LiDAR point. A point with NaN has no echo and is left out. */
static bool read_sweep(const ArrayReader *reader, Photos *photos) {
    const NpyArray *array = &reader->array[ARRAY_LIDAR];
    if (!arrays_has(reader, ARRAY_LIDAR))
        return true;
    float *values = photos->sweep_m = arrays_take(reader, ARRAY_LIDAR, NPY_F4);
    if (!values)
        return false;
    for (int64_t i = 0; i < array->shape[0]; i++) {
        const float *p = values + i * array->shape[1];
        if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))
            memmove(values + 3 * photos->sweep_count++, p, 3 * sizeof *values);
    }
    float *less = realloc(values, (size_t)photos->sweep_count * 3 * sizeof *values + 1);
    photos->sweep_m = less ? less : values;
    return true;
}

static bool read_time(const ArrayReader *reader, Photos *photos) {
    double times[RIG_MAX_CAMERAS];
    if (!arrays_read_doubles(reader, ARRAY_TIMESTAMPS, times))
        return false;
    int64_t count = reader->array[ARRAY_TIMESTAMPS].count;
    photos->has_time = arrays_has(reader, ARRAY_TIMESTAMPS);
    for (int64_t i = 0; i < count; i++)
        photos->time_s += times[i] / (double)count;
    return true;
}

bool photos_read(const ArrayReader *reader, Scene *scene) {
    Photos *photos = &scene->photos;
    return read_time(reader, photos) && read_boxes(reader, photos) && read_sweep(reader, photos) &&
           read_images(reader, scene);
}
