#include "src/view/draw/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool continues(const unsigned char *p, int count) {
    for (int i = 1; i <= count; i++)
        if ((p[i] & 0xc0) != 0x80)
            return false;
    return true;
}

/* Bytes of the valid character at p, or 0. Refuses control characters, overlong forms, surrogates,
 * > U+10FFFF. */
static int character_length(const unsigned char *p) {
    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7f;
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        bool control = p[0] == 0xc2 && p[1] < 0xa0;
        return !control && continues(p, 1) ? 2 : 0;
    }
    if ((p[0] & 0xf0) == 0xe0) {
        bool bad = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0);
        return !bad && continues(p, 2) ? 3 : 0;
    }
    if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        bool bad = (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90);
        return !bad && continues(p, 3) ? 4 : 0;
    }
    return 0;
}

void text_clean(const char *text, char *clean, size_t size) {
    const unsigned char *p = (const unsigned char *)(text ? text : "n/a");
    size_t used = 0;
    while (*p) {
        int length = character_length(p);
        size_t bytes = length ? (size_t)length : 1;
        if (used + bytes >= size)
            break;
        memcpy(clean + used, length ? (const char *)p : "?", bytes);
        used += bytes;
        p += bytes;
    }
    clean[used] = '\0';
}

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
