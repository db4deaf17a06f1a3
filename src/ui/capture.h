/* Standard error kept off the screen while a dashboard owns it: collected in memory, shown in part
 * in the log panel, and written out when the screen is the shell's again. */
#ifndef BEV_CAPTURE_H
#define BEV_CAPTURE_H

#include "kernels/err.h"

#include <stddef.h>
#include <sys/types.h>

typedef struct {
    int memory; /* what stderr points to while captured; -1: not captured */
    int errors; /* the real standard error */
    off_t seen; /* bytes that capture_line has gone over */
} Capture;

/* Nothing is captured where standard error is not a terminal: it disturbs no screen there. */
bool capture_begin(Capture *capture, Err *err);

/* Puts standard error back and copies to it what came meanwhile. */
void capture_end(Capture *capture);

/* The last whole line that came since the last call; false when none did. */
bool capture_line(Capture *capture, char *line, size_t size);

#endif
