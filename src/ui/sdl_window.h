/* The window on the screen (SDL2): shows the picture that src/view/window draws, turns mouse and
 * keys into events. One at a time. */
#pragma once

#include "src/ui/hover.h"
#include "src/view/window/window_image.h"

typedef struct SdlWindow SdlWindow;

/* Why no window can be opened; NULL: there may be a display. (Without one, SDL would open a window
 * that nobody sees.) */
const char *sdl_window_impossible(void);

/* How much larger than usual everything is drawn on a display of so many dots an inch. */
double sdl_window_density(double dpi);

bool sdl_window_open(SdlWindow **window, const char *title, Err *err);
void sdl_window_close(SdlWindow *window); /* accepts NULL */

/* Draws the picture. False: an error; or given up, which leaves `err` and the screen as they
 * are. */
bool sdl_window_draw(SdlWindow *window, const State *state, const LiveData *live,
                     const Picture *picture, const GiveUp *give_up, Err *err);

/* The same pixels as an Image, for snapshots. */
bool sdl_window_capture(const SdlWindow *window, const State *state, const LiveData *live,
                        const Picture *picture, Image *image, Err *err);

typedef enum {
    WINDOW_NOTHING, /* no event is waiting */
    WINDOW_EVENT,   /* *event is for state_step */
    WINDOW_KEY,     /* *key was pressed */
    WINDOW_REDRAW,  /* exposed or resized */
    WINDOW_CLOSED   /* the user closed it: call sdl_window_close */
} WindowInput;

/* The next input. `state` and `live` tell what lies under the mouse. */
WindowInput sdl_window_next(SdlWindow *window, const State *state, const LiveData *live,
                            Event *event, int32_t *key);

/* What lies under the mouse is outlined at once, and told once the mouse has rested there; a key
 * ends that. */
void sdl_window_tip(SdlWindow *window, const State *state, const LiveData *live, double now_ms);
double sdl_window_tip_in_ms(const SdlWindow *window, double now_ms);
void sdl_window_tip_end(SdlWindow *window, const State *state, const LiveData *live);

/* Whether a key is waiting, so far as is known without reading it. */
bool sdl_window_key_waits(SdlWindow *window);

void sdl_window_fullscreen(SdlWindow *window, bool on);
