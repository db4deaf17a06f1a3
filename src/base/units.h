/* SPDX-License-Identifier: MIT */
/* Numbers as text with their unit, and where a number comes from. An unknown number prints "n/a",
 * never 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum {
    UNIT_BYTES, /* "6.1 MB" (10^6), "820 kB" */
    UNIT_US,    /* "7.1 us", "12.3 ms", "1.20 s" */
    UNIT_ERROR, /* "0.021", "3.8e-09" */
    UNIT_GBPS,  /* "1,234 GB/s" */
    UNIT_COUNT  /* "209,019" */
} Unit;

/* Where a number comes from. Every screen shows it beside the number. */
typedef enum {
    SOURCE_UNKNOWN,
    SOURCE_MEASURED,
    SOURCE_RECORDED,
    SOURCE_MODEL,
    SOURCE_PUBLISHED, /* in the articles */
    SOURCE_COMPUTED   /* exact arithmetic over shapes, maps or values */
} FigureSource;

/* A number on a screen, with its source. A zeroed Reading is unknown. */
typedef struct {
    double value;
    FigureSource source;
    bool stale;    /* measured for an earlier selection or scene; shown with a mark */
    bool doubtful; /* not to be quoted: not settled, or shown until a measurement comes */
} Reading;

/* The names by FigureSource: "n/a", "measured", "recorded", "model", "published", "computed". */
extern const char *const source_names[];

static inline Reading reading(double value, FigureSource source) {
    return (Reading){.value = value, .source = source};
}

/* A text that a function returns as a struct: the caller needs no buffer. */
typedef struct {
    char text[160];
} ShortText;

/* Returns what snprintf would write. */
ShortText short_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Return a value with its unit: text_of_unit(UNIT_US, 7.1).text is "7.1 us", in ASCII. Screens that
 * show UTF-8 pass the text through text_micro, text_for_locale or text_put. The texts of
 * text_of_figure and reading_text have "µs" already. NaN, infinities and negative values are
 * unknown. */
ShortText text_of_unit(Unit unit, double value);
ShortText text_of_figure(Unit unit, double value);
ShortText reading_text(Unit unit, const Reading *reading);

/* Returns a change: "10.2 to 6.1 MB", in the unit of the larger value. Each value keeps its own
 * unit ("900 B to 8.66 MB") where the smaller value would lose its digits. When both values print
 * the same, the text is "still 6.1 MB". When a value is unknown, the text has `after` alone. */
ShortText text_of_change(Unit unit, double before, double after);

/* Copies an ASCII text and writes the unit "us" as "µs", for screens that show UTF-8. The unit
 * stands behind a number, or it is the last word of a heading ("median us"). `copy` needs one byte
 * more for each unit; otherwise the text is cut. */
void text_micro(const char *text, char *copy, size_t size);

/* Copy or print a text with "µs" only where the locale is UTF-8. */
void text_for_locale(const char *text, char *copy, size_t size);
void text_put(const char *text, FILE *out);

/* Appends to a text what snprintf would write, and cuts the end that has no room. */
void text_add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the number of characters in `length` bytes of UTF-8 text. */
int text_characters(const char *text, size_t length);

/* Prints a text, which has no blanks at its end, in lines of `width` columns. The first `column`
 * columns of the first line are taken; later lines are indented. False: an error of the file. */
bool text_wrap(const char *text, size_t length, int column, int indent, int width, FILE *out);

/* Sorts numbers in ascending order. None of them may be NaN. */
void sort_ascending(double *values, int count);

/* Returns a number's mark: "" measured, "r" recorded, "m" model, "!" stale, "?" doubtful. */
const char *reading_mark(const Reading *reading);
