#include "src/live/frame_inputs.h"

#include "src/live/frame_inputs_internal.h"
#include "src/base/ref.h"

void frame_parts_drop(FrameParts *parts) {
    shared_drop(parts->truth);
    shared_drop(parts->baseline);
    shared_drop(parts->pooled);
    shared_drop(parts->map);
    shared_drop(parts->views);
    shared_drop(parts->features);
    shared_drop(parts->scene);
    *parts = (FrameParts){.scene = NULL};
}

FrameParts frame_parts_keep(const FrameParts *parts) {
    return (FrameParts){
        .scene = shared_keep(parts->scene),
        .features = shared_keep(parts->features),
        .views = shared_keep(parts->views),
        .map = shared_keep(parts->map),
        .pooled = shared_keep(parts->pooled),
        .baseline = shared_keep(parts->baseline),
        .truth = shared_keep(parts->truth),
    };
}

bool no_memory(const char *where, Err *err) {
    return err_set(err, ERR_FAILED, where, "choose a smaller scene", "out of memory");
}
