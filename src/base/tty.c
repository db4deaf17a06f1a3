/* SPDX-License-Identifier: MIT */
#include "src/base/tty.h"

#include "src/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Writes the bytes that fit at once and returns their number. -1: no more bytes can be written. The
 * flag O_NONBLOCK belongs to the open file, which the shell and other programs share. So the flag
 * is set for one write only. */
static ssize_t tty_try(int fd, const char *bytes, size_t length) {
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0)
        return -1;
    if (!(flags & O_NONBLOCK))
        fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    ssize_t put = write(fd, bytes, length);
    int reason = errno;
    if (!(flags & O_NONBLOCK))
        fcntl(fd, F_SETFL, flags);
    errno = reason;
    return put >= 0 ? put : reason == EAGAIN || reason == EINTR ? 0 : -1;
}

/* Waits until the terminal has room. poll() says when the terminal is full or stopped. Where poll()
 * is wrong, the pause keeps the loop from using a whole core. */
static void wait_until_writable(int fd, double until_ms) {
    struct pollfd waiting = {.fd = fd, .events = POLLOUT};
    double left = until_ms - clock_ms();
    if (left > 0 && poll(&waiting, 1, (int)left) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Writes until `until_ms`. Returns the number of bytes. *broken: no more can be written. */
static size_t write_until(int fd, const char *bytes, size_t length, double until_ms,
                          bool *broken) {
    size_t done = 0;
    *broken = false;
    while (done < length) {
        ssize_t put = tty_try(fd, bytes + done, length - done);
        *broken = put < 0;
        if (*broken || (put == 0 && clock_ms() >= until_ms))
            break;
        done += (size_t)put;
        if (put == 0)
            wait_until_writable(fd, until_ms);
    }
    return done;
}

bool tty_write(int fd, const char *bytes, size_t length, int ms) {
    bool broken;
    return write_until(fd, bytes, length, clock_ms() + ms, &broken) == length;
}

bool tty_insist(int fd, const char *bytes, size_t length, int ms) {
    bool broken;
    size_t done = write_until(fd, bytes, length, clock_ms() + ms / 2, &broken);
    if (done == length || broken)
        return done == length;
    /* TCOON starts output that TCOOFF has stopped. The pair also ends Ctrl-S. */
    tcflow(fd, TCOOFF);
    tcflow(fd, TCOON);
    tcflush(fd, TCOFLUSH);
    return tty_write(fd, bytes + done, length - done, ms - ms / 2);
}
