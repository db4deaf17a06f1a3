#include "src/view/draw/text.h"

#include <ctype.h>
#include <string.h>

void text_micro(const char *text, char *copy, size_t size) {
    size_t used = 0;
    for (; *text && used + 3 < size; text++)
        if (!strncmp(text, " us", 3) && !isalnum((unsigned char)text[3]) && used + 6 < size) {
            memcpy(copy + used, " \u00b5s", 4);
            used += 4;
            text += 2;
        } else
            copy[used++] = *text;
    copy[used] = '\0';
}

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
