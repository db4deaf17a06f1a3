/* SPDX-License-Identifier: MIT */
/* Pictures of pixels: PNG that another reader understands, sizes, scaling. */
#include "tests/support/stb_png.h"
#include "tests/support/tap.h"
#include "tests/view/view_check.h"

static void test_png(void) {
    Image image;
    Err err;
    MemoryStream png;
    if (!tap_ok(image_init(&image, 37, 23, &err), "a picture"))
        return;
    for (int y = 0; y < image.h; y++)
        for (int x = 0; x < image.w; x++)
            image_set(&image, x, y, (Rgb){(uint8_t)(7 * x), (uint8_t)(13 * y), (uint8_t)(x * y)});
    if (!tap_ok(image_png(&image, false, &png, &err), "encodes"))
        return;
    int w = 0, h = 0, channels = 0;
    uint8_t *pixels =
        stbi_load_from_memory((const stbi_uc *)png.bytes, (int)png.length, &w, &h, &channels, 4);
    tap_ok(pixels && w == 37 && h == 23 && channels == 3 &&
               !memcmp(pixels, image.rgba, (size_t)w * (size_t)h * 4),
           "decodes to the same pixels");
    stbi_image_free(pixels);
    free(png.bytes);
    image_free(&image);
}

static void test_image_limits(void) {
    Image image;
    Err err;
    tap_ok(!image_init(&image, 0, 5, &err) && !image.rgba, "an empty picture is refused");
    tap_ok(!image_init(&image, IMAGE_MAX_EDGE + 1, 1, &err) && strstr(err.what, "8193"),
           "a huge picture is refused by its size");
    image_free(NULL);
    Image small, large;
    if (!tap_ok(image_init(&small, 2, 1, &err), "a picture of two pixels"))
        return;
    image_set(&small, 0, 0, rgb_hex(0xff0000));
    image_set(&small, 1, 0, rgb_hex(0x0000ff));
    if (tap_ok(image_scale(&small, 6, 3, &large, &err), "scales up")) {
        tap_ok(same(image_get(&large, 2, 2), 0xff0000) && same(image_get(&large, 3, 0), 0x0000ff),
               "with an edge as sharp as before");
        image_free(&large);
    }
    image_free(&small);
}

TAP_SUITE(image) {
    test_png();
    test_image_limits();
}
