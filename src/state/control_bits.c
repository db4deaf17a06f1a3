/* SPDX-License-Identifier: MIT */
/* Controls of the page of bits, which shows one number of the selected format. */

#include "kernels/codec.h"
#include "src/state/control.h"

const char *const bits_names[BITS_COUNT] = {"features", "depth", "output", "e5m2"};
const char *const bits_parts[PART_COUNT] = {"sign", "exponent", "fraction", "number"};

/* Returns the element format of a tensor, where features have the format `dtype`. All formats of
 * whole numbers have the codes of INT8. */
static BevDtype element_of(BevDtype dtype, BitsOf of) {
    BevDtype element = of == BITS_DEPTH    ? bev_dtypes[dtype].depth
                       : of == BITS_OUTPUT ? bev_dtypes[dtype].out
                       : of == BITS_E5M2   ? BEV_E5M2
                                           : dtype;
    return bev_is_whole(element) ? BEV_INT8 : element;
}

int bits_width(BevDtype element, BitsPart part) {
    const BevDtypeInfo *format = &bev_dtypes[element];
    const BitsPart last = format->exponent ? PART_FRACTION : PART_NUMBER;
    return part == PART_SIGN       ? format->sign
           : part == PART_EXPONENT ? format->exponent
           : part == last          ? format->bits - format->sign - format->exponent
                                   : 0;
}

ShortText bits_title(BevDtype element) {
    const BevDtypeInfo *format = &bev_dtypes[element];
    const ShortText parts =
        short_text("E%dM%d", format->exponent, bits_width(element, PART_FRACTION));
    const bool adds_parts = format->exponent && strcmp(format->title, parts.text) != 0;
    return adds_parts ? short_text("%s %s", format->title, parts.text)
                      : short_text("%s", format->title);
}

BitsPart bits_part(BevDtype element, int bit) {
    const BevDtypeInfo *format = &bev_dtypes[element];
    int from_top = format->bits - 1 - bit;
    return from_top < format->sign                      ? PART_SIGN
           : from_top < format->sign + format->exponent ? PART_EXPONENT
           : format->exponent                           ? PART_FRACTION
                                                        : PART_NUMBER;
}

uint32_t bits_field(BevDtype element, uint32_t code, BitsPart part) {
    uint32_t field = 0;
    for (int bit = bev_dtypes[element].bits - 1; bit >= 0; bit--)
        if (bits_part(element, bit) == part)
            field = field << 1 | (code >> bit & 1);
    return field;
}

ShortText bits_digits(BevDtype element, uint32_t code) {
    ShortText digits;
    int n = 0;
    for (int bit = bev_dtypes[element].bits - 1; bit >= 0; bit--) {
        digits.text[n++] = (char)('0' + (code >> bit & 1));
        if (bit && bits_part(element, bit) != bits_part(element, bit - 1))
            digits.text[n++] = ' ';
    }
    digits.text[n] = '\0';
    return digits;
}

/* Whether no value is encoded as this code. INT8 uses -127 to 127: the code of -128 is unused. */
static bool is_unused(BevDtype element, uint32_t code) {
    return !bev_dtypes[element].exponent &&
           fabs(bev_code_value(element, code)) > bev_dtypes[element].largest;
}

const char *bits_class(BevDtype element, uint32_t code) {
    double value = bev_code_value(element, code);
    bool whole = !bev_dtypes[element].exponent;
    return isnan(value)                                    ? "NaN"
           : isinf(value)                                  ? "infinity"
           : is_unused(element, code)                      ? "unused"
           : value == 0                                    ? "zero"
           : whole                                         ? "whole number"
           : bits_field(element, code, PART_EXPONENT) == 0 ? "subnormal"
                                                           : "normal";
}

/* Writes the code that is `step` positions further on the number line, where both zeros have
 * position 0. That code may be a NaN. Returns false beyond either end of the line. Formats with an
 * exponent store sign and magnitude, the others two's complement. */
static bool code_beside(BevDtype element, uint32_t code, int step, uint32_t *next) {
    const BevDtypeInfo *format = &bev_dtypes[element];
    const uint32_t sign_bit = format->sign ? 1u << (format->bits - 1) : 0;
    const uint64_t all_bits = ((uint64_t)1 << format->bits) - 1;
    const int64_t most = ((int64_t)1 << (format->bits - format->sign)) - 1;
    const int64_t least = format->sign ? -most : 0;
    int64_t position = code & sign_bit ? -(int64_t)(code ^ sign_bit) : (int64_t)code;
    if (!format->exponent)
        position = (int64_t)bev_code_value(element, code);
    position += step;
    if (position > most || position < least)
        return false;
    *next = format->exponent && position < 0 ? sign_bit | (uint32_t)-position
                                             : (uint32_t)((uint64_t)position & all_bits);
    return true;
}

bool bits_next(BevDtype element, uint32_t code, int step, uint32_t *next) {
    uint32_t beside;
    if (isnan(bev_code_value(element, code)) || !code_beside(element, code, step, &beside))
        return false;
    if (isnan(bev_code_value(element, beside)) || is_unused(element, beside))
        return false;
    *next = beside;
    return true;
}

bool bits_then_nan(BevDtype element, uint32_t code) {
    uint32_t next;
    const double value = bev_code_value(element, code);
    const int away_from_zero = value < 0 ? -1 : 1;
    return !isnan(value) && code_beside(element, code, away_from_zero, &next) &&
           isnan(bev_code_value(element, next));
}

ShortText bits_value(double value) {
    return isnan(value) ? short_text("NaN") : short_text("%.9g", value);
}

ShortText bits_formula(BevDtype element, uint32_t code) {
    const BevDtypeInfo *format = &bev_dtypes[element];
    const char *class = bits_class(element, code);
    const uint32_t fraction = bits_field(element, code, PART_FRACTION);
    const uint32_t exponent = bits_field(element, code, PART_EXPONENT);
    const uint32_t integer = bits_field(element, code, PART_NUMBER);
    const char *sign = bits_field(element, code, PART_SIGN) ? "-" : "";
    const long long fraction_one = 1LL << bits_width(element, PART_FRACTION);
    const int bias = (1 << (format->exponent ? format->exponent - 1 : 0)) - 1;
    if (!strcmp(class, "normal"))
        return short_text("%s2^%d x (1 + %u/%lld)", sign, (int)exponent - bias, fraction,
                          fraction_one);
    if (!strcmp(class, "subnormal"))
        return short_text("%s2^%d x %u/%lld", sign, 1 - bias, fraction, fraction_one);
    if (!format->exponent && *sign) /* two's complement */
        return short_text("-%d + %u", 1 << bits_width(element, PART_NUMBER), integer);
    return (ShortText){""};
}

/* ---- the page of bits ------------------------------------------------------------------------ */

BitsPage state_bits(const State *state) {
    BitsPage page = state->bits;
    BevDtype element = element_of(state->job.config.dtype, page.of);
    const int top_bit = bev_dtypes[element].bits - 1;
    if (page.dtype != element)
        page.code = bev_code(element, (float)bev_code_value(page.dtype, page.code));
    page.dtype = element;
    page.at = page.at < top_bit ? page.at : top_bit;
    return page;
}

ShortText state_bits_value(const State *state) {
    BitsPage page = state_bits(state);
    return bits_value(bev_code_value(page.dtype, page.code));
}

/* Logs what was done, the number with its bits, and the next number. In a lesson the next number is
 * left out, because the lesson may ask for it. */
static unsigned log_bits(State *state, Action action, const char *done) {
    const BitsPage *page = &state->bits;
    const ShortText formula = bits_formula(page->dtype, page->code);
    const double value = bev_code_value(page->dtype, page->code);
    const bool tells_next = !state->lesson.open;
    uint32_t above;
    ShortText next = {""};
    if (tells_next && bits_next(page->dtype, page->code, 1, &above))
        next = short_text("; next %s", bits_value(bev_code_value(page->dtype, above)).text);
    else if (tells_next && value > 0 && bits_then_nan(page->dtype, page->code))
        next = short_text("; next NaN");
    return SAY(state, action, "%s%s: %s is %s%s%s, %s%s", done, bits_title(page->dtype).text,
               bits_digits(page->dtype, page->code).text, bits_value(value).text,
               *formula.text ? " = " : "", formula.text, bits_class(page->dtype, page->code),
               next.text) |
           STEP_CHANGE;
}

unsigned control_bits(State *state, const Command *command) {
    state->bits = state_bits(state);
    unsigned changed = SET(state->bits.open, control_switched(command, state->bits.open));
    return state->bits.open ? log_bits(state, command->action, "bits of ")
                            : SAY(state, command->action, "bits off") | changed;
}

unsigned control_bits_at(State *state, const Command *command) {
    state->bits = state_bits(state);
    BitsPage *page = &state->bits;
    int bits = bev_dtypes[page->dtype].bits;
    unsigned changed = SET(page->at, (int)clamp(command->number, 0, bits - 1));
    double flipped = bev_code_value(page->dtype, page->code ^ 1u << page->at);
    return SAY(state, command->action, "bit %d, %s: flipped, %s becomes %s", page->at,
               bits_parts[bits_part(page->dtype, page->at)], state_bits_value(state).text,
               bits_value(flipped).text) |
           changed;
}

unsigned control_bits_flip(State *state, const Command *command) {
    state->bits = state_bits(state);
    BitsPage *page = &state->bits;
    const double bit = command->step ? page->at : command->number;
    const bool bit_exists = bit >= 0 && bit < bev_dtypes[page->dtype].bits;
    char done[48];
    if (!bit_exists)
        return SAY(state, command->action, "bits-flip: %s has bits 0 to %d, not %s",
                   bits_title(page->dtype).text, bev_dtypes[page->dtype].bits - 1,
                   command->argument);
    page->at = (int)bit;
    page->code ^= 1u << page->at;
    snprintf(done, sizeof done, "bit %d flipped, %s, ", page->at,
             bits_parts[bits_part(page->dtype, page->at)]);
    return log_bits(state, command->action, done);
}

/* Changes the number: a step goes to the next number, an argument to the number nearest to it. */
unsigned control_bits_value(State *state, const Command *command) {
    state->bits = state_bits(state);
    BitsPage *page = &state->bits;
    char done[80] = "";
    if (!command->step) {
        page->code = bev_code(page->dtype, (float)command->number);
        snprintf(done, sizeof done, "nearest to %.40s, ", command->argument);
        return log_bits(state, command->action, done);
    }
    if (isnan(bev_code_value(page->dtype, page->code)))
        return SAY(state, command->action, "NaN has no neighbours: flip a bit");
    if (bits_next(page->dtype, page->code, command->step, &page->code))
        return log_bits(state, command->action, command->step > 0 ? "one up, " : "one down, ");
    return SAY(state, command->action, "%s is the %s number%s", state_bits_value(state).text,
               command->step > 0 ? "largest" : "least",
               bits_then_nan(page->dtype, page->code) ? ": the next code is NaN" : "");
}

unsigned control_bits_of(State *state, const Command *command) {
    state->bits.of = (BitsOf)command->place;
    state->bits = state_bits(state);
    char done[48];
    snprintf(done, sizeof done, "%s, ", bits_names[command->place]);
    return log_bits(state, command->action, done);
}
