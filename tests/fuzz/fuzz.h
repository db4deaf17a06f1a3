/* What a fuzz target offers: to libFuzzer, and to replay.c without it. */
#ifndef BEV_FUZZ_H
#define BEV_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* clang -fsanitize=fuzzer,address,undefined brings a main that calls this with what it invents. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Inputs that are replayed by `make check`, relative to the source folder. */
extern const char *const fuzz_corpus;

#endif
