/* The parts of the screen that never fold away: the header (what is shown, on what machine), the
 * log, the key bar, and the help screen in the place of the panels. */
#include "src/view/panel/panel.h"

#include "kernels/defects.h"

#include "src/state/glossary.h"
#include "src/state/help.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- header --------------------------------------------------------------------------------- */

/* A piece of a line; the last pieces are left out when the line is short. */
typedef struct {
    char text[112];
    CellStyle style;
} Piece;

/* Whole pieces only, `gap` blanks apart. Returns the columns used. */
static int pieces_draw(Sheet *sheet, int x, int y, int w, const Piece *pieces, int count, int gap) {
    int used = 0;
    for (int i = 0; i < count; i++) {
        int width = sheet_width(sheet, pieces[i].text);
        int indent = used && width ? gap : 0;
        if (used + indent + width > w)
            break;
        sheet_text(sheet, x + used + indent, y, width, pieces[i].style, pieces[i].text);
        used += indent + width;
    }
    return used;
}

static int pieces_width(const Sheet *sheet, const Piece *pieces, int count, int gap) {
    int width = 0;
    for (int i = 0; i < count; i++)
        width += sheet_width(sheet, pieces[i].text) + (i ? gap : 0);
    return width;
}

static void draw_first(Sheet *sheet, Area area, const PanelData *data) {
    const State *state = data->state;
    Piece right[3] = {{.style = cell_style(INK_TEXT)},
                      {.style = cell_style(INK_TEXT)},
                      {.style = cell_style(INK_MUTED)}};
    char time[32];
    live_time_text(data->live, &state->scene, time, sizeof time);
    snprintf(right[0].text, sizeof right[0].text, "%s %s", state->playing ? "\u25b6" : "\u2016",
             time);
    snprintf(right[1].text, sizeof right[1].text, "%g\u00d7", state->speed);
    snprintf(right[2].text, sizeof right[2].text, data->live->fps.source ? "%.0f fps" : "n/a fps",
             data->live->fps.value);
    int shown = 3;
    while (shown > 1 && pieces_width(sheet, right, shown, 2) > area.w / 3)
        shown--;
    int right_w = pieces_width(sheet, right, shown, 2);
    Piece left[4] = {{.text = "bevscope", .style = cell_bold(INK_TITLE)},
                     {.style = cell_bold(INK_ACCENT)},
                     {.style = cell_style(INK_TEXT)},
                     {.style = cell_style(INK_MUTED)}};
    kernel_config_label(&state->job.config, left[1].text, sizeof left[1].text);
    if (defect_of(state->job.config.kernel))
        left[1].style = cell_bold(INK_BAD);
    snprintf(left[2].text, sizeof left[2].text, "%s", state->menu.scenes.names[state->job.scene]);
    if (data->live->stand_in)
        snprintf(left[3].text, sizeof left[3].text, "%s by %s",
                 data->live->stand_in == state->job.config.kernel ? "baseline" : "picture",
                 data->live->stand_in->title);
    else
        snprintf(left[3].text, sizeof left[3].text, "%s", data->live->busy ? "working" : "");
    pieces_draw(sheet, area.x, area.y, area.w - right_w - 2, left, 4, 2);
    if (right_w < area.w)
        pieces_draw(sheet, area.x + area.w - right_w, area.y, right_w, right, shown, 2);
}

/* The reading in that format, or `unknown`. */
static Piece reading_piece(const Reading *reading, const char *format, const char *unknown) {
    Piece piece = {.style = cell_style(INK_MUTED)};
    snprintf(piece.text, sizeof piece.text, reading->source ? format : unknown, reading->value);
    return piece;
}

static Piece text_piece(const char *label, const char *text) {
    Piece piece = {.style = cell_style(INK_MUTED)};
    snprintf(piece.text, sizeof piece.text, "%s%s", label, text[0] ? text : "n/a");
    return piece;
}

/* Figures of a GPU that are unknown say so; a CPU has none of these figures. */
static void draw_second(Sheet *sheet, Area area, const LiveDevice *device) {
    const Reading gib =
        reading(device->memory_bytes.value / (1 << 30), device->memory_bytes.source);
    Piece pieces[] = {
        text_piece("", device->name),
        reading_piece(&device->clock_mhz, "%.0f MHz", "clock n/a"),
        reading_piece(&device->temperature_c, "%.0f\u00b0C", "temperature n/a"),
        reading_piece(&device->power_w, "%.0f W", "power n/a"),
        text_piece("throttle ", device->throttle),
        text_piece("driver ", device->driver),
        reading_piece(&device->memory_clock_mhz, "memory clock %.0f MHz", "memory clock n/a"),
        reading_piece(&gib, "memory %.0f GiB", "memory n/a"),
        text_piece("CUDA ", device->cuda),
    };
    int count = sizeof pieces / sizeof *pieces;
    if (device->where != BEV_CUDA) {
        count = device->threads ? 2 : 1;
        snprintf(pieces[1].text, sizeof pieces[1].text, "%d threads", device->threads);
    }
    if (device->power_w.source && device->power_limit_w.source)
        snprintf(pieces[3].text, sizeof pieces[3].text, "%.0f of %.0f W", device->power_w.value,
                 device->power_limit_w.value);
    if (device->throttle[0] && strcmp(device->throttle, "none") != 0)
        pieces[4].style = cell_bold(INK_WARN);
    pieces_draw(sheet, area.x, area.y, area.w, pieces, count, 2);
}

int header_draw(Sheet *sheet, Area area, const PanelData *data) {
    draw_first(sheet, area, data);
    area.y++;
    if (data->live->error_text[0])
        sheet_line(sheet, area, cell_bold(INK_BAD), data->live->error_text);
    else
        draw_second(sheet, area, &data->live->device);
    return 2;
}

/* ---- log and key bar ------------------------------------------------------------------------ */

/* Takes out words that the units tell as well, until the text fits into one row. */
static void shorten(const Sheet *sheet, char *text, int width) {
    static const char *const words[] = {"footprint ", "latency ", "max "};
    for (size_t i = 0; i < sizeof words / sizeof *words && sheet_width(sheet, text) > width; i++) {
        char *at = strstr(text, words[i]);
        if (at)
            memmove(at, at + strlen(words[i]), strlen(at + strlen(words[i])) + 1);
    }
}

void log_draw(Sheet *sheet, Area area, const PanelData *data) {
    const Log *log = &data->state->log;
    const char *waiting = data->state->waiting;
    if (waiting[0] && area.h > 0) {
        sheet_line(sheet, (Area){area.x, area.y, area.w, 1}, cell_style(INK_ACCENT), waiting);
        area.y++;
        area.h--;
    }
    for (int i = 0; i < log->count && area.h > 0; i++) {
        char text[LOG_LENGTH];
        text_micro(log->lines[i].text, text, sizeof text);
        if (area.h == 1)
            shorten(sheet, text, area.w);
        int rows = sheet_paragraph(sheet, area, i ? INK_MUTED : INK_TEXT, text);
        area.y += rows;
        area.h -= rows;
    }
    if (!log->count && area.h > 0)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   "Every control says here what it did and what changed.");
}

/* The keys by rank, as many as fit; help and quit have low ranks and are never left out. */
void key_bar_draw(Sheet *sheet, Area area) {
    int x = area.x;
    unsigned attributes = CELL_BOLD | (sheet->color ? 0 : CELL_REVERSE);
    for (const KeyRow *row = keys_next(NULL); row; row = keys_next(row)) {
        char key[32];
        keys_name(row->keys[0], key, sizeof key);
        int key_w = sheet_width(sheet, key), label_w = sheet_width(sheet, row->label);
        if (x + key_w + 3 + label_w > area.x + area.w)
            return;
        sheet_sign(sheet, x, area.y, ' ', (CellStyle){.paper = INK_KEY});
        sheet_text(sheet, x + 1, area.y, key_w, (CellStyle){INK_TITLE, INK_KEY, attributes}, key);
        sheet_sign(sheet, x + 1 + key_w, area.y, ' ', (CellStyle){.paper = INK_KEY});
        sheet_text(sheet, x + key_w + 3, area.y, label_w, cell_style(INK_MUTED), row->label);
        sheet_spot(sheet, (Area){x, area.y, key_w + label_w + 3, 1}, row->action, 1, "");
        x += key_w + label_w + 5;
    }
}

/* ---- help ----------------------------------------------------------------------------------- */

static void draw_control(Sheet *sheet, int x, int y, const State *state, const KeyRow *row) {
    char text[64];
    keys_label(row, text, sizeof text);
    sheet_text(sheet, x, y, HELP_KEYS_W - 1, cell_bold(INK_ACCENT), text);
    x += HELP_KEYS_W;
    sheet_text(sheet, x, y, HELP_WORD_W - 1, cell_style(INK_TEXT), row->word);
    x += HELP_WORD_W;
    state_value(state, row->action, text, sizeof text);
    sheet_text(sheet, x, y, HELP_VALUE_W, cell_bold(INK_TITLE), text);
    x += HELP_VALUE_W;
    sheet_text(sheet, x + 1, y, HELP_TEXT_W - 1, cell_style(INK_MUTED), row->help);
}

static void draw_controls(Sheet *sheet, Area area, const State *state, int page) {
    HelpLayout layout = help_layout(sheet->columns, sheet->rows);
    for (int i = 0; i < ACTION_COUNT; i++) {
        HelpPlace place = help_place(&layout, (Action)i);
        int x = area.x + place.column * (HELP_COLUMN_W + HELP_GAP), y = area.y + place.row;
        if (place.page != page || y >= area.y + area.h)
            continue;
        if (place.heading)
            sheet_text(sheet, x, y - 1, HELP_COLUMN_W, cell_bold(INK_TITLE),
                       key_groups[keys[i].group]);
        draw_control(sheet, x, y, state, &keys[i]);
    }
}

/* The entry that the glossary was opened at stands on the paper of a selection. */
static void draw_glossary(Sheet *sheet, Area area, int page, int opened_at) {
    HelpLayout layout = help_glossary(sheet->columns, sheet->rows);
    int width = help_glossary_width(&layout, sheet->columns);
    for (int i = 0; i < glossary_count; i++) {
        int height;
        HelpPlace place = help_glossary_place(&layout, sheet->columns, i, &height);
        int x = area.x + place.column * (width + HELP_GAP), y = area.y + place.row;
        int room = area.y + area.h - y;
        if (place.page != page || room <= 0)
            continue;
        CellStyle word = cell_bold(INK_ACCENT);
        if (i == opened_at) {
            sheet_paper(sheet, (Area){x, y, width, height < room ? height : room}, INK_SELECTED);
            word.attributes |= sheet->color ? 0 : CELL_REVERSE;
        }
        sheet_text(sheet, x, y, GLOSSARY_WORD_MAX, word, glossary[i].word);
        sheet_paragraph(
            sheet,
            (Area){x + GLOSSARY_INDENT, y, width - GLOSSARY_INDENT, height < room ? height : room},
            INK_TEXT, glossary[i].text);
    }
}

void help_draw(Sheet *sheet, Area area, const PanelData *data) {
    const State *state = data->state;
    HelpLayout layout = state->glossary ? help_glossary(sheet->columns, sheet->rows)
                                        : help_layout(sheet->columns, sheet->rows);
    int page = state->help_page % layout.pages;
    KeyText turn = key_of(state->glossary ? ACTION_GLOSSARY : ACTION_HELP);
    KeyText close = key_of(ACTION_ESCAPE);
    char note[96];
    if (layout.pages > 1)
        snprintf(note, sizeof note, "page %d of %d: %s turns it, %s closes", page + 1, layout.pages,
                 turn.name, close.name);
    else
        snprintf(note, sizeof note, "keys work here, too; %s or %s closes", turn.name, close.name);
    const char *title = state->glossary ? "Glossary" : "Help";
    const char *select = "; Shift + mouse selects text";
    if (sheet_width(sheet, title) + sheet_width(sheet, note) + sheet_width(sheet, select) + 4 <= area.w)
        strcat(note, select);
    sheet_paper(sheet, area, INK_DEFAULT);
    area = sheet_title(sheet, area, title, note);
    if (state->glossary)
        draw_glossary(sheet, area, page, state->glossary_row);
    else
        draw_controls(sheet, area, state, page);
}
