/* SPDX-License-Identifier: MIT */
/* Published times of whole perception networks, stage by stage. Pooling is one stage of a network.
 * A file such as samples/networks/bevdet.json describes a network; copy it to describe your own. */
#pragma once

#include "kernels/err.h"

#include <stdbool.h>

typedef enum {
    NETWORK_LIDAR,
    NETWORK_IMAGE,   /* preprocessing, backbone and depth net */
    NETWORK_POOLING, /* the pooling of the view transform, which this program is about */
    NETWORK_BEV,     /* the stages on the BEV grid: alignment, encoder, fusion */
    NETWORK_HEAD,    /* boxes and their postprocessing */
    NETWORK_PARTS
} NetworkPart;
/* The names of the parts on the screen. Files have them in lower case. */
extern const char *const network_parts[NETWORK_PARTS];

typedef struct {
    char title[32], gpu[32];
    char kernel[32];  /* the name of the kernel row that pools as the network does */
    char source[128]; /* the publication of the times */
    double budget_ms; /* the time that a frame may take */
    double part_ms[NETWORK_PARTS];
} Network;

/* Returns the time of all parts together. */
double network_ms(const Network *network);

/* Returns the speed-up of the whole network if its pooling becomes `gain` times as fast (Amdahl's
 * law). A gain of INFINITY gives the largest possible speed-up. */
double network_speedup(const Network *network, double gain);

enum { NETWORKS = 2 };
typedef struct {
    int count;
    Network list[NETWORKS];
} Networks;

/* Reads the network of `path`. With `path` NULL it reads the two that come with the program. */
bool networks_open(const char *path, Networks *networks, Err *err);
