/* What the files of the terminal share: colours, the terminal database, standard error, keys.
 * Private to src/ui/term.c and the tests of these parts. */
#pragma once

#include "kernels/err.h"
#include "src/ui/term_mouse.h"
#include "src/view/draw/color.h"
#include "src/view/term/cells.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The number of the nearest colour in a terminal of `colors` (8, 16, 88, 256 or more). */
int palette_nearest(Rgb color, int colors);

/* The number of a tensor's ink among 8 or 16 colours, of which the nearest ones are not all
 * different; -1: it is no tensor's. */
int palette_tensor(Ink ink, bool light);

/* The colour with half again as much saturation: pictures keep their hues in few colours. */
Rgb palette_vivid(Rgb color);

/* ---- terminfo.c ------------------------------------------------------------------------------ */

/* Text that grows. All zero: empty. */
typedef struct {
    char *text;
    size_t length, capacity;
    bool lost; /* there was no memory for a part of it */
} Bytes;

void bytes_add(Bytes *bytes, const char *text, size_t length);
void bytes_free(Bytes *bytes);

/* Why a terminal of that type on `fd` cannot be drawn on; NULL: it can. */
const char *terminfo_impossible(const char *type, int fd);

/* Reads the entry of that type; one at a time. The other functions ask the open one. */
bool terminfo_open(const char *type, int fd);
void terminfo_close(void);

typedef struct {
    int default_columns,
        default_rows;       /* what the type has where the size is not known; -1: does not say */
    int colors;             /* 0: none */
    bool last_cell_scrolls; /* a glyph in the lower right corner moves everything up */
    bool mouse;             /* reports what the mouse does */
} TerminfoFacts;

TerminfoFacts terminfo_facts(void);

/* Adds the bytes of a capability, without or with its number; nothing where it is not known. */
void terminfo_add(Bytes *bytes, const char *capability);
void terminfo_add_number(Bytes *bytes, const char *capability, int number);
void terminfo_add_move(Bytes *bytes, int x, int y); /* of the cursor; from 0 */

/* Adds what makes the terminal report the mouse, or no longer. Only where `mouse` is a fact. */
void terminfo_add_mouse(Bytes *bytes, bool on);

/* Adds what resets the terminal: cursor, colours, keypad, the shell's screen. */
void terminfo_add_reset(Bytes *bytes, int rows);

/* What a key sends, by its capability ("kcuu1"); NULL: not known. */
const char *terminfo_key(const char *capability);

/* ---- term_capture.c -------------------------------------------------------------------------- */

/* Standard error would disturb the screen: it is collected in memory, its last line is shown in the
 * log, and all of it is written out when the terminal is the shell's again. */
typedef struct {
    int memory; /* what stderr points to while captured; -1: not captured */
    int errors; /* the real standard error */
    off_t seen; /* bytes that capture_line has read */
} Capture;

bool capture_begin(Capture *capture, Err *err);

/* Puts standard error back and copies to it what was captured. */
void capture_end(Capture *capture);

/* The last line that was captured since the last call; false: none. */
bool capture_line(Capture *capture, char *line, size_t size);

/* ---- term_keys.c: from the bytes that a terminal sends to keys ---------------------------------
 */

enum { KEYS_BYTES = 4096 };

/* All zero: nothing was typed. */
typedef struct {
    char bytes[KEYS_BYTES]; /* read, but not understood yet */
    size_t length;
    double since_ms; /* when the last of them came */
    /* Where the terminal's strings end: 'S' a string with its terminator to come, 'M' the rest of
     * a mouse report, 'P' what is pasted, 0 nothing. */
    char skipping;
    int skip; /* 'M': so many bytes */
    bool escaped; /* the last bytes were an Escape, and nothing followed it in time */
    MouseReport mouse; /* the newest report */
} TermKeys;

/* Reads what waits on `fd`. False: nothing was there. */
bool term_keys_read(TermKeys *typed, int fd, double now_ms);

/* The next key, a code of src/state/keys.h, or TERM_MOUSE (src/ui/term.h) with typed->mouse; 0:
 * none is complete. Sequences that mean no key here (Alt, focus, paste, answers, reports of other
 * buttons, and those that are wrong or in the old form) are passed over. */
int32_t term_keys_next(TermKeys *typed, double now_ms);

/* Milliseconds until bytes that wait for more count as they are; INFINITY: none wait. */
double term_keys_in_ms(const TermKeys *typed, double now_ms);
