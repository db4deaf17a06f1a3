/* A fuzz target. libFuzzer has its own main(), which calls it with generated inputs: fuzz.sh. In the
 * program of tests it is a suite, which replays the saved inputs. */
#pragma once

#include "tests/support/tap.h"

#include <stddef.h>
#include <stdint.h>

/* Tries all files of a folder, relative to the source folder. */
void fuzz_replay(const char *folder, int (*target)(const uint8_t *data, size_t size));

/* `FUZZ_TARGET(npz) { ... return 0; }`: of `data`, `size` bytes. */
#ifdef FUZZING
#define FUZZ_TARGET(name)                                                                          \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
#else
#define FUZZ_TARGET(name)                                                                          \
    static int fuzz_##name(const uint8_t *data, size_t size);                                      \
    TAP_SUITE(fuzz_##name##_corpus) {                                                              \
        fuzz_replay("tests/fuzz/corpus_" #name, fuzz_##name);                                      \
    }                                                                                              \
    static int fuzz_##name(const uint8_t *data, size_t size)
#endif
