/* The cells of a grid with height that a picture shows. */
#pragma once

#include "src/scene/slice.h"
#include "src/view/bev/decode.h"

/* Turns `content`, of a whole grid, into that of the picture: nx and ny become the picture's, and
 * `shown` names each cell's cell of the grid. The caller frees content->shown. A content that has a
 * `shown` already keeps it: both sides of a comparison show the same cells. False: no memory. */
bool slice_content(const Slice *slice, BevContent *content, Err *err);
