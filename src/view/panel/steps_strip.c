/* SPDX-License-Identifier: MIT */
/* The instructions of a step: what each requests, and which lanes touch which words of a sector. */
#include "src/view/panel/steps_rows.h"

#include <math.h>
#include <string.h>

enum { SECTOR_WORDS = 8, WORD_BYTES = 4, MAX_SHOWN = 64 };

static Ink array_ink(TraceArray array) {
    static const Ink inks[TRACE_ARRAY_COUNT] = {[TRACE_FEAT] = INK_FEATURES,
                                                [TRACE_DEPTH] = INK_DEPTH,
                                                [TRACE_WEIGHT] = INK_DEPTH,
                                                [TRACE_OUT] = INK_OUTPUT,
                                                [TRACE_SUMS] = INK_OUTPUT};
    return inks[array] ? inks[array] : INK_INDEX;
}

Ink steps_lane_ink(const Sheet *sheet, char sign) {
    static const uint32_t dark[] = {0x7fd1ff, 0xffd479, 0x9be28a, 0xff9f9f,
                                    0xcfb3ff, 0x7fe3d4, 0xffb97a, 0xf0a6e0};
    static const uint32_t light[] = {0x00558f, 0x7a5200, 0x1f6b1f, 0xa32020,
                                     0x5b35a8, 0x00695c, 0x9a4a00, 0x8f2a78};
    int lane = sign <= '9' ? sign - '0' : sign - 'a' + 10;
    return INK_RGB | (sheet->light ? light : dark)[(lane + lane / 8) % 8];
}

char lane_sign(int lane) {
    return (char)(lane < 10 ? '0' + lane : 'a' + lane - 10);
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* A sector that a row shows. */
typedef struct {
    int64_t sector;
    int lanes[SECTOR_WORDS]; /* the first lane that requests the word; -1: none; STEP_LANES: several
                                lanes request the same byte */
    uint32_t bytes;          /* bit i: byte i is requested */
} Shown;

/* Marks the words of the shown sector that the lanes of a span request. */
static void mark_words(Shown *shown, const StepSpan *span) {
    const int64_t begin = shown->sector * SECTOR_WORDS * WORD_BYTES;
    for (int lane = 0; lane < STEP_LANES; lane++) {
        int64_t from, to;
        if (!step_lane_bytes(span, lane, &from, &to))
            continue;
        for (int byte = 0; byte < SECTOR_WORDS * WORD_BYTES; byte++) {
            int *word = &shown->lanes[byte / WORD_BYTES];
            if (begin + byte < from || begin + byte >= to)
                continue;
            if (shown->bytes >> byte & 1)
                *word = STEP_LANES;
            else if (*word < 0)
                *word = lane;
            shown->bytes |= (uint32_t)1 << byte;
        }
    }
}

/* Finds the sectors of `alike` instructions. Returns the number of sectors, MAX_SHOWN at most. */
static int show_sectors(const Steps *steps, const StepInstruction *first, int alike,
                        Shown shown[MAX_SHOWN]) {
    int count = 0;
    for (const StepInstruction *in = first; in < first + alike; in++) {
        for (int s = 0; s < in->sector_count && count < MAX_SHOWN; s++) {
            int64_t sector = steps->sectors[in->first_sector + s].sector;
            int at = 0;
            while (at < count && shown[at].sector != sector)
                at++;
            if (at == count) {
                shown[count++] = (Shown){.sector = sector};
                memset(shown[at].lanes, 0xff, sizeof shown[at].lanes); /* -1: no lane */
            }
        }
        for (int at = 0; at < count; at++)
            for (int s = 0; s < in->span_count; s++)
                mark_words(&shown[at], &steps->spans[in->first_span + s]);
    }
    return count;
}

/* Draws sectors side by side. Each sector has as many characters as there is room for. A blank
 * stands between two sectors of different lines, a rule between two of one line. */
static void strip_draw(Sheet *sheet, Area row, const Shown *shown, int count) {
    int signs = SECTOR_WORDS, x = row.x;
    while (signs > 1 && count * (signs + 1) > row.w)
        signs /= 2;
    for (int s = 0; s < count; s++) {
        if (x + signs >= row.x + row.w && s + 1 < count) {
            sheet_sign(sheet, x, row.y, '>', cell_style(INK_MUTED));
            return;
        }
        for (int i = 0; i < signs; i++) {
            int lane = -1;
            for (int word = i * SECTOR_WORDS / signs; word < (i + 1) * SECTOR_WORDS / signs; word++)
                lane = lane < 0 ? shown[s].lanes[word] : lane;
            const bool none = lane < 0, several = lane == STEP_LANES;
            const char sign = none ? '.' : several ? '*' : lane_sign(lane);
            const Ink ink = none ? INK_MUTED : several ? INK_TEXT : steps_lane_ink(sheet, sign);
            sheet_sign(sheet, x++, row.y, (uint32_t)sign, none ? cell_style(ink) : cell_bold(ink));
        }
        if (signs > 1 && s + 1 < count) {
            const bool one_line =
                shown[s].sector / LINE_SECTORS == shown[s + 1].sector / LINE_SECTORS;
            sheet_sign(sheet, x++, row.y, one_line ? '|' : ' ', cell_style(INK_RULE));
        }
    }
}

enum { STRIP_X = 51 };

/* The columns of the instructions: their places, alignment and headings. */
static const struct {
    int x, w;
    bool left; /* aligned; else right */
    int head_x;
    const char *head;
} places[] = {{0, 1, true, 0, ""},
              {2, 14, true, 2, "array"},
              {17, 6, true, 17, "access"},
              {24, 4, true, 24, ""},
              {28, 6, false, 29, "bytes"},
              {34, 5, false, 35, "lines"},
              {39, 5, false, 41, "sect."},
              {45, 5, false, 47, "used"},
              {STRIP_X, 0, true, 52, "lanes 0-v per 4 B"}};

void headings_draw(Sheet *sheet, Area row) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        Area at = row;
        area_columns(&at, places[i].head_x);
        sheet_line(sheet, at, cell_style(INK_MUTED), places[i].head);
    }
}

/* Draws a row for neighbouring instructions that access the same array alike. ">" before the name:
 * the instructions need the result of earlier loads. */
static void group_row(StepPage *page, const StepInstruction *first, int alike) {
    const Steps *steps = page->view->steps;
    Shown shown[MAX_SHOWN];
    double bytes = 0, sectors = 0, used = 0;
    int repeats = 0, queue = 0, lines = 0, count = show_sectors(steps, first, alike, shown);
    for (const StepInstruction *in = first; in < first + alike; in++) {
        bytes += in->bytes;
        sectors += in->sectors;
        repeats += in->repeats;
        lines += step_lines(steps, in);
        for (int s = 0; s < in->sector_count; s++) {
            const StepSector *sector = &steps->sectors[in->first_sector + s];
            used += __builtin_popcount(sector->used);
            queue = sector->times > queue ? sector->times : queue;
        }
    }
    Area row = area_row(&page->left);
    if (!row.h)
        return;
    const bool loaded_ahead = page->step->phase == PHASE_MULTIPLY && first->array == TRACE_RANKS;
    const bool waits = first->wave > 0 || (page->step->waits && !loaded_ahead);
    CellStyle style = cell_style(array_ink(first->array));
    const double asked = sectors * SECTOR_WORDS * WORD_BYTES;
    const ShortText texts[] = {
        short_text("%s", waits ? ">" : ""),
        short_text("%.14s", first->name),
        short_text("%s", step_accesses[first->access]),
        repeats > 1 ? short_text("x%d", repeats) : (ShortText){""},
        short_text("%.0f", bytes),
        short_text("%d", lines),
        short_text("%.0f", sectors),
        first->access >= ACCESS_ADD ? short_text("q%d", queue)
                                    : short_text("%.0f%%", 100 * used / fmax(asked, 1)),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const Area at = {row.x + places[i].x, row.y, places[i].w, 1};
        if (places[i].x + places[i].w <= row.w && places[i].left)
            sheet_line(page->sheet, at, style, texts[i].text);
        else if (places[i].x + places[i].w <= row.w)
            sheet_right(page->sheet, at, style, texts[i].text);
    }
    area_columns(&row, STRIP_X);
    if (row.w > 0)
        strip_draw(page->sheet, row, shown, count);
}

void instruction_rows(StepPage *page) {
    const Steps *steps = page->view->steps;
    for (int i = 0, alike; i < page->step->instruction_count; i += alike) {
        alike = step_alike(steps, page->step, i);
        group_row(page, &steps->instructions[page->step->first_instruction + i], alike);
    }
}
