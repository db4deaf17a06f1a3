/* SPDX-License-Identifier: MIT */
/* Fuzz target: world scenes from any bytes. */
#include "tests/fuzz/fuzz.h"

/* An operator with so many points that drawing them would be most of the work. */
static bool is_slow(const char *text, size_t size) {
    enum { DIGITS = 5 };
    int digits = 0;
    for (size_t i = 0; i < size && digits < DIGITS; i++)
        digits = text[i] >= '0' && text[i] <= '9' ? digits + 1 : 0;
    return digits == DIGITS && memmem(text, size, "operator", strlen("operator"));
}

FUZZ_TARGET(json, 12) {
    Scene scene;
    Err err = {0};
    if (is_slow((const char *)data, size))
        return 0;
    if (scene_read_json((const char *)data, size, "fuzz.json", true, &scene, &err))
        check_accepted(&scene);
    else
        check_refusal(&scene, &err);
    return 0;
}
