#include "src/cli/report.h"

#include "src/base/data.h"
#include "src/base/markup.h"
#include "src/view/draw/color.h"

#include <string.h>

static const char style[] =
    "body{font:15px/1.55 'DejaVu Sans',system-ui,sans-serif;color:var(--text);"
    "background:var(--page);max-width:1160px;margin:2.5em auto 4em;padding:0 1.5em}"
    "h1{font-size:30px;line-height:1.2}h2{font-size:21px;margin:2.2em 0 .6em;line-height:1.2}"
    "p,li{max-width:88ch}img{display:block;max-width:100%;height:auto;margin:1.5em 0}"
    "figure{margin:0 -48px}"
    "table{border-collapse:collapse;font-size:12.5px;font-variant-numeric:tabular-nums}"
    "th,td{padding:4px 10px;border-bottom:1px solid var(--rule);text-align:right;"
    "white-space:nowrap}th{vertical-align:bottom;white-space:normal;color:var(--muted)}"
    "th.word,td.word{text-align:left}th:first-child,td:first-child{text-align:left;padding-left:0}"
    "tr.group td{border-top:2px solid var(--muted)}"
    ".wide{overflow-x:auto;margin:1em 0}"
    "code{background:var(--tint);padding:2px 5px;border-radius:3px;font-size:13px}"
    ".muted{color:var(--muted)}@media print{body{max-width:none;margin:0}h2{break-after:avoid}}"
    "@media(max-width:1260px){figure{margin:0}}";

static void put_color(FILE *out, const char *name, Rgb color) {
    fprintf(out, "--%s:#%02x%02x%02x;", name, color.r, color.g, color.b);
}

void html_begin(FILE *out, const char *title, FigureTheme number) {
    const Theme *theme = &themes[number];
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
          out);
    markup_text(out, title);
    fputs("</title>\n<style>:root{", out);
    put_color(out, "page", theme->page);
    put_color(out, "text", theme->text);
    put_color(out, "muted", theme->muted);
    put_color(out, "rule", theme->rule);
    put_color(out, "tint", theme->tint);
    fprintf(out, "}%s</style></head><body>\n<h1>", style);
    markup_text(out, title);
    fputs("</h1>\n", out);
}

void html_end(FILE *out) {
    fputs("</body></html>\n", out);
}

void html_image(FILE *out, const char *alternative, const uint8_t *png, size_t length) {
    fputs("<figure><img alt=\"", out);
    markup_text(out, alternative);
    fputs("\" src=\"data:image/png;base64,", out);
    data_base64(out, png, length);
    fputs("\"></figure>\n", out);
}

/* Whether a group begins at this row: its cell in the column `group` differs from the one above. */
static bool begins_group(const Report *report, int row, int group) {
    char above[256], here[256];
    if (group < 0 || row <= 0)
        return false;
    report_cell(report, row - 1, group, above, sizeof above);
    report_cell(report, row, group, here, sizeof here);
    return strcmp(above, here) != 0;
}

/* Row -1 holds the headings. */
static void put_row(FILE *out, const Report *report, int row, int group) {
    const char *tag = row < 0 ? "th" : "td";
    char text[256];
    fputs(begins_group(report, row, group) ? "<tr class=\"group\">" : "<tr>", out);
    for (int column = 0; column < report->column_count; column++)
        if (report_shows(report, column)) {
            report_cell(report, row, column, text, sizeof text);
            fprintf(out, "<%s%s>", tag, report_is_text(report, column) ? " class=\"word\"" : "");
            markup_text(out, text);
            fprintf(out, "</%s>", tag);
        }
    fputs("</tr>\n", out);
}

void html_table(FILE *out, const Report *report, const char *group) {
    char folded[256];
    int at = group ? report_column(report, group) : -1;
    report_folded(report, folded, sizeof folded);
    if (folded[0]) {
        fputs("<p class=\"muted\">In every row: ", out);
        markup_text(out, folded);
        fputs(".</p>\n", out);
    }
    fputs("<div class=\"wide\"><table>\n", out);
    for (int row = -1; row < report->row_count; row++)
        put_row(out, report, row, at);
    fputs("</table></div>\n", out);
}
