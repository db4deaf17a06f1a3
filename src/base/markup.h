/* SPDX-License-Identifier: MIT */
/* Text inside SVG. */
#pragma once

#include <stdio.h>

/* Writes any text into SVG, cleaned (clean.h) and escaped. */
void markup_text(FILE *out, const char *text);
