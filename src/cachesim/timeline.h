/* Time lines: when each of a few launches begins and ends, of the same work launched in several
 * ways. Recordings keep them. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* clang-format off */
typedef enum {
    TIMELINE_WAITED,  /* a launch, a synchronise, the next launch */
    TIMELINE_ROW,     /* launches one after the other, one synchronise at the end */
    TIMELINE_GRAPH,   /* the same launches in a CUDA graph */
    TIMELINE_COPIES,  /* each with a copy of its inputs from the host, all in one stream */
    TIMELINE_OVERLAP, /* the copies in a second stream, into the other one of two buffers */
    TIMELINE_WAYS
} TimelineWay;
/* clang-format on */

typedef enum { LANE_HOST, LANE_COPY, LANE_KERNEL, LANE_COUNT } TimelineLane;

typedef struct {
    const char *word;  /* in files and tables: "graph" */
    const char *title; /* "in a CUDA graph" */
} TimelineName;

extern const TimelineName timeline_ways[TIMELINE_WAYS];
extern const TimelineName timeline_lanes[LANE_COUNT];

enum { TIMELINE_LAUNCHES = 8 };

/* Microseconds since the run began. */
typedef struct {
    double begin_us, end_us;
} TimelineSpan;

typedef struct {
    double calls_us; /* the host's calls have returned: what a clock says without a synchronise */
    double end_us;   /* the last launch has ended: what a clock says with one */
    int count[LANE_COUNT];
    TimelineSpan spans[LANE_COUNT][TIMELINE_LAUNCHES];
} TimelineRun;

typedef struct {
    char label[160]; /* where it was measured: "NVIDIA H200, driver 580.159, CUDA 13.0, 2026-11-20"
                      */
    char scene[64], kernel[32], dtype[16], align[16];
    int launches;
    double kernel_us; /* a launch within a graph */
    TimelineRun runs[TIMELINE_WAYS];
} Timeline;

enum { TIMELINES = 4 };

/* Those that a machine knows. */
typedef struct {
    int count;
    Timeline list[TIMELINES];
} Timelines;

/* The time line of that scene and kernel; else of the scene, else of the kernel, else the first.
 * NULL: there are none. */
const Timeline *timeline_find(const Timelines *timelines, const char *scene, const char *kernel);

/* Reads an entry of the array "timelines" in a recording; the label is the caller's to set. False:
 * *problem says what is wrong; its text is constant. */
bool timeline_read(const json_t *object, Timeline *timeline, const char **problem);
