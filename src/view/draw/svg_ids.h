/* cairo numbers the images and groups of an SVG by a counter of the process: the same figure drawn
 * twice would differ. Renumbered in order of appearance, it does not. */
#ifndef BEV_SVG_IDS_H
#define BEV_SVG_IDS_H

#include "src/view/draw/bytes.h"

/* Appends `svg` to `out` with the ids "image<n>" and "surface<n>" renumbered; false: no memory. */
bool svg_renumber(const Bytes *svg, Bytes *out);

#endif
