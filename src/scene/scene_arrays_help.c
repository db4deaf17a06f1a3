/* What each array of a tensor scene holds, in one line, for --list and the manual page. */
#include "src/scene/scene_internal.h"

#include <stdio.h>
#include <string.h>

static const char *const meanings[ARRAY_COUNT] = {
    [ARRAY_DEPTH] = "how likely each depth bin of a pixel is",
    [ARRAY_FEAT] = "features of each pixel, channels last; made from images where it is missing",
    [ARRAY_INTRINSICS] = "camera matrix, in pixels of the camera's own image",
    [ARRAY_CAM2EGO] = "camera (x right, y down, z forward) to ego (x forward, y left, z up), metres",
    [ARRAY_IMAGE_SIZE] = "height and width of the network's input",
    [ARRAY_RESIZE] = "input = resize * own image - crop",
    [ARRAY_CROP] = "x, y, or x, y, x2, y2",
    [ARRAY_DEPTH_RANGE] = "start, stop, step of the depth bins, metres",
    [ARRAY_GRID] = "rows x, y, z: lower end, upper end, cell, metres; several cells in z are slices",
    [ARRAY_RANKS_DEPTH] = "of each point the number of its depth value",
    [ARRAY_RANKS_FEAT] = "of each point the number of its feature row",
    [ARRAY_RANKS_BEV] = "of each point the number of its cell, ascending",
    [ARRAY_INTERVAL_STARTS] = "first point of each cell that has any",
    [ARRAY_INTERVAL_LENGTHS] = "how many points that cell has",
    [ARRAY_BEV_SHAPE] = "ny, nx, or BEVDet's 1, nz, ny, nx, C",
    [ARRAY_WEIGHTS] = "a factor for each point of the index arrays",
    [ARRAY_IMAGES] = "RGB photographs: the network's input at any resolution, or whole images",
    [ARRAY_CAMERA_NAMES] = "names for the pictures",
    [ARRAY_BOXES] = "centre x, y, z, length, width, height, yaw in the ego frame; velocity is not read",
    [ARRAY_BOX_LABELS] = "class of each box",
    [ARRAY_LIDAR] = "x, y, z in the ego frame, metres; NaN: no echo",
    [ARRAY_TIMESTAMPS] = "seconds; a clip begins at 0 with the first",
    [ARRAY_BOXES_COUNT] = "of several moments: how many boxes each has, one after another",
    [ARRAY_LIDAR_COUNT] = "of several moments: how many LiDAR points each has, one after another",
};

static const char *const groups[] = {
    [GROUP_TENSORS] = "Tensors",
    [GROUP_CALIBRATION] = "Calibration, all of it or none",
    [GROUP_INDEX] = "Index arrays, all of them or none; a file without a calibration needs them",
    [GROUP_EXTRA] = "May be missing",
};

/* The name of an axis; digits and other letters stand for themselves. */
static const char *axis_name(char letter) {
    switch (letter) {
    case 'N':
        return "camera";
    case 'T':
        return "moment";
    case 'P':
        return "point";
    case 'I':
        return "interval";
    case 'B':
        return "box";
    case 'L':
        return "point";
    case 'K':
        return "3 or more";
    default:
        return NULL;
    }
}

/* "(camera, D, h, w)" for the shape "NDhw"; a scalar is "()". */
static void name_axes(const char *shape, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "(");
    for (const char *s = shape; *s; s++) {
        const char letter[2] = {*s, '\0'}, *name = axis_name(*s);
        used += (size_t)snprintf(text + used, size - used, "%s%s", s == shape ? "" : ", ",
                                 name ? name : letter);
    }
    snprintf(text + used, size - used, ")");
}

bool scene_array_help(int i, SceneArrayHelp *help) {
    if (i < 0 || i >= ARRAY_COUNT)
        return false;
    const ArrayRow *row = &scene_arrays[i];
    *help = (SceneArrayHelp){.name = row->name,
                             .group = groups[row->group],
                             .meaning = meanings[i] ? meanings[i] : ""};
    int used = 0;
    for (int type = 0; type < NPY_TYPE_COUNT; type++)
        if (row->types & 1u << type)
            used += snprintf(help->types + used, sizeof help->types - (size_t)used, "%s%s",
                             used ? " or " : "", npy_types[type].name);
    const char *shapes[] = {row->shape ? row->shape : row->clip_shapes[0], row->other_shape};
    for (int s = 0; s < 2; s++)
        if (shapes[s]) {
            size_t length = strlen(help->shapes);
            length += (size_t)snprintf(help->shapes + length, sizeof help->shapes - length, "%s",
                                       length ? " or " : "");
            name_axes(shapes[s], help->shapes + length, sizeof help->shapes - length);
        }
    return true;
}
