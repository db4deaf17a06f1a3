/* The values that options may take, each read from the table that defines them. */
#ifndef BEV_CHOICES_H
#define BEV_CHOICES_H

#include "kernels/bevpool.h"

typedef enum {
    CHOICE_NONE,
    CHOICE_KERNEL,
    CHOICE_DTYPE,
    CHOICE_ALIGN,
    CHOICE_VIEW,
    CHOICE_COLORMAP,
    CHOICE_FORMAT,
    CHOICE_CACHE,
    CHOICE_TIMING,
    CHOICE_THEME,
    CHOICE_COLOR,
    CHOICE_GPU,
    CHOICE_SWEEP,
    CHOICE_SET_COUNT
} ChoiceSet;

/* Number of choices, and the name of one. */
int choices_count(ChoiceSet set);
const char *choices_name(ChoiceSet set, int i);

/* Position of a name in its table, -1 when it is not there. */
int choices_find(ChoiceSet set, const char *name);

/* Checks one name, or a comma-separated list ("all" too); names the nearest known one. */
bool choices_check(ChoiceSet set, const char *text, bool list, const char *option, Err *err);

/* Bit mask of a checked list; `fallback` for NULL. */
unsigned choices_mask(ChoiceSet set, const char *text, unsigned fallback);

/* Appends " (one, two, three)" to a help text; nothing for short sets the help already names. */
void choices_list(ChoiceSet set, char *text, int size);

#endif
