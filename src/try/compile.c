/* SPDX-License-Identifier: MIT */
#include "src/base/data.h"

#include "kernels/clean.h"
#include "src/try/job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { MAX_SOURCE = 1 << 20, MAX_MESSAGES = 1 << 16, COMPILE_S = 60, NO_COMPILER = 127 };

static bool is_in_first_line(const char *text, const char *word) {
    const char *found = strstr(text, word);
    return found && found < text + strcspn(text, "\n");
}

/* Writes the place of the first error: "pool.c:12"; "pool.c" if no error is in the file. */
static void find_first_error(const char *file, const char *messages, char *place, size_t size) {
    size_t length = strlen(file);
    snprintf(place, size, "%s", file);
    for (const char *at = messages; (at = strstr(at, file)); at += length) {
        if (at[length] != ':' && at[length] != '(') /* gcc writes "file:12:", NVRTC "file(12)" */
            continue;
        const char *number = at + length + 1;
        int digits = (int)strspn(number, "0123456789");
        bool is_line = digits > 0 && (number[digits] == ':' || number[digits] == ')');
        if (is_line &&
            (is_in_first_line(number, "error") || is_in_first_line(number, "undefined"))) {
            snprintf(place, size, "%s:%.*s", file, digits, number);
            return;
        }
    }
}

/* Whether the compiler has succeeded. Otherwise `err` says why, or where the first mistake is. */
static bool has_compiled(const TryKernel *kernel, const char *file, const ChildEnd *end, Err *err) {
    char place[PATH_MAX + 16];
    int status = WIFEXITED(end->status) ? WEXITSTATUS(end->status) : -1;
    if (end->timed_out)
        return err_set(err, ERR_FAILED, file, "", "the compiler did not end within %d s",
                       COMPILE_S);
    if (kernel->cuda && status == ERR_DEVICE)
        return err_set(err, ERR_DEVICE, file, "", "%.*s", (int)strcspn(end->output, "\n"),
                       end->output);
    if (!kernel->cuda && status == NO_COMPILER)
        return err_set(err, ERR_DEVICE, "try", "install gcc or clang, or set CC",
                       "there is no C compiler: %.*s", (int)strcspn(end->output, "\n"),
                       end->output);
    find_first_error(file, end->output, place, sizeof place);
    return status == 0 ||
           err_set(err, ERR_FAILED, place, "the compiler's words stand above", "does not compile");
}

/* Runs the compiler in another process: a compiler may crash, and CUDA must not start here. The
 * machine code goes to kernel->library. For C a shell cuts $CC and $CFLAGS into words. */
static bool run_compiler(TryKernel *kernel, const char *file, ChildEnd *end, Err *err) {
    static const char command[] =
        "exec ${CC:-cc} -std=gnu11 -O2 -g -Wall -fPIC -shared -fopenmp -pipe -I \"$0\" $CFLAGS "
        "-o /proc/self/fd/$2 \"$1\" -lm -Wl,-z,defs";
    const ShortText code = short_text("%d", kernel->library);
    char headers[PATH_MAX];
    if (!data_path("samples/try", headers, sizeof headers, err))
        return false;
    const char *const shell[] = {"sh", "-c", command, headers, file, code.text, NULL};
    const char *const runner[] = {"bevscope", try_runner_word, try_compile_word,
                                  file,       code.text,       NULL};
    return child_run(kernel->cuda ? "/proc/self/exe" : "/bin/sh", kernel->cuda ? runner : shell,
                     COMPILE_S, MAX_MESSAGES, end, err);
}

bool try_compile(const char *file, TryKernel *kernel, Err *err) {
    char named[PATH_MAX];
    const char *compiler = getenv("CC"), *flags = getenv("CFLAGS");
    ChildEnd end = {0};
    *kernel = (TryKernel){.file = file, .cuda = data_has_suffix(file, ".cu"), .library = -1};
    snprintf(named, sizeof named, "%s%s", file[0] == '-' ? "./" : "", file); /* no option of cc */
    char *source = NULL;
    size_t length;
    if ((kernel->cuda && !gpu_possible(err)) || !data_read(file, MAX_SOURCE, &source, &length, err))
        return false;
    bool text = !memchr(source, '\0', length);
    free(source);
    if (!text)
        return err_set(err, ERR_FAILED, file, "name a source file",
                       "holds a zero byte: it is no text");
    kernel->library = memfd_create("code", 0); /* other processes inherit the file */
    bool ok = run_compiler(kernel, named, &end, err) && has_compiled(kernel, named, &end, err);
    kernel->messages = end.output;
    snprintf(kernel->command, sizeof kernel->command, "%.100s -O2 -fopenmp%s%.100s",
             compiler && compiler[0] ? compiler : "cc", flags ? " " : "", flags ? flags : "");
    clean_text(kernel->cuda ? "NVRTC" : kernel->command, kernel->command, sizeof kernel->command);
    return ok;
}
