/* SPDX-License-Identifier: MIT */
/* Why is a kernel fast? The article's kernels on one scale of time, and what each waits for. */
#include "src/view/panel/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARK_W = 2, NUMBER_W = 11, SHORT_W = 24, BRIEF_W = 18, BESIDE_W = 68 };
enum { BAR_LEAST = 12, BAR_GOOD = 20, BRIEF_LEAST = 8 };

/* Returns the rows that the panel wants. A kernel takes two rows where a reason has no room beside
 * its bar, and on a screen of cells, where a thick bar is a row and a half high. */
int why_want(Sheet *sheet, const PanelData *data, int width) {
    enum { TITLE = 1, KERNELS = 4, OTHERS = 3 };
    (void)data;
    return TITLE + KERNELS * (width < BESIDE_W || !sheet->pixels ? 2 : 1) + OTHERS;
}

/* The columns of a row: names, bars and reasons. */
typedef struct {
    int name_w, bar_w, reason_w;
    bool below;      /* a reason stands in the row below its bar */
    bool thick;      /* a bar is a row and a half high */
    double scale_us; /* what the full width of the bars stands for */
} Columns;

/* Returns the width for the reasons beside the bars, in their whole, short or brief wording; 0: no
 * reason has room. The bars keep a least width, so that they can be compared. */
static int choose_reason_width(int room, int whole_w) {
    if (room - whole_w >= BAR_LEAST)
        return whole_w;
    if (room - SHORT_W >= BAR_LEAST)
        return (int)fmax(SHORT_W, room - BAR_GOOD);
    return room - BRIEF_W >= BRIEF_LEAST ? BRIEF_W : 0;
}

/* Chooses the columns of the bars: names, bars on one linear scale, and reasons. */
static Columns columns_of(const Sheet *sheet, Area area, const Story *story) {
    Columns at = {.name_w = 5};
    int whole_w = 0; /* of the widest reason */
    for (int i = 0; i < story->count; i++) {
        const StoryBar *bar = &story->bars[i];
        at.name_w = (int)fmax(at.name_w, sheet_width(sheet, bar->kernel->title));
        at.scale_us = fmax(at.scale_us, isfinite(bar->us) ? bar->us : 0);
        whole_w = (int)fmax(whole_w, sheet_width(sheet, bar->why));
        whole_w = (int)fmax(whole_w, sheet_width(sheet, bar->more));
    }
    const int room = area.w - MARK_W - at.name_w - 1 - NUMBER_W;
    const bool wide = area.w >= BESIDE_W, two_rows = area.h >= 2 * story->count;
    const bool has_half_rows = !sheet->pixels && !sheet->ascii;
    at.below = !wide && two_rows;
    at.thick = wide && two_rows && has_half_rows && at.scale_us > 0;
    at.reason_w = at.below ? 0 : choose_reason_width(room, whole_w);
    at.bar_w = room - at.reason_w;
    return at;
}

static bool same_kernel(const BevKernel *a, const BevKernel *b) {
    return !strcmp(a->name, b->name);
}

/* Draws the article's time as a tick, if the scale reaches so far. No tick overwrites the number in
 * the columns `from` to `to`: the line below the bars tells that time. */
static void draw_published_tick(Sheet *sheet, Area bars, const Columns *at, const StoryBar *bar,
                                int from, int to) {
    const bool on_scale = bar->published_us <= at->scale_us; /* false for NaN: not published */
    if (!on_scale)
        return;
    const int x = bars.x + (int)(bars.w * bar->published_us / at->scale_us);
    if (x >= from && x <= to)
        return;
    sheet_origin(sheet, ORIGIN_PUBLISHED, bar->kernel);
    sheet_paper(sheet, (Area){x, bars.y, 1, 1}, INK_DEFAULT);
    sheet_sign(sheet, x, bars.y, 0x2506, cell_bold(INK_TITLE));
}

/* Draws the reason in the most words that have room. Beside a thick bar it has two rows. */
static void draw_reason(Sheet *sheet, Area at, const StoryBar *bar, bool thick, CellStyle style) {
    char whole[160], shorter[112];
    const bool two_rows = thick && sheet_width(sheet, bar->why) <= at.w;
    const char *comma = bar->more[0] ? ", " : "";
    snprintf(whole, sizeof whole, "%s%s%s", bar->why, comma, bar->more);
    snprintf(shorter, sizeof shorter, "%s%s%s", bar->short_why, comma, bar->short_more);
    const char *const one_row[] = {whole, shorter, bar->why, bar->short_why, bar->brief, NULL};
    const char *const second_row[] = {bar->more, bar->short_more, NULL};
    sheet_line(sheet, at, style, two_rows ? bar->why : sheet_shortened(sheet, at.w, one_row));
    at.y++;
    if (two_rows)
        sheet_line(sheet, at, style, sheet_shortened(sheet, at.w, second_row));
}

/* Draws half a row under a bar, which makes the bar thick: half blocks, then at most a quarter. */
static void draw_half_row(Sheet *sheet, Area bars, int half_cells, Ink ink) {
    enum { UPPER_HALF = 0x2580, UPPER_LEFT_QUARTER = 0x2598 };
    for (int cell = 0; 2 * cell < half_cells; cell++) {
        sheet_sign(sheet, bars.x + cell, bars.y + 1,
                   2 * cell + 1 < half_cells ? UPPER_HALF : UPPER_LEFT_QUARTER, cell_style(ink));
    }
}

/* Draws a kernel's bar with its time, its published time and its reason. */
static void draw_bar(Sheet *sheet, Area row, const Story *story, const StoryBar *bar,
                     const Columns *at) {
    const bool selected = same_kernel(bar->kernel, story->selection.kernel);
    const bool baseline = !selected && same_kernel(bar->kernel, story->baseline.kernel);
    const Ink ink = selected ? INK_ACCENT : baseline ? INK_BASELINE : INK_MUTED;
    const CellStyle style = selected ? cell_bold(ink) : cell_style(baseline ? ink : INK_TEXT);
    sheet_origin(sheet, story->source == SOURCE_MODEL ? ORIGIN_MODEL : ORIGIN_LATENCY, bar->kernel);
    if (bar->here)
        sheet_spot(sheet, row, ACTION_KERNEL, 0, kernel_word(bar->here));
    if (selected)
        sheet_sign(sheet, row.x, row.y, 0x25b8, style);
    area_columns(&row, MARK_W);
    sheet_cell(sheet, &row, at->name_w + 1, style, bar->kernel->title);
    const Area bars = {row.x, row.y, at->bar_w, 1};
    Area reason =
        at->below ? (Area){row.x, row.y + 1, row.w, 1} : area_behind(row, row.w - at->reason_w);
    draw_reason(sheet, reason, bar, at->thick, cell_style(selected ? INK_TEXT : INK_MUTED));
    if (isnan(bar->us))
        return;
    const ShortText number =
        short_text("%s%s", bar->estimate ? "~" : "", text_of_figure(UNIT_US, bar->us).text);
    const int number_x = bars.x + (int)ceil(bars.w * bar->us / at->scale_us) + 1;
    sheet_bar(sheet, bars, bar->us, at->scale_us, ink);
    if (at->thick)
        draw_half_row(sheet, bars, (int)(2 * bars.w * bar->us / at->scale_us), ink);
    sheet_line(sheet, (Area){number_x, row.y, NUMBER_W - 1, 1}, style, number.text);
    draw_published_tick(sheet, bars, at, bar, number_x, number_x + sheet_width(sheet, number.text));
}

static bool kernel_has_bar(const Story *story, const BevKernel *kernel) {
    for (int i = 0; i < story->count; i++) {
        const StoryBar *bar = &story->bars[i];
        if (same_kernel(bar->kernel, kernel) || (bar->here && same_kernel(bar->here, kernel)))
            return true;
    }
    return false;
}

/* Writes of a kernel without a bar: "V2 (BEVDet): no atomics, faster than V2+DO on long cells; ".
 * Where no long cell decides, the comparison is left out. */
static ShortText beside_text(const State *state, const Story *story, const BevKernel *beside) {
    const KernelConfig *config = &state->job.config;
    const StoryBar *slow = story->bars;
    while (slow < story->bars + story->count && slow->reason != REASON_LONG_CELLS)
        slow++;
    const bool faster = slow < story->bars + story->count && config->dtype == BEV_FP16 &&
                        config->align == BEV_NEAREST;
    return short_text("%s: no atomics%s%s%s; ", beside->title, faster ? ", faster than " : "",
                      faster ? slow->kernel->title : "", faster ? " on long cells" : "");
}

/* Returns how many kernels of the selection's device have no bar and no name in the line. The line
 * names the selection and `beside`; NULL: it names the selection alone. */
static int count_others(const PanelData *data, const Story *story, const BevKernel *beside) {
    const BevKernel *selected = data->state->job.config.kernel;
    int others = 0;
    for (int i = 0; i < data->live->kernel_count; i++) {
        const BevKernel *kernel = data->live->kernels[i].kernel;
        const bool named = kernel == selected || (beside && !strcmp(kernel->title, beside->title));
        others += !named && kernel->where == selected->where && !kernel_has_bar(story, kernel);
    }
    return others;
}

/* Draws the time of a selection without a bar, "V2 (BEVDet) 57.1 us, issue-bound". */
static void draw_selection_time(Sheet *sheet, Area *row, Area mark, const PanelData *data,
                                const Story *story) {
    const BevKernel *selected = data->state->job.config.kernel;
    char text[256];
    if (isfinite(story->selection.us))
        snprintf(text, sizeof text, "%s %s, %s", selected->title,
                 story_time(story, data->state, data->live, selected).text, story->selection.why);
    else
        snprintf(text, sizeof text, "%s: not simulated", selected->title);
    sheet_sign(sheet, mark.x, mark.y, 0x25b8, cell_bold(INK_ACCENT));
    area_columns(row, sheet_line(sheet, *row, cell_bold(INK_ACCENT), text) + 2);
}

/* Draws the selection where it has no bar, then the other kernels without a bar: "V2 (BEVDet): no
 * atomics, faster than V2+DO on long cells; :all has 6 more". */
static void draw_kernels_without_bar(Sheet *sheet, Area row, const PanelData *data,
                                     const Story *story) {
    char text[256] = "";
    const BevKernel *selected = data->state->job.config.kernel;
    const BevKernel *beside = story->on_gpu ? bev_kernel_find("v2_bevdet") : NULL;
    if (beside && same_kernel(beside, story->selection.kernel))
        beside = NULL;
    const int others = count_others(data, story, beside);
    const Area mark = area_columns(&row, MARK_W);
    sheet_origin(sheet, ORIGIN_MODEL, selected);
    if (!kernel_has_bar(story, selected))
        draw_selection_time(sheet, &row, mark, data, story);
    snprintf(text, sizeof text, "%s:all has %d more",
             beside ? beside_text(data->state, story, beside).text : "", others);
    const char *const texts[] = {text, strstr(text, ":all"), "", NULL};
    sheet_origin(sheet, ORIGIN_SETTING, NULL);
    sheet_spot(sheet, row, ACTION_ALL, 0, "on");
    if (others)
        sheet_line(sheet, row, cell_style(INK_MUTED), sheet_shortened(sheet, row.w, texts));
}

/* Draws the article's times of the chosen GPU: "published for the article's own map: V2 1,738 us,
 * beyond the scale". Returns false if the article has no time of that GPU. */
static bool draw_published(Sheet *sheet, Area row, const PanelData *data, const Story *story,
                           double scale_us) {
    const char *note = gpus[data->state->gpu].note;
    char times[160] = "", whole[288], shorter[192];
    for (int i = 0; i < story->count; i++) {
        const StoryBar *bar = &story->bars[i];
        const double us = bar->published_us;
        if (isnan(us))
            continue;
        text_add(times, sizeof times, "%s %s %s \u00b5s%s", times[0] ? "," : "", bar->kernel->title,
                 us < 100 ? short_text("%.1f", us).text : text_of_unit(UNIT_COUNT, us).text,
                 us > scale_us ? ", beyond the scale" : "");
    }
    if (!times[0])
        return false;
    snprintf(whole, sizeof whole, "published for the article's own map:%s%s%.*s", times,
             note ? ", " : "", note ? (int)strcspn(note, ";") : 0, note ? note : "");
    snprintf(shorter, sizeof shorter, "published:%s", times);
    const char *const texts[] = {whole, shorter, NULL};
    sheet_origin(sheet, ORIGIN_PUBLISHED, NULL);
    sheet_sign(sheet, row.x, row.y, 0x2506, cell_bold(INK_TITLE));
    row = area_behind(row, MARK_W);
    sheet_line(sheet, row, cell_style(INK_MUTED), sheet_shortened(sheet, row.w, texts));
    return true;
}

/* ---- this CPU -------------------------------------------------------------------------------- */

/* Returns the row of the bar's kernel if the kernel was timed on this CPU, else NULL. */
static const LiveKernel *timed_here(const LiveData *live, const StoryBar *bar) {
    const LiveKernel *row = bar->here ? live_kernel(live, bar->here) : NULL;
    bool timed = row && bar->here->where == BEV_CPU && !row->median_us.stale &&
                 row->median_us.source == SOURCE_MEASURED;
    return timed ? row : NULL;
}

/* Whether the row's recording is of a CPU as this one, with as many threads. */
static bool is_recorded_here(const LiveData *live, const LiveKernel *row) {
    char here[160];
    snprintf(here, sizeof here, "%s, %d threads,", live->device.name, live->device.threads);
    return row->recorded_us.source && !strncmp(row->recorded_on, here, strlen(here));
}

/* Adds ", V4 1.26 ms" to a list. Returns false, and adds nothing, if the entry has no room. */
static bool add_time(Sheet *sheet, char *text, size_t size, int w, const BevKernel *kernel,
                     double us) {
    const size_t length = strlen(text);
    const char *comma = length && text[length - 1] != ':' ? "," : "";
    text_add(text, size, "%s %s %s", comma, kernel->title, text_of_unit(UNIT_US, us).text);
    if (sheet_width(sheet, text) <= w)
        return true;
    text[length] = '\0';
    return false;
}

/* Adds recorded times of idle CPUs of this kind, because times of a busy CPU tell no order: first
 * the selection's, then the other bars'. Without the selection's time none is added. */
static void add_recorded(Sheet *sheet, char *text, size_t size, int w, const LiveData *live,
                         const Story *story, const LiveKernel *selected) {
    const size_t before = strlen(text);
    text_add(text, size, "; idle, recorded:");
    if (!is_recorded_here(live, selected) ||
        !add_time(sheet, text, size, w, selected->kernel, selected->recorded_us.value))
        text[before] = '\0';
    for (int i = story->count - 1; i >= 0 && text[before]; i--) {
        const LiveKernel *row = story->bars[i].here ? live_kernel(live, story->bars[i].here) : NULL;
        if (row && row != selected && row->kernel->where == BEV_CPU && is_recorded_here(live, row))
            add_time(sheet, text, size, w, row->kernel, row->recorded_us.value);
    }
}

/* Writes the selection's time where it is in doubt: "this CPU is busy (74 % taken): V4 1.33 to
 * 3.02 ms". */
static void doubtful_text(const PanelData *data, const LiveKernel *row, char *text, size_t size) {
    const double least = row->least_us > 0 ? fmin(row->least_us, row->median_us.value) : 0;
    const double most = fmax(row->most_us, row->median_us.value);
    const bool swings = least > 0 && most > 1.05 * least;
    const ShortText busy = short_text("is busy (%.0f %% taken)", 100 * data->live->others_share);
    snprintf(text, size, "this CPU %s: %s %s%s",
             data->live->machine_busy ? busy.text : "while rendering", row->kernel->title,
             swings ? "" : "about ", text_of_change(UNIT_US, swings ? least : NAN, most).text);
}

/* Lists the times measured on this CPU: "this CPU, measured: V4 1.26 ms". Where a time has no room,
 * the list ends with ":all", the page of all kernels. */
static void list_measured(Sheet *sheet, char *text, size_t size, int w, const LiveData *live,
                          const Story *story) {
    const char *all_page = " (:all)";
    const int list_w = w - (int)strlen(all_page);
    snprintf(text, size, "this CPU, measured:");
    for (int i = story->count - 1; i >= 0; i--) {
        const LiveKernel *timed = timed_here(live, &story->bars[i]);
        if (timed && !add_time(sheet, text, size, list_w, timed->kernel, timed->median_us.value)) {
            text_add(text, size, "%s", all_page);
            return;
        }
    }
}

/* Draws this CPU's own times below the bars, which are of a GPU. If any of these times is in doubt,
 * only the selection's time is told, beside recorded times. */
static void draw_cpu_times(Sheet *sheet, Area row, const PanelData *data, const Story *story) {
    char text[256];
    const int w = row.w - MARK_W;
    const LiveKernel *selected = NULL;
    bool any_timed = false, any_doubtful = false;
    for (int i = 0; i < story->count; i++) {
        const LiveKernel *timed = timed_here(data->live, &story->bars[i]);
        if (!timed)
            continue;
        any_timed = true;
        any_doubtful |= ladder_mark(timed)[0] || data->live->machine_busy;
        if (timed->kernel == data->state->job.config.kernel)
            selected = timed;
    }
    if (!story->on_gpu || !any_timed || (any_doubtful && !selected))
        return;
    if (any_doubtful) {
        doubtful_text(data, selected, text, sizeof text);
        add_recorded(sheet, text, sizeof text, w, data->live, story, selected);
    } else
        list_measured(sheet, text, sizeof text, w, data->live, story);
    sheet_origin(sheet, ORIGIN_LATENCY, NULL);
    sheet_figures(sheet, area_behind(row, MARK_W), INK_MUTED, text);
}

void why_draw(Sheet *sheet, Area area, const PanelData *data) {
    Story story = story_of(data->state, data->live);
    if (sheet_width(sheet, "Why?  ") + sheet_width(sheet, story.from) > area.w)
        story.from[strcspn(story.from, ",")] = '\0';
    area = sheet_title(sheet, area, "Why?", story.from);
    const Columns at = columns_of(sheet, area, &story);
    const int bar_rows = at.below || at.thick ? 2 : 1;
    for (int i = 0; i < story.count && i * bar_rows < area.h; i++)
        draw_bar(sheet, (Area){area.x, area.y + i * bar_rows, area.w, 1}, &story, &story.bars[i],
                 &at);
    area = area_below(area, story.count * bar_rows);
    if (area.h > 0 && draw_published(sheet, area, data, &story, at.scale_us))
        area_row(&area);
    if (area.h > 0)
        draw_kernels_without_bar(sheet, area_row(&area), data, &story);
    draw_cpu_times(sheet, area, data, &story);
}
