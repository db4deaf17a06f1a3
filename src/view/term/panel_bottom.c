/* The last rows: what happened, and which keys there are. */
#include "src/view/term/panel.h"

#include <stdio.h>
#include <string.h>

/* Longer lines go on in the next row, broken at a blank. Returns the rows used. */
static int wrapped_text(Cells *cells, Area area, CellStyle style, const char *text) {
    int rows = 0;
    char line[LOG_LENGTH];
    while (*text && rows < area.h) {
        int length = 0, last_blank = 0;
        for (; text[length] && length < area.w; length++)
            if (text[length] == ' ')
                last_blank = length;
        if (!text[length])
            last_blank = length;
        bool last_row = rows == area.h - 1;
        if (last_row || last_blank == 0)
            snprintf(line, sizeof line, "%s", text);
        else
            snprintf(line, sizeof line, "%.*s", last_blank, text);
        cells_text(cells, area.x, area.y + rows++, area.w, style, line);
        if (last_row || last_blank == 0)
            break;
        text += last_blank + (text[last_blank] == ' ');
    }
    return rows;
}

/* With one row to say it in, words go that the units tell as well. */
static void shorten(char *text, int width) {
    static const char *const words[] = {"footprint ", "latency ", "max "};
    for (size_t i = 0; i < sizeof words / sizeof *words && cells_width(text) > width; i++) {
        char *at = strstr(text, words[i]);
        if (at)
            memmove(at, at + strlen(words[i]), strlen(at + strlen(words[i])) + 1);
    }
}

void log_draw(Cells *cells, Area area, const Show *show) {
    const Log *log = &show->state->log;
    for (int i = 0; i < log->count && area.h > 0; i++) {
        CellStyle style = i ? cell_style(INK_MUTED) : cell_style(INK_TEXT);
        char text[LOG_LENGTH];
        snprintf(text, sizeof text, "%s", log->lines[i].text);
        if (area.h == 1)
            shorten(text, area.w);
        int rows = wrapped_text(cells, area, style, text);
        area.y += rows;
        area.h -= rows;
    }
    if (!log->count && area.h > 0)
        cells_text(cells, area.x, area.y, area.w, cell_style(INK_MUTED),
                   "Every control says here what it did and what changed.");
}

/* Rows of keys[] by rank, as many as fit; help and quit are never left out. */
void key_bar_draw(Cells *cells, Area area, const Show *show) {
    int x = area.x;
    (void)show;
    for (int rank = 1; rank <= ACTION_COUNT; rank++)
        for (int i = 0; i < ACTION_COUNT; i++) {
            if (keys[i].rank != rank)
                continue;
            char key[32];
            keys_name(keys[i].keys[0], key, sizeof key);
            int key_w = cells_width(key), label_w = cells_width(keys[i].label);
            if (x + key_w + 3 + label_w > area.x + area.w)
                return;
            cells_put(cells, x, area.y, ' ', (CellStyle){.paper = INK_KEY});
            cells_text(cells, x + 1, area.y, key_w,
                       (CellStyle){.ink = INK_TITLE,
                                   .paper = INK_KEY,
                                   .attributes = CELL_BOLD | (cells->color ? 0 : CELL_REVERSE)},
                       key);
            cells_put(cells, x + 1 + key_w, area.y, ' ', (CellStyle){.paper = INK_KEY});
            cells_text(cells, x + key_w + 3, area.y, label_w, cell_style(INK_MUTED), keys[i].label);
            x += key_w + label_w + 5;
        }
}
