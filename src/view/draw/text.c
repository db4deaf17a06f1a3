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
