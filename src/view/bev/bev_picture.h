/* The BEV as the display shows it: what the state asks for (view, colour map, range, comparison)
 * made of what the engine handed over, one pixel a cell. Terminal and window draw the same one. */
#ifndef BEV_BEV_PICTURE_H
#define BEV_BEV_PICTURE_H

#include "src/state/live_data.h"
#include "src/view/bev/decode.h"
#include "src/view/draw/image.h"
#include "src/view/bev/raster.h"

typedef struct {
    bool ready; /* there is a picture; else `reason` says why not */
    char reason[160];
    Image image;     /* ny x nx pixels, x forward up; raster_cell() maps back */
    Image baseline;  /* the same of the baseline, while it is wiped; else empty */
    CellField field; /* of the selection, or of the difference */
    CellField other; /* of the baseline, while it is wiped; else empty */
    ViewKind view;
    bool difference;
    ValueRange range;         /* of scalar views */
    const Colormap *colormap; /* scalar views; else NULL */
    bool locked;              /* `range` was kept from an earlier picture */
    uint64_t other_content;   /* the frame's baseline that `other` was decoded from, */
    int64_t other_channel;    /* and its channel */
} BevPicture;

/* Renders anew. `previous` (may be NULL) gives the range where the state locks it, and a baseline
 * that is still the same. What cannot be shown leaves ready = false and a reason. False with
 * nothing to free: no memory; or given up between two steps, which leaves `err` as it is. */
bool bev_picture_render(BevPicture *picture, const BevPicture *previous, const State *state,
                        const LiveFrame *frame, const GiveUp *give_up, Err *err);
void bev_picture_free(BevPicture *picture);

/* The colour of a pixel; left of the wipe (0..1) it is the baseline's. */
Rgb bev_picture_pixel(const BevPicture *picture, double wipe, int x, int y);

/* The position of a picture's view, colour map and error view as the state's menus name them. */
void bev_picture_menus(StateMenu *menu);

#endif
