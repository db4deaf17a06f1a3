/* SPDX-License-Identifier: MIT */
/* The BEV in a terminal as a picture of true pixels: kitty's graphics protocol, inline images of
 * iTerm2, or sixel. The terminal is asked which one it takes. Until it answers, half blocks are
 * drawn. */
#pragma once

#include "src/view/bev/picture.h"
#include "src/view/term/cells.h"
#include "src/view/panel/spots.h"

typedef enum { PIXELS_AUTO, PIXELS_KITTY, PIXELS_ITERM, PIXELS_SIXEL, PIXELS_OFF } Pixels;

/* What the terminal has answered so far. `waits`: answers are missing. `resized`: the size of a
 * cell has changed, and the reader has not noticed yet. */
typedef struct {
    bool waits, kitty, iterm, sixel, resized;
    int cell_w, cell_h; /* pixels of a character cell; 0: unknown */
} PixelAnswers;

/* The questions. Every terminal answers DA1, the last one of pixels_ask. */
extern const char pixels_ask[], pixels_ask_size[];

/* Removes the picture of kitty's protocol, after ending a string that was cut. */
extern const char pixels_remove[];

/* Takes the letter that ends a CSI answer or introduces a string, and the text in between. */
void pixels_answer(PixelAnswers *answers, int letter, const char *text);

/* Returns how pictures are sent. AUTO: not known yet. OFF: half blocks. */
Pixels pixels_choose(Pixels wanted, const PixelAnswers *answers);

/* Draws the picture as the window does, for the place of `spots->bev` with cells of cell_w x cell_h
 * pixels, and blanks its cells. Returns false where half blocks stay; nothing is to be freed then.
 */
bool pixels_compose(Cells *cells, const Spots *spots, const State *state, const LiveData *live,
                    const Picture *picture, int cell_w, int cell_h, Image *image);

/* Returns bytes (malloc'd) that show the image at `place` and leave the cursor where it was. */
bool pixels_encode(Pixels kind, const Image *image, Area place, char **bytes, size_t *length,
                   Err *err);
