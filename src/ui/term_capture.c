/* SPDX-License-Identifier: MIT */
/* Captures standard error while the terminal shows the display. */
#include "src/base/rescue.h"
#include "src/ui/term_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CAPTURE_MAX = 1 << 20 }; /* bytes; a library that writes without end must not fill memory */

/* Begins the capture. A standard error that is no terminal disturbs no screen and is left alone. */
bool capture_begin(Capture *capture, Err *err) {
    *capture = (Capture){.memory = -1, .errors = STDERR_FILENO};
    if (!isatty(STDERR_FILENO))
        return true;
    fflush(stderr);
    int errors = dup(STDERR_FILENO), memory = memfd_create("stderr", MFD_CLOEXEC);
    if (errors < 0 || memory < 0 || dup2(memory, STDERR_FILENO) < 0) {
        int reason = errno;
        if (errors >= 0)
            close(errors);
        if (memory >= 0)
            close(memory);
        return err_set(err, ERR_FAILED, "standard error", "", "cannot be set aside: %s",
                       strerror(reason));
    }
    fcntl(memory, F_SETFL, O_APPEND);
    capture->errors = errors;
    capture->memory = memory;
    return true;
}

void capture_end(Capture *capture) {
    if (capture->memory < 0)
        return;
    fflush(stderr);
    dup2(capture->errors, STDERR_FILENO);
    rescue_copy(capture->memory, capture->errors);
    close(capture->errors);
    close(capture->memory);
    *capture = (Capture){.memory = -1, .errors = STDERR_FILENO};
}

static off_t captured_bytes(const Capture *capture) {
    struct stat about;
    return fstat(capture->memory, &about) == 0 ? about.st_size : 0;
}

bool capture_line(Capture *capture, char *line, size_t size) {
    char block[1024];
    if (capture->memory < 0)
        return false;
    off_t length = captured_bytes(capture), from = length - (off_t)sizeof block + 1;
    if (from < capture->seen)
        from = capture->seen;
    ssize_t n = pread(capture->memory, block, (size_t)(length - from), from);
    if (n <= 0)
        return false;
    block[n] = '\0';
    char *end = strrchr(block, '\n');
    if (!end)
        return false;
    capture->seen = from + (end - block) + 1;
    if (length > CAPTURE_MAX && ftruncate(capture->memory, 0) == 0)
        capture->seen = 0;
    *end = '\0';
    char *start = strrchr(block, '\n');
    snprintf(line, size, "%s", start ? start + 1 : block);
    return true;
}
