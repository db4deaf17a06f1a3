#include "src/base/reading.h"

#include <math.h>
#include <string.h>

const char *const source_names[] = {"n/a", "measured", "recorded", "model"};

void figure_text(Unit unit, double value, char *text, size_t size) {
    unit_text(unit, value, text, size);
    size_t length = strlen(text);
    if (length > 3 && !strcmp(text + length - 3, " us") && length + 2 <= size)
        memcpy(text + length - 2, "\u00b5s", sizeof "\u00b5s");
}

void reading_text(Unit unit, const Reading *reading, char *text, size_t size) {
    figure_text(unit, reading->source == SOURCE_UNKNOWN ? NAN : reading->value, text, size);
}

const char *reading_mark(const Reading *reading) {
    static const char *const marks[] = {[SOURCE_UNKNOWN] = "",
                                        [SOURCE_MEASURED] = "",
                                        [SOURCE_RECORDED] = "r",
                                        [SOURCE_MODEL] = "m"};
    return reading->source != SOURCE_UNKNOWN && reading->stale ? "~" : marks[reading->source];
}
