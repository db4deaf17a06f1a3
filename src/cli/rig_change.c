/* SPDX-License-Identifier: MIT */
/* Makes the rig of bevscope rig: reads JSON, changes it by the options, writes a scene. */
#include "src/base/data.h"
#include "src/base/json_fields.h"
#include "src/cli/model.h"
#include "src/scene/scene.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Finds the file of --from: a rig that comes with the program, or a path. */
static bool rig_path(const char *from, char path[PATH_MAX], Err *err) {
    char relative[128];
    Err ignored;
    snprintf(relative, sizeof relative, "samples/rigs/%.64s.json", from);
    if (!strchr(from, '/') && data_path(relative, path, PATH_MAX, &ignored))
        return true;
    if (access(from, R_OK) != 0)
        return err_set(err, ERR_USAGE, from, "one of " RIG_NAMES ", or a scene in JSON",
                       "no such rig");
    snprintf(path, PATH_MAX, "%s", from);
    return true;
}

/* Reads an array of two whole numbers in `object`. False: the scene's own check reports why. */
static bool rig_two(const json_t *object, const char *key, int values[2]) {
    const json_t *array = json_object_get(object, key);
    for (size_t i = 0; i < 2; i++)
        values[i] = (int)json_number_value(json_array_get(array, i));
    return values[0] > 0 && values[1] > 0;
}

/* Parses `count` numbers with a separator between them: "704x256", "1:60:0.5". */
static bool parse_numbers(const char *text, char separator, int count, double *values) {
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = strtod(text, &end);
        if (end == text || !isfinite(values[i]) || *end != (i + 1 < count ? separator : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

/* ---- images and the input ---------------------------------------------------------------------
 */

typedef struct {
    int count;
    ImageCut cuts[RIG_MAX_CAMERAS];
    double resizes[RIG_MAX_CAMERAS]; /* the resize of --image; 0: to the input's width */
    bool changed[RIG_MAX_CAMERAS];
} Images;

static const char *camera_name(const json_t *rig, int camera) {
    const json_t *cameras = json_object_get(rig, "cameras");
    const char *name =
        json_string_value(json_object_get(json_array_get(cameras, (size_t)camera), "name"));
    return name ? name : "";
}

/* Reads the fields of a cut. The scene's own check reports wrong values. */
static void read_cut(const json_t *object, ImageCut *cut) {
    const json_t *resize = json_object_get(object, "resize"),
                 *crop = json_object_get(object, "crop_px");
    int image[2];
    if (rig_two(object, "image_px", image)) {
        cut->image_w = image[0];
        cut->image_h = image[1];
    }
    if (resize) {
        bool both = json_is_array(resize);
        cut->resize_x = json_number_value(both ? json_array_get(resize, 0) : resize);
        cut->resize_y =
            json_number_value(both ? json_array_get(resize, json_array_size(resize) - 1) : resize);
    }
    if (crop) {
        cut->crop_x = json_number_value(json_array_get(crop, 0));
        cut->crop_y = json_number_value(json_array_get(crop, 1));
    }
}

/* Reads the cameras' cuts. False: the rig has no images, which the scene's own check refuses. */
static bool read_images(const json_t *rig, Images *images) {
    const json_t *cameras = json_object_get(rig, "cameras");
    size_t count = json_array_size(cameras);
    *images = (Images){.count = count < RIG_MAX_CAMERAS ? (int)count : RIG_MAX_CAMERAS};
    for (int i = 0; i < images->count; i++) {
        ImageCut *cut = &images->cuts[i];
        read_cut(json_object_get(rig, "frustum"), cut);
        read_cut(json_array_get(cameras, (size_t)i), cut);
        if (cut->image_w < 1 || cut->image_h < 1)
            return false;
    }
    return images->count > 0;
}

static json_t *real_json(double value) {
    return value == round(value) ? json_integer((json_int_t)value) : json_real(value);
}

static void write_cut(json_t *object, const ImageCut *cut) {
    json_object_set_new(object, "image_px", json_pack("[ii]", cut->image_w, cut->image_h));
    json_object_set_new(object, "resize",
                        cut->resize_x == cut->resize_y ? real_json(cut->resize_x)
                                                       : json_pack("[oo]", real_json(cut->resize_x),
                                                                   real_json(cut->resize_y)));
    json_object_set_new(object, "crop_px",
                        json_pack("[oo]", real_json(cut->crop_x), real_json(cut->crop_y)));
}

/* Writes the first camera's cut for all cameras, and the cuts of cameras that differ. */
static void write_images(json_t *rig, const Images *images) {
    json_t *cameras = json_object_get(rig, "cameras");
    write_cut(json_object_get(rig, "frustum"), &images->cuts[0]);
    for (int i = 0; i < images->count; i++) {
        json_t *camera = json_array_get(cameras, (size_t)i);
        if (memcmp(&images->cuts[i], &images->cuts[0], sizeof(ImageCut)) != 0) {
            write_cut(camera, &images->cuts[i]);
            continue;
        }
        json_object_del(camera, "image_px");
        json_object_del(camera, "resize");
        json_object_del(camera, "crop_px");
    }
}

/* Gives a camera's image another size: the same view in more or fewer pixels. */
static void use_image(json_t *camera, const int size[2], ImageCut *cut) {
    const double by[2] = {(double)size[0] / cut->image_w, (double)size[1] / cut->image_h};
    const json_t *center = json_object_get(camera, "center_px");
    double x = json_number_value(json_array_get(center, 0)) * by[0];
    double y = json_number_value(json_array_get(center, 1)) * by[1];
    json_object_set_new(camera, "focal_px",
                        real_json(json_number_value(json_object_get(camera, "focal_px")) * by[0]));
    json_object_set_new(camera, "center_px", json_pack("[oo]", real_json(x), real_json(y)));
    cut->image_w = size[0];
    cut->image_h = size[1];
}

/* Returns the camera with a name or number. -1: there is none. */
static int find_camera(const json_t *rig, int count, const char *word) {
    char *end;
    long number = strtol(word, &end, 10);
    for (int i = 0; i < count; i++)
        if (!strcmp(word, camera_name(rig, i)) || (*word && !*end && number == i))
            return i;
    return -1;
}

/* Applies one part of --image: "1600x900", "front=1550x2048" or "2=640x480@0.5". */
static bool set_image(json_t *rig, Images *images, const char *part, Err *err) {
    char word[64] = "", *value = word, *at;
    double size[2], resize[1] = {0};
    int camera = -1;
    snprintf(word, sizeof word, "%s", part);
    if ((at = strrchr(word, '='))) {
        *at = '\0';
        value = at + 1;
        if ((camera = find_camera(rig, images->count, word)) < 0)
            return err_set(err, ERR_USAGE, "--image", "a name or number, from 0, of the rig's",
                           "no camera '%s'", word);
    }
    if ((at = strchr(value, '@')))
        *at++ = '\0';
    if (!parse_numbers(value, 'x', 2, size) || !(size[0] >= 1 && size[0] <= 65536) ||
        !(size[1] >= 1 && size[1] <= 65536) ||
        (at && (!parse_numbers(at, ' ', 1, resize) || !(*resize > 0))))
        return err_set(err, ERR_USAGE, "--image", "for example 1600x900, or front=1550x2048@0.5",
                       "'%.40s' is not [CAMERA=]WxH[@RESIZE]", part);
    for (int i = camera < 0 ? 0 : camera; i < (camera < 0 ? images->count : camera + 1); i++) {
        use_image(json_array_get(json_object_get(rig, "cameras"), (size_t)i),
                  (int[]){(int)size[0], (int)size[1]}, &images->cuts[i]);
        images->resizes[i] = *resize;
        images->changed[i] = true;
    }
    return true;
}

static bool set_images(json_t *rig, Images *images, const char *text, Err *err) {
    for (char part[CHOICE_ITEM]; choices_item(&text, part);)
        if (!set_image(rig, images, part, err))
            return false;
    return true;
}

/* Resizes the image to the input's width, or by `resize`. Keeps middle columns, lower rows. */
static bool fit_image(const char *name, const int input[2], double resize, ImageCut *cut,
                      Err *err) {
    double scale = resize > 0 ? resize : (double)input[0] / cut->image_w;
    int columns = (int)lround(cut->image_w * scale), rows = (int)lround(cut->image_h * scale);
    if (columns < input[0] || rows < input[1])
        return err_set(err, ERR_USAGE, "rig", "take a smaller --input, or another --image",
                       "camera '%s': %d x %d pixels after the resize, but the input has %d x %d",
                       name, columns, rows, input[0], input[1]);
    cut->resize_x = cut->resize_y = scale;
    cut->crop_x = (columns - input[0]) / 2;
    cut->crop_y = rows - input[1];
    return true;
}

/* Applies --image and --input. */
static bool set_views(json_t *rig, const Options *options, Err *err) {
    json_t *frustum = json_object_get(rig, "frustum");
    double asked[2];
    int input[2];
    Images images;
    if (options->input && (!parse_numbers(options->input, 'x', 2, asked) || asked[0] < 1 ||
                           asked[1] < 1 || asked[0] > 65536 || asked[1] > 65536))
        return err_set(err, ERR_USAGE, "--input", "for example 704x256", "'%s' is not WxH",
                       options->input);
    if (!read_images(rig, &images) || !rig_two(frustum, "input_px", input))
        return true;
    for (int axis = 0; options->input && axis < 2; axis++)
        input[axis] = (int)asked[axis];
    if (options->image && !set_images(rig, &images, options->image, err))
        return false;
    for (int i = 0; i < images.count; i++)
        if ((options->input || images.changed[i]) &&
            !fit_image(camera_name(rig, i), input, images.resizes[i], &images.cuts[i], err))
            return false;
    json_object_set_new(frustum, "input_px", json_pack("[ii]", input[0], input[1]));
    write_images(rig, &images);
    return true;
}

/* ---- depth, grid and all ----------------------------------------------------------------------
 */

static bool set_stride(json_t *frustum, int64_t stride, Err *err) {
    int input[2];
    if (!stride || !rig_two(frustum, "input_px", input))
        return true;
    if (input[0] % stride || input[1] % stride)
        return err_set(err, ERR_USAGE, "--stride", "choose another, or --input",
                       "%d x %d pixels are no multiple of %lld", input[0], input[1],
                       (long long)stride);
    json_object_set_new(frustum, "features",
                        json_pack("[ii]", input[0] / (int)stride, input[1] / (int)stride));
    return true;
}

/* Applies --reach and --cell: the grid is square. */
static bool set_grid(json_t *grid, double reach_m, double cell_m, Err *err) {
    const json_t *x = json_object_get(grid, "x_m");
    int cells[2];
    if ((!reach_m && !cell_m) || !rig_two(grid, "cells", cells))
        return true;
    double old_m =
        json_number_value(json_array_get(x, 1)) - json_number_value(json_array_get(x, 0));
    double side_m = reach_m ? 2 * reach_m : old_m, step_m = cell_m ? cell_m : old_m / cells[0];
    int count = (int)lround(side_m / step_m);
    if (fabs(count * step_m - side_m) > 1e-6 * side_m)
        return err_set(err, ERR_USAGE, "--cell", "choose a part of it",
                       "%g m are no multiple of %g m", side_m, step_m);
    const char *const axes[] = {"x_m", "y_m"};
    for (int i = 0; i < 2; i++)
        json_object_set_new(grid, axes[i], json_pack("[ff]", -side_m / 2, side_m / 2));
    json_object_set_new(grid, "cells", json_pack("[ii]", count, count));
    return true;
}

/* Changes a rig's JSON by the options: images, depths, channels, stride and grid. */
static bool change_rig(json_t *rig, const Options *options, Err *err) {
    json_t *frustum = json_object_get(rig, "frustum"), *grid = json_object_get(rig, "grid");
    double depth[3] = {0};
    if ((options->input || options->image) && !set_views(rig, options, err))
        return false;
    if (options->depth && !parse_numbers(options->depth, ':', 3, depth))
        return err_set(err, ERR_USAGE, "--depth", "for example 1:60:0.5",
                       "'%s' is not START:STOP:STEP", options->depth);
    if (options->depth) {
        json_object_del(frustum, "depth_bins");
        json_object_set_new(frustum, "depth_m", json_pack("[fff]", depth[0], depth[1], depth[2]));
    }
    if (options->channels)
        json_object_set_new(rig, "channels", json_integer(options->channels));
    return set_stride(frustum, options->stride, err) &&
           set_grid(grid, options->reach_m, options->cell_m, err);
}

bool rig_changed_text(const Options *options, char **text, Err *err) {
    char path[PATH_MAX];
    Scene scene;
    json_t *rig = rig_path(options->from_rig ? options->from_rig : "nuscenes", path, err)
                      ? fields_load(path, SCENE_MAX_JSON_BYTES,
                                    "--from takes a rig in JSON, as samples/rigs has them", err)
                      : NULL;
    bool ok = rig && change_rig(rig, options, err);
    *text = ok ? json_dumps(rig, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(rig);
    ok = ok && (*text || err_set(err, ERR_FAILED, "rig", "", "out of memory")) &&
         scene_read_json(*text, strlen(*text), path, &scene, err);
    if (ok)
        scene_free(&scene);
    else
        free(*text);
    return ok;
}
