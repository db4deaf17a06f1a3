/* SPDX-License-Identifier: MIT */
/* Runs another program to its end. Its output is collected and cut, its time is limited. */
#pragma once

#include "kernels/err.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_FILES = 3, CHILD_FIRST_FILE = 3 };

typedef struct {
    const char *program;      /* path of the program */
    const char *const *words; /* arguments, the name first; NULL at the end */
    int files[CHILD_FILES];   /* become the child's descriptors 3, 4, ... */
    int file_count;
    double limit_s;
    size_t output_limit; /* bytes of the output that are kept */
} ChildPlan;

typedef struct {
    bool timed_out;
    int status;             /* status as waitpid returns it */
    char *output;           /* output of both streams, cut; control characters other than the
                               newline become '?'; the caller frees it */
    size_t length;          /* bytes that were kept; a zero follows them */
    uint64_t output_length; /* bytes that were printed in all */
} ChildEnd;

/* Starts the program in a session of its own, without terminal and input. Waits for its end. All
 * processes of that session end with the program. If this program dies, the child does too. */
bool child_run(const ChildPlan *plan, ChildEnd *end, Err *err);
