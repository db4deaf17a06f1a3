/* SPDX-License-Identifier: MIT */
/* The moments of a clip. A thread loads them before they are shown and keeps as many as fit
 * MOMENTS_BYTES. */
#pragma once

#include "src/base/give_up.h"
#include "src/scene/clip.h"

#define MOMENTS_BYTES ((size_t)384 << 20)

/* One moment of a clip, reference counted (src/base/ref.h). */
typedef struct {
    int number;
    Scene scene;
} Moment;

typedef struct Moments Moments;

/* Starts the loading thread. `first` is the first moment, with its clip, which must outlive the
 * thread. `photo_features`: features are made from photographs. `ahead`: moments are loaded before
 * anything asks for them. */
bool moments_open(const Scene *first, bool photo_features, bool ahead, Moments **moments, Err *err);
void moments_close(Moments *moments); /* accepts NULL; moments already taken stay valid */

/* Waits for a moment and returns it; the caller drops it. The moments after it are loaded next.
 * NULL: it could not be loaded, or `give_up` was set, which leaves `err` as it is. */
Moment *moments_take(Moments *moments, int number, const GiveUp *give_up, Err *err);
