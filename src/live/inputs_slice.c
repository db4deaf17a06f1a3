/* From a cell of the picture to the cell of a grid with height that it shows. */
#include "src/live/inputs.h"

int64_t inputs_probe_cell(const FrameInputs *inputs, const Job *job) {
    const BevShape *shape = &inputs->features->shape;
    const BevMap *map = &inputs->map->map;
    Slice slice = slice_of(shape, job->slice);
    int64_t cell = job->probe_cell;
    if (cell < 0 || cell >= slice.nx * slice.ny)
        return -1;
    return slice_strongest(&slice, cell, map, shape->channels,
                           inputs->pooled ? inputs->pooled->values : NULL);
}
