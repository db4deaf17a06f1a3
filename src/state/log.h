/* The log of the live display: one line a control. */
#ifndef BEV_LOG_H
#define BEV_LOG_H

#include "src/state/state.h"

/* Pushes a line. Controls that are held down (cursor, wipe, zoom) replace their own last line. */
void log_say(Log *log, Action action, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The newest line goes on to say what the job `serial` changes compared with `before`. */
void log_await(Log *log, uint64_t serial, const Headline *before);

/* Completes the line that waits for these figures. */
void log_result(Log *log, const Headline *after);

#endif
