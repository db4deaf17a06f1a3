/* SPDX-License-Identifier: MIT */
#include "src/base/units.h"

#include <ctype.h>
#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a value is printed: divided by `divisor`, with a suffix. */
typedef struct {
    double divisor;
    const char *suffix;
} Step;

/* Chooses the suffix that leaves the value below 1,000, or the last one. */
static Step unit_step(Unit unit, double value) {
    static const char *const suffixes[][5] = {[UNIT_BYTES] = {" B", " kB", " MB", " GB"},
                                              [UNIT_US] = {" us", " ms", " s"},
                                              [UNIT_ERROR] = {""},
                                              [UNIT_GBPS] = {" GB/s"},
                                              [UNIT_COUNT] = {""}};
    const char *const *suffix = suffixes[unit];
    double divisor = 1;
    for (; suffix[1] && value >= 1e3 * divisor; suffix++)
        divisor *= 1e3;
    return (Step){divisor, *suffix};
}

static bool is_known(double value) {
    return isfinite(value) && value >= 0;
}

/* Returns a number with commas: 1234567 becomes "1,234,567". */
static ShortText group_digits(double value) {
    ShortText text;
    char digits[40];
    int length = snprintf(digits, sizeof digits, "%.0f", value);
    size_t used = 0;
    for (int i = 0; digits[i]; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text.text[used++] = ',';
        text.text[used++] = digits[i];
    }
    text.text[used] = '\0';
    return text;
}

/* Returns a value without its suffix, with three digits. Bytes and counts have no fraction. */
static ShortText number_text(Unit unit, Step step, double value) {
    const bool is_integer = unit == UNIT_COUNT || (unit == UNIT_BYTES && step.divisor == 1);
    value /= step.divisor;
    if (unit == UNIT_ERROR && value == 0)
        return short_text("0");
    if (unit == UNIT_ERROR)
        return short_text(value < 1e-4 ? "%.1e" : value < 0.95 ? "%.2g" : "%.1f", value);
    if (is_integer || value >= 99.95 || value == 0)
        return group_digits(value);
    return short_text(value < 9.995 ? "%.2f" : "%.1f", value);
}

ShortText text_of_unit(Unit unit, double value) {
    if (!is_known(value))
        return short_text("n/a");
    const Step step = unit_step(unit, value);
    return short_text("%s%s", number_text(unit, step, value).text, step.suffix);
}

/* A smaller share of a unit keeps too few digits: 900 B would be "0.00 MB". */
static const double MIN_SHARE = 0.1;

ShortText text_of_change(Unit unit, double before, double after) {
    if (!is_known(before) || !is_known(after))
        return text_of_unit(unit, after);
    const Step step = unit_step(unit, fmax(before, after));
    const double least = fmin(before, after);
    const bool loses_digits = least > 0 && least < MIN_SHARE * step.divisor;
    if (loses_digits && unit_step(unit, least).divisor != step.divisor)
        return short_text("%s to %s", text_of_unit(unit, before).text,
                          text_of_unit(unit, after).text);
    const ShortText from = number_text(unit, step, before), to = number_text(unit, step, after);
    if (!strcmp(from.text, to.text))
        return short_text("still %s%s", to.text, step.suffix);
    return short_text("%s to %s%s", from.text, to.text, step.suffix);
}

const char *const source_names[] = {"n/a",   "measured",  "recorded",
                                    "model", "published", "computed"};

/* Whether "us" at position `at` is a unit: a word behind a number, or the last word of a text. */
static bool is_micro(const char *text, size_t at) {
    const char *unit = text + at;
    if (strncmp(unit, "us", 2) != 0 || isalnum((unsigned char)unit[2]) || unit[2] == '_')
        return false;
    size_t before = at; /* the end of the word before */
    while (before > 0 && text[before - 1] == ' ')
        before--;
    const bool begins_word = at == 0 || before < at, ends_text = unit[2] == '\0';
    const bool behind_number = before > 0 && isdigit((unsigned char)text[before - 1]);
    return begins_word && (ends_text || behind_number);
}

void text_micro(const char *text, char *copy, size_t size) {
    size_t used = 0;
    for (size_t at = 0; text[at] && used + 1 < size; at++)
        if (is_micro(text, at) && used + 3 < size) {
            memcpy(copy + used, "\u00b5s", 3);
            used += 3;
            at++; /* skips the s */
        } else
            copy[used++] = text[at];
    copy[used] = '\0';
}

static bool locale_is_utf8(void) {
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void text_for_locale(const char *text, char *copy, size_t size) {
    if (locale_is_utf8())
        text_micro(text, copy, size);
    else
        snprintf(copy, size, "%s", text);
}

void text_put(const char *text, FILE *out) {
    bool micro = locale_is_utf8();
    for (size_t at = 0; text[at]; at++)
        if (micro && is_micro(text, at))
            fputs("\u00b5", out); /* the s follows */
        else
            putc(text[at], out);
}

ShortText short_text(const char *format, ...) {
    ShortText text;
    va_list args;
    va_start(args, format);
    vsnprintf(text.text, sizeof text.text, format, args);
    va_end(args);
    return text;
}

void text_add(char *text, size_t size, const char *format, ...) {
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

int text_characters(const char *text, size_t length) {
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* Returns the length in bytes of the words that fit into `columns`. The first word counts also
 * where it is too long. */
static size_t length_of_line(const char *text, size_t length, int columns) {
    size_t fits = 0, end = strspn(text, " ");
    while (end < length) {
        end += strcspn(text + end, " \n");
        if (fits && text_characters(text, end) > columns)
            break;
        fits = end;
        end += strspn(text + end, " ");
    }
    return fits;
}

bool text_wrap(const char *text, size_t length, int column, int indent, int width, FILE *out) {
    size_t used = length_of_line(text, length, width - column);
    bool ok = fwrite(text, 1, used, out) == used;
    while (used < length) {
        used += strspn(text + used, " ");
        size_t more = length_of_line(text + used, length - used, width - indent);
        ok = ok && fprintf(out, "\n%*s%.*s", indent, "", (int)more, text + used) > 0;
        used += more;
    }
    return ok && putc('\n', out) != EOF;
}

ShortText text_of_figure(Unit unit, double value) {
    ShortText with_micro;
    text_micro(text_of_unit(unit, value).text, with_micro.text, sizeof with_micro.text);
    return with_micro;
}

ShortText reading_text(Unit unit, const Reading *reading) {
    return text_of_figure(unit, reading->source == SOURCE_UNKNOWN ? NAN : reading->value);
}

const char *reading_mark(const Reading *reading) {
    static const char *const marks[] = {
        [SOURCE_UNKNOWN] = "", [SOURCE_MEASURED] = "",   [SOURCE_RECORDED] = "r",
        [SOURCE_MODEL] = "m",  [SOURCE_PUBLISHED] = "p", [SOURCE_COMPUTED] = ""};
    const char *mark = marks[reading->source];
    if (reading->source == SOURCE_UNKNOWN || (mark[0] && !reading->stale))
        return mark;
    return reading->stale ? "!" : reading->doubtful ? "?" : "";
}

static int compare_ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_ascending(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare_ascending);
}
