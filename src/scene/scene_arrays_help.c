/* SPDX-License-Identifier: MIT */
/* Describes each array of a tensor scene in one line, for --list and the manual page. */
#include "src/scene/scene_internal.h"

#include <stdio.h>
#include <string.h>

static const char *const groups[] = {
    [GROUP_TENSORS] = "Tensors",
    [GROUP_CALIBRATION] = "Calibration, all of it or none",
    [GROUP_INDEX] = "Index arrays, all of them or none; a file without a calibration needs them",
    [GROUP_EXTRA] = "May be missing",
};

/* Returns the name of an axis. Digits and other letters stand for themselves. */
static const char *axis_name(char letter) {
    switch (letter) {
    case 'N':
        return "camera";
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

/* Writes "(camera, D, h, w)" for the shape "NDhw". A scalar is "()". */
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
    *help =
        (SceneArrayHelp){.name = row->name, .group = groups[row->group], .meaning = row->meaning};
    arrays_types_text(row->types, help->types, sizeof help->types);
    char shape[NPY_MAX_RANK + 1];
    for (int s = 0; arrays_shape(i, s, shape); s++) {
        size_t length = strlen(help->shapes);
        length += (size_t)snprintf(help->shapes + length, sizeof help->shapes - length, "%s",
                                   length ? " or " : "");
        name_axes(shape, help->shapes + length, sizeof help->shapes - length);
    }
    return true;
}
