/* SPDX-License-Identifier: MIT */
#include "src/ui/sdl_window.h"

#include <SDL.h>
#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <sys/param.h>

enum { START_W = 1280, START_H = 860 };

struct SdlWindow {
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture;
    cairo_surface_t *surface; /* the picture */
    cairo_surface_t *over;    /* the picture with an outline and a tooltip */
    int w, h;                 /* the size of texture and surface in pixels */
    Pointer pointer;
    Spots spots; /* the spots of the picture that is shown */
    Hover hover; /* what lies under the mouse */
    SDL_Cursor *hand, *arrow;
    bool points; /* the cursor is the hand */
};

/* SDL is loaded when a window is opened. Its 45 libraries would double the start-up time of a
 * command without a window. */
/* clang-format off */
#define SDL_FUNCTIONS(F) F(CreateRenderer) F(CreateSystemCursor) F(CreateTexture) F(CreateWindow) \
    F(DestroyRenderer) F(DestroyTexture) F(DestroyWindow) F(FreeCursor) F(GetCurrentVideoDriver) \
    F(GetDisplayDPI) F(GetDisplayUsableBounds) F(GetError) F(GetModState) \
    F(GetRendererOutputSize) F(GetWindowDisplayIndex) F(GetWindowSize) F(HasEvent) \
    F(InitSubSystem) F(PollEvent) F(PumpEvents) F(QuitSubSystem) F(RenderCopy) F(RenderPresent) \
    F(SetCursor) F(SetHint) F(SetMainReady) F(SetWindowFullscreen) F(SetWindowMinimumSize) \
    F(StartTextInput) F(UpdateTexture)
/* clang-format on */

static struct {
#define FUNCTION(name) __typeof__(SDL_##name) *name;
    SDL_FUNCTIONS(FUNCTION)
#undef FUNCTION
} sdl;

static bool load_sdl(Err *err) {
    void *library = dlopen("libSDL2-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    bool found = library != NULL;
#define FUNCTION(name)                                                                             \
    found = found && (*(void **)&sdl.name = dlsym(library, "SDL_" #name)) != NULL;
    SDL_FUNCTIONS(FUNCTION)
#undef FUNCTION
    return found || err_set(err, ERR_FAILED, "window", "use --no-window", "%s", dlerror());
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Tests ask for the drivers "offscreen" and "dummy" by name. */
const char *sdl_window_impossible(void) {
    if (is_set("SDL_VIDEODRIVER") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
        return NULL;
    return "no display: neither DISPLAY nor WAYLAND_DISPLAY is set";
}

static bool sdl_failed(const char *what, Err *err) {
    return err_set(err, ERR_FAILED, "window", "use --no-window", "%s: %s", what, sdl.GetError());
}

/* Loads and starts SDL. Fails if SDL found no display, so that nobody would see the window. */
static bool start_sdl(Err *err) {
    if (!load_sdl(err))
        return false;
    sdl.SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    sdl.SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1");
    sdl.SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "0");
    sdl.SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0"); /* see open_window */
    sdl.SetMainReady();
    if (sdl.InitSubSystem(SDL_INIT_VIDEO) < 0)
        return sdl_failed("cannot be opened", err);
    const char *driver = sdl.GetCurrentVideoDriver();
    bool silent = driver && (!strcmp(driver, "offscreen") || !strcmp(driver, "dummy"));
    if (driver && (!silent || is_set("SDL_VIDEODRIVER")))
        return true; /* else SDL found no display, and chose a driver that shows nothing */
    sdl.QuitSubSystem(SDL_INIT_VIDEO);
    return err_set(err, ERR_FAILED, "window", "use --no-window", "no display answers");
}

/* Returns the display's density as a multiple of 96 dots an inch, in quarters. An unknown or low
 * density gives 1. The result is bounded, because televisions may claim anything. */
double sdl_window_density(double dpi) {
    const double usual_dpi = 96, most = 3;
    const double almost = 0.1; /* a display just below a step takes the step */
    const double quarters = floor(4 * dpi / usual_dpi + almost);
    return fmax(1, fmin(quarters / 4, most));
}

static double density_of(int display) {
    float dpi = 0;
    bool known = display >= 0 && sdl.GetDisplayDPI(display, &dpi, NULL, NULL) == 0;
    return known ? sdl_window_density(dpi) : 1;
}

/* Opens the window in its usual size, at most that of the screen. */
static bool open_window(SdlWindow *window, const char *title, Err *err) {
    SDL_Rect usable;
    double scale = density_of(0);
    int w = (int)(START_W * scale), h = (int)(START_H * scale);
    if (sdl.GetDisplayUsableBounds(0, &usable) == 0) {
        w = w < usable.w ? w : usable.w;
        h = h < usable.h ? h : usable.h;
    }
    window->window = sdl.CreateWindow(title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, w, h,
                                      SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI);
    if (!window->window)
        return sdl_failed("cannot be opened", err);
    sdl.SetWindowMinimumSize(window->window, WINDOW_MIN_EDGE, WINDOW_MIN_EDGE);
    /* The picture is made on the CPU. Handing finished pixels over needs no 3D driver, which would
     * be emulated without a GPU and could fail together with one. */
    window->renderer = sdl.CreateRenderer(window->window, -1, SDL_RENDERER_SOFTWARE);
    return window->renderer || sdl_failed("nothing can be drawn", err);
}

bool sdl_window_open(SdlWindow **out, const char *title, Err *err) {
    static SdlWindow only;
    SdlWindow *window = &only;
    *out = NULL;
    if (!start_sdl(err))
        return false;
    *window = (SdlWindow){.window = NULL};
    if (!open_window(window, title, err)) {
        sdl_window_close(window);
        return false;
    }
    sdl.StartTextInput();
    window->hand = sdl.CreateSystemCursor(SDL_SYSTEM_CURSOR_HAND);
    window->arrow = sdl.CreateSystemCursor(SDL_SYSTEM_CURSOR_ARROW);
    *out = window;
    return true;
}

static void free_canvas(SdlWindow *window) {
    sdl.DestroyTexture(window->texture);
    cairo_surface_destroy(window->surface);
    cairo_surface_destroy(window->over);
    window->texture = NULL;
    window->surface = window->over = NULL;
}

void sdl_window_close(SdlWindow *window) {
    if (!window)
        return;
    free_canvas(window);
    sdl.FreeCursor(window->hand);
    sdl.FreeCursor(window->arrow);
    sdl.DestroyRenderer(window->renderer); /* here and above, NULL is nothing */
    sdl.DestroyWindow(window->window);
    sdl.QuitSubSystem(SDL_INIT_VIDEO);
}

void sdl_window_fullscreen(SdlWindow *window, bool on) {
    sdl.SetWindowFullscreen(window->window, on ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
}

/* Returns the window's pixels in one of SDL's points: above 1 where the system scales windows. */
static double pixels_a_point(const SdlWindow *window, int w) {
    int points_w, points_h;
    sdl.GetWindowSize(window->window, &points_w, &points_h);
    return points_w > 0 ? (double)w / points_w : 1;
}

double sdl_window_size(const SdlWindow *window, const State *state, int *w, int *h) {
    if (sdl.GetRendererOutputSize(window->renderer, w, h) < 0)
        sdl.GetWindowSize(window->window, w, h);
    *w = MIN(MAX(*w, 1), IMAGE_MAX_EDGE);
    *h = MIN(MAX(*h, 1), IMAGE_MAX_EDGE);
    double density =
        fmax(pixels_a_point(window, *w), density_of(sdl.GetWindowDisplayIndex(window->window)));
    return fmax(density, window_share(*w, *h)) * state_text_scale(state);
}

/* Makes surfaces and texture of that size, where the old ones have another size. */
static bool fit_canvas(SdlWindow *window, int w, int h, Err *err) {
    if (window->surface && window->texture && window->w == w && window->h == h)
        return true;
    free_canvas(window);
    window->w = w;
    window->h = h;
    window->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
    pen_keep_still(window->surface);
    window->over = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
    window->texture = sdl.CreateTexture(window->renderer, SDL_PIXELFORMAT_RGB888,
                                        SDL_TEXTUREACCESS_STREAMING, w, h);
    if (cairo_surface_status(window->over) != CAIRO_STATUS_SUCCESS)
        return err_set(err, ERR_FAILED, "window", "make it smaller", "no memory for %d x %d", w, h);
    return window->texture || sdl_failed("no texture", err);
}

/* Draws the outline of the box under the mouse, and the box's tooltip where the mouse rests. */
static void draw_over(SdlWindow *window, const State *state, const LiveData *live) {
    int w, h;
    double scale = sdl_window_size(window, state, &w, &h);
    cairo_t *cr = cairo_create(window->over);
    Tip tip;
    Pen pen;
    cairo_set_source_surface(cr, window->surface, 0, 0);
    cairo_paint(cr);
    cairo_scale(cr, scale, scale);
    pen_init(&pen, cr, &themes[state->light ? THEME_LIGHT : THEME_DARK], NULL);
    pen_frame(&pen, window->hover.box, pen.theme->accent, 1, 1.5);
    if (window->hover.told &&
        spots_tip(&window->spots, window->hover.x, window->hover.y, state, live, &tip))
        window_tip_draw(&pen, &tip, w / scale, h / scale);
    cairo_destroy(cr);
}

static void present_picture(SdlWindow *window, const State *state, const LiveData *live) {
    cairo_surface_t *shown = window->hover.over ? window->over : window->surface;
    if (!window->texture)
        return;
    if (window->hover.over)
        draw_over(window, state, live);
    cairo_surface_flush(shown);
    sdl.UpdateTexture(window->texture, NULL, cairo_image_surface_get_data(shown),
                      cairo_image_surface_get_stride(shown));
    sdl.RenderCopy(window->renderer, window->texture, NULL, NULL);
    sdl.RenderPresent(window->renderer);
}

/* Updates what lies under the mouse. Returns true where that changed. */
static bool update_hover(SdlWindow *window, double x, double y) {
    bool changed = hover_move(&window->hover, &window->spots, x, y);
    bool points = spots_at(&window->spots, x, y) || spots_on_time(&window->spots, x, y);
    if (points != window->points && window->hand && window->arrow)
        sdl.SetCursor(points ? window->hand : window->arrow);
    window->points = points;
    return changed;
}

void sdl_window_tip(SdlWindow *window, const State *state, const LiveData *live, double now_ms) {
    if (hover_due(&window->hover, now_ms))
        present_picture(window, state, live);
}

double sdl_window_tip_in_ms(const SdlWindow *window, double now_ms) {
    return tip_due_in_ms(&window->hover, now_ms);
}

void sdl_window_tip_end(SdlWindow *window, const State *state, const LiveData *live) {
    if (hover_end(&window->hover))
        present_picture(window, state, live);
}

bool sdl_window_draw(SdlWindow *window, const State *state, const LiveData *live,
                     const Picture *picture, const GiveUp *give_up, Err *err) {
    int w, h;
    double scale = sdl_window_size(window, state, &w, &h);
    if (!fit_canvas(window, w, h, err))
        return false;
    cairo_t *cr = cairo_create(window->surface);
    cairo_scale(cr, scale, scale);
    Spots spots;
    bool drawn = window_paint(cr, w / scale, h / scale, state, live, picture, &spots, give_up, err);
    cairo_destroy(cr);
    if (!drawn || given_up(give_up))
        return false;
    window->spots = spots;
    if (window->hover.over)
        update_hover(window, window->hover.x, window->hover.y);
    present_picture(window, state, live);
    return true;
}

/* ---- keys and mouse -------------------------------------------------------------------------- */

/* The meaning of keys alone, with Shift and with Ctrl. 0: the key has no meaning. `control` 0: Ctrl
 * changes nothing. */
static const struct {
    SDL_Keycode code;
    int32_t key, shifted, control;
} special_keys[] = {
    {SDLK_RETURN, KEYCODE_ENTER, KEYCODE_ENTER, 0},
    {SDLK_KP_ENTER, KEYCODE_ENTER, KEYCODE_ENTER, 0},
    {SDLK_BACKSPACE, KEYCODE_BACKSPACE, KEYCODE_BACKSPACE, 0},
    {SDLK_TAB, KEYCODE_TAB, KEYCODE_SHIFT_TAB, 0},
    {SDLK_ESCAPE, KEYCODE_ESCAPE, KEYCODE_ESCAPE, 0},
    {SDLK_UP, KEYCODE_UP, KEYCODE_SHIFT_UP, 0},
    {SDLK_DOWN, KEYCODE_DOWN, KEYCODE_SHIFT_DOWN, 0},
    {SDLK_LEFT, KEYCODE_LEFT, KEYCODE_SHIFT_LEFT, 0},
    {SDLK_RIGHT, KEYCODE_RIGHT, KEYCODE_SHIFT_RIGHT, 0},
    {SDLK_INSERT, KEYCODE_INSERT, KEYCODE_INSERT, 0},
    {SDLK_DELETE, KEYCODE_DELETE, KEYCODE_DELETE, 0},
    {SDLK_HOME, KEYCODE_HOME, KEYCODE_SHIFT_HOME, 0},
    {SDLK_PAGEUP, KEYCODE_PAGE_UP, KEYCODE_PAGE_UP, 0},
    {SDLK_END, KEYCODE_END, KEYCODE_SHIFT_END, 0},
    {SDLK_PAGEDOWN, KEYCODE_PAGE_DOWN, KEYCODE_PAGE_DOWN, 0},
    {SDLK_p, 0, 0, KEYCODE_CTRL_P},
    {SDLK_u, 0, 0, KEYCODE_CTRL_U},
    {SDLK_PLUS, 0, 0, KEYCODE_CTRL_PLUS},
    {SDLK_EQUALS, 0, 0, KEYCODE_CTRL_PLUS}, /* + without Shift, on many keyboards */
    {SDLK_KP_PLUS, 0, 0, KEYCODE_CTRL_PLUS},
    {SDLK_MINUS, 0, 0, KEYCODE_CTRL_MINUS},
    {SDLK_KP_MINUS, 0, 0, KEYCODE_CTRL_MINUS},
};

/* Returns the code of a key that types no character; 0: another key. Other keys come as text, in
 * the user's keyboard layout. */
static int32_t special_key(const SDL_Keysym *symbol) {
    if (symbol->sym >= SDLK_F1 && symbol->sym <= SDLK_F12)
        return KEYCODE_F1 + (symbol->sym - SDLK_F1);
    for (size_t i = 0; i < sizeof special_keys / sizeof *special_keys; i++) {
        if (special_keys[i].code != symbol->sym)
            continue;
        if (symbol->mod & KMOD_CTRL && special_keys[i].control)
            return special_keys[i].control;
        return symbol->mod & KMOD_SHIFT ? special_keys[i].shifted : special_keys[i].key;
    }
    return 0;
}

static MouseKind mouse_kind(const SDL_Event *event, const Pointer *pointer) {
    if (event->type == SDL_MOUSEMOTION)
        return pointer->doing == POINTER_UP ? MOUSE_HOVER : MOUSE_MOVE;
    return event->type == SDL_MOUSEWHEEL              ? MOUSE_WHEEL
           : event->type == SDL_MOUSEBUTTONUP         ? MOUSE_RELEASE
           : event->button.button == SDL_BUTTON_RIGHT ? MOUSE_MENU
                                                      : MOUSE_PRESS;
}

/* Turns an event of the mouse into *event. Returns false where *event has nothing for the state. */
static bool mouse_event(SdlWindow *window, const State *state, const LiveData *live,
                        const SDL_Event *from, Event *event) {
    int w, h;
    const double scale = sdl_window_size(window, state, &w, &h);
    const double points_a_unit = scale / pixels_a_point(window, w); /* a unit of the drawing */
    const bool button = from->type == SDL_MOUSEBUTTONDOWN || from->type == SDL_MOUSEBUTTONUP;
    const MouseKind kind = mouse_kind(from, &window->pointer);
    if (button && kind != MOUSE_MENU && from->button.button != SDL_BUTTON_LEFT)
        return false;
    double x = (button ? from->button.x : from->motion.x) / points_a_unit;
    double y = (button ? from->button.y : from->motion.y) / points_a_unit;
    double steps = 0;
    if (kind == MOUSE_WHEEL) { /* an event of the wheel has no place */
        x = window->pointer.x;
        y = window->pointer.y;
        steps = from->wheel.preciseY;
        if (from->wheel.direction == SDL_MOUSEWHEEL_FLIPPED)
            steps = -steps;
    }
    if (from->type == SDL_MOUSEBUTTONDOWN)
        sdl_window_tip_end(window, state, live);
    if (kind == MOUSE_HOVER && update_hover(window, x, y))
        present_picture(window, state, live);
    return pointer_follow(&window->pointer, kind, x, y, steps, &window->spots, state, live, event);
}

static WindowInput translate(SdlWindow *window, const State *state, const LiveData *live,
                             const SDL_Event *from, Event *event, int32_t *key) {
    const int change = from->type == SDL_WINDOWEVENT ? from->window.event : SDL_WINDOWEVENT_NONE;
    if (change == SDL_WINDOWEVENT_LEAVE)
        sdl_window_tip_end(window, state, live);
    if (change == SDL_WINDOWEVENT_EXPOSED || change == SDL_WINDOWEVENT_SIZE_CHANGED ||
        change == SDL_WINDOWEVENT_SHOWN)
        return WINDOW_REDRAW;
    if (change == SDL_WINDOWEVENT_CLOSE)
        return WINDOW_CLOSED;
    switch (from->type) {
    case SDL_QUIT:
        return WINDOW_CLOSED;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET:
        return WINDOW_REDRAW;
    case SDL_KEYDOWN:
        *key = special_key(&from->key.keysym);
        return *key ? WINDOW_KEY : WINDOW_NOTHING;
    case SDL_TEXTINPUT:
        *key = from->text.text[0]; /* only those of ASCII have a meaning; the others are negative */
        return sdl.GetModState() & KMOD_CTRL || *key < ' ' ? WINDOW_NOTHING : WINDOW_KEY;
    case SDL_MOUSEMOTION:
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
    case SDL_MOUSEWHEEL:
        return mouse_event(window, state, live, from, event) ? WINDOW_EVENT : WINDOW_NOTHING;
    default:
        return WINDOW_NOTHING;
    }
}

WindowInput sdl_window_next(SdlWindow *window, const State *state, const LiveData *live,
                            Event *event, int32_t *key) {
    SDL_Event from;
    WindowInput input = WINDOW_NOTHING;
    while (input == WINDOW_NOTHING && sdl.PollEvent(&from))
        input = translate(window, state, live, &from, event, key);
    return input;
}

bool sdl_window_key_waits(SdlWindow *window) {
    (void)window; /* SDL has one queue for all windows */
    sdl.PumpEvents();
    return sdl.HasEvent(SDL_KEYDOWN);
}
