/* SPDX-License-Identifier: MIT */
/* Lets one call of the C library fail, as environment variables tell it: preload it (LD_PRELOAD).
 *
 *     INJECT=CLASS:K    the K-th call of the class fails, and no other; CLASS:K+ also all later
 * ones INJECT_LOG=FILE   at the end: a line "CLASS CALLS" for each class, and what failed
 *
 * Classes: memory (malloc and its family), open, read, write, fsync, rename, linkat, close, thread;
 * short-read and short-write give half of what was asked for, which is no error. Only calls from
 * outside of the C library are counted: it does not call itself by these names, but for memory.
 *
 * A crash prints the objects on the stack and the object whose call failed, so that a library's own
 * mistake can be told from the program's. Built without sanitizers, which have these names too. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* clang-format off */
enum { MEMORY, OPEN, READ, WRITE, FSYNC, RENAME, LINKAT, CLOSE, THREAD, SHORT_READ, SHORT_WRITE,
       CLASSES };
static const char *const names[CLASSES] = {"memory", "open", "read", "write", "fsync", "rename",
                                           "linkat", "close", "thread", "short-read",
                                           "short-write"};
/* clang-format on */

static atomic_long calls[CLASSES];
static int chosen = -1;
static long number;
static int later;          /* all later calls fail too */
static char failed_in[64]; /* the object whose call failed first; "" none did */

static const char *object_of(void *address) {
    Dl_info info;
    const char *slash;
    if (!address || !dladdr(address, &info) || !info.dli_fname)
        return "?";
    slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

/* The object that asked for it: strdup and the like belong to whoever called them. */
static void note_caller(void) {
    enum { DEPTH = 16 };
    void *frames[DEPTH];
    int depth = backtrace(frames, DEPTH), i = 0;
    const char *self = object_of((void *)note_caller);
    while (i + 1 < depth && (!strcmp(object_of(frames[i]), self) ||
                             !strncmp(object_of(frames[i]), "libc.", 5)))
        i++;
    strncpy(failed_in, object_of(frames[i]), sizeof failed_in - 1);
}

/* Counts a call; whether it is to fail. */
static int fails(int class) {
    long call = 1 + atomic_fetch_add(&calls[class], 1);
    if (class != chosen || (later ? call < number : call != number))
        return 0;
    if (!failed_in[0])
        note_caller();
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- the classes ----------------------------------------------------------------------------- */

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return size && fails(MEMORY) ? no_memory() : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size) {
    return fails(MEMORY) ? no_memory() : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (fails(MEMORY))
        return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

static int error(int code) {
    errno = code;
    return -1;
}

static int open_at(int folder, const char *path, int flags, va_list args) {
    int creates = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return (int)syscall(SYS_openat, folder, path, flags, creates ? va_arg(args, mode_t) : 0);
}

#define OPENER(name, parameters, folder)                                                           \
    int name parameters {                                                                          \
        if (fails(OPEN))                                                                           \
            return error(EMFILE);                                                                  \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        int file = open_at(folder, path, flags, args);                                             \
        va_end(args);                                                                              \
        return file;                                                                               \
    }
OPENER(open, (const char *path, int flags, ...), AT_FDCWD)
OPENER(open64, (const char *path, int flags, ...), AT_FDCWD)
OPENER(openat, (int folder, const char *path, int flags, ...), folder)
OPENER(openat64, (int folder, const char *path, int flags, ...), folder)

FILE *fopen(const char *path, const char *mode) {
    if (!fails(OPEN))
        return NEXT(fopen)(path, mode);
    errno = EMFILE;
    return NULL;
}

FILE *fopen64(const char *path, const char *mode) {
    if (!fails(OPEN))
        return NEXT(fopen64)(path, mode);
    errno = EMFILE;
    return NULL;
}

static size_t half(size_t count) {
    return count > 1 ? count / 2 : count;
}

ssize_t read(int file, void *bytes, size_t count) {
    if (fails(READ))
        return error(EIO);
    return syscall(SYS_read, file, bytes, fails(SHORT_READ) ? half(count) : count);
}

size_t fread(void *bytes, size_t size, size_t count, FILE *stream) {
    enum { ERROR_SEEN = 0x20 }; /* of the C library */
    if (!fails(READ))
        return NEXT(fread)(bytes, size, count, stream);
    stream->_flags |= ERROR_SEEN;
    errno = EIO;
    return 0;
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (fails(WRITE))
        return error(ENOSPC);
    return syscall(SYS_write, file, bytes, fails(SHORT_WRITE) ? half(count) : count);
}

int fsync(int file) {
    return fails(FSYNC) ? error(EIO) : (int)syscall(SYS_fsync, file);
}

int rename(const char *from, const char *to) {
    return fails(RENAME) ? error(EIO) : NEXT(rename)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    return fails(LINKAT) ? error(EIO)
                         : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int close(int file) {
    int failed = fails(CLOSE);
    int result = (int)syscall(SYS_close, file);
    return failed ? error(EIO) : result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) {
    if (fails(THREAD))
        return EAGAIN;
    return NEXT(pthread_create)(thread, attributes, run, argument);
}

/* ---- what happened --------------------------------------------------------------------------- */

static void crashed(int number_of_signal) {
    enum { DEPTH = 24 };
    void *frames[DEPTH];
    int depth = backtrace(frames, DEPTH);
    chosen = -1;
    dprintf(2, "inject: signal %d; failed call from %s; stack:", number_of_signal,
            failed_in[0] ? failed_in : "none");
    for (int i = 2; i < depth; i++) /* this function and the signal's return come first */
        dprintf(2, " %s", object_of(frames[i]));
    dprintf(2, "\n");
    signal(number_of_signal, SIG_DFL);
    raise(number_of_signal);
}

__attribute__((constructor)) static void begin(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    void *frame;
    backtrace(&frame, 1); /* loads what it needs */
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], crashed);
    const char *order = getenv("INJECT"), *colon = order ? strchr(order, ':') : NULL;
    for (int i = 0; colon && i < CLASSES; i++)
        if (strlen(names[i]) == (size_t)(colon - order) &&
            !strncmp(order, names[i], strlen(names[i])))
            chosen = i;
    number = colon ? strtol(colon + 1, NULL, 10) : 0;
    later = colon && strchr(colon, '+') != NULL;
    for (int i = 0; i < CLASSES; i++)
        atomic_store(&calls[i], 0);
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("INJECT_LOG");
    chosen = -1;
    int file =
        path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;
    for (int i = 0; file >= 0 && i < CLASSES; i++)
        dprintf(file, "%s %ld\n", names[i], atomic_load(&calls[i]));
    if (file >= 0)
        dprintf(file, "failed %s\n", failed_in[0] ? failed_in : "none");
}
