/* SPDX-License-Identifier: MIT */
/* The inputs of a frame. Each input is reference counted (src/base/ref.h): frames with the same
 * input share it. An input does not change once it is made. */
#pragma once

#include "src/inputs/inputs.h"
#include "src/state/live_data.h"

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    KernelConfig config;
    float *values; /* (cell, c) */
    BevFootprint footprint;
    LiveScales scales;
    BevTraffic gather;
    ObjectBand objects[OBJECT_BANDS]; /* where the features have objects */
} PooledGrid;

typedef struct {
    SeenFeatures *features;
    BuiltMap *map;
    double *values; /* (cell, c) */
} Fp64Grid;

/* A loss on some cells of a pooled grid, and the gradients that a kernel computes from it. */
typedef struct {
    PooledGrid *pooled;
    KernelConfig config; /* goes backward */
    int kind;            /* LossKind, or LOSS_ALL */
    int64_t cell;                 /* of the grid; */
    int64_t probe_cell; int slice; /* cell of the picture in front of it */
    GridLoss loss; /* empty of LOSS_ALL, and where there is none */
    float *grad_depth, *grad_feat;
    bool waits;     /* the gradients are still to be computed */
    char text[300]; /* why there are none */
} Gradients;

/* The recorded steps, and their subject. */
typedef struct {
    LiveSteps steps;
    BuiltMap *map;
    BevShape shape;
    KernelConfig config, baseline; /* baseline.kernel NULL: none */
    const BevKernel *kernels[2]; /* instead of theirs; NULL: theirs */
    int64_t probe_cell, block; /* -1: none */
    int warp;
    BevGpuFacts gpu; /* V3 takes one of its forms by it */
} RecordedSteps;

enum { FRAME_INPUTS = 8 };

typedef union {
    struct {
        LoadedScene *scene;
        SeenFeatures *features;
        BuiltMap *map;
        PooledGrid *pooled, *baseline;
        Fp64Grid *fp64_original;
        RecordedSteps *steps;
        Gradients *gradients; /* NULL: forward */
    };
    void *each[FRAME_INPUTS]; /* the same, for what is done to all of them */
} FrameInputs;

/* Adds an owner to each input; removes one from each and zeroes the struct. */
FrameInputs frame_inputs_keep(const FrameInputs *inputs);
void frame_inputs_drop(FrameInputs *inputs);

/* Holds scene, features and map of `inputs` in place of those held before. */
void frame_inputs_hold(FrameInputs *held, const FrameInputs *inputs);
