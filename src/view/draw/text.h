/* Texts for drawing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Copies a text of base/units.h, which is ASCII, with "us" after a number written as "µs". */
void text_micro(const char *text, char *copy, size_t size);

/* Removes the last character; false when none is left. Valid UTF-8 only. */
bool text_drop_last(char *text);
