/* SPDX-License-Identifier: MIT */
/* Converts arrays of texts from numpy's bytes and str to UTF-8, and back. */
#include "kernels/clean.h"
#include "src/base/data.h"
#include "src/scene/npz.h"

#include <stdlib.h>
#include <string.h>

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

/* Writes a code point as UTF-8, at most 4 bytes. Returns the number of bytes. No code point:
 * '?'. */
static int encode_utf8(uint32_t code, char text[4]) {
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = '?';
    if (code < 0x80)
        return text[0] = (char)code, 1;
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (int i = more; i > 0; i--, code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)((0xff << (7 - more) & 0xff) | code);
    return more + 1;
}

void npz_text_codes(const char *text, uint32_t *codes) {
    const unsigned char *at = (const unsigned char *)text;
    for (; *at; codes++) {
        int more = *at < 0x80 ? 0 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : 3;
        *codes = more ? *at & (0x3fu >> more) : *at;
        for (at++; more > 0 && (*at & 0xc0) == 0x80; at++, more--)
            *codes = *codes << 6 | (*at & 0x3f);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Writes one text as UTF-8, without the zeros at its end, and returns its bytes. NPY_S are copied,
 * NPY_U are encoded. */
static size_t to_utf8(const NpyArray *array, const unsigned char *bytes, char *text) {
    size_t used = 0, width = npy_types[array->type].bytes;
    int length = array->characters;
    while (length > 0 && !memcmp(bytes + (size_t)(length - 1) * width, "\0\0\0", width))
        length--;
    for (int i = 0; i < length; i++) {
        uint32_t code = bytes[i];
        if (array->type == NPY_U)
            memcpy(&code, bytes + 4 * (size_t)i, sizeof code);
        if (array->type == NPY_U && code)
            used += (size_t)encode_utf8(code, text + used);
        else
            text[used++] = code ? (char)code : '?'; /* a zero inside would end the text */
    }
    text[used] = '\0';
    return used;
}

static bool convert_texts(const Npz *npz, int member, const NpyArray *array,
                          const unsigned char *bytes, char *texts, size_t stride, Err *err) {
    char text[4 * NPY_MAX_TEXT + 1];
    for (int64_t i = 0; i < array->count; i++, bytes += npy_element_bytes(array)) {
        size_t used = to_utf8(array, bytes, text);
        if (used >= NPZ_TEXT)
            return data_refuse(err, npz->where, npz_place(npz->members[member].name, array, i).text,
                               "shorten it", "a text of %zu bytes, must be at most %d", used,
                               NPZ_TEXT - 1);
        clean_text(text, texts + (size_t)i * stride, NPZ_TEXT);
    }
    return true;
}

bool npz_read_texts(const Npz *npz, int member, const NpyArray *array, char *texts, size_t stride,
                    Err *err) {
    void *bytes = malloc((size_t)array->count * npy_element_bytes(array) + 1);
    bool ok = (bytes || err_no_memory(err, npz->where, "")) &&
              npz_read(npz, member, array, array->type, bytes, err) &&
              convert_texts(npz, member, array, bytes, texts, stride, err);
    free(bytes);
    return ok;
}
