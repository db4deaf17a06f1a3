/* SPDX-License-Identifier: MIT */
/* The window without a display: SDL's dummy driver, its software renderer, events from a queue.
 * What they mean is one for terminal and window: test_mouse.c. */
#include "tests/support/ok_or_note.h"
#include "tests/support/script.h"

#include "src/base/ref.h"
#include "src/live/pipeline.h"
#include "src/ui/loop_internal.h"

#include <SDL.h>
#include <math.h>

static AppMenu menu;
static LiveData live;
static Picture *picture;
static SdlWindow *window;
static Err err; /* why a step failed */

/* A finished frame of the toy scene, compared with its baseline. */
static bool prepare(Pipeline **pipeline) {
    app_menu_open(&menu, 1u << BEV_CPU);
    int scene = app_menu_scene(&menu, "asymmetric");
    state_init(&state, &menu.menu, scene);
    state.job.config.kernel = bev_kernel_find("cpu_v3");
    state.job.config.dtype = BEV_FP16;
    state.job.baseline = state.job.config;
    state.job.baseline.dtype = BEV_FP8;
    state.job.pool_baseline = true;
    live_init(&live);
    if (!pipeline_open(pipeline, &err) ||
        !pipeline_run(*pipeline, &state, (PipelineNeeds){.fp64_original = true}, &live, &err))
        return false;
    step(EVENT_FRAME, .scene = &pipeline_inputs(*pipeline)->scene->facts);
    return (picture = picture_make(&state, &live, NULL, NULL, &err)) != NULL;
}

static void test_no_display(void) {
    unsetenv("SDL_VIDEODRIVER");
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    const char *reason = sdl_window_impossible();
    tap_ok(reason && strstr(reason, "no display"), "no display: no window");
    setenv("DISPLAY", ":4711", 1);
    bool opened = sdl_window_open(&window, "test", &err);
    tap_ok(!opened && !window, "a display that does not answer: no window either");
    sdl_window_close(window);
    unsetenv("DISPLAY");
    setenv("SDL_VIDEODRIVER", "dummy", 1);
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static SDL_Window *sdl_window(void) {
    for (Uint32 id = 1; id < 100; id++)
        if (SDL_GetWindowFromID(id))
            return SDL_GetWindowFromID(id);
    return NULL;
}

/* Pixels of the window that differ from what a snapshot would have; -1: cannot be compared. */
static int64_t pixels_unlike_snapshot(void) {
    Image image;
    int64_t differing = 0;
    int w, h;
    SDL_Renderer *renderer = SDL_GetRenderer(sdl_window());
    double scale = sdl_window_size(window, &state, &w, &h);
    if (!window_image(w, h, scale, &state, &live, picture, &image, &err))
        return -1;
    uint8_t *shown = malloc((size_t)image.w * (size_t)image.h * 4);
    if (SDL_RenderReadPixels(renderer, NULL, SDL_PIXELFORMAT_RGBA32, shown, image.w * 4) < 0)
        differing = -1;
    for (int64_t i = 0; differing >= 0 && i < (int64_t)image.w * image.h; i++)
        differing += memcmp(shown + 4 * i, image.rgba + 4 * i, 3) != 0;
    free(shown);
    image_free(&image);
    return differing;
}

static int64_t differing_pixels(void) {
    return sdl_window_draw(window, &state, &live, picture, NULL, &err) ? pixels_unlike_snapshot()
                                                                       : -1;
}

static void test_pixels(void) {
    static const int sizes[][2] = {{1280, 860}, {1920, 1080}, {800, 600}, {420, 900}, {64, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        SDL_SetWindowSize(sdl_window(), sizes[i][0], sizes[i][1]);
        tap_ok(differing_pixels() == 0, "%d x %d: a snapshot has the window's pixels", sizes[i][0],
               sizes[i][1]);
    }
    SDL_SetWindowSize(sdl_window(), 1280, 860);
    state.help = true;
    tap_ok(differing_pixels() == 0, "with the help screen, too");
    state.glossary = true;
    tap_ok(differing_pixels() == 0, "with the glossary, too");
    state.help = state.glossary = false;
}

static bool asked_often(void *context) {
    return --*(int *)context <= 0;
}

static void test_given_up(void) {
    int drawn = 0, changed = 0, times = 0;
    bool given_up = true;
    tap_ok(differing_pixels() == 0, "a picture is there");
    state.help = true;
    for (; given_up && times < 100; times += given_up) {
        int left = times + 1;
        const GiveUp give_up = {asked_often, &left};
        err.kind = ERR_USAGE;
        given_up = !sdl_window_draw(window, &state, &live, picture, &give_up, &err);
        drawn += pixels_unlike_snapshot() == 0;
        state.help = false;
        changed += given_up && (pixels_unlike_snapshot() != 0 || err.kind != ERR_USAGE);
        state.help = true;
    }
    tap_ok(times >= 8 && drawn == 1 && !given_up && !changed,
           "drawing can be given up at %d places, nothing of it is seen", times);
    state.help = false;
}

static bool lies_in(Box inner, double w, double top, double bottom) {
    return inner.x >= 0 && inner.x + inner.w <= w && inner.y >= top && inner.y + inner.h <= bottom;
}

static void test_words(void) {
    int wrong = 0, beside = 0, under = 0;
    for (int w = 240; w <= 1600; w += 20)
        for (int h = 240; h <= 1200; h += 20) {
            WindowLayout at;
            window_layout(&state, &live, w, h, &at);
            if (at.side.w <= 0)
                continue;
            bool fits = lies_in(at.side, w, at.strip.y + at.strip.h, at.log.y);
            wrong += !fits || boxes_overlap(at.side, at.bev) || at.side.w < 120;
            beside += at.side.x > at.bev.x + at.bev.w;
            under += at.side.y > at.bev.y + at.bev.h;
        }
    tap_ok(!wrong && beside > 100 && under > 100, "words beside the BEV (%d sizes), under it (%d)",
           beside, under);
}

static int reddish_pixels(void) {
    Image image;
    int count = 0;
    WindowLayout at;
    window_layout(&state, &live, 1280, 860, &at);
    if (!window_image(1280, 860, 1, &state, &live, picture, &image, &err))
        return -1;
    int names = (int)at.strip.y;
    for (int y = names; y < names + 16; y++)
        for (int x = 0; x < image.w; x++) {
            Rgb p = image_get(&image, x, y);
            count += p.r > p.g + 80 && p.r > p.b + 80;
        }
    image_free(&image);
    return count;
}

/* A wrong calibration does not change what the camera sees: its name in the strip says it. */
static void test_faults(void) {
    int right = reddish_pixels();
    live.job.camera_errors[0].yaw_deg = 3;
    int bent = reddish_pixels();
    live.job.camera_errors[0].yaw_deg = 0;
    tap_ok(right == 0 && bent > 20, "a camera that is off says so (%d, %d)", right, bent);
}

static bool same_camera(const Picture *a, const Picture *b, int camera) {
    const Image *x = &a->cameras[camera], *y = &b->cameras[camera];
    return x->w == y->w && x->h == y->h &&
           !memcmp(x->rgba, y->rgba, (size_t)x->w * (size_t)x->h * 4);
}

static Picture *picture_after(Pipeline *pipeline, Picture *before) {
    Picture *made = NULL;
    if (pipeline_run(pipeline, &state, (PipelineNeeds){.fp64_original = true}, &live, &err))
        made = picture_make(&state, &live, before, NULL, &err);
    tap_need(made != NULL, "a picture");
    return made;
}

static void test_lidar(Pipeline *pipeline) {
    state.lidar = true;
    Picture *dotted = picture_after(pipeline, picture);
    tap_ok(!same_camera(dotted, picture, 0), "LiDAR points are drawn over a camera's picture");
    state.job.camera_errors[0].yaw_deg = 3;
    Picture *turned = picture_after(pipeline, dotted);
    tap_ok(!same_camera(turned, dotted, 0) && same_camera(turned, dotted, 1),
           "a yaw error moves those of its camera, and no others");
    tap_ok(turned->sweep == dotted->sweep, "the sweep of a moment is cast once");
    state.lidar = false;
    Picture *bare = picture_after(pipeline, turned);
    tap_ok(same_camera(bare, picture, 0) && !bare->sweep, "without points the error is not seen");
    state.job.camera_errors[0].yaw_deg = 0;
    ref_drop(picture_after(pipeline, bare));
    ref_drop(dotted);
    ref_drop(turned);
    ref_drop(bare);
}

/* ---- events ---------------------------------------------------------------------------------- */

static Event event; /* of the last input */
static int32_t key;

static WindowLayout layout(void) {
    WindowLayout at;
    window_layout(&state, &live, 1280, 860, &at);
    return at;
}

/* The next input, other than SDL's own events (exposed, resized). SDL puts a mark into its queue
 * where a round of polling ended, and reports once that the queue is empty when it meets the mark.
 */
static WindowInput next(void) {
    WindowInput word = WINDOW_NOTHING;
    for (int nothing = 0; nothing < 3 && (word == WINDOW_NOTHING || word == WINDOW_REDRAW);) {
        word = sdl_window_next(window, &state, &live, &event, &key);
        nothing += word == WINDOW_NOTHING;
    }
    return word;
}

static bool gives(EventKind kind) {
    return next() == WINDOW_EVENT && event.kind == kind;
}

static bool gives_key(int32_t wanted) {
    return next() == WINDOW_KEY && key == wanted;
}

static bool gives_nothing(void) {
    return next() == WINDOW_NOTHING;
}

static void drain(void) {
    while (sdl_window_next(window, &state, &live, &event, &key) != WINDOW_NOTHING) {
    }
}

#define push(member_, type_, ...)                                                                  \
    SDL_PushEvent(&(SDL_Event){.member_ = {.type = type_, __VA_ARGS__}})

static void push_key(SDL_Keycode code, Uint16 modifiers) {
    push(key, SDL_KEYDOWN, .keysym = {.sym = code, .mod = modifiers});
}

static void push_motion(double x, double y) {
    push(motion, SDL_MOUSEMOTION, .x = (int)x, .y = (int)y);
}

static void push_text(const char *text) {
    SDL_Event pushed = {.type = SDL_TEXTINPUT};
    SDL_strlcpy(pushed.text.text, text, sizeof pushed.text.text);
    SDL_PushEvent(&pushed);
}

static void test_keys(void) {
    drain();
    push_motion(20, 20);
    bool before = sdl_window_key_waits(window);
    drain();
    push_key(SDLK_k, 0);
    push_text("k");
    tap_ok(!before && sdl_window_key_waits(window), "a key waits, not so a mouse that moved");
    tap_ok(gives_key('k') && gives_nothing(), "a letter is one key");
    push_text("?");
    tap_ok(gives_key('?'), "characters as the layout types them");
    push_text("\u00e9");
    tap_ok(gives_nothing(), "beyond ASCII no key means anything");
    push_key(SDLK_LEFT, KMOD_LSHIFT);
    tap_ok(gives_key(KEYCODE_SHIFT_LEFT), "Shift-Left");
    push_key(SDLK_F11, 0);
    tap_ok(gives_key(KEYCODE_F1 + 10), "F11");
    push_key(SDLK_ESCAPE, 0);
    tap_ok(gives_key(KEYCODE_ESCAPE), "Escape");
}

static void push_button(Uint32 type, double x, double y) {
    push(button, type, .button = SDL_BUTTON_LEFT, .x = (int)x, .y = (int)y);
}

static void push_click(double x, double y) {
    push_button(SDL_MOUSEBUTTONDOWN, x, y);
    push_button(SDL_MOUSEBUTTONUP, x, y);
}

/* The spots of a window of that size. */
static bool paint(double w, double h, Spots *spots) {
    Image image;
    cairo_t *cr = pen_begin(&image, (int)w, (int)h, &err);
    bool drawn = cr && window_paint(cr, w, h, &state, &live, picture, spots, NULL, &err);
    drawn = pen_finish(cr, drawn, &image);
    image_free(&image);
    return drawn;
}

/* The window's spots, drawn there as well. */
static bool draw_spots(Spots *spots) {
    return paint(1280, 860, spots) && sdl_window_draw(window, &state, &live, picture, NULL, &err);
}

static void test_pixel(const WindowLayout *at, const Box *view) {
    static float none;
    const Frustum *frustum = &live.frame.rig->frustum;
    const double w = at->strip.w / live.frame.rig->camera_count; /* a camera, and what parts them */
    /* with a unit around it, for rounding */
    const Box part = {at->strip.x + w - 1, at->strip.y - 1, w + 2, at->strip.h + 2};
    tap_ok(view->w > part.w / 2 && view->x >= part.x && view->x + view->w <= part.x + part.w &&
               view->h > part.h / 2 && view->y >= part.y && view->y + view->h <= part.y + part.h,
           "the second camera stands in the second part of the strip");
    const double x = view->x + view->w / 2, y = view->y + view->h - 2;
    live.frame.gradients.grad_feat = &none;
    push_motion(x, y);
    bool there = gives(EVENT_PIXEL);
    int64_t pixel = (int64_t)event.x, plane = (int64_t)frustum->feat_w * frustum->feat_h;
    tap_ok(there && pixel / plane == 1 &&
               llabs(pixel % frustum->feat_w - frustum->feat_w / 2) <= 1 &&
               pixel % plane / frustum->feat_w == frustum->feat_h - 1,
           "a pixel at the foot of the second camera: %lld", (long long)pixel);
    live.frame.gradients.grad_feat = NULL;
    push_motion(x + 1, y);
    tap_ok(gives(EVENT_HOVER), "without gradients it is none");
}

static void test_mouse(void) {
    static Spots spots;
    const WindowLayout at = layout();
    double x = at.bev.x + 0.25 * at.bev.w, y = at.bev.y + 0.75 * at.bev.h;
    tap_need(draw_spots(&spots), "a picture under the mouse");
    drain();
    double cell_x = 0.25 * (double)live.frame.nx, cell_y = 0.75 * (double)live.frame.ny;
    push_motion(x, y);
    tap_ok(gives(EVENT_HOVER) && fabs(event.x - cell_x) < 1 && fabs(event.y - cell_y) < 1,
           "hover: x forward is up, y left is left");
    push_motion(at.bev.x - 20, y);
    tap_ok(next() == WINDOW_EVENT && event.x < 0, "beside the grid there is no cell");
    test_pixel(&at, &spots.cameras[1]);
    push_click(x, y);
    tap_ok(gives(EVENT_CLICK) && fabs(event.x - cell_x) < 1, "a click pins");
    drain();
    push(wheel, SDL_MOUSEWHEEL, .y = 1, .preciseY = 1);
    tap_ok(gives(EVENT_WHEEL) && event.steps == 1, "the wheel zooms");
}

static void test_spots(void) {
    static Spots spots;
    bool seen[ACTION_COUNT] = {false};
    int wrong = 0, hints = 0;
    tap_need(draw_spots(&spots), "a picture");
    drain();
    for (int i = 0; i < spots.count; i++) {
        const Command *wanted = &spots.list[i].command;
        double x = spots.list[i].box.x + 4, y = spots.list[i].box.y + 4;
        push_click(x, y);
        wrong += !gives(EVENT_COMMAND) || event.command.action != wanted->action ||
                 strcmp(event.command.argument, wanted->argument) != 0;
        seen[wanted->action] = true;
        hints += wanted->step == 1;
    }
    tap_ok(!wrong && seen[ACTION_CAMERA] && seen[ACTION_KERNEL] && seen[ACTION_QUIT] && hints > 5,
           "cameras, kernels and %d hints can be clicked, %d places", hints, spots.count);
    drain();
}

static void test_tips(void) {
    static Spots spots;
    tap_need(draw_spots(&spots), "a picture");
    drain();
    int row = 0;
    while (row < spots.count - 1 && spots.list[row].command.action != ACTION_KERNEL)
        row++;
    const Box *box = &spots.list[row].box;
    push_motion(box->x + 5, box->y + 5);
    next();
    int64_t outline = pixels_unlike_snapshot();
    tap_ok(outline > 200 && outline < 8 * (box->w + box->h), "an outline of %lld pixels",
           (long long)outline);
    sdl_window_tip(window, &state, &live, 1000);
    sdl_window_tip(window, &state, &live, 1400);
    int64_t told = pixels_unlike_snapshot();
    tap_ok(told > 4 * outline, "then one: %lld pixels", (long long)told);
    draw_spots(&spots);
    tap_ok(pixels_unlike_snapshot() == told, "the next picture keeps it");
    sdl_window_tip_end(window, &state, &live);
    tap_ok(pixels_unlike_snapshot() == 0, "a key ends it");
    drain();
}

static int count_spots(const Spots *spots, Action action) {
    int count = 0;
    for (int i = 0; i < spots->count; i++)
        count += spots->list[i].command.action == action;
    return count;
}

/* The head of a panel, beside a chip of the same words. */
static bool has_head(const Spots *spots, const char *words) {
    int count = 0;
    for (int i = 0; i < spots->count; i++)
        count += !strcmp(spots->list[i].command.argument, words);
    return count >= 2;
}

static int figures_at(double w, double h, Spots *spots) {
    return paint(w, h, spots) ? spots->figure_count : -1;
}

static void test_size(void) {
    static Spots usual, wide, low;
    int before = figures_at(1280, 860, &usual), more = figures_at(2560, 1440, &wide);
    tap_ok(before > 0 && more > before &&
               count_spots(&wide, ACTION_COMMANDS) > count_spots(&usual, ACTION_COMMANDS),
           "a larger window has more: %d figures after %d", more, before);
    tap_ok(sdl_window_density(96) == 1 && sdl_window_density(72) == 1 &&
               sdl_window_density(144) == 1.5 && sdl_window_density(192) == 2 &&
               sdl_window_density(1000) == 3,
           "at 192 dots an inch text doubles");
    tap_ok(usual.list[0].box.h == wide.list[0].box.h, "of the same size");
    int few = figures_at(480, 320, &low);
    tap_ok(few > 0 && has_head(&low, "kernel "), "480 x 320 has its kernels");
    WindowLayout at;
    push_key(SDLK_EQUALS, KMOD_LCTRL);
    tap_ok(gives_key(KEYCODE_CTRL_PLUS) && keys_find(key, &event.command) &&
               event.command.action == ACTION_TEXT,
           "Ctrl and + is the text's size");
    use("text 200");
    window_layout(&state, &live, 640, 430, &at);
    double x = at.bev.x + 0.25 * at.bev.w, y = at.bev.y + 0.75 * at.bev.h;
    tap_ok(differing_pixels() == 0, "at 200 %% a snapshot has the window's pixels");
    drain();
    push_motion(2 * x, 2 * y);
    tap_ok(gives(EVENT_HOVER) && fabs(event.x - 0.25 * (double)live.frame.nx) < 1 &&
               fabs(event.y - 0.75 * (double)live.frame.ny) < 1,
           "the picture is twice as large, and the mouse follows");
    state.text_percent = 100;
    state.large = true;
    int large = figures_at(1280 / state_text_scale(&state), 860 / state_text_scale(&state), &low);
    tap_ok(large > 0 && large < before && has_head(&low, "kernel ") && has_head(&low, "dtype "),
           "for a projector the questions alone: %d figures instead of %d", large, before);
    tap_ok(differing_pixels() == 0, "in a snapshot, too");
    state.large = false;
    drain();
}

static void test_closing(void) {
    drain();
    push(window, SDL_WINDOWEVENT, .event = SDL_WINDOWEVENT_CLOSE);
    tap_ok(next() == WINDOW_CLOSED, "closing it is the caller's to do");
    sdl_window_fullscreen(window, true);
    tap_ok(differing_pixels() == 0, "full screen");
    sdl_window_close(window);
    tap_ok(sdl_window_open(&window, "again", &err), "it can be opened again");
    sdl_window_close(window);
}

TAP_SUITE(window) {
    Pipeline *pipeline = NULL;
    test_no_display();
    need(prepare(&pipeline) && sdl_window_open(&window, "test", &err), &err);
    test_pixels();
    test_given_up();
    test_words();
    test_faults();
    test_lidar(pipeline);
    test_keys();
    test_mouse();
    test_spots();
    test_tips();
    test_size();
    test_closing();
    ref_drop(picture);
    pipeline_close(pipeline);
    SDL_Quit();
}
