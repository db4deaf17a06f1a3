/* The live display, paused and untouched for a minute, keeps no core busy: a laptop's fan stops. */
#include "tests/support/pty_check.h"

#include <stdio.h>

enum { REST_S = 60, LOOK_S = 20, MOST_PERCENT = 5 };

/* Processor time of a process so far, its threads included, in clock ticks; -1: unknown. */
static long ticks_of(pid_t process) {
    char path[64];
    long user = -1, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld",
                       &user, &system) != 2)
        user = -1;
    if (file)
        fclose(file);
    return user < 0 ? -1 : user + system;
}

TAP_HARD_SUITE(rest) {
    Pty pty;
    tap_need(pty_bevscope(&pty, 120, 40, NULL, "canonical --device cpu") &&
                 pty_wait_text(&pty, "Kernels", 0, PATIENCE_S),
             "the display is there");
    pty_type(&pty, " ");
    pty_read(&pty, REST_S);
    long before = ticks_of(pty.program);
    pty_read(&pty, LOOK_S);
    long after = ticks_of(pty.program);
    double percent = 100.0 * (double)(after - before) / (double)(sysconf(_SC_CLK_TCK) * LOOK_S);
    tap_ok(before > 0 && after >= before && percent < MOST_PERCENT,
           "paused for %d s it takes %.1f %% of a core", REST_S, percent);
    pty_type(&pty, "q");
    check_end(&pty, "quit after that", "bevscope: quit", exits_with(&pty, 0));
    pty_end(&pty);
}
