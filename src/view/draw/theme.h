/* Colours and type sizes of figures, in one place. */
#ifndef BEV_THEME_H
#define BEV_THEME_H

#include "src/view/draw/color.h"

typedef enum { THEME_LIGHT, THEME_DARK, THEME_COUNT } FigureTheme;
extern const char *const figure_themes[THEME_COUNT]; /* "light", "dark" */

typedef struct {
    Rgb page, text, muted, rule, tint, accent; /* tint: highlighted rows; accent: camera coverage */
} Theme;

extern const Theme themes[THEME_COUNT];

/* The BEV panel does not follow the page: colours and dark-to-bright maps are read on dark,
 * differences on light, where zero fades into the background. */
typedef struct {
    Rgb background, line, halo, bad;
} PanelTheme;

extern const PanelTheme panel_dark, panel_light;

enum {
    SIZE_TITLE = 26,
    SIZE_HEADING = 15,
    SIZE_BODY = 14,
    SIZE_SMALL = 12,
    MARGIN = 48,
    GUTTER = 40,
};

#endif
