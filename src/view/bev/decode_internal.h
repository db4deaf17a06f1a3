/* What the files that decode views share. Private to decode*.c. */
#pragma once

#include "src/scene/scene.h"
#include "src/view/bev/decode.h"

/* Room for the vector of a cell that has to be decoded first. */
typedef struct {
    float values[SCENE_MAX_CHANNELS];
} VectorRoom;

/* The vector of a cell, in `room` where it has to be decoded. */
const float *decode_vector(const BevContent *content, size_t cell, VectorRoom *room);

/* Turns the depth masses in field->value into strengths. */
bool decode_strengths(const BevContent *content, CellField *field, Err *err);

/* The view "rgb" (decode_rgb.c). */
bool decode_rgb(const BevContent *content, CellField *field, Err *err);
