#include "src/view/bev/slice_content.h"

#include "kernels/codec.h"

#include <stdlib.h>

static const float *vector_of(const void *context, int64_t cell, float *room) {
    const BevContent *content = context;
    if (content->pooled)
        return content->pooled + cell * content->channels;
    bev_tensor_decode(content->pooled_codes, cell, 1, room);
    return room;
}

bool slice_content(const Slice *slice, BevContent *content, Err *err) {
    if (slice->slices <= 1)
        return true;
    content->nx = slice->nx;
    content->ny = slice->ny;
    if (content->shown)
        return true;
    int32_t *shown = malloc((size_t)(slice->nx * slice->ny) * sizeof *shown);
    bool pooled = content->pooled || content->pooled_codes;
    if (shown && slice_choose(slice, content->map, content->channels, pooled ? vector_of : NULL,
                              content, shown)) {
        content->shown = shown;
        return true;
    }
    free(shown);
    return err_set(err, ERR_FAILED, "slice", "choose a smaller grid", "out of memory");
}
