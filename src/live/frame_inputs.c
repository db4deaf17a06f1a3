/* SPDX-License-Identifier: MIT */
#include "src/live/inputs.h"

#include "src/base/ref.h"

FrameInputs frame_inputs_keep(const FrameInputs *inputs) {
    for (int i = 0; i < FRAME_INPUTS; i++)
        ref_keep(inputs->each[i]);
    return *inputs;
}

void frame_inputs_drop(FrameInputs *inputs) {
    for (int i = FRAME_INPUTS - 1; i >= 0; i--)
        ref_drop(inputs->each[i]);
    *inputs = (FrameInputs){.scene = NULL};
}

void frame_inputs_hold(FrameInputs *held, const FrameInputs *inputs) {
    FrameInputs kept = frame_inputs_keep(
        &(FrameInputs){.scene = inputs->scene, .features = inputs->features, .map = inputs->map});
    frame_inputs_drop(held);
    *held = kept;
}
