/* SPDX-License-Identifier: MIT */
/* Colour maps, themes and their contrast, linear light. */
#include "src/view/draw/color.h"
#include "tests/support/tap.h"
#include "tests/support/vision.h"
#include "tests/view/view_check.h"

TAP_SUITE(color_colormaps) {
    static const struct {
        const char *name;
        uint32_t first, last; /* as published */
    } ends[] = {{"viridis", 0x440154, 0xfde725},
                {"cividis", 0x00224e, 0xfee838},
                {"turbo", 0x30123b, 0x7a0403},
                {"signed", 0xd8ecff, 0xffe6cf}};
    tap_ok(colormap_count == sizeof ends / sizeof *ends, "every colour map has its ends checked");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const Colormap *map = colormap_find(ends[i].name);
        tap_ok(map && same(colormap_at(map, 0), ends[i].first) &&
                   same(colormap_at(map, 1), ends[i].last),
               "%s has its ends", ends[i].name);
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
    const Colormap *map = colormap_find("signed");
    Rgb zero = colormap_at(map, 0.5);
    tap_ok(rises(map, 128, 255) && !rises(map, 0, 125), "signed gets brighter away from zero");
    tap_ok(!memcmp(&zero, &panel_theme.background, sizeof zero),
           "its zero is the ground of the BEV");
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
        double contrast = rgb_contrast((Rgb){c[0], c[1], c[2]}, panel_theme.background);
        tap_ok(contrast >= 1.5, "class %s stands out from the panel (%.1f)",
               world_classes[class].name, contrast);
    }
}

TAP_SUITE(color_linear_light) {
    tap_ok(same(rgb_lifted(rgb_hex(0xffffff)), 0xffffff) && same(rgb_lifted(rgb_hex(0)), 0) &&
               same(rgb_lifted(rgb_hex(0x404040)), 0x838383) &&
               same(rgb_lifted(rgb_hex(0x800000)), 0xff0000),
           "dark surfaces are lifted, white and hues stay");
    tap_ok(same(rgb_blend(rgb_hex(0), rgb_hex(0xffffff), 0.5), 0xbcbcbc), "half of white as light");
    tap_ok(same(rgb_from_linear(0, 0.5, 1), 0x00bcff), "half the light is code 188 in sRGB");
    tap_ok(same(rgb_from_linear(-1, NAN, 9), 0x0000ff), "colours outside 0..1 are clamped");
}

/* ---- roles: what means different things looks different -------------------------------------- */

/* The least difference to usual, protan and deutan vision. */
static double difference_of(Rgb a, Rgb b) {
    double least = INFINITY;
    for (int i = 0; i < 3; i++)
        least = fmin(least, vision_apart((uint8_t[]){a.r, a.g, a.b}, (uint8_t[]){b.r, b.g, b.b},
                                         &visions[i]));
    return least;
}

TAP_SUITE(color_roles) {
    static const Ink roles[] = {INK_ACCENT, INK_BASELINE, INK_FEATURES, INK_DEPTH, INK_INDEX,
                                INK_OUTPUT, INK_MUTED,    INK_GOOD,     INK_WARN,  INK_BAD};
    enum { ROLES = sizeof roles / sizeof *roles };
    for (int light = 0; light < 2; light++) {
        double least = INFINITY;
        for (int i = 0; i < ROLES; i++) {
            Rgb ink = ink_color(roles[i], light, false);
            for (int k = 0; k < i; k++)
                least = fmin(least, difference_of(ink, ink_color(roles[k], light, false)));
        }
        tap_ok(least >= 10, "%s: two roles differ by at least 10 for deutan and protan: %.1f",
               figure_themes[!light], least);
    }
}
