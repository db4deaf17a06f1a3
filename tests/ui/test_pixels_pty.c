/* SPDX-License-Identifier: MIT */
/* Pictures of true pixels in a terminal: who is asked, what is sent, what the bytes decode to. */
#include "src/ui/term_internal.h"
#include "tests/support/pty_check.h"
#include "tests/support/stb_png.h"

#include <math.h>

#define SIZE_ANSWER "\033[6;20;10t"
#define KITTY_SENT  "\033_Ga=T,f=100,i=31,"
#define ITERM_SENT  "\033]1337;File=inline=1;"
#define SIXEL_SENT  "\033P0;1;0q"
#define PICTURE_END "\0338" /* the cursor is put back */

/* Appends what base64 text up to `end` says; false: a sign that is none. */
static bool add_base64(const char *text, const char *end, uint8_t *bytes, size_t *length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t word = 0;
    int bits = 0;
    for (; text < end && *text != '='; text++) {
        const char *at = strchr(digits, *text);
        if (!at)
            return false;
        word = word << 6 | (uint32_t)(at - digits);
        bits += 6;
        if (bits >= 8)
            bytes[(*length)++] = (uint8_t)(word >> (bits -= 8));
    }
    return true;
}

static bool read_png(const uint8_t *png, size_t length, Image *image) {
    int w, h, channels;
    Err err;
    uint8_t *rgba = stbi_load_from_memory(png, (int)length, &w, &h, &channels, 4);
    bool ok = rgba && image_init(image, w, h, &err);
    if (ok)
        memcpy(image->rgba, rgba, 4 * (size_t)w * (size_t)h);
    stbi_image_free(rgba);
    return ok;
}

/* All chunks but the last have 4096 signs and say that more follow. */
static bool decode_kitty(const char *text, Image *image) {
    uint8_t *png = malloc(strlen(text) + 1);
    size_t length = 0;
    bool ok = true, more = true;
    while (ok && more) {
        const char *data = strchr(text, ';'), *end = data ? strstr(data, "\033\\") : NULL;
        ok = end && !strncmp(text, "\033_G", 3) && (data[-2] == '=' && data[-3] == 'm');
        more = ok && data[-1] == '1';
        ok = ok && end - data - 1 <= 4096 && (!more || end - data - 1 == 4096) &&
             add_base64(data + 1, end, png, &length);
        text = end + 2;
    }
    ok = ok && read_png(png, length, image);
    free(png);
    return ok;
}

static bool decode_iterm(const char *text, Image *image) {
    const char *data = strchr(text, ':'), *end = data ? strchr(data, '\a') : NULL;
    unsigned long size = strtoul(strstr(text, "size=") + 5, NULL, 10);
    uint8_t *png = end ? malloc((size_t)(end - data)) : NULL;
    size_t length = 0;
    bool ok = png && add_base64(data + 1, end, png, &length) && length == size &&
              read_png(png, length, image);
    free(png);
    return ok;
}

/* Draws one run of a sign; columns beyond the image are an error. */
static bool sixel_run(Image *image, int *x, int y, int count, int sign, Rgb color) {
    for (; count > 0; count--, ++*x)
        for (int bit = 0; bit < 6; bit++)
            if ((sign - '?') >> bit & 1) {
                if (*x >= image->w || y + bit >= image->h)
                    return false;
                image_set(image, *x, y + bit, color);
            }
    return true;
}

static bool decode_sixel(const char *text, Image *image) {
    Rgb colors[256] = {{0}};
    int w, h, x = 0, y = 0, n = 0, r, g, b, used = 0, count;
    Err err;
    text = strchr(text, 'q') + 1;
    if (sscanf(text, "\"1;1;%d;%d%n", &w, &h, &used) != 2 || !image_init(image, w, h, &err))
        return false;
    for (text += used; *text && *text != '\033'; text += used) {
        used = 1;
        if (sscanf(text, "#%d;2;%d;%d;%d%n", &n, &r, &g, &b, &used) == 4)
            colors[n] = (Rgb){(uint8_t)lround(r * 2.55), (uint8_t)lround(g * 2.55),
                              (uint8_t)lround(b * 2.55)};
        else if (*text == '#')
            sscanf(text, "#%d%n", &n, &used);
        else if (*text == '$' || *text == '-') {
            x = 0;
            y += *text == '-' ? 6 : 0;
        } else {
            count = 1;
            if (*text == '!')
                sscanf(text, "!%d%n", &count, &used);
            int sign = *text == '!' ? text[used++] : *text;
            if (sign < '?' || sign > '~' || n < 0 || n > 255 ||
                !sixel_run(image, &x, y, count, sign, colors[n]))
                return false;
        }
    }
    return !strncmp(text, "\033\\", 2);
}

/* Whether it is a picture and no plain ground. */
static bool is_varied(const Image *image) {
    enum { LEAST = 200 };
    int changes = 0;
    for (int y = 0; y < image->h; y++)
        for (int x = 1; x < image->w; x++) {
            Rgb a = image_get(image, x - 1, y), b = image_get(image, x, y);
            changes += memcmp(&a, &b, sizeof a) != 0;
        }
    return changes >= LEAST;
}

/* The largest difference of a channel, and of opacity; 256: other sizes. */
static int distance(const Image *a, const Image *b) {
    int most = 0;
    if (a->w != b->w || a->h != b->h)
        return 256;
    for (size_t i = 0; i < 4 * (size_t)a->w * (size_t)a->h; i++)
        most = abs(a->rgba[i] - b->rgba[i]) > most ? abs(a->rgba[i] - b->rgba[i]) : most;
    return most;
}

static const struct {
    Pixels kind;
    const char *name, *sent, *answers;
    bool (*decode)(const char *text, Image *image);
    int distance; /* sixel says colours in percent */
} protocols[] = {
    {PIXELS_KITTY, "kitty", KITTY_SENT, "\033_Gi=31;OK\033\\", decode_kitty, 0},
    {PIXELS_ITERM, "iterm", ITERM_SENT, "\033P>|iTerm2 3.5.0\033\\", decode_iterm, 0},
    {PIXELS_SIXEL, "sixel", SIXEL_SENT, "", decode_sixel, 2},
};
enum { PROTOCOLS = sizeof protocols / sizeof *protocols };

static void check_bytes(const Image *image, const char *what, int more) {
    for (int i = 0; i < PROTOCOLS; i++) {
        MemoryStream sent = {.length = 0};
        Err err;
        Image read = {.w = 0};
        bool ok = pixels_encode(protocols[i].kind, image, (Area){3, 5, 9, 4}, &sent, &err);
        const char *at = ok ? strstr(sent.bytes, protocols[i].sent) : NULL;
        bool placed = at && !strncmp(sent.bytes, "\0337\033[6;4H", 8) &&
                      !strcmp(sent.bytes + sent.length - 2, PICTURE_END) &&
                      protocols[i].decode(at, &read);
        int far = placed ? distance(image, &read) : 256;
        tap_ok(far <= protocols[i].distance + (i == 2 ? more : 0), "%s, %s: %zu bytes, off by %d",
               protocols[i].name, what, ok ? sent.length : 0, far);
        image_free(&read);
        free(sent.bytes);
    }
}

TAP_SUITE(pixels_bytes) {
    Image image;
    Err err;
    image_init(&image, 90, 77, &err);
    for (int y = 0; y < image.h; y++)
        for (int x = 0; x < image.w; x++)
            image_set(&image, x, y, (Rgb){(uint8_t)(x / 9 * 20), (uint8_t)(y / 7 * 20), 7});
    check_bytes(&image, "few colours", 0);
    for (int y = 0; y < image.h; y++)
        for (int x = 0; x < image.w; x++)
            image_set(&image, x, y, (Rgb){(uint8_t)(x * 37), (uint8_t)(y * 91), (uint8_t)(x * y)});
    check_bytes(&image, "thousands of colours", 63);
    image_free(&image);
}

/* Each pixel of the picture is that of its cell of the raster. */
TAP_SUITE(pixels_raster) {
    enum { N = 6, CELL_W = 14, CELL_H = 28 };
    static State state; /* without a rig nothing lies over the cells */
    static LiveData live;
    static Picture picture;
    BevPicture *bev = &picture.bev;
    static Spots spots;
    Cells cells;
    Image image = {.w = 0};
    Err err;
    int wrong = 0;
    spots.bev = (Box){2, 1, N, N / 2};
    state.job.config.kernel = bev_kernel_find("cpu_v4");
    state.job.slice = SLICE_MAX;
    live.frame.nx = live.frame.ny = N;
    live.frame.shape = (BevShape){.nx = N, .ny = N, .nz = 1};
    live.probe.cell = -1;
    bev->ready = true;
    image_init(&bev->image, N, N, &err);
    cells_init(&cells, 12, 6, &err);
    cells.color = true;
    for (int i = 0; i < N * N; i++)
        image_set(&bev->image, i % N, i / N, (Rgb){(uint8_t)(7 * i), (uint8_t)(255 - i), 40});
    for (int i = 0; i < N * N / 2; i++)
        cells_put(&cells, 2 + i % N, 1 + i / N, 0x2580, cell_style(INK_TEXT));
    bool ok = pixels_compose(&cells, &spots, &state, &live, &picture, CELL_W, CELL_H, &image);
    for (int y = 0; ok && y < image.h; y++)
        for (int x = 0; x < image.w; x++) {
            Rgb is = image_get(&image, x, y), of = image_get(&bev->image, x / CELL_W, y / CELL_W);
            wrong += memcmp(&is, &of, sizeof is) != 0;
        }
    tap_ok(ok && image.w == N * CELL_W && !wrong, "%d pixels differ from the raster", wrong);
    tap_ok(cells_at(&cells, 3, 1)->glyph == ' ', "the half blocks under it are not sent");
    image_free(&image);
    spots.over = (Box){4, 2, 3, 3};
    tap_ok(!pixels_compose(&cells, &spots, &state, &live, &picture, CELL_W, CELL_H, &image),
           "none under what floats");
    cells_free(&cells);
    image_free(&bev->image);
}

static bool sends_any(const Pty *pty) {
    return strstr(pty->output, KITTY_SENT) || strstr(pty->output, ITERM_SENT) ||
           strstr(pty->output, SIXEL_SENT);
}

/* The last picture, whole, once no other has begun for a while. */
static bool take_picture(Pty *pty, int i, size_t from, Image *image) {
    bool ok = pty_wait_text(pty, protocols[i].sent, from, PATIENCE_S);
    size_t last = 0, next = pty_last(pty, protocols[i].sent);
    for (int tries = 0; ok && next != last && tries < PATIENCE_S; tries++) {
        last = next;
        pty_read(pty, 1.5);
        next = pty_last(pty, protocols[i].sent);
    }
    ok = ok && pty_wait_text(pty, PICTURE_END, last, PATIENCE_S);
    return ok && protocols[i].decode(pty->output + last - strlen(protocols[i].sent), image);
}

/* Whether each row is written from its first cell on: that removes pictures of sixel and iTerm2. */
static bool writes_all_rows(Pty *pty, size_t from) {
    bool ok = true;
    for (int row = 1; ok && row <= 40; row++) {
        char place[16];
        snprintf(place, sizeof place, "\033[%d;1H", row);
        ok = pty_wait_text(pty, place, from, PATIENCE_S);
    }
    return ok;
}

/* All three show the same picture, which goes with the help over it and with the program. */
TAP_WAITING_SUITE(pixels_pty_answers) {
    Image first = {.w = 0}, image = {.w = 0};
    for (int i = 0; i < PROTOCOLS; i++) {
        char answers[128];
        Pty pty;
        bool ok = open_toy(&pty, "", NULL) && strstr(pty.output, pixels_ask) && !sends_any(&pty);
        snprintf(answers, sizeof answers, "%s" SIZE_ANSWER "\033[?62;%sc", protocols[i].answers,
                 i == 2 ? "4;22" : "22");
        pty_type(&pty, answers);
        ok = take_picture(&pty, i, 0, &image) && ok;
        int far = i ? distance(&first, &image) : 0;
        int most = protocols[i].kind == PIXELS_SIXEL ? 7 + 2 : 0; /* three bits go: 256 colours */
        tap_ok(ok && is_varied(&image) && image.w % 10 == 0 && image.h % 20 == 0 && far <= most,
               "%s: a picture of %d x %d pixels, off by %d from the first", protocols[i].name,
               image.w, image.h, far);
        if (i)
            image_free(&image);
        else
            first = image;
        size_t still = pty.length;
        pty_read(&pty, 1);
        tap_ok(!strstr(pty.output + still, protocols[i].sent), "what has not changed stays");
        pty_type(&pty, "\t");
        ok = i ? writes_all_rows(&pty, still)
               : pty_wait_text(&pty, pixels_remove, still, PATIENCE_S);
        pty_type(&pty, "\t");
        tap_ok(ok && pty_wait_text(&pty, protocols[i].sent, still, PATIENCE_S),
               "it goes with its page, and comes back");
        pty_type(&pty, "q");
        check_end(&pty, protocols[i].name, "bevscope: quit", exits_with(&pty, 0));
        tap_ok(i || pty_last(&pty, pixels_remove) > pty_last(&pty, KITTY_SENT), "removed at quit");
        pty_end(&pty);
    }
    image_free(&first);
}

TAP_WAITING_SUITE(pixels_pty_asked) {
    static const struct {
        char *type, *more;
        const char *option;
        bool asked, sent;
    } cases[] = {{"TERM=xterm-256color", "X=", "--pixels off", false, false},
                 {"TERM=xterm-256color", "NO_COLOR=1", "", false, false},
                 {"TERM=linux", "X=", "--pixels kitty", false, false},
                 {"TERM=xterm-256color", "TMUX=/tmp/none,1,0", "--pixels kitty", false, false},
                 {"TERM=xterm-256color", "TMUX=/tmp/none,1,0", "--pixels sixel", false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Pty pty;
        char *const environment[] = {cases[i].type, cases[i].more, "LC_ALL=C.UTF-8", NULL};
        bool ok = open_toy(&pty, cases[i].option, environment);
        if (cases[i].sent)
            pty_wait_text(&pty, SIXEL_SENT, 0, PATIENCE_S);
        pty_type(&pty, "q");
        ok = exits_with(&pty, 0) && ok;
        bool asked = strstr(pty.output, "a=q") || strstr(pty.output, "\033[c");
        tap_ok(ok && asked == cases[i].asked && sends_any(&pty) == cases[i].sent,
               "%s %s %s: %s asked", cases[i].type, cases[i].more, cases[i].option,
               asked ? "is" : "not");
        pty_end(&pty);
    }
}
