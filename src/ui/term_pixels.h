/* The BEV in a terminal as a picture of true pixels: kitty's graphics protocol, inline images of
 * iTerm2, sixel. Nothing is assumed: the terminal is asked, and half blocks stand until it has
 * answered. */
#pragma once

#include "src/view/bev/bev_picture.h"
#include "src/view/term/cells.h"
#include "src/view/term/dash_spots.h"

typedef enum { PIXELS_AUTO, PIXELS_KITTY, PIXELS_ITERM, PIXELS_SIXEL, PIXELS_OFF } Pixels;

/* What the terminal has answered so far; `waits`: not all yet; `resized`: the cells, until the
 * reader takes note. */
typedef struct {
    bool waits, kitty, iterm, sixel, resized;
    int cell_w, cell_h; /* pixels of a character cell; 0: unknown */
} PixelAnswers;

/* The questions. Every terminal answers the last one of pixels_ask (DA1): then nothing more comes.
 */
extern const char pixels_ask[], pixels_ask_size[];

/* Removes the picture of kitty's protocol; first it ends a string that was cut. */
extern const char pixels_remove[];

/* The letter that ends a CSI answer or introduces a string, and what stands between. */
void pixels_answer(PixelAnswers *answers, int letter, const char *text);

/* AUTO: not known yet. OFF: half blocks. */
Pixels pixels_choose(Pixels wanted, const PixelAnswers *answers);

/* The picture in the place of `spots->bev`, with cells of cell_w x cell_h pixels and the signs that
 * stand over it; blanks its cells. False: half blocks stay, with nothing to free. */
bool pixels_compose(Cells *cells, const DashSpots *spots, const BevPicture *bev, double wipe,
                    int cell_w, int cell_h, Image *image);

/* The bytes, malloc'd, that show the image at `place` and leave the cursor where it was. */
bool pixels_encode(Pixels kind, const Image *image, Area place, char **bytes, size_t *length,
                   Err *err);
