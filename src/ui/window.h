/* The window (SDL2): shows the live picture, turns mouse and keys into events. One at a time. */
#ifndef BEV_WINDOW_H
#define BEV_WINDOW_H

#include "src/view/window/window_image.h"

typedef struct Window Window;

/* NULL where a window can be opened; else why not: without a display SDL would pretend. */
const char *window_impossible(void);

bool window_open(Window **window, const char *title, Err *err);
void window_close(Window *window); /* accepts NULL */

/* Draws the picture. False: an error; or given up, which leaves `err` and what is seen as they
 * are. */
bool window_draw(Window *window, const State *state, const LiveData *live,
                 const WindowPicture *picture, const GiveUp *give_up, Err *err);

/* The same pixels as an Image, for snapshots. */
bool window_capture(const Window *window, const State *state, const LiveData *live,
                    const WindowPicture *picture, Image *image, Err *err);

typedef enum {
    WINDOW_NOTHING, /* no event is waiting */
    WINDOW_EVENT,   /* *event is for state_step */
    WINDOW_KEY,     /* *key was pressed */
    WINDOW_REDRAW,  /* exposed or resized */
    WINDOW_CLOSED   /* the user closed it: window_close is the caller's turn */
} WindowWord;

/* The next word from the user. `state` and `live` say what lies under the mouse. */
WindowWord window_next(Window *window, const State *state, const LiveData *live, Event *event,
                       int32_t *key);

/* Whether window_next may have a key. */
bool window_key_waits(Window *window);

void window_fullscreen(Window *window, bool on);

#endif
