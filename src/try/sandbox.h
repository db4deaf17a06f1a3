/* What a runner gives up before it loads a learner's kernel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Limits of the calling process: `seconds` of CPU time over all threads, `bytes` of address space
 * (not under AddressSanitizer, which reserves more), no files, no core dump, and on Linux for
 * x86-64 and AArch64 a seccomp filter: memory, threads, time, reading files and printing are allowed,
 * every other call ends the process with SIGSYS, as do calls of other architectures. Without seccomp
 * the number of processes is limited to some more than the system has. */
void sandbox_enter(double seconds, size_t bytes);

/* Requests to the system that a kernel may not make. */
typedef enum {
    REFUSED_OTHER,
    REFUSED_PROCESS,
    REFUSED_WRITE,
    REFUSED_NETWORK,
    REFUSED_SIGNAL,
    REFUSED_COUNT
} Refused;

/* A call that was refused, by its number; name "": not one of those known here. */
typedef struct {
    int number;
    const char *name;
    Refused why;
} SandboxCall;
SandboxCall sandbox_call(int number);
