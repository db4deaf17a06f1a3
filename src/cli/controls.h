/* The manual's sections on the controls of the live display and on the words, from the table of
 * keys and from the glossary. `print` writes a text with what roff would take for its own escaped.
 */
#ifndef BEV_CONTROLS_H
#define BEV_CONTROLS_H

#include <stdio.h>

void man_controls(FILE *out, void (*print)(FILE *out, const char *text));
void man_glossary(FILE *out, void (*print)(FILE *out, const char *text));

#endif
