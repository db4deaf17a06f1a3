/* SPDX-License-Identifier: MIT */
#include "src/lib/lib_internal.h"

#include "kernels/clean.h"

#include <stdarg.h>
#include <stdio.h>

const char *bevpool_status_name(BevpoolStatus status) {
#define NAME(status) [status] = #status
    static const char *const names[] = {
        NAME(BEVPOOL_OK),           NAME(BEVPOOL_BAD_ARGUMENT), NAME(BEVPOOL_BAD_MAP),
        NAME(BEVPOOL_UNSUPPORTED),  NAME(BEVPOOL_NO_MEMORY),    NAME(BEVPOOL_NO_DEVICE),
        NAME(BEVPOOL_WRONG_DEVICE), NAME(BEVPOOL_WORKSPACE),    NAME(BEVPOOL_DEVICE_FAILED),
    };
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown status";
}

const char *bevpool_version(void) {
    return BEVPOOL_VERSION;
}

BevpoolStatus lib_fail(BevpoolError *error, BevpoolStatus status, const char *text, ...) {
    if (!error)
        return status;
    va_list args;
    va_start(args, text);
    vsnprintf(error->text, sizeof error->text, text, args);
    va_end(args);
    clean_text(error->text, error->text, sizeof error->text); /* names come from the caller */
    error->status = (int32_t)status;
    return status;
}

BevpoolStatus lib_pass(BevpoolError *error, BevpoolStatus status, const Err *err) {
    char line[sizeof error->text];
    err_line(err, line, sizeof line);
    if (err->no_memory)
        status = BEVPOOL_NO_MEMORY;
    else if (err->kind == ERR_DEVICE)
        status = BEVPOOL_DEVICE_FAILED;
    return lib_fail(error, status, "%s", line);
}

BevpoolStatus lib_check_range(const char *of, const char *name, int64_t value, int64_t least,
                              int64_t most, BevpoolError *error) {
    FAIL_ON(value < least || value > most, BEVPOOL_BAD_ARGUMENT,
            "%s%s is %lld, expected %lld to %lld", of, name, (long long)value, (long long)least,
            (long long)most);
    return BEVPOOL_OK;
}

BevpoolStatus lib_ok(BevpoolError *error) {
    if (error)
        *error = (BevpoolError){.status = BEVPOOL_OK};
    return BEVPOOL_OK;
}
