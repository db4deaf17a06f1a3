/* The live display without a terminal to draw on: the log's lines, and a summary at the end. */
#include "src/base/clock.h"
#include "src/ui/loop_internal.h"
#include "src/view/term/dashboard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAIN_PATIENCE_MS = 20000 };

/* The newest line of the log, once its figures are there. */
static void print_log(Loop *loop) {
    const Log *log = &loop->state.log;
    if (!log->count || log->lines[0].open || !strcmp(loop->printed, log->lines[0].text))
        return;
    memcpy(loop->printed, log->lines[0].text, sizeof loop->printed);
    puts(loop->printed);
    fflush(stdout);
}

static void use_line(Loop *loop) {
    char why[200];
    loop->line[loop->line_length] = '\0';
    loop->line_length = 0;
    loop->line[strcspn(loop->line, "#\r")] = '\0';
    if (loop->line[strspn(loop->line, " \t")] && !loop_words(loop, loop->line, why, sizeof why))
        loop_note(loop, why);
}

/* Words on standard input, a line each, as in a script. */
void loop_read_lines(Loop *loop) {
    char block[256];
    ssize_t n = read(STDIN_FILENO, block, sizeof block);
    loop->input_ended = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
    for (ssize_t i = 0; i < n; i++)
        if (block[i] == '\n')
            use_line(loop);
        else if (loop->line_length + 1 < sizeof loop->line)
            loop->line[loop->line_length++] = block[i];
    if (loop->input_ended && loop->line_length)
        use_line(loop);
}

/* All that was asked for is known, or will not be. */
static bool settled(const Loop *loop) {
    const LiveData *live = loop_live(loop);
    const LiveKernel *row = live_kernel(live, loop->state.job.config.kernel);
    const LiveAccuracy *accuracy = &live->accuracy[loop->state.job.config.dtype];
    if (clock_ms() - loop->start_ms > PLAIN_PATIENCE_MS || live->error_text[0])
        return true;
    return live->serial == loop->state.job.serial && row &&
           row->median_us.source != SOURCE_UNKNOWN && !row->median_us.stale &&
           accuracy->source != SOURCE_UNKNOWN && !accuracy->stale;
}

void loop_print_plain(const Loop *loop) {
    char *text = dashboard_plain(&loop->state, loop_live(loop));
    if (text)
        fputs(text, stdout);
    free(text);
    fflush(stdout);
}

void loop_plain_step(Loop *loop) {
    print_log(loop);
    if (loop->input_ended && !loop->window && settled(loop))
        loop->quit = true;
}
