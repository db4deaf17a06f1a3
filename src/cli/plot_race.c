/* SPDX-License-Identifier: MIT */
/* bevscope plot race and plot straggler: the pages of the display as pictures. */
#include "src/app/app.h"
#include "src/base/data.h"
#include "src/cli/model.h"
#include "src/view/bev/picture.h"
#include "src/view/panel/pen_sheet.h"
#include "src/view/panel/race.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_W = 1200, PAGE_H = 1080, STRAGGLER_H = 720, PAD = 32, ROW = 22 };

typedef struct {
    const RaceView *view;
    double h;
    bool straggler;
} RaceSheet;

static void draw_sheet(Pen *pen, const void *context) {
    const RaceSheet *page = context;
    Box box = {PAD, PAD, PAGE_W - 2 * PAD, page->h - 2 * PAD};
    Sheet sheet = pen_sheet(pen, box, ROW, NULL);
    Area area = {0, 0, sheet.columns, sheet.rows};
    (page->straggler ? straggler_strips_draw : race_moments_draw)(&sheet, area, page->view);
}

static bool write_page(const Options *options, const RaceView *view, bool straggler, Err *err) {
    const RaceSheet page = {view, straggler ? STRAGGLER_H : PAGE_H, straggler};
    PictureFile file;
    uint8_t *bytes = NULL;
    size_t length;
    if (!output_picture(options, options->output, "plot", &file, err))
        return false;
    double scale = file.w > 0 ? file.w * file.scale / PAGE_W : 1;
    const FigureTheme theme = (FigureTheme)choices_find(CHOICE_THEME, options->theme);
    const PageSpec spec = {PAGE_W, page.h, scale, theme, draw_sheet, &page, "The race"};
    bool ok = page_file(&spec, file.format, &bytes, &length, err) &&
              data_write(options->output, bytes, length, err);
    free(bytes);
    return ok;
}

/* Draws the page of a display that runs a script: this display has the picture and the schedules.
 */
bool plot_race(const PlotRequest *request, Err *err) {
    const Options *options = request->options;
    const EngineOptions engine = {
        .where = 1u << BEV_CPU, .script = true, .make_picture = picture_make};
    AppOptions words = {.scene = options->arguments[1], .paused = true, .time_s = options->time_s};
    app_word(&words, "gpu", request->chosen->gpus[0].name);
    app_word(&words, "dtype", options->dtype);
    app_word(&words, "align", options->align);
    app_word(&words, "race", "on");
    App *app = calloc(1, sizeof *app);
    bool ok = app ? app_open(app, &words, &engine, err) : err_no_memory(err, "race", "");
    const LiveData *live = ok ? app_live(app) : NULL;
    if (ok && (!live->race || live->race->count < 2))
        ok = err_set(err, ERR_USAGE, "race", "choose FP16 or FP32, and --align nearest",
                     "the kernels of the race do not take this configuration");
    if (ok) {
        const RaceView view = {live->race, &app_picture(app)->bev.image, request->model->label};
        ok = write_page(options, &view, !strcmp(options->arguments[0], "straggler"), err);
    }
    if (app)
        app_close(app, 0);
    free(app);
    return ok;
}
