/* What term.c uses: colours and the terminal database. Private to src/ui/term.c. */
#pragma once

#include "src/view/draw/color.h"
#include "src/view/term/cells.h"

#include <stdbool.h>
#include <stddef.h>

/* The number of the nearest colour in a terminal of `colors` (8, 16, 88, 256 or more). */
int palette_nearest(Rgb color, int colors);

/* The number of a tensor's ink among 8 or 16 colours, of which the nearest ones are not all
 * different; -1: it is no tensor's. */
int palette_tensor(Ink ink, bool light);

/* The colour with half again as much saturation: pictures keep their hues in few colours. */
Rgb palette_vivid(Rgb color);

/* Why a terminal of that type on `fd` cannot be drawn on; NULL: it can. */
const char *terminfo_impossible(const char *type, int fd);

/* The bytes that reset the open terminal: cursor, colours, keypad, the shell's screen. Cut at
 * `size`; returns the length. */
size_t terminfo_reset(char *bytes, size_t size);
