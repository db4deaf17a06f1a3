/* SPDX-License-Identifier: MIT */
/* The pixels of a frame, one for each cell or camera pixel: the BEV and the strip of cameras. This
 * is the costly half of a picture, independent of the screen, its size, zoom and mouse. The engine
 * makes it; terminal, window and files draw it. */
#pragma once

#include "src/view/bev/bev_picture.h"

typedef struct Picture {
    uint64_t content; /* of the frame it was made from */
    int colormap;     /* position in the state's menu */
    int64_t channel;
    RgbChoice rgb;
    bool lock; /* the state asked to keep the range of the last picture */
    Compare compare;
    Strip strip;
    bool lidar;             /* points over the strip */
    uint64_t strip_content; /* seen_content of the frame */
    Photos *sweep;          /* of a world, where `lidar`; reference counted */
    BevPicture bev;
    int camera_count;
    Image cameras[RIG_MAX_CAMERAS]; /* the strip */
    ValueRange camera_range;        /* of a strip with a colour bar; else lo == hi */
} Picture;

/* A reference counted picture (src/base/ref.h) of what state and frame show; where nothing has
 * changed one more reference to `previous` (may be NULL), from which it also takes a locked range
 * and parts that have not changed. NULL on an error, or when `give_up` was set, which leaves `err`
 * as it is. */
Picture *picture_make(const State *state, const LiveData *live, Picture *previous,
                      const GiveUp *give_up, Err *err);

/* Returns the same for a figure, at full size: with the strip only where it is wanted. Where there
 * is nothing to show it fails. */
Picture *picture_of_figure(const State *state, const LiveData *live, bool strip, Err *err);

/* Returns the frustum that the camera views show: the rig's; without a rig a view has a pixel for
 * each feature. */
Frustum frame_frustum(const LiveFrame *frame);

/* Backward: the feature pixel that is looked at, `chosen` or the one that feeds the loss most. -1:
 * none. */
int64_t frame_gradient_pixel(const LiveFrame *frame, int64_t chosen);
