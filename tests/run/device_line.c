/* SPDX-License-Identifier: MIT */
/* Prints what driver_probe says about GPU argv[1], within argv[2] ms, to a program built as the
 * default is: one line, "usable" or the error. argv[3]: how many files it may open. test_device.sh
 * runs it against a fake library. */
#include "src/run/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int argc, char **argv) {
    const DriverNeeds needs = {.needed_version = 13000,
                               .oldest_capability = 86,
                               .patience_ms = argc > 2 ? atoi(argv[2]) : 0};
    if (argc > 3)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)atoi(argv[3]), (rlim_t)atoi(argv[3])});
    Err err = {0};
    int version;
    char line[1024];
    if (driver_probe(argc > 1 ? atoi(argv[1]) : 0, &needs, &version, &err)) {
        printf("usable, CUDA %d\n", version);
        return 0;
    }
    err_line(&err, line, sizeof line);
    printf("%s\n", line);
    return err.kind;
}
