/* SPDX-License-Identifier: MIT */
/* A program on a terminal of its own, and what it did to it. The program runs as a shell would run
 * it: in the foreground group of a session whose leader waits for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

typedef struct {
    int master, slave; /* slave: kept open to look at its modes */
    pid_t leader, program;
    int reports; /* wait statuses of the program, from the leader */
    struct termios before;
    char *output; /* all that was written so far, NUL-terminated */
    size_t length;
} Pty;

/* Starts argv[0] (a path); `environment` are "NAME=value" strings set beforehand, ends with NULL.
 */
bool pty_start(Pty *pty, int columns, int rows, char *const argv[], char *const environment[]);

/* The same with the program under test and `words` of a shell behind its name (`"toy --device
 * cpu"`, printf's form). Without an environment (NULL) it is that of an xterm. Where nobody names
 * the program, in BEVSCOPE, the suite is skipped. */
__attribute__((format(printf, 5, 6))) bool
pty_bevscope(Pty *pty, int columns, int rows, char *const environment[], const char *words, ...);

/* The same with a line of a shell, in which "$BEVSCOPE" is the program. */
bool pty_shell(Pty *pty, int columns, int rows, char *const environment[], const char *line);

/* Reads what comes until `text` was written after position `from`, or `seconds` have passed. */
bool pty_wait_text(Pty *pty, const char *text, size_t from, double seconds);

void pty_read(Pty *pty, double seconds);

/* The program's next change of state (as waitpid reports it); false: none in time. */
bool pty_wait_status(Pty *pty, int *status, double seconds);

void pty_type(Pty *pty, const char *keys);
void pty_resize(Pty *pty, int columns, int rows);

/* The modes are what they were before the program came. */
bool pty_same_modes(const Pty *pty);

/* Position behind the last occurrence of `text`, 0 when there is none. */
size_t pty_last(const Pty *pty, const char *text);

/* The last line that was written, without control characters. */
void pty_last_line(const Pty *pty, char *line, size_t size);

/* Kills what is left, closes and frees. */
void pty_end(Pty *pty);

double pty_now_s(void);
