/* Keys as a terminal sends them. */
#pragma once

#include "src/state/keys.h"

enum { TYPED_TEXT = 8 };

/* "": nothing that is the same on all terminals. */
void typed_text(int32_t key, char text[TYPED_TEXT]);

_Static_assert(ACTION_COUNT < 64, "a bit for each control");

/* One of the controls whose bit (1 << Action) is set, and one of its keys, both at random. */
int32_t typed_random(uint64_t actions);
