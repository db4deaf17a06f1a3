/* The charts of the memory model in any box: every text inside, none on another; and in the window,
 * beside the BEV or in its place. */
#include "src/view/chart/chart.h"
#include "src/view/draw/page.h"
#include "src/view/window/window_image.h"
#include "tests/live_fixture.h"
#include "tests/tap.h"

/* ---- boxes ----------------------------------------------------------------------------------- */

typedef struct {
    ChartSpec chart;
    Box box;
} Boxed;

static void draw_boxed(Pen *pen, const void *context) {
    const Boxed *boxed = context;
    chart_draw(pen, boxed->box, &boxed->chart);
}

static ChartSpec spec_of(Chart chart, bool brief) {
    ChartSpec spec = {.chart = chart,
                      .scene = "canonical",
                      .model = fixture_model(),
                      .asked = 1,
                      .selected = "v4",
                      .brief = brief,
                      .theme = THEME_DARK};
    for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
        spec.rel_l2[dtype] = dtype ? 3e-4 : NAN;
    return spec;
}

static bool apart(const FigureText *a, const FigureText *b) {
    return a->x + a->w <= b->x || b->x + b->w <= a->x || a->y + a->h <= b->y || b->y + b->h <= a->y;
}

static bool within(const FigureText *text, Box box) {
    return text->x >= box.x - 0.5 && text->y >= box.y - 0.5 &&
           text->x + text->w <= box.x + box.w + 0.5 && text->y + text->h <= box.y + box.h + 0.5;
}

/* Counts texts outside the box and pairs that overlap. */
static int faults(const Boxed *boxed, int *texts) {
    const PageSpec page = {boxed->box.w + 60, boxed->box.h + 60, 1, THEME_DARK, draw_boxed, boxed};
    FigureLayout layout;
    Err err;
    int found = 0;
    if (!page_layout(&page, &layout, &err))
        return 1;
    *texts += (int)layout.count;
    for (size_t i = 0; i < layout.count; i++) {
        const FigureText *a = &layout.texts[i];
        bool bad = !within(a, boxed->box);
        for (size_t j = 0; j < i; j++)
            bad = bad || !apart(a, &layout.texts[j]);
        if (bad && !found++)
            tap_note("%s in %.0f x %.0f: '%s'", chart_names[boxed->chart.chart], boxed->box.w,
                     boxed->box.h, a->text);
    }
    figure_layout_free(&layout);
    return found;
}

static void test_boxes(Chart chart) {
    int found = 0, texts = 0, boxes = 0;
    for (int w = 320; w <= 1100; w += 60)
        for (int h = 230; h <= 900; h += 67, boxes++) {
            Boxed boxed = {spec_of(chart, true), {30, 30, w, h}};
            boxed.chart.low = h < 480;
            found += faults(&boxed, &texts);
        }
    tap_ok(!found && texts > 20 * boxes, "%s in %d boxes: %d texts, all inside, none on another",
           chart_names[chart], boxes, texts);
}

/* What `bevscope plot` writes: wordier, on a page of its own. */
static void test_pages(void) {
    int drawn = 0;
    for (int chart = 1; chart < CHART_COUNT; chart++) {
        ChartSpec spec = spec_of((Chart)chart, false);
        uint8_t *svg = NULL;
        size_t length;
        Err err;
        drawn += chart_svg(&spec, &svg, &length, &err) && length > 3000;
        free(svg);
    }
    tap_ok(drawn == CHART_COUNT - 1, "each is a page, too");
}

/* ---- the window ------------------------------------------------------------------------------ */

static State state;
static LiveData live;

static Image window_of(int w, int h) {
    Image image = {0};
    Err err;
    if (!window_image(w, h, 1, &state, &live, NULL, &image, &err))
        tap_note("%s", err.what);
    return image;
}

static void use(const char *line) {
    Event event = {.kind = EVENT_COMMAND};
    char why[200];
    if (!keys_parse(line, &event.command, why, sizeof why))
        tap_note("%s", why);
    state_step(&state, &event);
}

/* Pixels that differ in the rectangle; the images are of one size. */
static int differing(const Image *a, const Image *b, int x0, int y0, int x1, int y1) {
    int count = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            Rgb p = image_get(a, x, y), q = image_get(b, x, y);
            count += p.r != q.r || p.g != q.g || p.b != q.b;
        }
    return count;
}

static void test_beside(void) {
    enum { W = 1280, H = 860 };
    Image before = window_of(W, H);
    use("chart mrc");
    Image with = window_of(W, H), again = window_of(W, H);
    WindowLayout layout;
    window_layout(&state, &live, W, H, &layout);
    int side = (int)layout.side.x, log = (int)layout.log.y;
    tap_ok(differing(&before, &with, side, 0, W, log) > 5000, "a chart fills the side");
    tap_ok(!differing(&before, &with, 0, 0, side - 1, log), "and leaves the rest alone");
    tap_ok(!differing(&with, &again, 0, 0, W, H), "the same one every time");
    use("l2 64");
    Image larger = window_of(W, H);
    tap_ok(differing(&with, &larger, side, 0, W, log) > 100, "another L2 moves its mark");
    use("l2 0");
    state.pinned = true;
    Image pinned = window_of(W, H);
    tap_ok(differing(&with, &pinned, side, 0, W, log) > 5000, "a pinned cell takes its place");
    state.pinned = false;
    live.model = NULL;
    Image nothing = window_of(W, H);
    tap_ok(differing(&with, &nothing, side, 0, W, log) > 1000, "before the first walk it says so");
    live.model = fixture_model();
    use("chart none");
    Image after = window_of(W, H);
    tap_ok(!differing(&before, &after, side, 0, W, log), "and goes as it came");
    Image *all[] = {&before, &with, &again, &larger, &pinned, &nothing, &after};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        image_free(all[i]);
}

static int pixels_of(const Image *image, Rgb color, int x0) {
    int count = 0;
    for (int y = 0; y < image->h; y++)
        for (int x = x0; x < image->w; x++) {
            Rgb p = image_get(image, x, y);
            count += p.r == color.r && p.g == color.g && p.b == color.b;
        }
    return count;
}

/* The bars of the ladder: the baseline's has a colour of its own. */
static void test_ladder(void) {
    enum { W = 1280, H = 860 };
    const Rgb baseline_color = {214, 140, 60};
    WindowLayout layout;
    window_layout(&state, &live, W, H, &layout);
    int side = (int)layout.side.x;
    LiveKernel *baseline = (LiveKernel *)live_kernel(&live, live.job.baseline.kernel);
    LiveKernel kept = *baseline;
    baseline->history_count = 0;
    Image fast = window_of(W, H);
    baseline->median_us.value *= 1.5;
    Image slow = window_of(W, H);
    baseline->median_us.source = SOURCE_UNKNOWN;
    Image unknown = window_of(W, H);
    int a = pixels_of(&fast, baseline_color, side), b = pixels_of(&slow, baseline_color, side);
    tap_ok(a > 500 && b > a * 13 / 10, "a kernel has a bar as long as it takes (%d, %d)", a, b);
    tap_ok(!pixels_of(&unknown, baseline_color, side), "and none before it was timed");
    *baseline = kept;
    Image *all[] = {&fast, &slow, &unknown};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        image_free(all[i]);
}

static void test_small_windows(void) {
    static const int sizes[][2] = {{900, 600}, {700, 520}, {480, 360}, {320, 240}, {64, 64}};
    int drawn = 0, changed = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int w = sizes[i][0], h = sizes[i][1];
        use("chart none");
        Image without = window_of(w, h);
        use("chart dtype");
        Image with = window_of(w, h);
        drawn += with.rgba != NULL;
        changed +=
            with.rgba && without.rgba && differing(&without, &with, 0, 0, w, h) > w * h / 100;
        image_free(&without);
        image_free(&with);
    }
    tap_ok(drawn == 5 && changed >= 4, "small windows show it in the BEV's place (%d of 5)",
           changed);
}

int main(void) {
    for (int chart = 1; chart < CHART_COUNT; chart++)
        test_boxes((Chart)chart);
    test_pages();
    state = fixture_state(200, 60);
    live = fixture_live(&state);
    live.model = fixture_model();
    test_ladder();
    test_beside();
    test_small_windows();
    return tap_done();
}
