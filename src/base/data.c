/* SPDX-License-Identifier: MIT */
#include "src/base/data.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

bool data_path(const char *relative, char *path, size_t size, Err *err) {
    char buffer[PATH_MAX];
    ssize_t linked = readlink("/proc/self/exe", buffer, PATH_MAX - 1);
    buffer[linked > 0 ? linked : 0] = '\0';
    const char *executable = linked > 0 ? dirname(buffer) : NULL;
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

static bool refuse_errno(const char *path, const char *doing, const char *hint, Err *err) {
    return err_set(err, ERR_FAILED, path, hint, "%s: %s", doing, strerror(errno));
}

bool data_read(const char *path, size_t limit, char **bytes, size_t *length, Err *err) {
    FILE *file = fopen(path, "rbe");
    *bytes = NULL;
    *length = 0;
    if (!file)
        return refuse_errno(path, "cannot open", "", err);
    char *all = malloc(limit + 2); /* the byte beyond the limit, and the NUL */
    size_t got = all ? fread(all, 1, limit + 1, file) : 0;
    bool ok = all || err_no_memory(err, path, "");
    if (ok && ferror(file))
        ok = refuse_errno(path, "cannot read", "", err);
    else if (got > limit)
        ok = err_set(err, ERR_FAILED, path, "", "longer than the limit of %zu bytes", limit);
    fclose(file);
    if (!ok) {
        free(all);
        return false;
    }
    all[got] = '\0';
    *bytes = realloc(all, got + 1);
    if (!*bytes)
        *bytes = all;
    *length = got;
    return true;
}

/* A folder or a pipe is refused here, because fopen() would open it or wait for it. A socket is
 * left to fopen(): the error is then "cannot open" with the system's reason. */
FILE *data_open(const char *path, Err *err) {
    struct stat status;
    FILE *file = NULL;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISSOCK(status.st_mode)) {
        err_set(err, ERR_FAILED, path, "", "not a regular file");
        errno = EINVAL;
    } else if (!(file = fopen(path, "rbe")))
        refuse_errno(path, "cannot open", "", err);
    return file;
}

/* ---- writing --------------------------------------------------------------------------------- */

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
        const bool has_second = i + 1 < length, has_third = i + 2 < length;
        const uint32_t second = has_second ? bytes[i + 1] : 0, third = has_third ? bytes[i + 2] : 0;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | second << 8 | third; /* six a digit */
        fputc(digits[bits >> 18], out);
        fputc(digits[bits >> 12 & 63], out);
        fputc(has_second ? digits[bits >> 6 & 63] : '=', out);
        fputc(has_third ? digits[bits & 63] : '=', out);
    }
}

/* Copies owner, group and mode of the replaced file to the new file. Owner and group change only as
 * far as this user may change them. The setuid and setgid bits are dropped. */
static bool copy_rights(int fd, const struct stat *old) {
    const uid_t same_user = (uid_t)-1;
    if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, same_user, old->st_gid) != 0 &&
        errno != EPERM)
        return false;
    return fchmod(fd, old->st_mode & 01777) == 0;
}

/* Replaces a file, which keeps the rights of `old` (NULL: there is none, the umask sets the mode).
 * Writes the bytes into a file without a name, which the kernel deletes when the program is killed.
 * The finished file gets a temporary name and is then renamed to `target`. So a reader sees the old
 * file or the new one. Without O_TMPFILE the file has the temporary name from the beginning. */
static bool replace_file(const char *target, const struct stat *old, const void *bytes,
                         size_t length, Err *err) {
    char temporary[PATH_MAX], nameless[64], copy[PATH_MAX];
    const char *name = data_file_name(target);
    const int folder_length = (int)(name - target);
    snprintf(copy, sizeof copy, "%s", target);
    snprintf(temporary, sizeof temporary, "%.*s.%.200s.%ld.tmp", folder_length, target, name,
             (long)getpid());
    int fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    bool named = fd < 0;
    if (named)
        fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return refuse_errno(target, "cannot create", "nothing was changed", err);
    snprintf(nameless, sizeof nameless, "/proc/self/fd/%d", fd);
    bool ok = data_write_all(fd, bytes, length) && (!old || copy_rights(fd, old)) && fsync(fd) == 0;
    if (!ok)
        refuse_errno(target, "cannot write", "nothing was changed", err);
    else if ((!named && linkat(AT_FDCWD, nameless, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW)) ||
             rename(temporary, target))
        ok = refuse_errno(target, "cannot replace", "nothing was changed", err);
    close(fd);
    if (!ok)
        unlink(temporary);
    return ok;
}

static bool write_special(const char *path, const void *bytes, size_t length, Err *err) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse_errno(path, "cannot open", "", err);
    bool ok = data_write_all(fd, bytes, length);
    if (close(fd) != 0 || !ok)
        return refuse_errno(path, "cannot write", "", err);
    return true;
}

bool data_write(const char *path, const void *bytes, size_t length, Err *err) {
    char resolved[PATH_MAX];
    struct stat old;
    if (!strcmp(path, "-"))
        return (fflush(stdout) == 0 && data_write_all(STDOUT_FILENO, bytes, length)) ||
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
        return write_special(path, bytes, length, err);
    if (access(path, W_OK) != 0) /* rename() does not check this */
        return refuse_errno(path, "cannot replace", "the old file is unchanged", err);
    if (!realpath(path, resolved))
        return refuse_errno(path, "cannot resolve", "", err);
    return replace_file(resolved, &old, bytes, length, err);
}

/* ---- streams into memory --------------------------------------------------------------------- */

bool memory_stream_open(MemoryStream *memory, Err *err) {
    *memory = (MemoryStream){.length = 0};
    memory->stream = open_memstream(&memory->bytes, &memory->length);
    return memory->stream || err_no_memory(err, "output", "");
}

bool memory_stream_close(MemoryStream *memory, const char *where, Err *err) {
    bool whole = !ferror(memory->stream);
    whole = fclose(memory->stream) == 0 && whole;
    memory->stream = NULL;
    if (whole)
        return true;
    free(memory->bytes);
    *memory = (MemoryStream){.length = 0};
    return err_no_memory(err, where, "");
}
