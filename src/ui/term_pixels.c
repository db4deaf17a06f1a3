/* SPDX-License-Identifier: MIT */
/* Three protocols for pictures in a terminal:
 *
 *     kitty     ESC _ G keys ; base64 ESC \      PNG in chunks of 4096; images are numbered
 *     iTerm2    ESC ] 1337 ; File = ... : base64 BEL   PNG that replaces cells
 *     sixel     ESC P q ... ESC \                bands of six rows, colour by colour
 *
 * Text erases pictures of sixel and iTerm2. Pictures of kitty lie above the text. */
#include "src/ui/term_internal.h"

#include "src/view/term/dashboard.h"
#include "src/view/window/window_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#define KITTY_NUMBER "i=31"

const char pixels_ask_size[] = "\033[16t";
const char pixels_ask[] =
    "\033_G" KITTY_NUMBER ",s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[>q\033[16t\033[c";
const char pixels_remove[] = "\033\\\033_Ga=d,d=I," KITTY_NUMBER ",q=2\033\\";

/* ---- answers --------------------------------------------------------------------------------- */

/* Whether the terminal shows inline images of iTerm2. `name` is its answer to CSI > q. */
static bool shows_inline(const char *name) {
    static const char *const names[] = {">|iTerm2", ">|WezTerm", ">|mintty"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Reads the answer "6;height;width". Sizes that no character can have are ignored. */
static void read_size(PixelAnswers *answers, const char *text) {
    enum { LEAST = 4, MOST = 128 };
    int w, h;
    if (sscanf(text, "6;%4d;%4d", &h, &w) != 2 || MIN(w, h) < LEAST || MAX(w, h) > MOST)
        return;
    answers->resized |= w != answers->cell_w || h != answers->cell_h;
    answers->cell_w = w;
    answers->cell_h = h;
}

void pixels_answer(PixelAnswers *answers, int letter, const char *text) {
    if (letter == 't')
        read_size(answers, text);
    if (letter == 'P' && shows_inline(text))
        answers->iterm = true;
    if (letter == '_' && !strcmp(text, "G" KITTY_NUMBER ";OK"))
        answers->kitty = true;
    if (letter != 'c' || text[0] != '?')
        return;
    answers->waits = false;
    /* DA1: "?62;4;22". The first number is the model, and 4 among the others means sixel. */
    for (const char *at = strchr(text, ';'); at; at = strchr(at + 1, ';'))
        answers->sixel |= at[1] == '4' && (at[2] == ';' || !at[2]);
}

Pixels pixels_choose(Pixels wanted, const PixelAnswers *answers) {
    return wanted != PIXELS_AUTO               ? wanted
           : answers->waits                    ? PIXELS_AUTO
           : answers->kitty                    ? PIXELS_KITTY
           : answers->iterm                    ? PIXELS_ITERM
           : answers->sixel && answers->cell_h ? PIXELS_SIXEL
                                               : PIXELS_OFF;
}

bool pixels_compose(Cells *cells, const Spots *spots, const State *state, const LiveData *live,
                    const Picture *picture, int cell_w, int cell_h, Image *image) {
    enum { TEXT_H = 20 }; /* height of a character in which texts have their usual size */
    const Area place = area_of_box(spots->bev);
    Err unused;
    const bool has_room = place.w >= 1 && place.h >= 1 && !boxes_overlap(spots->bev, spots->over);
    const bool has_picture = picture && picture->bev.ready && !cells->ascii && cells->color;
    if (!has_room || !has_picture ||
        !window_bev_image(place.w * cell_w, place.h * cell_h, (double)cell_h / TEXT_H, state, live,
                          picture, image, &unused))
        return false;
    cells_erase(cells, place, INK_DEFAULT);
    return true;
}

/* ---- sixel ----------------------------------------------------------------------------------- */

enum { SIXEL_COLORS = 256, SIXEL_SLOTS = 4096, SIXEL_ROWS = 6 };

typedef struct {
    uint32_t colors[SIXEL_COLORS];
    int count;
    int16_t slots[SIXEL_SLOTS]; /* a hash table: number of the colour + 1; 0: free */
} SixelMap;

/* Returns the number of the colour in the map; -1: the map has no room for another colour. */
static int sixel_color(SixelMap *map, uint32_t color) {
    uint32_t slot = color * 2654435761u >> 20; /* a hash: the upper 12 bits */
    while (map->slots[slot]) {
        const int number = map->slots[slot] - 1;
        if (map->colors[number] == color)
            return number;
        slot = (slot + 1) % SIXEL_SLOTS;
    }
    if (map->count == SIXEL_COLORS)
        return -1;
    map->colors[map->count] = color;
    map->slots[slot] = (int16_t)(map->count + 1);
    return map->count++;
}

/* Writes the colour's number for each pixel, without the lowest `bits` bits of each channel.
 * Returns false where there are too many colours. */
static bool sixel_index(const Image *image, int bits, SixelMap *map, uint8_t *numbers) {
    uint32_t mask = (0xffu >> bits << bits) * 0x010101u;
    *map = (SixelMap){.count = 0};
    for (size_t i = 0; i < (size_t)image->w * (size_t)image->h; i++) {
        const uint8_t *p = image->rgba + 4 * i;
        uint32_t color = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        int number = sixel_color(map, color & mask);
        if (number < 0)
            return false;
        numbers[i] = (uint8_t)number;
    }
    return true;
}

static void put_run(FILE *out, int count, int sign) {
    if (count > 3)
        fprintf(out, "!%d%c", count, sign);
    else
        while (count-- > 0)
            fputc(sign, out);
}

/* Writes the pixels of one colour in a band, up to the column `last`. A column of six pixels is a
 * sign with a bit for each row. */
static void put_color(FILE *out, const uint8_t *band, int w, int rows, int color, int last) {
    int run = 0, before = 0;
    fprintf(out, "#%d", color);
    for (int x = 0; x <= last; x++) {
        int bits = 0;
        for (int y = 0; y < rows; y++)
            bits |= (band[(size_t)y * (size_t)w + (size_t)x] == color) << y;
        if (bits != before) {
            put_run(out, run, '?' + before);
            run = 0;
        }
        before = bits;
        run++;
    }
    put_run(out, run, '?' + before);
}

/* Writes the colours, and then each band of six rows, colour by colour. A colour's pixels are
 * written up to the last column that has this colour. */
static void put_sixel(FILE *out, const Image *image, const SixelMap *map, const uint8_t *numbers) {
    fprintf(out, "\033P0;1;0q\"1;1;%d;%d", image->w, image->h);
    for (int i = 0; i < map->count; i++)
        fprintf(out, "#%d;2;%u;%u;%u", i, ((map->colors[i] >> 16) * 100 + 127) / 255,
                ((map->colors[i] >> 8 & 255) * 100 + 127) / 255,
                ((map->colors[i] & 255) * 100 + 127) / 255);
    for (int y = 0; y < image->h; y += SIXEL_ROWS) {
        int rows = image->h - y < SIXEL_ROWS ? image->h - y : SIXEL_ROWS, last[SIXEL_COLORS];
        const uint8_t *band = numbers + (size_t)y * (size_t)image->w;
        memset(last, -1, sizeof last); /* -1: the band has no pixel of this colour */
        for (int i = 0; i < rows * image->w; i++)
            if (i % image->w > last[band[i]])
                last[band[i]] = i % image->w;
        for (int color = 0; color < map->count; color++)
            if (last[color] >= 0) {
                put_color(out, band, image->w, rows, color, last[color]);
                fputc('$', out);
            }
        fputc('-', out);
    }
    fputs("\033\\", out);
}

/* Writes a picture as sixel. Where a picture has too many colours, similar ones become one. */
static bool encode_sixel(FILE *out, const Image *image) {
    uint8_t *numbers = malloc((size_t)image->w * (size_t)image->h);
    SixelMap map;
    int bits = 0;
    while (numbers && !sixel_index(image, bits, &map, numbers))
        bits++; /* ends: with two bits a channel there are only 64 colours */
    if (numbers)
        put_sixel(out, image, &map, numbers);
    free(numbers);
    return numbers != NULL;
}

/* ---- PNG ------------------------------------------------------------------------------------- */

static void encode_kitty(FILE *out, const MemoryStream *png, Area place) {
    enum { CHUNK = 4096 / 4 * 3 };
    for (size_t at = 0; at < png->length; at += CHUNK) {
        size_t left = png->length - at;
        fputs("\033_G", out);
        if (!at)
            fprintf(out, "a=T,f=100," KITTY_NUMBER ",p=1,c=%d,r=%d,C=1,q=2,", place.w, place.h);
        fprintf(out, "m=%d;", left > CHUNK);
        data_base64(out, (const uint8_t *)png->bytes + at, left < CHUNK ? left : CHUNK);
        fputs("\033\\", out);
    }
}

static void encode_iterm(FILE *out, const MemoryStream *png, Area place) {
    fprintf(out,
            "\033]1337;File=inline=1;size=%zu;width=%d;height=%d;preserveAspectRatio=0;"
            "doNotMoveCursor=1:",
            png->length, place.w, place.h);
    data_base64(out, (const uint8_t *)png->bytes, png->length);
    fputc('\a', out);
}

bool pixels_encode(Pixels kind, const Image *image, Area place, MemoryStream *sent, Err *err) {
    MemoryStream png = {.length = 0};
    bool whole = true;
    if ((kind != PIXELS_SIXEL && !image_png(image, true, &png, err)) ||
        !memory_stream_open(sent, err)) {
        free(png.bytes);
        return false;
    }
    fprintf(sent->stream, "\0337\033[%d;%dH", place.y + 1, place.x + 1);
    if (kind == PIXELS_KITTY)
        encode_kitty(sent->stream, &png, place);
    else if (kind == PIXELS_ITERM)
        encode_iterm(sent->stream, &png, place);
    else
        whole = encode_sixel(sent->stream, image);
    fputs("\0338", sent->stream);
    free(png.bytes);
    if (!memory_stream_close(sent, "picture for the terminal", err))
        return false;
    if (!whole)
        free(sent->bytes);
    return whole || err_no_memory(err, "picture for the terminal", "");
}
