/* Texts for drawing. */
#pragma once

#include <stdbool.h>

/* Removes the last character; false when none is left. Valid UTF-8 only. */
bool text_drop_last(char *text);
