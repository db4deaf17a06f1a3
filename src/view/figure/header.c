/* Title and subtitle. */
#include "src/view/figure/figure_internal.h"

#include <math.h>
#include <stdio.h>

static const char *known(const char *text) {
    return text ? text : "n/a";
}

static void describe(const FigureSpec *spec, char *text, size_t size) {
    const FigureSelection *a = &spec->selections[0], *b = &spec->selections[1];
    const char *view = views[spec->view].title;
    char channel[32] = "";
    if (spec->view == VIEW_CHANNEL)
        snprintf(channel, sizeof channel, " %lld", (long long)spec->channel);
    if (spec->selection_count == 2)
        snprintf(text, size, "%s%s: A %s (%s, %s), B %s (%s, %s)", view, channel, known(a->kernel),
                 known(a->dtype), known(a->align), known(b->kernel), known(b->dtype),
                 known(b->align));
    else
        snprintf(text, size, "%s%s of the bird\u2019s-eye-view grid, pooled by %s (%s, %s)", view,
                 channel, known(a->kernel), known(a->dtype), known(a->align));
}

double header_block(Pen *pen, const Figure *figure, double x, double top, double w) {
    const FigureSpec *spec = figure->spec;
    TextStyle title = {.size = SIZE_TITLE, .bold = true, .color = pen->theme->text};
    TextStyle subtitle = {.size = SIZE_HEADING, .color = pen->theme->muted};
    char text[256];
    describe(spec, text, sizeof text);
    pen_text(pen, x, top + SIZE_TITLE, w, &title, known(spec->title));
    double second = top + SIZE_TITLE + 10 + SIZE_HEADING + 4;
    pen_text(pen, x, second, w, &subtitle, spec->subtitle ? spec->subtitle : text);
    return second + 6 - top;
}
