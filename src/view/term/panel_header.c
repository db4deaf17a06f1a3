/* The two lines at the top: what is shown, and on what machine. */
#include "src/view/term/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A piece of a line; later pieces are left out when the line is short. */
typedef struct {
    char text[112];
    CellStyle style;
} Piece;

/* Whole pieces only, `gap` blanks apart. Returns the columns used. */
static int pieces_draw(Cells *cells, int x, int y, int w, const Piece *pieces, int count, int gap) {
    int used = 0;
    for (int i = 0; i < count; i++) {
        int width = cells_width(pieces[i].text);
        int indent = used && width ? gap : 0;
        if (used + indent + width > w)
            break;
        cells_text(cells, x + used + indent, y, width, pieces[i].style, pieces[i].text);
        used += indent + width;
    }
    return used;
}

static int pieces_width(const Piece *pieces, int count, int gap) {
    int width = 0;
    for (int i = 0; i < count; i++)
        width += cells_width(pieces[i].text) + (i ? gap : 0);
    return width;
}

static void draw_first(Cells *cells, Area area, const Show *show) {
    const State *state = show->state;
    Piece right[3] = {{.style = cell_style(INK_TEXT)},
                      {.style = cell_style(INK_TEXT)},
                      {.style = cell_style(INK_MUTED)}};
    snprintf(right[0].text, sizeof right[0].text, "%s t %.2f s",
             state->playing ? "\u25b6" : "\u2016", show->live->job.time_s);
    snprintf(right[1].text, sizeof right[1].text, "%g\u00d7", state->speed);
    if (show->live->fps.source)
        snprintf(right[2].text, sizeof right[2].text, "%.0f fps", show->live->fps.value);
    else
        snprintf(right[2].text, sizeof right[2].text, "n/a fps");
    int shown = 3;
    while (shown > 1 && pieces_width(right, shown, 2) > area.w / 3)
        shown--;
    int right_w = pieces_width(right, shown, 2);
    Piece left[4] = {{.text = "bevscope", .style = cell_bold(INK_TITLE)},
                     {.style = cell_bold(INK_ACCENT)},
                     {.style = cell_style(INK_TEXT)},
                     {.style = cell_style(INK_MUTED)}};
    kernel_config_label(&state->job.config, left[1].text, sizeof left[1].text);
    snprintf(left[2].text, sizeof left[2].text, "%s", state->menu.scenes.names[state->job.scene]);
    if (show->live->stand_in)
        snprintf(left[3].text, sizeof left[3].text, "%s by %s",
                 show->live->stand_in == state->job.config.kernel ? "baseline" : "picture",
                 show->live->stand_in->title);
    else
        snprintf(left[3].text, sizeof left[3].text, "%s", show->live->busy ? "working" : "");
    pieces_draw(cells, area.x, area.y, area.w - right_w - 2, left, 4, 2);
    if (right_w < area.w)
        pieces_draw(cells, area.x + area.w - right_w, area.y, right_w, right, shown, 2);
}

static void reading_piece(Piece *piece, const char *format, const Reading *reading) {
    if (reading->source == SOURCE_UNKNOWN)
        return;
    snprintf(piece->text, sizeof piece->text, format, reading->value);
}

/* Unknown figures of a GPU say so; a CPU has none of them to begin with. */
static void draw_second(Cells *cells, Area area, const LiveDevice *device) {
    enum { PIECES = 9 };
    Piece pieces[PIECES];
    for (int i = 0; i < PIECES; i++)
        pieces[i] = (Piece){.style = cell_style(INK_MUTED)};
    snprintf(pieces[0].text, sizeof pieces[0].text, "%s", device->name[0] ? device->name : "n/a");
    bool gpu = device->where == BEV_CUDA;
    if (!gpu) {
        if (device->threads)
            snprintf(pieces[1].text, sizeof pieces[1].text, "%d threads", device->threads);
        pieces_draw(cells, area.x, area.y, area.w, pieces, 2, 2);
        return;
    }
    snprintf(pieces[1].text, sizeof pieces[1].text, "clock n/a");
    snprintf(pieces[2].text, sizeof pieces[2].text, "temperature n/a");
    snprintf(pieces[3].text, sizeof pieces[3].text, "power n/a");
    reading_piece(&pieces[1], "%.0f MHz", &device->clock_mhz);
    reading_piece(&pieces[2], "%.0f\u00b0C", &device->temperature_c);
    reading_piece(&pieces[3], "%.0f W", &device->power_w);
    if (device->power_w.source && device->power_limit_w.source)
        snprintf(pieces[3].text, sizeof pieces[3].text, "%.0f of %.0f W", device->power_w.value,
                 device->power_limit_w.value);
    bool throttled = device->throttle[0] && strcmp(device->throttle, "none") != 0;
    snprintf(pieces[4].text, sizeof pieces[4].text, "throttle %s",
             device->throttle[0] ? device->throttle : "n/a");
    pieces[4].style = throttled ? cell_bold(INK_WARN) : cell_style(INK_MUTED);
    snprintf(pieces[5].text, sizeof pieces[5].text, "driver %s",
             device->driver[0] ? device->driver : "n/a");
    snprintf(pieces[6].text, sizeof pieces[6].text, "memory clock n/a");
    snprintf(pieces[7].text, sizeof pieces[7].text, "memory n/a");
    reading_piece(&pieces[6], "memory clock %.0f MHz", &device->memory_clock_mhz);
    const Reading gib =
        reading(device->memory_bytes.value / (1 << 30), device->memory_bytes.source);
    reading_piece(&pieces[7], "memory %.0f GiB", &gib);
    snprintf(pieces[8].text, sizeof pieces[8].text, "CUDA %s",
             device->cuda[0] ? device->cuda : "n/a");
    pieces_draw(cells, area.x, area.y, area.w, pieces, PIECES, 2);
}

int header_draw(Cells *cells, Area area, const Show *show) {
    draw_first(cells, area, show);
    area.y++;
    if (show->live->error_text[0])
        cells_text(cells, area.x, area.y, area.w, cell_bold(INK_BAD), show->live->error_text);
    else
        draw_second(cells, area, &show->live->device);
    return 2;
}
