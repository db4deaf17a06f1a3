/* Another program, run to its end: its output collected and cut, its time limited. */
#pragma once

#include "kernels/err.h"

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_FILES = 3, CHILD_FIRST_FILE = 3 };

typedef struct {
    const char *program;      /* its path */
    const char *const *words; /* its arguments, the name first; NULL at the end */
    const char *set;          /* a variable of the environment, "NAME=VALUE"; NULL: none */
    int files[CHILD_FILES];   /* become its descriptors 3, 4, ... */
    int file_count;
    double limit_s;
    size_t address_limit;              /* bytes of address space; 0: as this program's */
    size_t output_limit;               /* bytes that are kept of what it prints */
    const volatile sig_atomic_t *stop; /* not 0: end it now; NULL: never */
} ChildPlan;

typedef struct {
    bool timed_out, stopped;
    int status;             /* as waitpid gives it */
    char *output;           /* output of both streams, cut; control characters other than the
                               newline become '?'; the caller frees it */
    size_t length;          /* bytes of it that were kept, a zero behind them */
    uint64_t output_length; /* bytes in all */
    double wall_s;
} ChildEnd;

/* Starts the program in a session of its own, without terminal and input, and waits for its end.
 * All processes of that session end with the program. If this program dies, the child does too. */
bool child_run(const ChildPlan *plan, ChildEnd *end, Err *err);
