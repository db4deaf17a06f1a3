/* SPDX-License-Identifier: MIT */
/* Texts of figures: ticks of an axis, units, cleaned and cut characters. */
#include "kernels/clean.h"
#include "src/base/units.h"
#include "src/view/draw/color.h"
#include "src/view/draw/ticks.h"
#include "tests/support/tap.h"

#include <math.h>

static Ticks ticks; /* made last */

static bool label_is(int i, const char *label) {
    return i < ticks.count && !strcmp(ticks.label[i], label);
}

static bool last_is(const char *label) {
    return label_is(ticks.count - 1, label);
}

/* A check of these ticks. */
#define ticked(ticks_, ...) (ticks = ticks_, tap_ok(__VA_ARGS__))

static char text[64]; /* made last */

#define is(want_, ...) tap_ok(!strcmp(text, want_), __VA_ARGS__)
#define figure_is(us_, ...)                                                                        \
    (snprintf(text, sizeof text, "%s", text_of_figure(UNIT_US, us_).text), is(__VA_ARGS__))
#define shell(from_, to_)                                                                          \
    tap_ok(clean_for_shell(from_, text, sizeof text) && !strcmp(text, to_), "to a shell %s", text)
#define cleaned(from_, ...) (clean_text(from_, text, sizeof text), is(__VA_ARGS__))

TAP_SUITE(text_ticks) {
    ticked(ticks_linear(-54, 54, 12),
           ticks.count == 11 && ticks.at[0] == -50 && label_is(0, "\u221250") && label_is(5, "0"),
           "a metre axis counts in tens, with a true minus sign");
    ticked(ticks_linear(-9e-7, 9e-7, 4), ticks.exponent == -7 && last_is("5"),
           "tiny numbers share a power of ten");
    ticked(ticks_linear(0, 1, 5), label_is(1, "0.2") && label_is(0, "0.0"), "decimals agree");
    ticked(ticks_linear(3, 3, 5), ticks.count == 1, "an empty range has one tick");
    ticked(ticks_log(1, 352, 4), label_is(0, "1") && last_is("100"),
           "a logarithmic bar counts in powers of ten");
    ticked(ticks_log(0.02, 20, 12), label_is(0, "0.02") && label_is(1, "0.05") && last_is("20"),
           "or in 1, 2, 5 where there is room");
    ticked(ticks_log(1e-9, 1, 12), label_is(0, "10⁻⁹") && last_is("1"),
           "a power of ten with many zeros is written as one");
    ticked(ticks_log(1.5e-6, 6e-6, 12), label_is(0, "2×10⁻⁶"), "with its digit");
    strcpy(text, ticks_multiplier(-7).text);
    is("×10⁻⁷", "the power of ten is printed");
    strcpy(text, ticks_number(-0.001, 1).text);
    is("0.0", "no minus zero");
}

TAP_SUITE(text_texts) {
    snprintf(text, sizeof text, "%s", text_of_unit(UNIT_COUNT, -1).text);
    is("n/a", "an unknown count is n/a");
    figure_is(NAN, "n/a", "an unknown time is n/a");
    figure_is(4312, "4.31 ms", "milliseconds");
    figure_is(17.3, "17.3 \u00b5s", "microseconds");
    snprintf(text, sizeof text, "%s", text_of_unit(UNIT_ERROR, 3.8e-9).text);
    is("3.8e-09", "errors have powers of ten");
    snprintf(text, sizeof text, "%s", text_of_unit(UNIT_COUNT, 209019).text);
    is("209,019", "large numbers stand in groups");
    snprintf(text, sizeof text, "%s", text_of_change(UNIT_BYTES, 8.66e6, 900).text);
    is("8.66 MB to 900 B", "a change is told in one unit where that keeps the digits of both");
    shell("out/a-1.npz", "out/a-1.npz");
    shell("", "''");
    shell("$(id).npz", "'$(id).npz'");
    shell("it's a\u00e9", "'it'\\''s a\u00e9'");
    shell("m\xfcller's", "$'m\\374ller\\047s'");
    tap_ok(!clean_for_shell("$(id)", text, 7), "a word for a shell is not cut");
    cleaned("a\x01\xff\xc3(\xed\xa0\x80z\xc3\xa9", "a??\?(??\?z\u00e9",
            "control bytes and broken UTF-8 become '?' (%s)", text);
    cleaned("a\xc2\x9bJb\u00a0", "a?Jb\u00a0", "those of two bytes in UTF-8, too");
    cleaned("a\u202eb\u200b\ufffe\U000e0041\u2028z\u20ac\U0001f600", "a?b????z\u20ac\U0001f600",
            "so do marks that turn the writing or show nothing, and what is no character (%s)",
            text);
    text_micro("tell us, 3 us2, 4 us_off, 5 bus, 6  us.", text, sizeof text);
    is("tell us, 3 us2, 4 us_off, 5 bus, 6  \u00b5s.", "us is a unit behind a number alone");
    text_micro("median us", text, sizeof text);
    is("median \u00b5s", "and as the last word of a heading");
    text_micro("us", text, sizeof text);
    is("\u00b5s", "or the only one");
    text_micro("bus", text, sizeof text);
    is("bus", "within a word it is none");
    text_micro("12.6 to 11.0 us, used", text, sizeof text);
    is("12.6 to 11.0 \u00b5s, used", "microseconds have their sign");
    cleaned(NULL, "n/a", "no text is n/a");
    clean_text("abc\u00e9", text, 5);
    is("abc", "a character is not cut in two");
    strcpy(text, "a\u2026");
    tap_ok(text_drop_last(text) && !strcmp(text, "a") && !text_drop_last(text),
           "characters are dropped whole");
}
