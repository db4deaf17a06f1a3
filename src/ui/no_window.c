/* In place of window.c in builds without SDL. */
#include "src/ui/window.h"

#include <assert.h>

const char *window_impossible(void) {
    return "this program was built without SDL";
}

bool window_open(Window **window, const char *title, Err *err) {
    (void)title;
    *window = NULL;
    return err_set(err, ERR_FAILED, "window", "configure it --with-sdl", "%s", window_impossible());
}

void window_close(Window *window) {
    assert(!window);
    (void)window;
}

bool window_draw(Window *window, const State *state, const LiveData *live,
                 const WindowPicture *picture, const GiveUp *give_up, Err *err) {
    (void)state, (void)live, (void)picture, (void)give_up;
    return window_open(&window, NULL, err);
}

bool window_capture(const Window *window, const State *state, const LiveData *live,
                    const WindowPicture *picture, Image *image, Err *err) {
    (void)window, (void)state, (void)live, (void)picture, (void)image;
    return err_set(err, ERR_FAILED, "window", "", "%s", window_impossible());
}

WindowWord window_next(Window *window, const State *state, const LiveData *live, Event *event,
                       int32_t *key) {
    (void)window, (void)state, (void)live, (void)event, (void)key;
    return WINDOW_NOTHING;
}

bool window_key_waits(Window *window) {
    (void)window;
    return false;
}

void window_fullscreen(Window *window, bool on) {
    (void)window, (void)on;
}
