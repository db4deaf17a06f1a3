/* The dashboard backward: the gradients of a loss, and the pixels that it leads to. */
#include "src/view/term/cells.h"
#include "tests/support/live_fixture.h"
#include "tests/view/screen.h"
#include "tests/support/tap.h"

/* A made-up loss on an object: two cameras, of which one sees it. */
static void backward_frame(LiveFrame *frame, const BevKernel *kernel) {
    enum {
        CAMERAS = 2,
        BINS = 8,
        H = 8,
        W = 24,
        C = 2,
        PIXELS = CAMERAS * H * W,
        CELLS = 200 * 200
    };
    static float feat[PIXELS * C], grad_feat[PIXELS * C], grad_depth[PIXELS * BINS];
    static uint8_t inside[CELLS];
    static GridLoss loss = {.kind = LOSS_BOX, .inside = inside, .class = CLASS_CAR, .value = 12.5};
    static Features features = {.feat = feat};
    const int64_t at = H * W + 3 * W + 10; /* the strongest pixel: of the second camera */
    loss.count = 0;
    for (int64_t i = 0; i < PIXELS * C; i++)
        feat[i] = (float)(i % 97) / 97;
    for (int64_t pixel = at; pixel < at + 3; pixel++)
        grad_feat[pixel * C] = 3 - (float)(pixel - at);
    for (int bin = 2; bin < 6; bin++)
        grad_depth[(BINS + bin) * H * W + at - H * W] = bin == 5 ? -0.5f : 0.75f * (float)bin;
    for (int64_t cell = 120 * 200 + 110; cell < 120 * 200 + 118; cell++, loss.count++)
        inside[cell] = 1;
    frame->nx = frame->ny = 200;
    frame->shape = (BevShape){CAMERAS, BINS, H, W, C, 200, 200, 1};
    frame->features = &features;
    frame->gradients = (LiveGradients){&loss, grad_depth, grad_feat, ""};
    live.job.config.kernel = live.kernels[FIXTURE_KERNELS - 1].kernel = kernel;
}

static void begin_backward(int columns, int rows, const BevKernel *kernel) {
    begin(columns, rows);
    finish_log();
    state.job.config.kernel = kernel;
    state.job.loss = LOSS_BOX;
    live.job.loss = LOSS_BOX;
    live.memory.footprint.grads = 1.17e6;
    live.memory.own = (BevTraffic){
        .feat = 0.68e6, .depth = 0.4e6, .index = 1.7e6, .out_read = 4.2e6, .grad_write = 2e6};
    live.intervals.of_pixels = true;
    live.intervals.stats.longest_cell = 8 * 24 + 5 * 24 + 16;
    state.job.config.dtype = live.job.config.dtype = BEV_FP16;
    live.accuracy[BEV_FP16].output = "grad_feat";
    backward_frame(&live.frame, kernel);
}

/* The feature pixel that a click chooses is the white one in the next drawing. */
static void test_camera_place(void) {
    const Area at = spots.camera;
    int wrong = 0;
    for (int y = at.y; y < at.y + at.h; y++)
        for (int x = at.x; x < at.x + at.w; x++) {
            int64_t pixel = dash_pixel_at(&spots, x, y);
            state_step(&state, &(Event){.kind = EVENT_PIXEL, .x = (double)pixel});
            draw();
            wrong += cells_at(&cells, x, y)->style.ink != (INK_RGB | 0xffffff);
        }
    tap_ok(at.w > 20 && at.h > 3 && !wrong,
           "each of %d x %d signs of a camera is the feature pixel there", at.w, at.h);
    tap_ok(dash_pixel_at(&spots, at.x - 1, at.y) < 0 &&
               dash_pixel_at(&spots, at.x, at.y + at.h) < 0,
           "beside the camera there is none");
}

static void test_backward(void) {
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 50}};
    BevKernel kernel = fixture_kernels[FIXTURE_KERNELS - 1];
    kernel.direction = BEV_BACKWARD;
    kernel.dtypes = 1u << BEV_FP32 | 1u << BEV_FP16 | 1u << BEV_BF16;
    for (int i = 0; i < 3; i++) {
        char name[64];
        begin_backward(sizes[i][0], sizes[i][1], &kernel);
        draw();
        snprintf(name, sizeof name, "backward-%dx%d", sizes[i][0], sizes[i][1]);
        check_golden(name);
    }
    begin_backward(80, 24, &kernel);
    use("page bev");
    draw();
    check_golden("backward-80x24-bev");
    tap_ok(shows("3 pixels would have to change") && shows("camera 1 10, 3"),
           "which pixels would have to change, and the first of them");
    test_camera_place();
    begin_backward(160, 50, &kernel);
    live.model = fixture_model();
    use("chart mrc");
    draw();
    tap_ok(shows("the model has no accesses of this kernel"), "what cannot be shown says so");
    live.frame.gradients = (LiveGradients){.text = "point at a cell"};
    draw();
    tap_ok(shows("point at a cell"), "without a loss the panel says what to do");
    int overlaps = 0, cuts = 0;
    for (int columns = 80; columns < 210; columns += 7)
        for (int rows = 24; rows < 64; rows += 5) {
            begin_backward(columns, rows, &kernel);
            draw();
            overlaps += cells.collisions;
            if (cells.cuts)
                tap_note("%d x %d: %d texts cut", columns, rows, cells.cuts);
            cuts += cells.cuts;
        }
    tap_ok(overlaps == 0 && cuts == 0, "backward nothing overlaps (%d), nothing is cut (%d)",
           overlaps, cuts);
}

TAP_SUITE(dashboard_backward) {
    screen_open();
    test_backward();
    screen_close();
}
