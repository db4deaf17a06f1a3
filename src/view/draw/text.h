/* Makes strings from outside fit for drawing: valid UTF-8, cut between characters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Copies `text` into `clean`: control characters and broken UTF-8 become '?'. NULL becomes
 * "n/a". Always terminated, never cut inside a character. */
void text_clean(const char *text, char *clean, size_t size);

/* Copies a text of base/units.h, which is ASCII, with "us" after a number written as "µs". */
void text_micro(const char *text, char *copy, size_t size);

/* Removes the last character; false when none is left. Valid UTF-8 only. */
bool text_drop_last(char *text);
