#include "src/view/draw/theme.h"

const char *const figure_themes[THEME_COUNT] = {"light", "dark"};

const Theme themes[THEME_COUNT] = {
    [THEME_LIGHT] = {.page = {255, 255, 255},
                     .text = {26, 29, 33},
                     .muted = {91, 100, 112},
                     .rule = {208, 213, 219},
                     .tint = {238, 242, 247},
                     .accent = {74, 104, 146}},
    [THEME_DARK] = {.page = {22, 25, 30},
                    .text = {232, 234, 237},
                    .muted = {154, 164, 176},
                    .rule = {62, 69, 79},
                    .tint = {36, 42, 51},
                    .accent = {128, 164, 212}},
};

const PanelTheme panel_dark = {.background = {20, 23, 28},
                               .line = {255, 255, 255},
                               .halo = {10, 12, 15},
                               .bad = {255, 0, 255}};
const PanelTheme panel_light = {.background = {250, 250, 248},
                                .line = {20, 24, 30},
                                .halo = {255, 255, 255},
                                .bad = {255, 0, 255}};
