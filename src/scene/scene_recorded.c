/* SPDX-License-Identifier: MIT */
/* Reads what the scene's car recorded besides its tensors: photographs, boxes, LiDAR, time. */
#include "src/scene/scene_internal.h"

#include "kernels/threads.h"

#include <math.h>
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
        for (int64_t x = columns[0]; x < columns[1]; x++)
            for (int i = 0; i < 3; i++)
                sum[i] += image[3 * (y * image_w + x) + i];
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
        for (int k = 3; k < 6; k++) /* length, width, height */
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

bool scene_read_recorded(ArrayReader *reader, Scene *scene) {
    set_time(reader, &scene->photos);
    return read_boxes(reader, &scene->photos) && read_lidar(reader, &scene->photos) &&
           read_images(reader, scene);
}
