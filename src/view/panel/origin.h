/* Where a figure on a screen comes from: its source, its inputs, its date. */
#pragma once

#include "src/state/live_data.h"

/* Subjects of figures. */
typedef enum {
    ORIGIN_NONE,
    ORIGIN_SETTING,   /* the user's, the scene's or the program's: names, keys, counts of steps */
    ORIGIN_LOG,       /* a line of the log */
    ORIGIN_LESSON,    /* a lesson's text */
    ORIGIN_DEVICE,    /* name, clocks, temperature */
    ORIGIN_CACHES,    /* sizes of caches */
    ORIGIN_SHAPES,    /* bytes, by formula from shapes */
    ORIGIN_REQUESTED, /* bytes that threads ask for */
    ORIGIN_MAP,       /* points and intervals */
    ORIGIN_LATENCY,   /* of `kernel` */
    ORIGIN_BAR,       /* a latency as a bar */
    ORIGIN_BANDWIDTH, /* requested bytes / latency */
    ORIGIN_SPEEDUP,   /* of `kernel` over the baseline */
    ORIGIN_COMPILED,  /* registers, occupancy */
    ORIGIN_PREPARE,   /* of `kernel` */
    ORIGIN_ERROR,     /* of the selection in `dtype` */
    ORIGIN_MODEL,     /* the memory model's */
    ORIGIN_CHART,     /* the same, of kernels, GPUs and formats that a chart names */
    ORIGIN_NETWORK,   /* stages of whole networks */
    ORIGIN_TIMELINE,  /* launches over time */
    ORIGIN_COUNTERS,  /* the GPU's hardware counters */
    ORIGIN_PIPELINE,  /* stages of a frame, frames per second */
    ORIGIN_PICTURE,   /* values of the BEV grid and of the camera strip */
    ORIGIN_MASS,      /* depth mass, as brightness of the BEV's color views */
    ORIGIN_OBJECTS,   /* mass of the true objects */
    ORIGIN_BITS,      /* a code of a format, and its scale */
    ORIGIN_STEPS,     /* steps of single warps */
    ORIGIN_GRADIENTS, /* a loss and its gradients */
    ORIGIN_COUNT
} OriginTopic;

typedef struct {
    OriginTopic topic;
    const BevKernel *kernel; /* NULL: the selection's */
    BevDtype dtype;
    const char *word; /* what is asked about; NULL, or none of the glossary: the topic's word */
} Origin;

enum { ORIGIN_TEXT_MAX = 320 };

/* One or two sentences that begin with the source: "measured", "recorded", "model", "published",
 * "computed", "set" or "n/a". Never empty. */
void origin_text(const State *state, const LiveData *live, const Origin *origin,
                 char text[ORIGIN_TEXT_MAX]);
