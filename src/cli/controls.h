/* The manual's section on the controls of the live display, from the table of keys. */
#ifndef BEV_CONTROLS_H
#define BEV_CONTROLS_H

#include <stdio.h>

/* `print` writes a text with what roff would take for its own escaped. */
void man_controls(FILE *out, void (*print)(FILE *out, const char *text));

#endif
