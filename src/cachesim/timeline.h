/* SPDX-License-Identifier: MIT */
/* Time lines of the same few launches, launched in several ways. A time line says when each launch
 * begins and ends. Recordings keep time lines. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* clang-format off */
typedef enum {
    TIMELINE_WAITED,  /* the host synchronises after each launch */
    TIMELINE_ROW,     /* the host launches in a row and synchronises once, at the end */
    TIMELINE_GRAPH,   /* one CUDA graph has all launches */
    TIMELINE_COPIES,  /* inputs are copied from the host before each launch, in the same stream */
    TIMELINE_OVERLAP, /* a second stream copies inputs, into the buffer that is not in use */
    TIMELINE_WAYS
} TimelineWay;
/* clang-format on */

typedef enum { LANE_HOST, LANE_COPY, LANE_KERNEL, LANE_COUNT } TimelineLane;
typedef struct {
    const char *word;  /* the name in files and tables: "graph" */
    const char *title; /* the name in pictures: "in a CUDA graph" */
} TimelineName;
extern const TimelineName timeline_ways[TIMELINE_WAYS];
extern const TimelineName timeline_lanes[LANE_COUNT];

enum { TIMELINE_LAUNCHES = 8 };

/* Microseconds since the run began. */
typedef struct {
    double begin_us, end_us;
} TimelineSpan;

typedef struct {
    double calls_us; /* the host's calls have returned; a clock without synchronise shows this */
    double end_us;   /* the last launch has ended; a clock with a synchronise shows this */
    int count[LANE_COUNT];
    TimelineSpan spans[LANE_COUNT][TIMELINE_LAUNCHES];
} TimelineRun;

typedef struct {
    char label[160]; /* the machine: "NVIDIA H200, driver 580.159, CUDA 13.0, 2026-11-20" */
    char scene[64], kernel[32], dtype[16], align[16];
    int launches;
    double kernel_us; /* the time of a launch within a graph */
    TimelineRun runs[TIMELINE_WAYS];
} Timeline;

enum { TIMELINES = 4 };
typedef struct {
    int count;
    Timeline list[TIMELINES];
} Timelines;

/* Returns the first time line of this scene and kernel, else of the scene, else of the kernel, else
 * of the list. NULL: the list is empty. */
const Timeline *timeline_find(const Timelines *timelines, const char *scene, const char *kernel);

/* Reads an entry of the array "timelines" in a recording. The caller sets the label. False: the
 * static text *problem says what is wrong. */
bool timeline_read(const json_t *object, Timeline *timeline, const char **problem);
