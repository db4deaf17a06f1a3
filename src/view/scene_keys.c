/* The key bar and the help screen of the window, both from the table of keys. */
#include "src/view/scene_parts.h"

#include <math.h>
#include <stdio.h>

enum { HELP_ROW = 17, HELP_PAD = 18, KEY_W = 92, VALUE_W = 96, HELP_COLUMN_MIN = 460 };

static const KeyRow *next_rank(int rank) {
    const KeyRow *best = NULL;
    for (int i = 0; i < ACTION_COUNT; i++)
        if (keys[i].rank > rank && (!best || keys[i].rank < best->rank))
            best = &keys[i];
    return best;
}

void scene_draw_keys(const SceneView *view) {
    Box bar = view->layout.keys;
    Pen *pen = view->pen;
    TextStyle key = style_muted(pen), label = style_muted(pen);
    if (bar.w <= 0)
        return;
    key.bold = true;
    key.color = pen->theme->text;
    pen_fill(pen, bar, pen->theme->tint, 1);
    double x = SCENE_MARGIN, baseline = bar.y + bar.h / 2 + 4;
    const KeyRow *row = NULL;
    while ((row = next_rank(row ? row->rank : 0))) {
        char text[64];
        keys_label(row, text, sizeof text);
        double w = pen_text_width(pen, &key, text) + 5 + pen_text_width(pen, &label, row->label);
        if (x + w > bar.w - SCENE_MARGIN)
            return;
        x += pen_text(pen, x, baseline, w, &key, text) + 5;
        x += pen_text(pen, x, baseline, w, &label, row->label) + 16;
    }
}

/* Lines of the help screen, headings included; group -1 counts all. */
static int help_lines(void) {
    return ACTION_COUNT + GROUP_COUNT;
}

static void help_row(const SceneView *view, double x, double y, double w, const KeyRow *row) {
    char label[64], value[64];
    TextStyle key = style_muted(view->pen), text = style_muted(view->pen);
    key.bold = true;
    key.color = view->pen->theme->text;
    keys_label(row, label, sizeof label);
    state_value(view->state, row->action, value, sizeof value);
    pen_text(view->pen, x, y, KEY_W - 8, &key, label);
    pen_text(view->pen, x + KEY_W, y, w - KEY_W - VALUE_W - 8, &text, row->help);
    key.align = ALIGN_RIGHT;
    key.color = view->pen->theme->accent;
    if (value[0])
        pen_text(view->pen, x + w, y, VALUE_W, &key, value);
}

void scene_draw_help(const SceneView *view) {
    Pen *pen = view->pen;
    double w = view->layout.w - 2 * SCENE_MARGIN, h = view->layout.h - 2 * SCENE_MARGIN;
    Box box = {SCENE_MARGIN, SCENE_MARGIN, w, h};
    int columns = (int)fmax(1, fmin(3, floor((w - 2 * HELP_PAD) / HELP_COLUMN_MIN)));
    int per_column = (help_lines() + columns - 1) / columns + 1;
    double column_w = (w - 2 * HELP_PAD) / columns;
    double row_h = fmin(HELP_ROW, (h - 2 * HELP_PAD) / per_column);
    pen_fill(pen, box, pen->theme->page, 0.95);
    pen_frame(pen, box, pen->theme->rule, 1, 1);
    TextStyle title = style_muted(pen);
    title.bold = true;
    title.color = pen->theme->text;
    int at = 0;
    for (int group = 0; group < GROUP_COUNT; group++)
        for (int i = -1; i < ACTION_COUNT; i++) {
            if (i >= 0 && (int)keys[i].group != group)
                continue;
            double x = box.x + HELP_PAD + at / per_column * column_w;
            double y = box.y + HELP_PAD + (at % per_column + 1) * row_h;
            if (i < 0)
                pen_text(pen, x, y, column_w, &title, key_groups[group]);
            else
                help_row(view, x, y, column_w - HELP_PAD, &keys[i]);
            at++;
        }
}
