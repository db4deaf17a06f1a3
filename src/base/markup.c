/* SPDX-License-Identifier: MIT */
#include "src/base/markup.h"

#include "kernels/clean.h"

#include <stdbool.h>
#include <string.h>

void markup_text(FILE *out, const char *text) {
    static const char special[] = "<>&\"";
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
    while (*text) {
        bool shown;
        size_t length = clean_character(text, &shown);
        const char *at = strchr(special, *text);
        if (at)
            fputs(entities[at - special], out);
        else
            fwrite(shown ? text : "?", 1, shown ? length : 1, out);
        text += length;
    }
}
