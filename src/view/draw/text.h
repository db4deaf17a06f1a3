/* Strings from the world made fit for drawing: valid UTF-8, cut without breaking a character. */
#ifndef BEV_TEXT_H
#define BEV_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Copies `text` into `clean`: control characters and broken UTF-8 become '?'. NULL becomes
 * "n/a". Always terminated, never cut inside a character. */
void text_clean(const char *text, char *clean, size_t size);

/* Removes the last character; false when none is left. Valid UTF-8 only. */
_Bool text_drop_last(char *text);

/* "209,019"; "n/a" below 0. */
void text_count(int64_t count, char *text, size_t size);

/* "873 µs", "12.3 ms", "1.20 s"; "n/a" for NaN, infinity and negative times. */
void text_microseconds(double us, char *text, size_t size);

#endif
