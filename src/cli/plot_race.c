/* bevscope plot race and plot straggler: the pages of the display as pictures. */
#include "src/app/app.h"
#include "src/base/data.h"
#include "src/cli/model.h"
#include "src/cli/output_chart.h"
#include "src/view/bev/picture.h"
#include "src/view/panel/pen_sheet.h"
#include "src/view/panel/race.h"

#include <stdlib.h>

enum { PAGE_W = 1200, PAGE_H = 1080, STRAGGLER_H = 720, PAD = 32, ROW = 22 };

static bool write_page(const Options *options, const RaceView *view, bool straggler, Err *err) {
    int h = straggler ? STRAGGLER_H : PAGE_H;
    Image image;
    Pen pen;
    uint8_t *bytes = NULL;
    size_t length;
    cairo_t *cr = pen_begin(&image, PAGE_W, h, err);
    if (!cr)
        return false;
    pen_init(&pen, cr, &themes[choices_find(CHOICE_THEME, options->theme)], NULL);
    pen_fill(&pen, (Box){0, 0, PAGE_W, h}, pen.theme->page, 1);
    Sheet sheet = pen_sheet(&pen, (Box){PAD, PAD, PAGE_W - 2 * PAD, h - 2 * PAD}, ROW, NULL);
    Area area = {0, 0, sheet.columns, sheet.rows};
    (straggler ? straggler_strips_draw : race_moments_draw)(&sheet, area, view);
    if (!pen_finish(cr, pen_status(cairo_status(cr), "the race", err), &image))
        return false;
    bool ok =
        image_png(&image, &bytes, &length, err) && data_write(options->output, bytes, length, err);
    free(bytes);
    image_free(&image);
    return ok;
}

/* The page of a display that runs a script: it has the picture and the schedules. */
static bool draw_page(const PlotRequest *request, bool straggler, Err *err) {
    const Options *options = request->options;
    const EngineOptions engine = {
        .where = 1u << BEV_CPU, .script = true, .make_picture = picture_make};
    AppOptions words = {.scene = options->arguments[1], .paused = true, .time_s = options->time_s};
    app_word(&words, "gpu", request->chosen->gpus[0].name);
    app_word(&words, "dtype", options->dtype);
    app_word(&words, "align", options->align);
    app_word(&words, "race", "on");
    if (output_is_svg(options->output))
        return err_set(err, ERR_USAGE, "--output", "name a file .png",
                       "the grids of this picture are pixels, not an SVG");
    App *app = calloc(1, sizeof *app);
    bool ok = app ? app_open(app, &words, &engine, err)
                  : err_set(err, ERR_FAILED, "race", "", "out of memory");
    const LiveData *live = ok ? app_live(app) : NULL;
    if (ok && (!live->race || live->race->count < 2))
        ok = err_set(err, ERR_USAGE, "race", "choose FP16 or FP32, and --align nearest",
                     "the kernels of the race do not take this configuration");
    if (ok) {
        const RaceView view = {live->race, &app_picture(app)->bev.image, request->model->label};
        ok = write_page(options, &view, straggler, err);
    }
    if (app)
        app_close(app, 0);
    free(app);
    return ok;
}

bool plot_race(const PlotRequest *request, Err *err) {
    return draw_page(request, false, err);
}

bool plot_straggler(const PlotRequest *request, Err *err) {
    return draw_page(request, true, err);
}
