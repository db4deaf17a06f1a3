/* Calls into the driver's libraries in a process of its own: there they may hang or crash. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef enum { ASK_ANSWERED, ASK_HUNG, ASK_DIED, ASK_UNASKED } AskEnd;

/* Runs work(context, answer) in a child and copies the `size` bytes that it writes to `answer`, at
 * most 4096 that hold no pointers. A child that has not answered within `ms` is killed and left
 * behind; it may sleep in the kernel, where nothing ends it. ASK_UNASKED: there is no child, and
 * errno says why. */
AskEnd ask_child(void (*work)(const void *context, void *answer), const void *context, void *answer,
                 size_t size, int ms);
