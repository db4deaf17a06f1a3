/* SPDX-License-Identifier: MIT */
/* Calls the driver's libraries in a child process, where they may hang or crash. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum { ASK_ANSWERED, ASK_HUNG, ASK_DIED, ASK_UNASKED } AskEnd;

/* Runs work(context, answer) in a child and copies its answer of `size` bytes to the parent. An
 * answer has at most 4096 bytes and no pointers. A child that has not answered within `ms` is
 * killed and not waited for, because it may sleep in the kernel. ASK_UNASKED: no child could be
 * made, and errno says why. */
AskEnd ask_child(void (*work)(const void *context, void *answer), const void *context, void *answer,
                 size_t size, int ms);
