/* What a runner gives up before it loads a learner's kernel. It holds off mistakes, not attacks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Limits of the calling process: `seconds` of CPU time over all threads, `bytes` of address space
 * (not under AddressSanitizer, which reserves more), no files, no core dump, and on Linux for
 * x86-64 and AArch64 a seccomp filter: starting processes and programs, opening files for writing,
 * renaming and removing them, networks, and signals to others end the process with SIGSYS, whose
 * si_errno is a Refused. Threads stay allowed. Without seccomp the number of processes is limited
 * to some more than the system has. */
void sandbox_enter(double seconds, size_t bytes);
