/* Published times of whole perception networks, stage by stage: what pooling is a part of. A
 * network is a file as samples/networks/bevdet.json; copy it to describe your own. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

typedef enum {
    NETWORK_LIDAR,
    NETWORK_IMAGE,   /* preprocessing, backbone, depth net */
    NETWORK_POOLING, /* the view transform's pooling, the stage that this program is about */
    NETWORK_BEV,     /* what runs on the grid: alignment, encoder, fusion */
    NETWORK_HEAD,    /* boxes and their postprocessing */
    NETWORK_PARTS
} NetworkPart;
/* as on screen and, in lower case, in files */
extern const char *const network_parts[NETWORK_PARTS];

typedef struct {
    char title[32], gpu[32];
    char kernel[32];  /* row whose way of pooling it has */
    char source[128]; /* who published the times */
    double budget_ms; /* for a frame */
    double part_ms[NETWORK_PARTS];
} Network;

/* All parts together. */
double network_ms(const Network *network);

/* How many times as fast the network gets when its pooling becomes `gain` times as fast: Amdahl's
 * law. INFINITY: pooling takes no time, the bound. */
double network_speedup(const Network *network, double gain);

/* Reads a file. Stages of the same part add up; one at least must be of pooling. */
bool network_read(const char *path, Network *network, Err *err);

enum { NETWORKS = 2 };

typedef struct {
    int count;
    Network list[NETWORKS];
} Networks;

/* Reads the one of `path`, or the two that come with the program (NULL). */
bool networks_open(const char *path, Networks *networks, Err *err);
