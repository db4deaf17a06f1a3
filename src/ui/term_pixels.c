/* SPDX-License-Identifier: MIT */
/* Three protocols for pictures in a terminal:
 *
 *     kitty     ESC _ G keys ; base64 ESC \      PNG in chunks of 4096; images are numbered
 *     iTerm2    ESC ] 1337 ; File = ... : base64 BEL   PNG that replaces cells
 *     sixel     ESC P q ... ESC \                bands of six rows, colour by colour
 *
 * Text erases pictures of sixel and iTerm2. Pictures of kitty lie above the text. */
#include "src/ui/term_pixels.h"

#include "src/base/data.h"
#include "src/base/memory_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (sscanf(text, "6;%4d;%4d", &h, &w) == 2 && w >= LEAST && h >= LEAST && w <= MOST &&
        h <= MOST) {
        answers->resized |= w != answers->cell_w || h != answers->cell_h;
        answers->cell_w = w;
        answers->cell_h = h;
    }
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
    for (const char *at = text; (at = strchr(at, ';')); at++) /* the first number is the model */
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

/* ---- the picture ----------------------------------------------------------------------------- */

/* Paints the cells of the raster as sharp squares. */
static void paint_raster(Image *image, const DashSpots *spots, const BevPicture *bev,
                         const State *state) {
    double left = bev->image.w - spots->y_hi, step_x = (spots->y_hi - spots->y_lo) / image->w;
    double top = bev->image.h - spots->x_hi, step_y = (spots->x_hi - spots->x_lo) / image->h;
    size_t row_bytes = 4 * (size_t)image->w;
    int painted = -1;
    for (int y = 0; y < image->h; y++) {
        int from_y = (int)floor(top + (y + 0.5) * step_y);
        uint8_t *row = image->rgba + (size_t)y * row_bytes;
        if (y && from_y == painted) {
            memcpy(row, row - row_bytes, row_bytes);
            continue;
        }
        painted = from_y;
        for (int x = 0; x < image->w; x++) {
            int from_x = (int)floor(left + (x + 0.5) * step_x);
            bool inside =
                from_x >= 0 && from_y >= 0 && from_x < bev->image.w && from_y < bev->image.h;
            image_set(image, x, y,
                      inside ? bev_picture_pixel(bev, state, from_x, from_y) : rgb_hex(0));
        }
    }
}

/* Paints what lies over the cells. */
static void paint_over(Image *image, const DashSpots *spots, const State *state) {
    const Grid *grid = &state->scene.grid;
    double step_x = (spots->y_hi - spots->y_lo) / image->w;
    double step_y = (spots->x_hi - spots->x_lo) / image->h;
    double metres = step_x * (grid->y_max_m - grid->y_min_m) / fmax(grid->ny, 1);
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            image_set(image, x, y,
                      bev_picture_over(state, image_get(image, x, y),
                                       spots->x_hi - (y + 0.5) * step_y,
                                       spots->y_hi - (x + 0.5) * step_x, metres));
}

static bool is_sign(const Cell *cell) {
    return cell->glyph != 0x2580 || !(cell->style.ink & INK_RGB);
}

/* Paints a sign over the picture. A sign without a background of its own hides no other pixels. */
static void paint_sign(Image *image, const Image *signs, const Cells *cells, int x, int y) {
    int w = image->w / cells->columns, h = image->h / cells->rows;
    int from_w = signs->w / cells->columns, from_h = signs->h / cells->rows;
    Ink paper = cells_at(cells, x, y)->style.paper;
    Rgb under = ink_color(paper, cells->light, true);
    for (int v = 0; v < h; v++)
        for (int u = 0; u < w; u++) {
            Rgb color = image_get(signs, x * from_w + u * from_w / w, y * from_h + v * from_h / h);
            if (!(paper & INK_RGB) || memcmp(&color, &under, sizeof color) != 0)
                image_set(image, x * w + u, y * h + v, color);
        }
}

/* Paints the signs over the picture. `over`: the cells of `place`, without half blocks. */
static bool paint_signs(Image *image, const Cells *cells, Area place, Cells *over) {
    enum { LETTER_H = 18 }; /* of cells_image at scale 1 */
    Image signs;
    Err unused;
    over->light = cells->light;
    over->color = true;
    for (int y = 0; y < place.h; y++)
        for (int x = 0; x < place.w; x++) {
            const Cell *cell = cells_at(cells, place.x + x, place.y + y);
            if (is_sign(cell))
                over->cells[(size_t)y * (size_t)place.w + (size_t)x] = *cell;
        }
    if (!cells_image(over, (double)image->h / place.h / LETTER_H, &signs, &unused))
        return false;
    for (int y = 0; y < place.h; y++)
        for (int x = 0; x < place.w; x++)
            if (is_sign(cells_at(cells, place.x + x, place.y + y)))
                paint_sign(image, &signs, over, x, y);
    image_free(&signs);
    return true;
}

bool pixels_compose(Cells *cells, const DashSpots *spots, const BevPicture *bev,
                    const State *state, int cell_w, int cell_h, Image *image) {
    Area place = spots->bev;
    Cells over = {.rows = 0};
    Err unused;
    if (place.w < 1 || place.h < 1 || !bev || !bev->ready || cells->ascii || !cells->color ||
        !image_init(image, (int64_t)place.w * cell_w, (int64_t)place.h * cell_h, &unused))
        return false;
    paint_raster(image, spots, bev, state);
    paint_over(image, spots, state);
    bool ok =
        cells_init(&over, place.w, place.h, &unused) && paint_signs(image, cells, place, &over);
    cells_free(&over);
    if (ok)
        cells_erase(cells, place, INK_DEFAULT);
    else
        image_free(image);
    return ok;
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
    uint32_t slot = color * 2654435761u >> 20;
    for (; map->slots[slot]; slot = (slot + 1) % SIXEL_SLOTS)
        if (map->colors[map->slots[slot] - 1] == color)
            return map->slots[slot] - 1;
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

/* Writes one colour of a band: one sign for each column, whose bits are its six rows. */
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

static void put_sixel(FILE *out, const Image *image, const SixelMap *map, const uint8_t *numbers) {
    fprintf(out, "\033P0;1;0q\"1;1;%d;%d", image->w, image->h);
    for (int i = 0; i < map->count; i++)
        fprintf(out, "#%d;2;%u;%u;%u", i, ((map->colors[i] >> 16) * 100 + 127) / 255,
                ((map->colors[i] >> 8 & 255) * 100 + 127) / 255,
                ((map->colors[i] & 255) * 100 + 127) / 255);
    for (int y = 0; y < image->h; y += SIXEL_ROWS) {
        int rows = image->h - y < SIXEL_ROWS ? image->h - y : SIXEL_ROWS, last[SIXEL_COLORS];
        const uint8_t *band = numbers + (size_t)y * (size_t)image->w;
        memset(last, -1, sizeof last); /* no column */
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
        bits++; /* of two bits a channel there are 64 */
    if (numbers)
        put_sixel(out, image, &map, numbers);
    free(numbers);
    return numbers != NULL;
}

/* ---- PNG ------------------------------------------------------------------------------------- */

static void encode_kitty(FILE *out, const uint8_t *png, size_t length, Area place) {
    enum { CHUNK = 4096 / 4 * 3 };
    for (size_t at = 0; at < length; at += CHUNK) {
        size_t left = length - at;
        fputs("\033_G", out);
        if (!at)
            fprintf(out, "a=T,f=100," KITTY_NUMBER ",p=1,c=%d,r=%d,C=1,q=2,", place.w, place.h);
        fprintf(out, "m=%d;", left > CHUNK);
        data_base64(out, png + at, left < CHUNK ? left : CHUNK);
        fputs("\033\\", out);
    }
}

static void encode_iterm(FILE *out, const uint8_t *png, size_t length, Area place) {
    fprintf(out,
            "\033]1337;File=inline=1;size=%zu;width=%d;height=%d;preserveAspectRatio=0;"
            "doNotMoveCursor=1:",
            length, place.w, place.h);
    data_base64(out, png, length);
    fputc('\a', out);
}

bool pixels_encode(Pixels kind, const Image *image, Area place, char **bytes, size_t *length,
                   Err *err) {
    MemoryStream stream;
    uint8_t *png = NULL;
    size_t size = 0;
    bool whole = true;
    if ((kind != PIXELS_SIXEL && !image_png_quick(image, &png, &size, err)) ||
        !memory_stream_open(&stream, err)) {
        free(png);
        return false;
    }
    fprintf(stream.stream, "\0337\033[%d;%dH", place.y + 1, place.x + 1);
    if (kind == PIXELS_KITTY)
        encode_kitty(stream.stream, png, size, place);
    else if (kind == PIXELS_ITERM)
        encode_iterm(stream.stream, png, size, place);
    else
        whole = encode_sixel(stream.stream, image);
    fputs("\0338", stream.stream);
    free(png);
    bool ok = memory_stream_close(&stream, "picture for the terminal", err);
    if (ok && !whole) {
        free(stream.bytes);
        ok = err_set(err, ERR_FAILED, "picture for the terminal", "", "out of memory");
    }
    *bytes = ok ? stream.bytes : NULL;
    *length = ok ? stream.length : 0;
    return ok;
}
