/* What a process holds, as the system counts it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    long resident_kb, peak_kb; /* in all, now and at most so far; and of that what is in no file:
                                  heap, stacks, mappings */
    long anonymous_kb;
    int files, threads, mappings; /* open descriptors; regions of memory */
} Holdings;

/* False: there is no such process. */
bool process_holdings(pid_t pid, Holdings *holdings);

/* Seconds for which threads ran or waited for a core to run on: those of less priority than the
 * process, which work in the background, and the others. */
typedef struct {
    double background_s, foreground_s;
} Busy;

Busy process_busy(pid_t pid);

/* Memory in use on the first GPU, by whomever, as nvidia-smi says; 0: there is none. */
long gpu_used_mb(void);
