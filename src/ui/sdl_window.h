/* SPDX-License-Identifier: MIT */
/* The window on the screen (SDL2). It shows the picture that src/view/window draws, and turns mouse
 * and keys into events. Only one window can be open. */
#pragma once

#include "src/ui/pointer.h"
#include "src/view/window/window_image.h"

typedef struct SdlWindow SdlWindow;

/* Returns why no window can be opened; NULL: there may be a display. (Without a display SDL would
 * open a window that nobody sees.) */
const char *sdl_window_impossible(void);

/* Returns the factor that everything is enlarged by on a display of `dpi` dots an inch. */
double sdl_window_density(double dpi);

MAY_LACK bool sdl_window_open(SdlWindow **window, const char *title, Err *err);
MAY_LACK void sdl_window_close(SdlWindow *window); /* accepts NULL */

/* Draws the picture. Returns false for an error, or where the drawing was given up. A given-up
 * drawing leaves `err` and the screen unchanged. */
MAY_LACK bool sdl_window_draw(SdlWindow *window, const State *state, const LiveData *live,
                              const Picture *picture, const GiveUp *give_up, Err *err);

/* Returns the pixels in a unit of the picture, from the display's density and the user's size of
 * text. *w and *h receive the window's size in pixels. */
MAY_LACK double sdl_window_size(const SdlWindow *window, const State *state, int *w, int *h);

typedef enum {
    WINDOW_NOTHING, /* no event is waiting */
    WINDOW_EVENT,   /* *event is for state_step */
    WINDOW_KEY,     /* *key was pressed */
    WINDOW_REDRAW,  /* exposed or resized */
    WINDOW_CLOSED   /* the user closed it: call sdl_window_close */
} WindowInput;

/* Reads the next input. `state` and `live` tell what lies under the mouse. */
MAY_LACK WindowInput sdl_window_next(SdlWindow *window, const State *state, const LiveData *live,
                                     Event *event, int32_t *key);

/* Shows the tooltip of what lies under the mouse, once the mouse has rested there. A key removes
 * outline and tooltip. */
MAY_LACK void sdl_window_tip(SdlWindow *window, const State *state, const LiveData *live,
                             double now_ms);
MAY_LACK double sdl_window_tip_in_ms(const SdlWindow *window, double now_ms);
MAY_LACK void sdl_window_tip_end(SdlWindow *window, const State *state, const LiveData *live);

/* Whether a key is waiting, as far as is known without reading it. */
MAY_LACK bool sdl_window_key_waits(SdlWindow *window);

MAY_LACK void sdl_window_fullscreen(SdlWindow *window, bool on);
