/* Questions to the terminal database. A file of its own, because <term.h> defines everyday words as
 * macros. */
#include "src/ui/term_internal.h"

#include <ncurses.h>
#include <term.h>

static bool knows(const char *capability) {
    const char *text = tigetstr(capability);
    return text && text != (char *)-1;
}

const char *terminfo_impossible(const char *type, int fd) {
    int status;
    if (setupterm(type, fd, &status) != OK)
        return "this type of terminal is unknown";
    const char *reason = knows("cup") ? NULL : "this type of terminal cannot move its cursor";
    del_curterm(cur_term);
    return reason;
}

/* tputs passes one byte at a time and no context. */
static char *next, *end;

static int append(int byte) {
    if (next < end)
        *next++ = (char)byte;
    return byte;
}

size_t terminfo_reset(char *bytes, size_t size) {
    static const char *const capabilities[] = {"rmkx", "cnorm", "op", "sgr0", "rmcup"};
    next = bytes;
    end = bytes + size;
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        if (knows(capabilities[i]))
            tputs(tigetstr(capabilities[i]), 1, append);
    append('\r');
    append('\n');
    return (size_t)(next - bytes);
}
