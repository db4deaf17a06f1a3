/* One code of a number format, for the page of bits: its parts, its class, its neighbours. All of
 * it follows from the format table and from decoding. */
#pragma once

#include "src/state/state.h"

/* "FP8 E4M3", "INT8". */
ShortText bits_title(BevDtype element);

/* The parts of a code, from its top bit down. */
typedef enum { PART_SIGN, PART_EXPONENT, PART_FRACTION, PART_NUMBER, PART_COUNT } BitsPart;
extern const char *const bits_parts[PART_COUNT]; /* "sign", "exponent", "fraction", "number" */

/* The part that a bit belongs to, and the number that a part holds. */
BitsPart bits_part(BevDtype element, int bit);
uint32_t bits_field(BevDtype element, uint32_t code, BitsPart part);
int bits_width(BevDtype element, BitsPart part);

/* "zero", "subnormal", "normal", "infinity", "NaN", "whole number", "unused". */
const char *bits_class(BevDtype element, uint32_t code);

/* The next number above (1) or below (-1), infinity included. False: there is none, and
 * *next stays. */
bool bits_next(BevDtype element, uint32_t code, int step, uint32_t *next);

/* Whether the code behind a number's is no number: what lies above the largest. */
bool bits_then_nan(BevDtype element, uint32_t code);

/* "0.3125", "-inf", "NaN". */
ShortText bits_value(double value);

/* "2^-2 x (1 + 2/8)", "-(64 + 1)", or "" where the class says all. */
ShortText bits_formula(BevDtype element, uint32_t code);

/* "0 0101 010": parts with blanks between. */
ShortText bits_digits(BevDtype element, uint32_t code);

/* The number on the page. */
ShortText state_bits_value(const State *state);
