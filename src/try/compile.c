/* SPDX-License-Identifier: MIT */
#include "src/base/data.h"

#include "kernels/clean.h"
#include "src/try/runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_SOURCE = 1 << 20, MAX_MESSAGES = 1 << 16, MAX_WORDS = 64, COMPILE_S = 60, PROBE_S = 20 };

/* ---- the private folder, and signals while it exists ----------------------------------------- */

static volatile sig_atomic_t stopped_by;

static void on_stop(int signal) {
    stopped_by = signal;
}

static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { STOPS = sizeof stops / sizeof *stops };

typedef struct {
    char folder[PATH_MAX - 32];
    char library[PATH_MAX], probe[PATH_MAX], tmpdir[PATH_MAX];
    struct sigaction before[STOPS];
} Workshop;

/* Makes the private folder. Until workshop_close, fatal signals are only noted. */
static bool workshop_open(Workshop *w, Err *err) {
    const char *parent = getenv("TMPDIR");
    struct sigaction note = {.sa_handler = on_stop};
    int length = snprintf(w->folder, sizeof w->folder, "%s/bevscope-try-XXXXXX",
                          parent && parent[0] == '/' ? parent : "/tmp");
    if (length >= (int)sizeof w->folder)
        return err_set(err, ERR_FAILED, "TMPDIR", "", "its name is too long");
    stopped_by = 0;
    for (int i = 0; i < STOPS; i++) {
        sigaction(stops[i], NULL, &w->before[i]);
        if (w->before[i].sa_handler != SIG_IGN)
            sigaction(stops[i], &note, NULL);
    }
    if (!mkdtemp(w->folder)) {
        int reason = errno;
        w->folder[0] = '\0';
        return err_set(err, ERR_FAILED, "TMPDIR", "name a folder that you can write to",
                       "no temporary folder: %s", strerror(reason));
    }
    snprintf(w->library, sizeof w->library, "%s/pool.so", w->folder);
    snprintf(w->probe, sizeof w->probe, "%s/probe.c", w->folder);
    snprintf(w->tmpdir, sizeof w->tmpdir, "TMPDIR=%s", w->folder);
    return true;
}

/* Removes the files that compilers leave in the folder. The folder has no subfolders. */
static void empty_folder(const char *folder) {
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    rmdir(folder);
}

/* Removes the folder, then acts on a noted signal. */
static void workshop_close(Workshop *w) {
    if (w->folder[0])
        empty_folder(w->folder);
    for (int i = 0; i < STOPS; i++)
        sigaction(stops[i], &w->before[i], NULL);
    if (stopped_by)
        raise(stopped_by);
}

/* ---- the compiler ---------------------------------------------------------------------------- */

/* The words of a command line, cut at blanks. The words point into `text`. */
typedef struct {
    char text[2048];
    const char *words[MAX_WORDS];
    int count;
} Words;

static void add_word(Words *words, const char *word) {
    if (words->count < MAX_WORDS - 1)
        words->words[words->count++] = word;
}

/* Adds the words of a variable such as CFLAGS. `text` is the storage of the words. */
static void add_words(Words *words, const char *value, char *text, size_t size) {
    snprintf(text, size, "%s", value ? value : "");
    for (char *rest = text, *word; (word = strtok_r(rest, " \t\n", &rest));)
        add_word(words, word);
}

/* Finds a program on $PATH, as a shell does. */
static bool find_on_path(const char *name, char path[PATH_MAX]) {
    const char *folders = getenv("PATH");
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(path, X_OK) == 0;
    for (const char *at = folders ? folders : ""; *at; at += strcspn(at, ":"), at += *at == ':') {
        int length = (int)strcspn(at, ":");
        if (length > 0 && snprintf(path, PATH_MAX, "%.*s/%s", length, at, name) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* Finds the compiler: $CC, or the first of cc, gcc and clang that exists. */
static bool find_compiler(char text[256], char path[PATH_MAX], Err *err) {
    static const char *const names[] = {"cc", "gcc", "clang"};
    const char *wish = getenv("CC");
    char first[256] = "";
    if (wish)
        sscanf(wish, "%255s", first);
    if (first[0]) {
        snprintf(text, 256, "%s", wish);
        return find_on_path(first, path) ||
               err_set(err, ERR_DEVICE, "CC", "name a C compiler", "'%s' is not there", first);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (find_on_path(names[i], path)) {
            snprintf(text, 256, "%s", names[i]);
            return true;
        }
    return err_set(err, ERR_DEVICE, "try", "install gcc or clang, or set CC",
                   "no C compiler on PATH: neither cc nor gcc nor clang");
}

/* Runs the compiler on a file. */
static bool run_compiler(const Workshop *w, const char *compiler, const char *path,
                         const char *file, bool openmp, double limit_s, ChildEnd *end, Err *err) {
    char cc[256], flags[1024], headers[PATH_MAX];
    Words words = {.count = 0};
    if (!data_path("samples/try", headers, sizeof headers, err))
        return false;
    add_words(&words, compiler, cc, sizeof cc);
    const char *const fixed[] = {"-std=gnu11", "-O2", "-g", "-Wall", "-fPIC", "-shared"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        add_word(&words, fixed[i]);
    if (openmp)
        add_word(&words, "-fopenmp");
    add_word(&words, "-I");
    add_word(&words, headers);
    add_words(&words, getenv("CFLAGS"), flags, sizeof flags);
    const char *const last[] = {"-o", w->library, file, "-lm", "-Wl,-z,defs"};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        add_word(&words, last[i]);
    ChildPlan plan = {.program = path,
                      .words = words.words,
                      .set = w->tmpdir,
                      .limit_s = limit_s,
                      .address_limit = (size_t)8 << 30,
                      .output_limit = MAX_MESSAGES,
                      .stop = &stopped_by};
    return child_run(&plan, end, err);
}

static bool has_succeeded(const ChildEnd *end) {
    return !end->timed_out && !end->stopped && WIFEXITED(end->status) &&
           WEXITSTATUS(end->status) == 0;
}

/* Whether compiler and linker accept -fopenmp. */
static bool accepts_openmp(const Workshop *w, const char *compiler, const char *path) {
    static const char source[] = "void probe(void) {}\n";
    ChildEnd end = {0};
    bool ok = data_write(w->probe, source, sizeof source - 1, NULL) &&
              run_compiler(w, compiler, path, w->probe, true, PROBE_S, &end, NULL) &&
              has_succeeded(&end);
    free(end.output);
    return ok;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool check_source(const char *file, Err *err) {
    char *bytes = NULL;
    size_t length;
    if (!data_read(file, MAX_SOURCE, &bytes, &length, err))
        return false;
    bool text = !memchr(bytes, '\0', length);
    free(bytes);
    return text ||
           err_set(err, ERR_FAILED, file, "name a source file", "holds a zero byte: it is no text");
}

/* Whether `word` stands in the first line of `text`. */
static bool is_in_first_line(const char *text, const char *word) {
    const char *found = strstr(text, word);
    return found && found < text + strcspn(text, "\n");
}

/* Writes the place of the first error in the file, "file:12". Without such an error: "file". */
static void first_error_place(const char *file, const char *messages, char *place, size_t size) {
    size_t length = strlen(file);
    snprintf(place, size, "%s", file);
    for (const char *at = messages; (at = strstr(at, file)); at += length) {
        if (at[length] != ':' && at[length] != '(') /* gcc and NVRTC write these */
            continue;
        const char *number = at + length + 1;
        int digits = (int)strspn(number, "0123456789");
        if (digits > 0 && (number[digits] == ':' || number[digits] == ')') &&
            (is_in_first_line(number, "error") || is_in_first_line(number, "undefined"))) {
            snprintf(place, size, "%s:%.*s", file, digits, number);
            return;
        }
    }
}

static bool refuse_source(const char *file, const char *messages, bool timed_out, Err *err) {
    char place[PATH_MAX + 16];
    if (timed_out)
        return err_set(err, ERR_FAILED, file, "", "the compiler did not end within %d s",
                       COMPILE_S);
    first_error_place(file, messages, place, sizeof place);
    return err_set(err, ERR_FAILED, place, "the compiler's words stand above", "does not compile");
}

static bool build_library(Workshop *w, const char *file, TryKernel *kernel, Err *err) {
    char compiler[256], path[PATH_MAX], named[PATH_MAX];
    ChildEnd end = {0};
    if (!find_compiler(compiler, path, err))
        return false;
    const char *flags = getenv("CFLAGS");
    snprintf(named, sizeof named, "%s%s", file[0] == '-' ? "./" : "", file);
    bool openmp = true, ok = run_compiler(w, compiler, path, named, true, COMPILE_S, &end, err);
    if (ok && !has_succeeded(&end) && !stopped_by && !accepts_openmp(w, compiler, path)) {
        free(end.output);
        openmp = false;
        ok = run_compiler(w, compiler, path, named, false, COMPILE_S, &end, err);
    }
    snprintf(kernel->command, sizeof kernel->command, "%.100s -O2%s%s%.100s", compiler,
             openmp ? " -fopenmp" : "", flags ? " " : "", flags ? flags : "");
    clean_text(kernel->command, kernel->command, sizeof kernel->command);
    if (ok) {
        kernel->messages = end.output;
        ok = has_succeeded(&end) || refuse_source(named, end.output, end.timed_out, err);
    }
    if (ok && (kernel->library = open(w->library, O_RDONLY | O_CLOEXEC)) < 0)
        ok = err_set(err, ERR_FAILED, file, "", "the compiler wrote no shared object");
    return ok;
}

static bool build_in_c(const char *file, TryKernel *kernel, Err *err) {
    static Workshop w;
    bool ok = workshop_open(&w, err) && build_library(&w, file, kernel, err);
    workshop_close(&w);
    return ok;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* Compiles for a GPU in another process. A compiler may crash. CUDA must not start here. */
static bool build_for_gpu(const char *file, TryKernel *kernel, Err *err) {
    const char *const words[] = {"bevscope", try_runner_word, try_compile_word, file, NULL};
    ChildEnd end = {0};
    int source = open(file, O_RDONLY | O_CLOEXEC);
    kernel->library = memfd_create("image", MFD_CLOEXEC);
    ChildPlan plan = {.program = "/proc/self/exe",
                      .words = words,
                      .files = {source, kernel->library},
                      .file_count = 2,
                      .limit_s = COMPILE_S,
                      .output_limit = MAX_MESSAGES};
    bool ok = (source >= 0 && kernel->library >= 0) ||
              err_set(err, ERR_FAILED, file, "", "cannot be opened: %s", strerror(errno));
    ok = ok && child_run(&plan, &end, err);
    if (ok && WIFEXITED(end.status) && WEXITSTATUS(end.status) == ERR_DEVICE) {
        end.output[strcspn(end.output, "\n")] = '\0';
        ok = err_set(err, ERR_DEVICE, file, "", "%s", end.output);
    } else if (ok) {
        kernel->messages = end.output;
        end.output = NULL;
        ok = has_succeeded(&end) || refuse_source(file, kernel->messages, end.timed_out, err);
    }
    free(end.output);
    if (source >= 0)
        close(source);
    snprintf(kernel->command, sizeof kernel->command, "NVRTC");
    return ok;
}

bool try_compile(const char *file, TryKernel *kernel, Err *err) {
    *kernel = (TryKernel){.file = file, .library = -1};
    kernel->cuda = data_has_suffix(file, ".cu");
    if (kernel->cuda)
        return gpu_possible(err) && check_source(file, err) && build_for_gpu(file, kernel, err);
    return check_source(file, err) && build_in_c(file, kernel, err);
}

void try_kernel_free(TryKernel *kernel) {
    if (kernel->library >= 0)
        close(kernel->library);
    free(kernel->messages);
    *kernel = (TryKernel){.library = -1};
}
