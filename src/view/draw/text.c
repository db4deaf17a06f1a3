/* SPDX-License-Identifier: MIT */
#include "src/view/draw/text.h"

#include <string.h>

bool text_drop_last(char *text) {
    size_t length = strlen(text);
    if (!length)
        return false;
    do
        length--;
    while (length && ((unsigned char)text[length] & 0xc0) == 0x80);
    text[length] = '\0';
    return length > 0;
}

size_t cells_utf8(uint32_t glyph, char out[3]) {
    if (glyph < 0x80) {
        out[0] = (char)glyph;
        return 1;
    }
    if (glyph < 0x800) {
        out[0] = (char)(0xc0 | glyph >> 6);
        out[1] = (char)(0x80 | (glyph & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | glyph >> 12);
    out[1] = (char)(0x80 | (glyph >> 6 & 0x3f));
    out[2] = (char)(0x80 | (glyph & 0x3f));
    return 3;
}
