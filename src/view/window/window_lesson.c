/* The lesson in the window's side column, and the frame around what it points at. */
#include "src/view/window/window_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARAGRAPH_GAP = 7, CHOICE_INDENT = 12, FRAME = 3 };

static TextStyle style_of(const WindowView *view, const PaneRow *row) {
    const Theme *theme = view->pen->theme;
    TextStyle style = style_muted(view->pen);
    PaneKind kind = row->kind;
    style.size = SIZE_SMALL + 1;
    style.bold = kind == PANE_QUESTION || kind == PANE_INPUT || kind == PANE_RIGHT ||
                 kind == PANE_WRONG || row->marked;
    bool muted = kind == PANE_TERM || kind == PANE_SOURCE || kind == PANE_KEYS;
    if (!muted)
        style.color = theme->text;
    if (kind == PANE_WRONG || kind == PANE_NOTE)
        style.color = window_fault;
    if (kind == PANE_WHY || kind == PANE_RIGHT || kind == PANE_INPUT || row->marked)
        style.color = theme->accent;
    if (kind == PANE_CODE)
        style.size = SIZE_SMALL - 1;
    return style;
}

static bool belongs_to_row_before(const PaneText *body, int row) {
    PaneKind kind = body->rows[row].kind;
    return row > 0 &&
           (kind == PANE_CODE || (kind == PANE_CHOICE && body->rows[row - 1].kind == PANE_CHOICE));
}

/* The height of a row; draws it where `draw` says so. */
static double lesson_row(const WindowView *view, int row, double x, double y, double w, bool draw) {
    const PaneText *body = &view->state->lesson.body;
    const TextStyle style = style_of(view, &body->rows[row]);
    char micro[PANE_BYTES];
    const char *text = body->rows[row].kind == PANE_CODE ? pane_row(body, row) : micro;
    text_micro(pane_row(body, row), micro, sizeof micro);
    double indent = body->rows[row].kind == PANE_CHOICE ? CHOICE_INDENT : 0;
    double gap = row && !belongs_to_row_before(body, row) ? PARAGRAPH_GAP : 0;
    if (body->rows[row].kind == PANE_CODE) {
        if (draw)
            pen_text(view->pen, x, y + style.size + 1, w, &style, text);
        return style.size + 4;
    }
    if (draw)
        pen_paragraph(view->pen, x + indent, y + gap, w - indent, &style, text);
    return gap + pen_paragraph_height(view->pen, w - indent, &style, text);
}

/* The first row from which all rows to the last one have room. */
static int first_row(const WindowView *view, Box at) {
    const PaneText *body = &view->state->lesson.body;
    double height = 0;
    int row = body->count;
    while (row > 0) {
        height += lesson_row(view, row - 1, at.x, at.y, at.w, false);
        if (height > at.h)
            break;
        row--;
    }
    return row;
}

double window_draw_lesson(const WindowView *view, Box at) {
    const LessonPane *pane = &view->state->lesson;
    char note[96];
    double y = at.y + window_heading(view, at, pane->title);
    snprintf(note, sizeof note, "Lesson, %d of %d", pane->step, pane->steps);
    if (pane->asked)
        snprintf(note, sizeof note, "Lesson, %d of %d; %d of %d predictions right", pane->step,
                 pane->steps, pane->right, pane->asked);
    y += window_line(view, (Box){at.x, y, at.w, WINDOW_ROW}, note) + PARAGRAPH_GAP;
    Box room = {at.x, y, at.w, at.y + at.h - y};
    for (int row = first_row(view, room); row < pane->body.count; row++)
        y += lesson_row(view, row, at.x, y, at.w, true);
    return y - at.y;
}

void window_draw_pointer(const WindowView *view) {
    const WindowLayout *at = &view->layout;
    const LessonPane *pane = &view->state->lesson;
    Box box = pane->point == PANEL_BEV     ? at->bev
              : pane->point == PANEL_STRIP ? at->strip
              : pane->point == PANEL_LOG   ? at->log
                                           : (Box){.w = 0};
    if (pane->open && box.w > 0)
        pen_frame(view->pen, box, window_mark, 1, FRAME);
}
