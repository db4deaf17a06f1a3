/* SPDX-License-Identifier: MIT */
#include "kernels/clean.h"

#include <stdint.h>
#include <string.h>

/* Code points that a terminal, a browser or an editor obeys instead of showing. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x00, 0x1f},       {0x7f, 0x9f},     /* control characters */
    {0xad, 0xad},       {0x34f, 0x34f},   /* soft hyphen, joiner */
    {0x61c, 0x61c},     {0x115f, 0x1160}, /* direction; fillers without width */
    {0x17b4, 0x17b5},   {0x180b, 0x180f}, /* without width */
    {0x200b, 0x200f},   {0x2028, 0x202e}, /* without width; line separators and directions */
    {0x2060, 0x206f},   {0x3164, 0x3164}, /* without width, directions; a filler */
    {0xfdd0, 0xfdef},   {0xfe00, 0xfe0f}, /* no characters; choice of a glyph */
    {0xfeff, 0xfeff},   {0xfff0, 0xfffb}, /* byte order mark; annotations */
    {0xe0000, 0xe0fff},                   /* tags */
};

static bool is_hidden(uint32_t point) {
    if ((point & 0xfffe) == 0xfffe) /* the last two code points of each plane are no characters */
        return true;
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (point >= hidden[i].first && point <= hidden[i].last)
            return true;
    return false;
}

/* Returns how many bytes of a UTF-8 character follow its first byte; -1: no character begins so. */
static int following_bytes(unsigned char first) {
    return first < 0x80                     ? 0
           : first >= 0xc2 && first <= 0xdf ? 1
           : (first & 0xf0) == 0xe0         ? 2
           : first >= 0xf0 && first <= 0xf4 ? 3
                                            : -1;
}

size_t clean_character(const char *text, bool *shown) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000}; /* less is an overlong form */
    const unsigned char *bytes = (const unsigned char *)text;
    int more = following_bytes(bytes[0]);
    *shown = false;
    if (more < 0)
        return 1;
    uint32_t point = more ? bytes[0] & (0x3fu >> more) : bytes[0];
    for (int i = 1; i <= more; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 1;
        point = point << 6 | (bytes[i] & 0x3fu);
    }
    if (point < least[more] || (point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff)
        return 1;
    *shown = !is_hidden(point);
    return (size_t)more + 1;
}

void clean_text(const char *text, char *clean, size_t size) {
    size_t used = 0;
    if (!text)
        text = "n/a";
    while (*text) {
        bool shown;
        size_t length = clean_character(text, &shown), bytes = shown ? length : 1;
        if (used + bytes >= size)
            break;
        memmove(clean + used, shown ? text : "?", bytes);
        used += bytes;
        text += length;
    }
    clean[used] = '\0';
}

bool clean_for_shell(const char *word, char *text, size_t size) {
    static const char bare_characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,-";
    const bool bare = word[0] && !word[strspn(word, bare_characters)];
    bool printable = true; /* false: the word needs octal codes, which only bash's $'...' knows */
    for (const char *at = word; *at && printable;)
        at += clean_character(at, &printable);
    const char *quote = printable ? "'" : "$'";
    size_t used = (size_t)snprintf(text, size, "%s", bare ? "" : quote);
    for (const char *at = word; *at && used < size; at++) {
        const bool is_quote = *at == '\'';
        const bool plain = !is_quote && *at != '\\' && *at >= ' ' && *at <= '~';
        const char *octal = "\\%03o", *close_and_reopen = "'\\''", *as_is = "%c";
        const char *form = printable ? (is_quote ? close_and_reopen : as_is)
                                     : (plain ? as_is : octal);
        used += (size_t)snprintf(text + used, size - used, form, (unsigned char)*at);
    }
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "%s", bare ? "" : "'");
    return used < size;
}

void clean_print(FILE *out, const char *text) {
    while (*text) {
        bool shown;
        size_t length = clean_character(text, &shown);
        fwrite(shown ? text : "?", 1, shown ? length : 1, out);
        text += length;
    }
}
