#include "src/live/frame_inputs.h"

#include "src/live/frame_inputs_internal.h"
#include "src/base/ref.h"

void frame_inputs_drop(FrameInputs *parts) {
    ref_drop(parts->fp64_original);
    ref_drop(parts->baseline);
    ref_drop(parts->pooled);
    ref_drop(parts->map);
    ref_drop(parts->views);
    ref_drop(parts->features);
    ref_drop(parts->scene);
    *parts = (FrameInputs){.scene = NULL};
}

FrameInputs frame_inputs_keep(const FrameInputs *parts) {
    return (FrameInputs){
        .scene = ref_keep(parts->scene),
        .features = ref_keep(parts->features),
        .views = ref_keep(parts->views),
        .map = ref_keep(parts->map),
        .pooled = ref_keep(parts->pooled),
        .baseline = ref_keep(parts->baseline),
        .fp64_original = ref_keep(parts->fp64_original),
    };
}

bool no_memory(const char *where, Err *err) {
    return err_set(err, ERR_FAILED, where, "choose a smaller scene", "out of memory");
}
