/* Text inside SVG. */
#pragma once

#include <stdio.h>

/* Any text, cleaned (clean.h) and escaped. */
void markup_text(FILE *out, const char *text);
