/* The one file that compiles stb_image_write. Its file writer ignores write errors, so the PNG is
 * encoded to memory and the caller writes the bytes. */
#include "src/view/draw/bytes.h"
#include "src/view/draw/image.h"

#include <stdlib.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

static void append(void *context, void *data, int size) {
    bytes_append(context, data, (size_t)size);
}

static bool opaque(const Image *image) {
    size_t pixels = (size_t)image->w * (size_t)image->h;
    for (size_t i = 0; i < pixels; i++)
        if (image->rgba[4 * i + 3] != 255)
            return false;
    return true;
}

/* The picture without its alpha channel, or NULL. */
static uint8_t *rgb_copy(const Image *image) {
    size_t pixels = (size_t)image->w * (size_t)image->h;
    uint8_t *rgb = malloc(3 * pixels);
    for (size_t i = 0; rgb && i < pixels; i++)
        for (int c = 0; c < 3; c++)
            rgb[3 * i + (size_t)c] = image->rgba[4 * i + (size_t)c];
    return rgb;
}

bool image_png(const Image *image, uint8_t **bytes, size_t *length, Err *err) {
    *bytes = NULL;
    *length = 0;
    bool no_alpha = opaque(image);
    uint8_t *rgb = no_alpha ? rgb_copy(image) : NULL;
    Bytes png = {0};
    bool done = false;
    if (!no_alpha || rgb) {
        int channels = no_alpha ? 3 : 4;
        done = stbi_write_png_to_func(append, &png, image->w, image->h, channels,
                                      no_alpha ? rgb : image->rgba, channels * image->w);
    }
    free(rgb);
    if (!done || png.failed || !png.length) {
        bytes_free(&png);
        return err_set(err, ERR_FAILED, "PNG", "choose a smaller scale",
                       "no memory to encode %d x %d pixels", image->w, image->h);
    }
    *bytes = png.data;
    *length = png.length;
    return true;
}
