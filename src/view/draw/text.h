/* SPDX-License-Identifier: MIT */
/* Texts for drawing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Removes the last character; false when none is left. Valid UTF-8 only. */
bool text_drop_last(char *text);

/* Writes a glyph as UTF-8, without a terminating zero; returns the bytes used. */
size_t cells_utf8(uint32_t glyph, char out[3]);
