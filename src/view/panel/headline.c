/* SPDX-License-Identifier: MIT */
/* The headline: a sentence with a large number, how many times as fast as its baseline the
 * selection is. Below the sentence: whether the sums are right, and the source of the number. */
#include "src/view/panel/panel.h"

#include "kernels/injected_bugs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIXELS_W = 3, PIXELS_H = 5 };

/* Whether a pixel of a large glyph is set. A byte of a glyph is a row of three pixels. */
static bool big_pixel(char glyph, int column, int row) {
    static const char glyphs[] = "~0123456789.,";
    static const uint8_t rows[sizeof glyphs][PIXELS_H] = {
        {0, 0, 6, 3, 0}, {7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7},
        {5, 5, 7, 1, 1}, {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 1, 2, 2}, {7, 5, 7, 5, 7},
        {7, 5, 7, 1, 7}, {0, 0, 0, 0, 4}, {0, 0, 0, 0, 4},
    };
    const char *at = strchr(glyphs, glyph);
    return at && row < PIXELS_H && rows[at - glyphs][row] >> (PIXELS_W - 1 - column) & 1;
}

/* Returns the rows of a large number. A pixel of a glyph is `zoom` columns wide and half as many
 * rows high. */
static int big_rows(int zoom) {
    return (PIXELS_H * zoom + 1) / 2;
}

static void big_glyph(Sheet *sheet, int x, int y, int zoom, char glyph, CellStyle style) {
    enum { FULL_BLOCK = 0x2588, UPPER_HALF = 0x2580, LOWER_HALF = 0x2584 };
    for (int row = 0; row < big_rows(zoom); row++)
        for (int column = 0; column < PIXELS_W * zoom; column++) {
            const bool upper = big_pixel(glyph, column / zoom, row * 2 / zoom);
            const bool lower = big_pixel(glyph, column / zoom, (row * 2 + 1) / zoom);
            const uint32_t half = upper ? UPPER_HALF : LOWER_HALF;
            if (upper || lower)
                sheet_sign(sheet, x + column, y + row, upper && lower ? FULL_BLOCK : half, style);
        }
}

/* Draws a large number and returns its columns. `sheet` NULL: only counts the columns. A decimal
 * point is one pixel wide. */
static int big_text(Sheet *sheet, int x, int y, int zoom, const char *text, CellStyle style) {
    int start = x;
    for (; *text; text++) {
        if (sheet)
            big_glyph(sheet, x, y, zoom, *text, style);
        x += (*text == '.' || *text == ',' ? 1 : PIXELS_W) * zoom + 1;
    }
    return x - start - 1;
}

/* ---- the message ---------------------------------------------------------------------------- */

typedef struct {
    ShortText number, sentence; /* "1.6", and the sentence around it; number "": none */
    ShortText sums;             /* whether the sums are right */
    char source[400];           /* the source of the number */
    OriginTopic origin;         /* the same, as a topic */
    Ink ink;
} Message;

static const double ALIKE = 1.05; /* a smaller ratio of two times is no difference */

/* Writes a ratio of two times. `estimate`: a first estimate is among the two times. */
static ShortText ratio_text(double ratio, bool estimate) {
    return short_text(ratio < 9.95 ? "%s%.1f" : "%s%.0f", estimate ? "~" : "", ratio);
}

/* Returns the bar of the fastest kernel. NULL: none has a latency. */
static const StoryBar *fastest_of(const Story *story) {
    const StoryBar *best = NULL;
    for (int i = 0; i < story->count; i++)
        if (isfinite(story->bars[i].us) && (!best || story->bars[i].us < best->us))
            best = &story->bars[i];
    return best;
}

/* Whether a busy CPU delays the measurement of the selection. A model's time needs no quiet CPU. */
static bool waits_for_cpu(const Story *story, const PanelData *data) {
    return data->live->machine_busy && isnan(story->ratio) &&
           (!story->on_gpu || data->state->job.config.kernel->where == BEV_CUDA);
}

/* Returns a selection's time, and `why` the time has no ratio; or why the selection has no time. */
static ShortText time_sentence(const Story *story, const PanelData *data, const char *why) {
    const char *name = story->selection.kernel->title;
    const ShortText us = story_time(story, data->state, data->live, story->selection.kernel);
    if (us.text[0])
        return short_text("%s takes %s%s", name, us.text, why);
    if (!data->live->timed)
        return short_text("%s: its time is not recorded", name);
    return short_text("%s: its time %s", name,
                      waits_for_cpu(story, data) ? "waits for a quiet CPU" : "follows");
}

/* Writes the sentence about the ratio of two latencies. The selection has no known ratio, is the
 * baseline itself, takes as long as its baseline, or is faster or slower. */
static void say_ratio(const Story *story, double ratio, bool measured, const PanelData *data,
                      Message *message) {
    const char *name = story->selection.kernel->title, *base = story->baseline.kernel->title;
    const StoryBar *fastest = fastest_of(story);
    const bool estimate = !measured && (story->selection.estimate || story->baseline.estimate);
    const BevDtype dtype = data->state->job.config.dtype;
    ShortText format = {""}, why = {""};
    if (data->state->job.baseline_pinned)
        format = short_text(" %s", bev_dtypes[data->state->job.baseline.dtype].title);
    else if (!(story->baseline.kernel->dtypes >> dtype & 1))
        why = short_text(" (%s has no %s%s)", base, bev_dtypes[dtype].title,
                         story->on_gpu ? " kernel for GPUs" : "");
    const bool known = ratio > 0; /* not NaN */
    const bool is_baseline = !strcmp(name, base) && !format.text[0];
    if (!known)
        message->sentence = time_sentence(story, data, why.text);
    else if (is_baseline && fastest && strcmp(fastest->kernel->title, base) != 0) {
        message->number =
            ratio_text(story->baseline.us / fastest->us, estimate || fastest->estimate);
        message->sentence = short_text("%s is %s times as fast as %s", fastest->kernel->title,
                                       message->number.text, base);
    } else if (ratio < ALIKE && ratio > 1 / ALIKE)
        message->sentence = short_text("%s takes as long as %s%s", name, base, format.text);
    else {
        message->number = ratio_text(ratio > 1 ? ratio : 1 / ratio, estimate);
        message->sentence = short_text(ratio > 1 ? "%s is %s times as fast as %s%s"
                                                 : "%s takes %s times as long as %s%s",
                                       name, message->number.text, base, format.text);
        message->ink = ratio > 1 ? message->ink : INK_WARN;
    }
}

/* Writes whether the sums are right: which gate fails, or the largest error against NVIDIA's
 * tolerance, with its moment: "FP16 errs by 0.014 at t 14.00 s, above NVIDIA's 1e-2". */
static ShortText sums_text(const Story *story, const PanelData *data) {
    const BevDtype dtype = data->state->job.config.dtype;
    const LiveAccuracy *accuracy = &data->live->accuracy[dtype];
    const ShortText error = text_of_unit(UNIT_ERROR, accuracy->max_abs);
    const LiveVerdict tolerance = live_tolerance(accuracy);
    const ShortText at = live_judged_text(&data->state->scene, accuracy);
    const char *blank = at.text[0] ? " " : "";
    if (!accuracy->source || accuracy->stale || story->other_config)
        return short_text("the largest error of %s follows", story->selection.kernel->title);
    if (!isfinite(accuracy->max_abs))
        return short_text("its sums were not judged");
    if (accuracy->gate_a == LIVE_FAIL || accuracy->gate_c == LIVE_FAIL)
        return short_text("its sums are wrong: gate %s fails, error %s",
                          accuracy->gate_a == LIVE_FAIL ? "A" : "C", error.text);
    if (accuracy->gate_b == LIVE_FAIL)
        return short_text("%s errs by %s%s%s: gate B fails", bev_dtypes[dtype].title, error.text,
                          blank, at.text);
    return short_text("%s errs by %s%s%s%s%s", bev_dtypes[dtype].title, error.text, blank, at.text,
                      tolerance == LIVE_FAIL   ? ", above NVIDIA's 1e-2"
                      : tolerance == LIVE_PASS ? ", within NVIDIA's 1e-2"
                                               : "",
                      live_pruning_text(accuracy).text);
}

/* Writes the source of the large number, then this machine's own ratio. `pairs`: the number itself
 * is this machine's own, from pairs of launches. */
static void say_source(const Story *story, const PanelData *data, bool pairs, char *text,
                       size_t size) {
    const LiveSpeedup *here = &data->live->speedup;
    const bool on_cpu = data->state->job.config.kernel->where == BEV_CPU;
    ShortText machine = {"this CPU"}, more = {""};
    if (here->ratio.source == SOURCE_RECORDED)
        machine = machine_text(here->recorded_on);
    else if (!on_cpu)
        machine = short_text("%s", data->live->device.name);
    const ShortText from = short_text("%s on %s", source_names[here->ratio.source], machine.text);
    const bool is_sure = here->ratio.source != SOURCE_COMPUTED && !here->ratio.doubtful;
    const bool number_is_of_gpu = !pairs && story->on_gpu;
    if (on_cpu && number_is_of_gpu && here->ratio.source && is_sure)
        more = short_text("; on %s, %s: %s times", machine.text, source_names[here->ratio.source],
                          ratio_text(here->ratio.value, false).text);
    bool waits = waits_for_cpu(story, data) || (pairs && data->live->machine_busy);
    if (waits && here->ratio.source != SOURCE_MEASURED)
        text_add(more.text, sizeof more.text, ", CPU busy: no time is taken");
    snprintf(text, size, "%s%s%s", !pairs && story->source == SOURCE_MODEL ? "not measured, " : "",
             pairs ? from.text : story->from, more.text);
}

/* Returns the headline. Its ratio is the story's, or else the live speed-up of this machine. */
static Message message_of(const PanelData *data) {
    const Story story = story_of(data->state, data->live);
    const KernelConfig *config = &data->state->job.config;
    Message message = {.ink = INK_ACCENT, .origin = ORIGIN_SPEEDUP};
    const Reading *live = &data->live->speedup.ratio;
    const bool sure = live->source == SOURCE_MEASURED && !live->doubtful;
    const bool on_gpu = config->kernel->where == BEV_CUDA;
    const bool takes_live = (on_gpu && sure) || (isnan(story.ratio) && live->source);
    const double ratio = takes_live ? live->value : story.ratio; /* NaN: unknown */
    if (!takes_live && story.source == SOURCE_MODEL)
        message.origin = ORIGIN_MODEL;
    message.sums = sums_text(&story, data);
    say_source(&story, data, takes_live, message.source, sizeof message.source);
    if (injected_bug_of(config->kernel) || config->kernel->wrong_on_purpose) {
        message.ink = INK_BAD;
        message.sentence =
            short_text("%s %s: its speed means nothing", config->kernel->title,
                       injected_bug_of(config->kernel) ? "has an injected bug" : "loses updates");
    } else
        say_ratio(&story, ratio, takes_live, data, &message);
    if (story.other_config) { /* the time of another format beside this one's error */
        message.sentence = short_text("%s %s: its time follows", config->kernel->title,
                                      bev_dtypes[config->dtype].title);
        message.number = (ShortText){""};
    }
    if (gpu_edit_any(&data->state->edit)) { /* a GPU that does not exist has no large figure */
        message.sentence = short_text("what if: %.140s", message.sentence.text);
        message.number = (ShortText){""};
    }
    return message;
}

/* ---- drawing -------------------------------------------------------------------------------- */

enum { NUMBER_ROWS = 3, PIXEL_ROWS = NUMBER_ROWS + 1, CELL_ROWS = 5 };

int headline_want(Sheet *sheet, const PanelData *data, int width) {
    (void)data, (void)width;
    return sheet->pixels ? PIXEL_ROWS : CELL_ROWS;
}

/* Draws the number over three rows of a screen of pixels. Returns the columns used; 0: the number
 * has no room. */
static int draw_pixel_number(Sheet *sheet, Area area, const Message *message) {
    Sheet large = sheet_magnified(sheet, area, NUMBER_ROWS);
    const ShortText text = short_text("%s\u00d7", message->number.text);
    int width = NUMBER_ROWS * sheet_width(&large, text.text) + 2;
    if (!message->number.text[0] || 3 * width > area.w)
        return 0;
    sheet_line(&large, (Area){0, 0, large.columns, 1}, cell_bold(message->ink), text.text);
    return width;
}

/* Draws the number in large glyphs. Returns the columns used; 0: the number has no room. */
static int draw_number(Sheet *sheet, Area area, const Message *message) {
    if (sheet->pixels)
        return draw_pixel_number(sheet, area, message);
    const int zoom = area.h >= big_rows(4) ? 4 : area.h >= big_rows(2) ? 2 : 1;
    const CellStyle style = cell_bold(message->ink);
    const int width = big_text(NULL, 0, 0, zoom, message->number.text, style);
    if (!message->number.text[0] || sheet->ascii ||
        area.w < width + 4 + sheet_width(sheet, message->sentence.text))
        return 0;
    sheet_figure(sheet, (Area){area.x, area.y, width + 2, big_rows(zoom)});
    big_text(sheet, area.x, area.y, zoom, message->number.text, style);
    sheet_line(sheet, (Area){area.x + width + 1, area.y + big_rows(zoom) - 1, 1, 1}, style,
               "\u00d7");
    return width + 4;
}

/* Draws the sentence in the largest font that has room. Returns the rows of the sentence. */
static int draw_sentence(Sheet *sheet, Area area, const Message *message) {
    static const double sizes[] = {2, 1.7, 1.4, 1.2};
    CellStyle style = cell_bold(message->ink);
    for (size_t i = 0; sheet->pixels && i < sizeof sizes / sizeof *sizes; i++) {
        Sheet large = sheet_magnified(sheet, area, sizes[i]);
        if (sheet_width(&large, message->sentence.text) * 9 / 8 > large.columns) /* bold is wider */
            continue;
        large.top += (2 - sizes[i]) * sheet->row_h; /* each size ends at the foot of two rows */
        sheet_line(&large, (Area){0, 0, large.columns, 1}, style, message->sentence.text);
        return 2;
    }
    sheet_line(sheet, area_below(area, sheet->pixels), style, message->sentence.text);
    return 1 + sheet->pixels;
}

void headline_draw(Sheet *sheet, Area area, const PanelData *data) {
    Message message = message_of(data);
    sheet_origin(sheet, message.origin, NULL);
    const int used = draw_number(sheet, area, &message);
    Area line = {area.x + used, area.y, area.w - used, area.h};
    line = area_below(line, draw_sentence(sheet, line, &message));
    sheet_origin(sheet, ORIGIN_ERROR, NULL);
    sheet->origin.dtype = data->state->job.config.dtype;
    sheet_figures(sheet, line, INK_TEXT, message.sums.text);
    sheet_origin(sheet, message.origin, NULL);
    line = area_below(line, 1);
    if (sheet->pixels)
        line = (Area){area.x, line.y, area.w, line.h};
    if (line.h > 0)
        sheet_figures(sheet, line, INK_TEXT, message.source);
}
