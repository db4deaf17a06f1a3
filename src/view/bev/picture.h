/* SPDX-License-Identifier: MIT */
/* The pixels of a frame, one for each cell or camera pixel: the BEV in the view that the state asks
 * for, and the strip of cameras. Making these pixels is costly, and does not depend on the screen,
 * its zoom or the mouse. The engine makes a picture, and terminal, window and files draw it. */
#pragma once

#include "src/state/live_data.h"
#include "src/view/bev/decode.h"
#include "src/view/bev/raster.h"

typedef struct {
    bool ready; /* the picture is made; if not, `reason` tells why */
    char reason[160];
    Image image;     /* ny x nx pixels, x forward up; raster_cell() maps back */
    Image baseline;  /* the baseline's pixels during a wipe; else empty */
    CellField field; /* the cells of the selection, or of the difference */
    CellField other; /* the baseline's cells during a wipe; else empty */
    ViewKind view;
    int slice;   /* the slice of a grid with height, as in slice.h */
    bool chosen; /* a grid with height: the selection's values choose the cells */
    bool difference;
    bool filled;              /* empty cells among others may be interpolated */
    ValueRange range;         /* scalar views: the range of the colour bar */
    const Colormap *colormap; /* scalar views: the colour map; else NULL */
    bool of_baseline;         /* `range` is that of the pinned baseline */
    bool light;               /* the picture is for a light page of paper */
    bool locked;              /* `range` was kept from an earlier picture */
    uint64_t other_content;   /* the frame's baseline_content that `other` was decoded from */
    int64_t other_channel;    /* the channel that `other` was decoded from */
} BevPicture;

typedef struct Picture {
    uint64_t content; /* `content` of the frame that the picture was made from */
    int colormap;     /* position in the state's menu */
    int64_t channel;
    RgbChoice rgb;
    bool lock; /* the state asked to keep the range of the last picture */
    Compare compare;
    Strip strip;
    bool lidar;             /* LiDAR points are drawn over the strip */
    uint64_t strip_content; /* seen_content of the frame */
    Photos *sweep;          /* with `lidar`: the points of a world; reference counted */
    BevPicture bev;
    int camera_count;
    Image cameras[RIG_MAX_CAMERAS]; /* the pictures of the strip */
    ValueRange camera_range;        /* the range of the strip's colour bar; lo == hi: it has none */
} Picture;

/* Makes the picture of state and frame, reference counted (src/base/ref.h). Where nothing has
 * changed, returns one more reference to `previous`. The new picture takes a locked range and
 * unchanged parts from `previous`, which may be NULL. Returns NULL on an error. When `give_up` was
 * set, returns NULL and leaves `err` unchanged. */
Picture *picture_make(const State *state, const LiveData *live, Picture *previous,
                      const GiveUp *give_up, Err *err);
/* Makes the picture of a printed page, at full size, with or without the strip. Fails if there is
 * nothing to show. */
Picture *picture_of_figure(const State *state, const LiveData *live, bool strip, Err *err);

/* Returns the frustum of the camera views: that of the rig, or without a rig a view with a pixel
 * for each feature. */
Frustum frame_frustum(const LiveFrame *frame);
/* Returns the feature pixel that screens explain backward: `chosen`, or the pixel that feeds the
 * loss most. -1: no pixel feeds the loss. */
int64_t frame_gradient_pixel(const LiveFrame *frame, int64_t chosen);

/* ---- the BEV alone --------------------------------------------------------------------------- */

/* Makes a new picture. `previous` (may be NULL) gives a locked range, the background, and an
 * unchanged decoded baseline. With nothing to show, sets ready = false and a reason. Returns false,
 * with nothing to free, without memory. When `give_up` was set, also leaves `err` unchanged. */
bool bev_picture_render(BevPicture *picture, const BevPicture *previous, const State *state,
                        const LiveFrame *frame, const GiveUp *give_up, Err *err);
void bev_picture_free(BevPicture *picture);

/* Whether the picture is a difference in which every cell is 0. */
bool bev_picture_alike(const BevPicture *picture);
/* Returns the colour of a pixel: of the baseline at the left of a wipe, else of the selection. */
Rgb bev_picture_pixel(const BevPicture *picture, const State *state, int x, int y);

/* The size of the default rig's vehicle (nuScenes), in metres from the middle of the rear axle. */
#define EGO_FRONT_M      3.4
#define EGO_REAR_M       (-0.7)
#define EGO_HALF_WIDTH_M 0.87

/* Returns the colour of a pixel with the drawing over the cells: rings at 20 and 40 m, and the
 * vehicle to scale. (x, y) is the middle of the pixel in cells, `pixel_m` its edge in metres. */
Rgb bev_picture_over(const State *state, Rgb color, double x, double y, double pixel_m);

/* Fills the state's menus of views and colour maps from the tables of this folder. */
void bev_picture_menus(StateMenu *menu);
