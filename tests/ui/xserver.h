/* SPDX-License-Identifier: MIT */
/* An X server of the test's own, which shows nothing (Xvfb), and what a window manager would tell
 * the windows on it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

typedef struct {
    pid_t pid;
    char display[32]; /* "DISPLAY=:7" */
} XServer;

/* NULL once it answers; else why there is none. */
const char *xserver_start(XServer *server);

/* Ends the server; its clients lose their connection. */
void xserver_stop(XServer *server);

/* Asks the window of this title to close, as a click on its close button does, once it is shown;
 * false: it was not shown within `seconds`. */
bool xserver_close_window(const XServer *server, const char *title, double seconds);
