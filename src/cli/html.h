/* A page of HTML with everything inside: no other file, no script, no network. */
#ifndef BEV_HTML_H
#define BEV_HTML_H

#include "src/cli/report.h"
#include "src/view/figure/figure.h"

#include <stdint.h>

/* The document's head, in the colours of the theme, up to its first heading; and its end. */
void html_begin(FILE *out, const char *title, FigureTheme theme);
void html_end(FILE *out);

/* Text as text, whatever it contains. */
void html_text(FILE *out, const char *text);

/* A PNG inside the page. */
void html_image(FILE *out, const char *alternative, const uint8_t *png, size_t length);

/* The table as people see it (report.h), what it folds in a line before. A rule parts the rows
 * where the column of key `group` (or NULL) changes. */
void html_table(FILE *out, const Report *report, const char *group);

#endif
