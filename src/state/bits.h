/* SPDX-License-Identifier: MIT */
/* One code of a number format, for the page of bits: its parts, its class and its neighbours. The
 * format table and the decoder give all of them. */
#pragma once

#include "src/state/state.h"

/* Returns the title of a format: "FP8 E4M3", "INT8". */
ShortText bits_title(BevDtype element);

/* The parts of a code, from the top bit down. */
typedef enum { PART_SIGN, PART_EXPONENT, PART_FRACTION, PART_NUMBER, PART_COUNT } BitsPart;
extern const char *const bits_parts[PART_COUNT]; /* "sign", "exponent", "fraction", "number" */

/* Returns the part that a bit belongs to, and the value of a part's bits. */
BitsPart bits_part(BevDtype element, int bit);
uint32_t bits_field(BevDtype element, uint32_t code, BitsPart part);
int bits_width(BevDtype element, BitsPart part);

/* Returns "zero", "subnormal", "normal", "infinity", "NaN", "whole number" or "unused". */
const char *bits_class(BevDtype element, uint32_t code);

/* Writes the code of the next number above (step 1) or below (step -1). Infinity counts as a
 * number. Returns false, and leaves *next, where there is none. */
bool bits_next(BevDtype element, uint32_t code, int step, uint32_t *next);

/* Whether the code that follows `code` is a NaN: `code` is the largest number. */
bool bits_then_nan(BevDtype element, uint32_t code);

/* Returns a decoded value as text: "0.3125", "-inf", "NaN". */
ShortText bits_value(double value);

/* Returns how the value follows from the parts: "2^-2 x (1 + 2/8)", "-(64 + 1)". The text is ""
 * where the class alone says the value. */
ShortText bits_formula(BevDtype element, uint32_t code);

/* Returns the bits of the code with a blank between its parts: "0 0101 010". */
ShortText bits_digits(BevDtype element, uint32_t code);

/* Returns the number on the page of bits as text. */
ShortText state_bits_value(const State *state);
