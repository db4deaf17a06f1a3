/* SPDX-License-Identifier: MIT */
#include "src/base/data.h"

#include "src/base/clock.h"
#include "src/base/rescue.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- names ----------------------------------------------------------------------------------- */

bool data_has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), end = strlen(suffix);
    return length > end && !strcmp(path + length - end, suffix);
}

const char *data_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void data_stem(const char *path, char *stem, size_t size) {
    const char *name = data_file_name(path), *dot = strrchr(name, '.');
    snprintf(stem, size, "%.*s", dot > name ? (int)(dot - name) : INT_MAX, name);
}

/* ---- finding --------------------------------------------------------------------------------- */

static const char *executable_folder(char buffer[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", buffer, PATH_MAX - 1);
    if (length <= 0)
        return NULL;
    buffer[length] = '\0';
    return dirname(buffer);
}

bool data_path(const char *relative, char *path, size_t size, Err *err) {
    char buffer[PATH_MAX];
    const char *executable = executable_folder(buffer);
    const struct {
        const char *folder, *below;
    } roots[] = {
        {getenv("BEVSCOPE_DATA"), ""}, /* the user's choice comes first */
        {executable, ""},
        {executable, "/bevscope-data"}, /* in a build: a link to the sources */
        {executable, "/../bevscope-data"},
        {executable, "/../share/bevscope"}, /* the program was moved after its installation */
        {PKGDATADIR, ""},
    };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        if (!roots[i].folder || !roots[i].folder[0])
            continue;
        int length = snprintf(path, size, "%s%s/%s", roots[i].folder, roots[i].below, relative);
        if (length >= 0 && (size_t)length < size && access(path, R_OK) == 0)
            return true;
    }
    return err_set(err, ERR_FAILED, relative, "set BEVSCOPE_DATA to the folder that holds it",
                   "not found beside the program or in %s", PKGDATADIR);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool refuse_too_long(const char *path, size_t limit, Err *err) {
    return err_set(err, ERR_FAILED, path, "", "longer than the limit of %zu bytes", limit);
}

/* A pipe must end, or take all bytes, within this time. Otherwise the program gives up. */
enum { PIPE_MS = 60000 };

/* Reads the next bytes of a file that was opened with O_NONBLOCK. Returns 0 at the end of the file.
 * A regular file that does not give its bytes at once is an error: files such as /proc/kmsg never
 * end. A terminal may be slow, as somebody types there. */
static ssize_t read_some(int fd, const char *path, char *bytes, size_t room, double until_ms,
                         Err *err) {
    struct stat status;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode),
         patient = isatty(fd) && !ptsname(fd);
    for (;;) {
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        double left_ms = until_ms - clock_ms();
        if (!regular && poll(&waiting, 1, patient ? -1 : (int)fmax(left_ms, 0)) == 0) {
            err_set(err, ERR_FAILED, path, "", "it has not ended within %d s", PIPE_MS / 1000);
            return -1;
        }
        ssize_t got = read(fd, bytes, room);
        if (got >= 0)
            return got;
        if (errno == EINTR || (errno == EAGAIN && !regular))
            continue;
        err_set(err, ERR_FAILED, path, "", "cannot read: %s",
                errno == EAGAIN ? "it has no end" : strerror(errno));
        return -1;
    }
}

/* Reads the file to its end. The file may be a pipe, so its length is unknown. */
static bool read_all(int fd, const char *path, size_t limit, char **bytes, size_t *length,
                     Err *err) {
    size_t capacity = 0;
    double until_ms = clock_ms() + PIPE_MS;
    for (;;) {
        if (*length + 1 >= capacity) {
            capacity = capacity ? 2 * capacity : 16384;
            char *grown = realloc(*bytes, capacity);
            if (!grown)
                return err_set(err, ERR_FAILED, path, "", "no memory for %zu bytes", capacity);
            *bytes = grown;
        }
        ssize_t got = read_some(fd, path, *bytes + *length, capacity - 1 - *length, until_ms, err);
        if (got < 0)
            return false;
        if (got == 0)
            break;
        *length += (size_t)got;
        if (*length > limit)
            return refuse_too_long(path, limit, err);
    }
    (*bytes)[*length] = '\0';
    return true;
}

bool data_read(const char *path, size_t limit, char **bytes, size_t *length, Err *err) {
    *bytes = NULL;
    *length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, ERR_FAILED, path, "", "cannot open: %s", strerror(errno));
    struct stat status;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    bool ok = regular && (size_t)status.st_size > limit
                  ? refuse_too_long(path, limit, err)
                  : read_all(fd, path, limit, bytes, length, err);
    close(fd);
    if (!ok) {
        free(*bytes);
        *bytes = NULL;
        *length = 0;
    }
    return ok;
}

FILE *data_open(const char *path, Err *err) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool regular = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    FILE *file = regular ? fdopen(fd, "rb") : NULL;
    if (file)
        return file;
    int why = fd >= 0 && !regular ? EINVAL : errno;
    if (fd >= 0)
        close(fd);
    if (why == EINVAL)
        err_set(err, ERR_FAILED, path, "", "not a regular file");
    else
        err_set(err, ERR_FAILED, path, "", "cannot open: %s", strerror(why));
    errno = why;
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The new bytes go into a file without a name (O_TMPFILE). The kernel deletes it when the program
 * ends for any reason, including SIGKILL and power loss.
 * - New target: the nameless file is linked to the target's name. No temporary name ever exists.
 * - Existing target: rename() needs a source name, so a temporary name exists between two adjacent
 *   system calls.
 * - File system without O_TMPFILE: the temporary name exists while the bytes are written.
 * In the last two cases a signal that would end the program removes the temporary file first
 * (src/base/rescue.h). Only SIGKILL or power loss at that time can leave it behind. */

static bool refuse_errno(const char *path, const char *doing, const char *hint, Err *err) {
    return err_set(err, ERR_FAILED, path, hint, "%s: %s", doing, strerror(errno));
}

bool data_write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

void data_base64(FILE *out, const uint8_t *bytes, size_t length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        fputc(digits[word >> 18], out);
        fputc(digits[word >> 12 & 63], out);
        fputc(left > 1 ? digits[word >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[word & 63] : '=', out);
    }
}

/* Gives the new file the owner, group and mode of the file that it replaces. Owner and group change
 * only as far as this user may change them. The setuid and setgid bits are dropped. */
static bool copy_rights(int fd, const struct stat *old) {
    const uid_t same_user = (uid_t)-1;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, same_user, old->st_gid) != 0 &&
        errno != EPERM)
        return false;
    return fchmod(fd, old->st_mode & 01777) == 0;
}

/* Writes all bytes and the rights of `old`. `old` NULL: the umask sets the mode. */
static bool fill_file(int fd, const char *target, const struct stat *old, const void *bytes,
                      size_t length, Err *err) {
    if (!data_write_all(fd, bytes, length) || (old && !copy_rights(fd, old)) || fsync(fd) != 0)
        return refuse_errno(target, "cannot write", "nothing was changed", err);
    return true;
}

/* Makes a temporary name in the target's folder: rename() works only within one file system. */
static void temporary_name(const char *target, int attempt, char name[PATH_MAX]) {
    int folder = (int)(data_file_name(target) - target);
    snprintf(name, PATH_MAX, "%.*s.%.200s.%ld-%d.tmp", folder, target, target + folder,
             (long)getpid(), attempt);
}

/* Links the nameless file to the name `name`, through /proc or directly. The direct link needs the
 * right to read every file. EEXIST: a file of that name exists. */
static bool link_nameless(int fd, const char *name) {
    char nameless[64];
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, nameless, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
        return true;
    return errno != EEXIST && linkat(fd, "", AT_FDCWD, name, AT_EMPTY_PATH) == 0;
}

/* Renames a temporary file to the target. `nameless` is a filled file without a name. -1: the
 * temporary file is created and filled here. */
static bool replace_by_rename(int nameless, const char *target, const struct stat *old,
                              const void *bytes, size_t length, Err *err) {
    char temporary[PATH_MAX];
    int fd = -1;
    for (int attempt = 0;; attempt++) {
        temporary_name(target, attempt, temporary);
        rescue_guard(temporary);
        if (nameless < 0)
            fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (nameless < 0 ? fd >= 0 : link_nameless(nameless, temporary))
            break;
        rescue_unguard();
        if (errno != EEXIST) /* a killed process with the same id left its file */
            return refuse_errno(target, "cannot create", "nothing was changed", err);
    }
    bool ok = nameless >= 0 || fill_file(fd, target, old, bytes, length, err);
    if (fd >= 0)
        close(fd);
    if (ok && rename(temporary, target) != 0)
        ok = refuse_errno(target, "cannot replace", "nothing was changed", err);
    if (!ok)
        unlink(temporary);
    rescue_unguard();
    return ok;
}

static bool replace_file(const char *target, const struct stat *old, const void *bytes,
                         size_t length, Err *err) {
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", target);
    const char *folder = dirname(copy);
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        return replace_by_rename(-1, target, old, bytes, length, err);
    if (fd < 0)
        return refuse_errno(target, "cannot create", "", err);
    bool ok = fill_file(fd, target, old, bytes, length, err);
    if (ok && !link_nameless(fd, target))
        /* Without /proc a nameless file cannot get a name, so the bytes are written again. */
        ok = replace_by_rename(errno == EEXIST ? fd : -1, target, old, bytes, length, err);
    close(fd);
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) { /* write the new name to disk too; failure is harmless */
        (void)fsync(directory);
        close(directory);
    }
    return ok;
}

/* Opens a pipe, a device or a socket for writing. A pipe without a reader gives ENXIO: this
 * function waits for the reader. For other files ENXIO is an error, as for a terminal of another
 * process. */
static int open_special(const char *path, bool pipe, double until_ms) {
    static const struct timespec breath = {.tv_nsec = 10000000};
    for (;;) {
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0 || errno != ENXIO || !pipe || clock_ms() > until_ms)
            return fd;
        nanosleep(&breath, NULL);
    }
}

/* Writes all bytes to a slow reader. False: errno has the reason. ETIMEDOUT: the reader takes no
 * more bytes. */
static bool write_patiently(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        struct pollfd waiting = {.fd = fd, .events = POLLOUT};
        int ready = poll(&waiting, 1, PIPE_MS);
        ssize_t put = ready > 0 ? write(fd, bytes, length) : ready;
        if (ready == 0)
            errno = ETIMEDOUT;
        if (ready == 0 || (put < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        bytes += put > 0 ? put : 0;
        length -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

static bool write_special(const char *path, bool pipe, const void *bytes, size_t length, Err *err) {
    int fd = open_special(path, pipe, clock_ms() + PIPE_MS);
    if (fd < 0 && errno == ENXIO && pipe)
        return err_set(err, ERR_FAILED, path, "", "nobody has read it within %d s", PIPE_MS / 1000);
    if (fd < 0)
        return refuse_errno(path, "cannot open", "", err);
    bool ok = write_patiently(fd, bytes, length);
    if (close(fd) != 0 || !ok)
        return refuse_errno(path, "cannot write", "", err);
    return true;
}

bool data_write(const char *path, const void *bytes, size_t length, Err *err) {
    char resolved[PATH_MAX];
    struct stat old;
    if (!strcmp(path, "-"))
        return (fflush(stdout) == 0 && write_patiently(STDOUT_FILENO, bytes, length)) ||
               refuse_errno("standard output", "cannot write", "", err);
    if (stat(path, &old) != 0) {
        if (errno != ENOENT)
            return refuse_errno(path, "cannot create", "", err);
        return strlen(path) < sizeof resolved - 64
                   ? replace_file(path, NULL, bytes, length, err)
                   : err_set(err, ERR_FAILED, path, "", "the name is too long");
    }
    if (S_ISDIR(old.st_mode))
        return err_set(err, ERR_FAILED, path, "name a file in it", "is a folder");
    if (!S_ISREG(old.st_mode))
        return write_special(path, S_ISFIFO(old.st_mode), bytes, length, err);
    if (access(path, W_OK) != 0) /* rename() does not check this */
        return refuse_errno(path, "cannot replace", "the old file is unchanged", err);
    if (!realpath(path, resolved))
        return refuse_errno(path, "cannot resolve", "", err);
    return replace_file(resolved, &old, bytes, length, err);
}
