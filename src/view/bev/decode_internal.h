/* SPDX-License-Identifier: MIT */
/* What the files that decode views share. Private to decode*.c. */
#pragma once

#include "src/scene/scene.h"
#include "src/view/bev/decode.h"

/* Returns the row of a cell in pooled grids and maps. In a grid with height the row differs from
 * the cell's number in the picture. */
size_t decode_row(const BevContent *content, size_t cell);

/* Returns the vector of a cell. */
const float *decode_vector(const BevContent *content, size_t cell);

/* Allocates a zero for each row of the map and of the picture; free() it. NULL: no memory. */
float *decode_row_values(const BevContent *content, Err *err);

/* Turns the depth weights in field->value into strengths. */
bool decode_strengths(const BevContent *content, CellField *field, Err *err);

/* The view "rgb" (decode_rgb.c). */
bool decode_rgb(const BevContent *content, CellField *field, Err *err);
