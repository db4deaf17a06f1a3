/* The cells of a grid with height that a picture shows. */
#pragma once

#include "src/scene/slice.h"
#include "src/view/bev/decode.h"

/* Makes `content`, of a whole grid, one of the picture: nx and ny become the picture's, and `shown`
 * tells which cell of the grid each one shows. The caller frees content->shown. A content that has
 * a `shown` already keeps it: both sides of a comparison show the same cells. False: no memory. */
bool slice_content(const Slice *slice, BevContent *content, Err *err);
