/* What limits the selection by the memory model, and what would help: all findings on a tall
 * screen, the first finding in a line on others. */
#include "src/state/keys.h"
#include "src/state/live_text.h"
#include "src/view/panel/panel.h"

#include <stdio.h>

enum { INDENT = 2, TALL_ROWS = 54, MOST_ROWS = 8 /* of a finding */ };

/* On a tall screen without a chart, which needs the rows. Else the first finding stands in a
 * line. */
bool findings_shown(const PanelData *data) {
    Finding findings[FINDINGS_MAX];
    return (data->roomy || data->state->rows >= TALL_ROWS) && data->state->chart == CHART_NONE &&
           live_findings(data->state, data->live, findings) > 0;
}

/* The finding with its number and its lesson, and its evidence below it. Returns the rows; on
 * a quiet sheet it only counts. */
static int draw_finding(Sheet *sheet, Area area, const Finding *finding, int number) {
    char text[sizeof finding->evidence + 48], line[sizeof finding->text + 40];
    snprintf(line, sizeof line, "%d  %s (lesson %d)", number, finding->text, finding->lesson);
    text_micro(line, text, sizeof text);
    int rows = sheet_paragraph(sheet, area, INK_TEXT, text);
    snprintf(line, sizeof line, "%d", number);
    sheet_spot(sheet, (Area){area.x, area.y, area.w, rows}, ACTION_EXPLAIN, 0, line);
    Area below = {area.x + INDENT, area.y + rows, area.w - INDENT, area.h - rows};
    text_micro(finding->evidence, text, sizeof text);
    return rows + (below.h > 0 ? sheet_paragraph(sheet, below, INK_MUTED, text) : 0);
}

void findings_draw(Sheet *sheet, Area area, const PanelData *data) {
    Finding findings[FINDINGS_MAX];
    int count = live_findings(data->state, data->live, findings);
    char title[96], on[64], note[64];
    prediction_gpu(data->state, on, sizeof on);
    snprintf(title, sizeof title, "Findings on %s", on);
    snprintf(note, sizeof note, "model, estimated gain; type %s", key_of(ACTION_EXPLAIN).name);
    area = sheet_title(sheet, area, title, note);
    Sheet quiet = sheet_quiet(sheet);
    for (int i = 0; i < count; i++) {
        int rows = draw_finding(&quiet, (Area){0, 0, area.w, MOST_ROWS}, &findings[i], i + 1);
        if (rows > area.h)
            return;
        draw_finding(sheet, area, &findings[i], i + 1);
        area = area_below(area, rows);
    }
}

void findings_line_draw(Sheet *sheet, Area area, const PanelData *data) {
    Finding findings[FINDINGS_MAX];
    if (findings_shown(data))
        return;
    char text[280], brief[sizeof findings[0].brief + 8], on[64], lesson[24];
    if (!live_findings(data->state, data->live, findings))
        return;
    prediction_gpu(data->state, on, sizeof on);
    text_micro(findings[0].brief, brief, sizeof brief);
    snprintf(lesson, sizeof lesson, ": lesson %d", findings[0].lesson);
    snprintf(text, sizeof text, "Model, %s: %s%s (%s opens it)", on, brief, lesson,
             key_of(ACTION_EXPLAIN).name);
    if (sheet_width(sheet, text) > area.w)
        snprintf(text, sizeof text, "Model, %s: %s%s", on, brief, lesson);
    if (sheet_width(sheet, text) > area.w)
        snprintf(text, sizeof text, "Model, %s: %s", on, brief);
    sheet_origin(sheet, ORIGIN_MODEL, NULL);
    if (sheet_width(sheet, text) > area.w)
        return;
    int used = sheet_line(sheet, area, cell_style(INK_WARN), text);
    sheet_spot(sheet, (Area){area.x, area.y, used, 1}, ACTION_EXPLAIN, 0, "1");
}
