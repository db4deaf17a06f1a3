/* Colour maps, themes and their contrast, linear light. */
#include "src/view/draw/color.h"
#include "tests/support/tap.h"
#include "tests/view/view_check.h"

#include <math.h>

TAP_SUITE(color_colormaps) {
    static const struct {
        const char *name;
        uint32_t first, last; /* as published */
    } ends[] = {{"viridis", 0x440154, 0xfde725},
                {"cividis", 0x00224e, 0xfee838},
                {"turbo", 0x30123b, 0x7a0403},
                {"vik", 0x001261, 0x590008}};
    tap_ok(colormap_count == sizeof ends / sizeof *ends, "every colour map has its ends checked");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const Colormap *map = colormap_find(ends[i].name);
        tap_ok(map && same(colormap_at(map, 0), ends[i].first) &&
                   same(colormap_at(map, 1), ends[i].last),
               "%s has its published ends", ends[i].name);
        tap_ok(map && same(colormap_at(map, -INFINITY), ends[i].first) &&
                   same(colormap_at(map, 7), ends[i].last),
               "%s keeps its ends beyond them", ends[i].name);
    }
    tap_ok(!colormap_find("jet"), "an unknown colour map is not found");
}

static bool rises(const Colormap *map, int from, int to) {
    for (int i = from; i < to; i++)
        if (rgb_luminance(colormap_at(map, (i + 0.5) / COLORMAP_ENTRIES)) >=
            rgb_luminance(colormap_at(map, (i + 1.5) / COLORMAP_ENTRIES)) + 5e-4)
            return false;
    return true;
}

TAP_SUITE(color_luminance) {
    tap_ok(rises(colormap_find("viridis"), 0, 255), "viridis never gets darker");
    tap_ok(rises(colormap_find("cividis"), 0, 255), "cividis never gets darker");
    tap_ok(!rises(colormap_find("turbo"), 0, 255), "turbo does: the check can fail");
    const Colormap *vik = colormap_find("vik");
    tap_ok(rises(vik, 0, 125) && !rises(vik, 130, 255), "vik is brightest around its middle");
}

TAP_SUITE(color_contrast) {
    tap_ok(fabs(rgb_contrast(rgb_hex(0), rgb_hex(0xffffff)) - 21) < 1e-9,
           "black on white has contrast 21");
    for (int i = 0; i < THEME_COUNT; i++) {
        const Theme *theme = &themes[i];
        tap_ok(rgb_contrast(theme->text, theme->page) >= 7 &&
                   rgb_contrast(theme->text, theme->tint) >= 7,
               "%s: text on page and tint reaches contrast 7", figure_themes[i]);
        tap_ok(rgb_contrast(theme->muted, theme->page) >= 4.5 &&
                   rgb_contrast(theme->accent, theme->tint) >= 4.5,
               "%s: small text reaches contrast 4.5", figure_themes[i]);
    }
    for (int class = 0; class < CLASS_COUNT; class ++) {
        const uint8_t *c = world_classes[class].color;
        double contrast = rgb_contrast((Rgb){c[0], c[1], c[2]}, panel_dark.background);
        tap_ok(contrast >= 1.5, "class %s stands out from the panel (%.1f)",
               world_classes[class].name, contrast);
    }
}

TAP_SUITE(color_linear_light) {
    tap_ok(same(rgb_from_linear(0, 0.5, 1), 0x00bcff), "half the light is code 188 in sRGB");
    tap_ok(same(rgb_from_linear(-1, NAN, 9), 0x0000ff), "colours outside 0..1 are clamped");
}
