#include "tests/support/typed.h"

#include "tests/support/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void typed_text(int32_t key, char text[TYPED_TEXT]) {
    static const struct {
        int32_t key;
        const char *text;
    } special[] = {{KEYCODE_UP, "\033OA"},          {KEYCODE_DOWN, "\033OB"},
                   {KEYCODE_RIGHT, "\033OC"},       {KEYCODE_LEFT, "\033OD"},
                   {KEYCODE_SHIFT_UP, "\033[1;2A"}, {KEYCODE_SHIFT_DOWN, "\033[1;2B"},
                   {KEYCODE_SHIFT_RIGHT, "\033[1;2C"}, {KEYCODE_SHIFT_LEFT, "\033[1;2D"},
                   {KEYCODE_SHIFT_HOME, "\033[1;2H"}, {KEYCODE_SHIFT_END, "\033[1;2F"},
                   {KEYCODE_HOME, "\033OH"},        {KEYCODE_END, "\033OF"},
                   {KEYCODE_PAGE_UP, "\033[5~"},    {KEYCODE_PAGE_DOWN, "\033[6~"},
                   {KEYCODE_INSERT, "\033[2~"},     {KEYCODE_DELETE, "\033[3~"},
                   {KEYCODE_SHIFT_TAB, "\033[Z"},   {KEYCODE_BACKSPACE, "\177"},
                   {KEYCODE_ENTER, "\r"},           {KEYCODE_TAB, "\t"},
                   {KEYCODE_ESCAPE, "\033"}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (special[i].key == key)
            snprintf(text, TYPED_TEXT, "%s", special[i].text);
    if (key >= ' ' && key < 0x7f)
        snprintf(text, TYPED_TEXT, "%c", (char)key);
}

static int32_t random_key_of(const KeyRow *row) {
    int count = 0;
    while (count < KEYS_PER_ROW && row->keys[count])
        count++;
    if (row->back && rand() % 2)
        return row->back;
    return count ? row->keys[rand() % count] : 0;
}

static bool is_plain(const char *text) {
    bool arrow = text[0] == '\033' && text[1] == 'O' && strchr("ABCD", text[2]);
    return !text[1] ? text[0] != '\177' : arrow;
}

TypedControls typed_all_but(const Action *out, size_t count) {
    TypedControls controls = {.plain = false};
    memset(controls.has, true, sizeof controls.has);
    for (size_t i = 0; i < count; i++)
        controls.has[out[i]] = false;
    return controls;
}

int32_t typed_random(const TypedControls *controls) {
    char text[TYPED_TEXT];
    for (;;) {
        const KeyRow *row = &keys[rand() % ACTION_COUNT];
        int32_t key = controls->has[row->action] ? random_key_of(row) : 0;
        typed_text(key, text);
        if (text[0] && (!controls->plain || is_plain(text)))
            return key;
    }
}

unsigned typed_seed(unsigned otherwise) {
    const char *given = getenv("HARD_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : otherwise;
    tap_note("HARD_SEED=%u", seed);
    return seed;
}

const char *typed_word(const char *name, const char *otherwise) {
    const char *given = getenv(name);
    return given ? given : otherwise;
}

int typed_number(const char *name, int otherwise) {
    const char *given = getenv(name);
    return given ? atoi(given) : otherwise;
}
