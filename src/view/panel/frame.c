/* SPDX-License-Identifier: MIT */
/* The parts of the screen that never fold away: the header (selection and machine), the log, the
 * key bar. */
#include "kernels/injected_bugs.h"
#include "src/view/panel/panel.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- header --------------------------------------------------------------------------------- */

/* A piece of a row. Where the row is short, the last pieces are left out. */
typedef struct {
    CellStyle style;
    OriginTopic origin; /* of the piece's figures */
    ShortText text;
    const char *menu; /* a chip: a click opens the palette with this text; NULL: no chip */
    bool tight;       /* one blank stands before the piece, in place of two or three */
} Piece;

/* Draws the pieces of a row up to the first piece without room. Returns the columns used. */
static int pieces_draw(Sheet *sheet, Area row, const Piece *pieces, int count) {
    const int begin = row.x, usual_gap = sheet->pixels ? 3 : 2;
    for (int i = 0; i < count; i++) {
        const Piece *piece = &pieces[i];
        const int width = sheet_width(sheet, piece->text.text);
        const bool no_gap = row.x == begin || !width;
        const int indent = no_gap ? 0 : piece->tight ? 1 : usual_gap;
        const bool may_be_cut = i == 0 && sheet->pixels; /* a scene's title */
        if (indent + width > row.w && !may_be_cut)
            break;
        area_columns(&row, indent);
        const Area at = area_columns(&row, width);
        CellStyle style = piece->style;
        style.paper = piece->menu && sheet->color ? INK_KEY : INK_DEFAULT;
        sheet_origin(sheet, piece->origin, NULL);
        sheet_line(sheet, at, style, piece->text.text);
        if (piece->menu && width)
            sheet_spot(sheet, at, ACTION_COMMANDS, 0, piece->menu);
    }
    return row.x - begin;
}

/* Returns which kernel drew the picture in place of another: "picture drawn by V4", or with the
 * reason "picture drawn by V4: V2 is too slow or untimed here". While the scene stands still, the
 * other kernel's picture comes soon: "V2's picture is being computed". */
static ShortText stand_in_text(const State *state, const LiveData *live, bool with_reason) {
    const BevKernel *stand_in = live->stand_in, *selected = live->job.config.kernel;
    const bool for_baseline = stand_in == selected; /* no kernel stands in for itself */
    const BevKernel *replaced = for_baseline ? live->job.baseline.kernel : selected;
    if (!stand_in)
        return short_text("%s", live->busy ? "working" : "");
    if (replaced && !state->playing && replaced->direction == BEV_FORWARD)
        return short_text("%s's picture is being computed", replaced->title);
    ShortText text = short_text("%s drawn by %s", for_baseline ? "baseline's picture" : "picture",
                                stand_in->title);
    if (with_reason && replaced)
        text_add(text.text, sizeof text.text, ": %s %s", replaced->title,
                 replaced->direction == BEV_BACKWARD ? "goes backward"
                                                     : "is too slow or untimed here");
    return text;
}

/* Returns the time of the picture. A world shows any time that the job asks for. A clip shows the
 * nearest of its moments, and starts again after the last moment. */
static double time_of_picture(const PanelData *data) {
    const LiveData *live = data->live;
    return data->state->scene.moment_s > 0 ? live->frame.time_s : live->job.time_s;
}

/* Returns the reading in the format; "": the reading is unknown. */
static ShortText figure_text(const Reading *reading, const char *format) {
    return reading->source ? short_text(format, reading->value) : (ShortText){""};
}

void title_draw(Sheet *sheet, Area area, const PanelData *data) {
    const State *state = data->state;
    const LiveData *live = data->live;
    const KernelConfig *config = &state->job.config;
    const CellStyle muted = cell_style(INK_MUTED), plain = cell_style(INK_TEXT);
    const CellStyle bold = cell_bold(injected_bug_of(config->kernel) ? INK_BAD : INK_ACCENT);
    const BevDirection way = config->kernel->direction;
    const OriginTopic set = ORIGIN_SETTING;
    const ShortText moment = live_moment_text(&state->scene, time_of_picture(data));
    const ShortText temperature = short_text("temperature %.3g", state->job.temperature);
    const ShortText scene = short_text("%s", menu_name(&state->menu.scenes, state->job.scene));
    const char *play_sign = state->playing ? "\u25b6" : "\u2016";
    const Piece right[] = {
        {plain, set, short_text("%s %s", play_sign, moment.text), .menu = NULL},
        {plain, set, short_text("%g\u00d7", state->speed), .menu = NULL},
        {muted, ORIGIN_PIPELINE, figure_text(&live->fps, "%.0f fps"), .menu = NULL},
    };
    const Piece left[] = {
        {cell_bold(INK_TITLE), set, {"bevscope"}, .menu = NULL},
        {bold, set, short_text("%s", config->kernel->title), .menu = "kernel "},
        {bold, set, short_text("%s", bev_dtypes[config->dtype].title), "dtype ", .tight = true},
        {bold, set, short_text("%s", bev_aligns[config->align].name), "align ", .tight = true},
        {plain, set, scene, .menu = "scene "},
        {way == BEV_BACKWARD ? bold : muted, set, short_text("%s", bev_directions[way].name),
         .menu = "direction "},
        {plain, set, state->job.temperature == 1 ? (ShortText){""} : temperature,
         .menu = "temperature "},
        {muted, set, stand_in_text(state, live, sheet->pixels), .menu = NULL},
    };
    int right_count = sizeof right / sizeof *right;
    Sheet quiet = sheet_quiet(sheet); /* only tells the width */
    const Area endless = {.w = INT_MAX, .h = 1};
    int right_w = pieces_draw(&quiet, endless, right, right_count);
    while (right_w > area.w / 3 && right_count > 1)
        right_w = pieces_draw(&quiet, endless, right, --right_count);
    const Area start = {area.x, area.y, area.w - right_w - 2, 1};
    pieces_draw(sheet, start, left, sizeof left / sizeof *left);
    if (right_w < area.w)
        pieces_draw(sheet, area_behind(area, area.w - right_w), right, right_count);
}

/* Draws the device's name, then a GPU's figures or a CPU's threads. Returns the columns used. */
static int draw_device(Sheet *sheet, Area area, const LiveDevice *device) {
    const Reading gib =
        reading(device->memory_bytes.value / (1 << 30), device->memory_bytes.source);
    const bool gpu = device->where == BEV_CUDA;
    const bool limited = device->power_w.source && device->power_limit_w.source;
    const ShortText texts[] = {
        short_text("%s", device->name),
        gpu ? figure_text(&device->clock_mhz, "%.0f MHz")
            : short_text("%d threads", device->threads),
        figure_text(&device->temperature_c, "%.0f\u00b0C"),
        limited ? short_text("%.0f of %.0f W", device->power_w.value, device->power_limit_w.value)
                : figure_text(&device->power_w, "%.0f W"),
        short_text(device->throttle[0] ? "throttle %s" : "%s", device->throttle),
        short_text(device->driver[0] ? "driver %s" : "%s", device->driver),
        figure_text(&device->memory_clock_mhz, "memory clock %.0f MHz"),
        figure_text(&gib, "memory %.0f GiB"),
        short_text(device->cuda[0] ? "CUDA %s" : "%s", device->cuda),
    };
    enum { THROTTLE = 4, ALL = sizeof texts / sizeof *texts };
    Piece pieces[ALL];
    for (int i = 0; i < ALL; i++)
        pieces[i] = (Piece){cell_style(INK_MUTED), ORIGIN_DEVICE, texts[i], .menu = NULL};
    if (device->throttle[0] && strcmp(device->throttle, "none") != 0)
        pieces[THROTTLE].style = cell_bold(INK_WARN);
    const int cpu_count = device->threads ? 2 : 1; /* name, threads */
    return pieces_draw(sheet, area, pieces, gpu ? ALL : cpu_count);
}

/* Finds the times at the ends of the time bar: a clip, one round of a world that repeats, or a
 * minute. Returns false if nothing moves. */
static bool find_time_span(const PanelData *data, double *from_s, double *to_s) {
    enum { MINUTE_S = 60 };
    const SceneFacts *scene = &data->state->scene;
    const bool clip = scene->moment_s > 0;
    const double length = scene->loop_s > 0 ? scene->loop_s : MINUTE_S;
    *from_s = clip ? 0 : floor(data->state->job.time_s / length) * length;
    *to_s = clip ? (scene->moments - 1) * scene->moment_s : *from_s + length;
    return (clip || scene->has_world) && *to_s > *from_s;
}

void time_bar_draw(Sheet *sheet, Area row, const PanelData *data) {
    double from_s, to_s;
    if (!find_time_span(data, &from_s, &to_s) || row.w <= 0)
        return;
    const double at_s = fmax(from_s, fmin(time_of_picture(data), to_s));
    const Segment parts[] = {{at_s - from_s, INK_ACCENT, 0}, {to_s - at_s, INK_RULE, 0}};
    const double filled_w = row.w * (at_s - from_s) / (to_s - from_s);
    enum { THICK_LINE = 0x2501, THIN_LINE = 0x2500 };
    if (sheet->pixels)
        sheet->back->stack(sheet, row, parts, 2, to_s - from_s, NAN);
    else
        for (int x = 0; x < row.w; x++)
            sheet_sign(sheet, row.x + x, row.y, x < filled_w ? THICK_LINE : THIN_LINE,
                       cell_style(x < filled_w ? INK_ACCENT : INK_RULE));
    if (sheet->spots) {
        sheet->spots->time = sheet_box(sheet, row);
        sheet->spots->from_s = from_s, sheet->spots->to_s = to_s;
    }
}

enum { TIME_BAR_W = 24, WIDE = 100 };

int header_draw(Sheet *sheet, Area area, const PanelData *data) {
    double from_s, to_s;
    const int room = area.w - TIME_BAR_W - 2;
    const bool moves = find_time_span(data, &from_s, &to_s);
    const bool keeps_time_bar = moves && area.w >= WIDE; /* else the device's figures come first */
    title_draw(sheet, area, data);
    area.y++;
    if (data->live->error_text[0]) {
        sheet_line(sheet, area, cell_bold(INK_BAD), data->live->error_text);
        return 2;
    }
    const Area figures = {area.x, area.y, keeps_time_bar ? room : area.w, 1};
    const int used = draw_device(sheet, figures, &data->live->device);
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    if (used <= room)
        time_bar_draw(sheet, (Area){area.x + room + 2, area.y, TIME_BAR_W, 1}, data);
    return 2;
}

/* ---- log and key bar ------------------------------------------------------------------------ */

/* Takes out figures that have not changed, ", latency still 5.00 us", until the text fits. */
static void drop_unchanged_figures(const Sheet *sheet, char *text, int width) {
    char *figures = strstr(text, ": arrays ");
    char *still = figures ? strstr(figures, " still ") : NULL;
    while (still && sheet_width(sheet, text) > width) {
        char *begin = still, *comma = strstr(still, ", ");
        while (begin > figures + 2 && strncmp(begin - 2, ", ", 2) != 0)
            begin--;
        if (comma)
            memmove(begin, comma + 2, strlen(comma + 2) + 1);
        else
            begin[-2] = '\0';
        still = strstr(figures, " still ");
    }
}

/* Shortens a log line until it fits. Unchanged figures are left out first, then words that the
 * units imply. A figure that still follows has no unit, and keeps its word. Last goes the source of
 * the latency, which the headline tells. */
static void shorten_log_line(const Sheet *sheet, char *text, int width) {
    static const char *const words[] = {"arrays ", "latency ", "max "};
    drop_unchanged_figures(sheet, text, width);
    for (size_t i = 0; i < sizeof words / sizeof *words && sheet_width(sheet, text) > width; i++) {
        char *word = strstr(text, words[i]);
        const char *figure = word ? word + strlen(words[i]) : NULL;
        if (word && strncmp(figure, "follows", strlen("follows")) != 0)
            memmove(word, figure, strlen(figure) + 1);
    }
    char *source = strstr(text, " (model of "), *end = source ? strchr(source, ')') : NULL;
    if (end && sheet_width(sheet, text) > width)
        memmove(source, end + 1, strlen(end + 1) + 1);
}

/* Draws what the user waits for, then the newest lines of the log; in the window an error alone. */
void log_draw(Sheet *sheet, Area area, const PanelData *data) {
    const Log *log = &data->state->log;
    const char *waiting = data->state->waiting;
    sheet_origin(sheet, ORIGIN_LOG, NULL);
    if (sheet->pixels && data->live->error_text[0]) { /* else in the header */
        sheet_line(sheet, area, cell_bold(INK_BAD), data->live->error_text);
        return;
    }
    if (!sheet->pixels)
        sheet_say(sheet, &area, INK_ACCENT, data->state->tip);
    if (waiting[0])
        sheet_line(sheet, area_row(&area), cell_style(INK_ACCENT), waiting);
    /* Notes, down to the newest control: an older one's figures would seem to be of this job. */
    bool of_control = false;
    for (int i = 0; i < log->count && area.h > 0 && !of_control; i++) {
        char text[LOG_LENGTH];
        text_micro(data->state->lesson.covers ? log->lines[i].said : log->lines[i].text, text,
                   sizeof text);
        if (area.h == 1)
            shorten_log_line(sheet, text, area.w);
        sheet_say(sheet, &area, i ? INK_MUTED : INK_TEXT, text);
        of_control = log->lines[i].action != ACTION_COUNT;
    }
    if (!log->count)
        sheet_line(sheet, area, cell_style(INK_MUTED),
                   "Every control says here what it did and what changed.");
}

enum { HINT_GAP = 2 };

static int hint_width(const Sheet *sheet, const KeyHint *hint) {
    return sheet_width(sheet, hint->key.name) + sheet_width(sheet, hint->label) + 3;
}

static void hint_draw(Sheet *sheet, Area at, const KeyHint *hint) {
    unsigned attributes = CELL_BOLD | (sheet->color ? 0 : CELL_REVERSE);
    if (hint->action < ACTION_COUNT)
        sheet_spot(sheet, at, hint->action, 1, "");
    const Area key = area_columns(&at, sheet_width(sheet, hint->key.name) + 2);
    sheet_paper(sheet, key, INK_KEY);
    sheet_line(sheet, area_behind(key, 1), (CellStyle){.ink = INK_TITLE, .attributes = attributes},
               hint->key.name);
    sheet_line(sheet, area_behind(at, 1), cell_style(INK_MUTED), hint->label);
}

/* Draws the last two hints, palette and help, at the right end. Other hints follow from the left,
 * as many as have room. */
void key_bar_draw(Sheet *sheet, Area area, const State *state) {
    KeyHint hints[KEY_HINTS];
    const int count = keys_hints(state, hints), others = count - 2;
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    for (int i = count - 1; i >= others; i--) {
        const int w = hint_width(sheet, &hints[i]);
        hint_draw(sheet, area_behind(area, area.w - w), &hints[i]);
        area.w -= w + HINT_GAP;
    }
    for (int i = 0; i < others && hint_width(sheet, &hints[i]) <= area.w; i++) {
        hint_draw(sheet, area_columns(&area, hint_width(sheet, &hints[i])), &hints[i]);
        area_columns(&area, HINT_GAP);
    }
}

void caption_draw(Sheet *sheet, Area area, const State *state) {
    int rows = sheet_paragraph_rows(sheet, area, state->caption);
    sheet_paper(sheet, (Area){0, area.y, sheet->columns, area.h}, INK_SELECTED);
    sheet_wrapped(sheet, area_below(area, (area.h - rows) / 2), cell_bold(INK_TITLE),
                  state->caption);
}
