#include "src/view/bev/slice_content.h"

#include <stdlib.h>

bool slice_content(const Slice *slice, BevContent *content, Err *err) {
    if (slice->slices <= 1)
        return true;
    content->nx = slice->nx;
    content->ny = slice->ny;
    if (content->shown)
        return true;
    int32_t *shown = malloc((size_t)(slice->nx * slice->ny) * sizeof *shown);
    if (shown && slice_choose(slice, content->map, content->channels, content->pooled, shown)) {
        content->shown = shown;
        return true;
    }
    free(shown);
    return err_set(err, ERR_FAILED, "slice", "choose a smaller grid", "out of memory");
}
