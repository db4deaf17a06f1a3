/* What the cameras see, in the order of the rig. */
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdio.h>

enum { PICTURE_GAP = 12, NAME_SPACE = 20, MIN_PICTURE_W = 300, MAX_PICTURE_H = 240 };

/* The fewest rows in which a picture is still large enough to recognise a car. */
static int columns_for(int64_t cameras, double w) {
    for (int64_t rows = 1; rows < cameras; rows++) {
        int64_t columns = (cameras + rows - 1) / rows;
        if ((w - PICTURE_GAP * (double)(columns - 1)) / (double)columns >= MIN_PICTURE_W)
            return (int)columns;
    }
    return 1;
}

static bool camera_image(const CameraViews *cameras, int64_t camera, Image *image, Err *err) {
    if (!image_init(image, cameras->w, cameras->h, err))
        return false;
    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++) {
            const float *p =
                cameras->color + 3 * ((camera * cameras->h + y) * cameras->w + (int64_t)x);
            bool bad = !isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]);
            image_set(image, x, y, bad ? panel_dark.bad : rgb_from_linear(p[0], p[1], p[2]));
        }
    return true;
}

static void draw_camera(Pen *pen, const Figure *figure, int64_t camera, Box box) {
    const FigureSpec *spec = figure->spec;
    char number[32];
    snprintf(number, sizeof number, "camera %lld", (long long)camera);
    bool named = spec->rig && camera < spec->rig->camera_count;
    TextStyle style = style_muted(pen);
    pen_text(pen, box.x, box.y + box.h + 5 + 0.8 * SIZE_SMALL, box.w, &style,
             named ? spec->rig->cameras[camera].name : number);
    Image image;
    if (pen->measuring || pen->failed)
        return;
    pen->failed = !camera_image(spec->cameras, camera, &image, &pen->err);
    pen_picture(pen, box, &image);
    image_free(&image);
}

/* Width over height of the network's input, which the views cover whatever their resolution. */
static double aspect_of(const FigureSpec *spec) {
    if (spec->rig)
        return (double)spec->rig->frustum.input_w / spec->rig->frustum.input_h;
    return (double)spec->cameras->w / (double)spec->cameras->h;
}

double strip_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const CameraViews *cameras = figure->spec->cameras;
    if (!cameras || !cameras->cameras)
        return 0;
    int columns = columns_for(cameras->cameras, w);
    int rows = (int)((cameras->cameras + columns - 1) / columns);
    double aspect = aspect_of(figure->spec);
    double picture_w = floor((w - PICTURE_GAP * (columns - 1)) / columns);
    picture_w = fmax(fmin(picture_w, round(MAX_PICTURE_H * aspect)), 1);
    double picture_h = fmax(round(picture_w / aspect), 1);
    double row_h = picture_h + NAME_SPACE + PICTURE_GAP / 2.0;
    for (int64_t camera = 0; camera < cameras->cameras; camera++)
        draw_camera(pen, figure, camera,
                    (Box){x + (double)(camera % columns) * (picture_w + PICTURE_GAP),
                          top + (double)(camera / columns) * row_h, picture_w, picture_h});
    return rows * row_h;
}
