/* The terminal database, and the bytes that a terminal of this type understands. A file of its own,
 * because <term.h> defines everyday words as macros. */
#include "src/ui/term_internal.h"

#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>

/* ---- bytes ----------------------------------------------------------------------------------- */

void bytes_add(Bytes *bytes, const char *text, size_t length) {
    if (bytes->length + length > bytes->capacity) {
        size_t capacity = 2 * (bytes->length + length) + 4096;
        char *grown = bytes->lost ? NULL : realloc(bytes->text, capacity);
        bytes->lost = !grown;
        if (!grown)
            return;
        bytes->text = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->text + bytes->length, text, length);
    bytes->length += length;
}

void bytes_free(Bytes *bytes) {
    free(bytes->text);
    *bytes = (Bytes){.text = NULL};
}

/* ---- capabilities ---------------------------------------------------------------------------- */

static const char *look_up(const char *capability) {
    const char *text = tigetstr(capability);
    return text && text != (char *)-1 && *text ? text : NULL;
}

/* Length of a pause, "$<5>" or with a star or slash behind the number, which only terminals of long
 * ago need; 0: none begins here. */
static size_t pause_length(const char *text) {
    size_t digits = strncmp(text, "$<", 2) ? 0 : strspn(text + 2, "0123456789.*/");
    return digits && text[2 + digits] == '>' ? digits + 3 : 0;
}

static void add_text(Bytes *bytes, const char *text) {
    while (text && *text) {
        size_t pause = pause_length(text), plain = 0;
        while (text[plain] && !pause_length(text + plain))
            plain++;
        bytes_add(bytes, text, pause ? 0 : plain);
        text += pause ? pause : plain;
    }
}

void terminfo_add(Bytes *bytes, const char *capability) {
    add_text(bytes, look_up(capability));
}

void terminfo_add_number(Bytes *bytes, const char *capability, int number) {
    const char *text = look_up(capability);
    if (text)
        add_text(bytes, tparm(text, (long)number, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L));
}

void terminfo_add_move(Bytes *bytes, int x, int y) {
    const char *text = look_up("cup");
    if (text)
        add_text(bytes, tparm(text, (long)y, (long)x, 0L, 0L, 0L, 0L, 0L, 0L, 0L));
}

/* ---- a terminal ------------------------------------------------------------------------------ */

const char *terminfo_impossible(const char *type, int fd) {
    if (!terminfo_open(type, fd))
        return "this type of terminal is unknown";
    const char *reason = look_up("cup") ? NULL : "this type of terminal cannot move its cursor";
    terminfo_close();
    return reason;
}

bool terminfo_open(const char *type, int fd) {
    int status;
    return setupterm(type, fd, &status) == OK;
}

void terminfo_close(void) {
    del_curterm(cur_term);
}

TerminfoFacts terminfo_facts(void) {
    int colors = tigetnum("colors");
    TerminfoFacts facts = {.default_columns = tigetnum("cols"), .default_rows = tigetnum("lines")};
    if (colors >= 8 && look_up("setaf") && look_up("setab"))
        facts.colors = colors;
    /* The Linux console has kmous, but neither another screen nor these reports. */
    facts.mouse = (look_up("XM") || look_up("kmous")) && look_up("smcup");
    facts.last_cell_scrolls = tigetflag("am") > 0 && tigetflag("xenl") <= 0;
    return facts;
}

const char *terminfo_key(const char *capability) {
    return look_up(capability);
}

/* Modes of xterm, each by itself for terminals that know only some: 1000 press and release, 1002
 * also moves while pressed, 1006 as numbers. XM of the database asks for no moves. */
void terminfo_add_mouse(Bytes *bytes, bool on) {
    const char *text =
        on ? "\033[?1000h\033[?1002h\033[?1006h" : "\033[?1006l\033[?1002l\033[?1000l";
    bytes_add(bytes, text, strlen(text));
}

void terminfo_add_reset(Bytes *bytes, int rows) {
    terminfo_add(bytes, "rmkx");
    terminfo_add(bytes, "cnorm");
    terminfo_add(bytes, "op");
    terminfo_add(bytes, "sgr0");
    if (look_up("rmcup"))
        terminfo_add(bytes, "rmcup");
    else
        terminfo_add_move(bytes, 0, rows - 1); /* below what was drawn */
    bytes_add(bytes, "\r\n", 2);
}
