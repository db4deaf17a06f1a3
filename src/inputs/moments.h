/* The moments of a clip, loaded by a thread of their own ahead of when they are shown, and kept as
 * far as MOMENTS_BYTES reach. */
#pragma once

#include "src/base/give_up.h"
#include "src/scene/clip.h"

#define MOMENTS_BYTES ((size_t)384 << 20)

/* Reference counted (src/base/ref.h). */
typedef struct {
    int number;
    Scene scene;
} Moment;

typedef struct Moments Moments;

/* Begins to load; the clip must outlive it. `photo_features`: features are made from photographs.
 * `ahead`: moments are loaded before they are asked for. */
bool moments_open(const Clip *clip, bool photo_features, bool ahead, Moments **moments, Err *err);
void moments_close(Moments *moments); /* accepts NULL; moments that were taken stay */

/* The moment, for the caller to drop; those behind it are loaded next. Waits for it; NULL: it could
 * not be loaded, or `give_up` was set, which leaves `err` as it is. */
Moment *moments_take(Moments *moments, int number, const GiveUp *give_up, Err *err);
