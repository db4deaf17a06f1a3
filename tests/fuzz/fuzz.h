/* A fuzz target, for libFuzzer and for replay.c. To fuzz with clang: tests/fuzz/fuzz.sh. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* libFuzzer has its own main(), which calls this with generated inputs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Folder of the inputs that `make check` replays, relative to the source folder. */
extern const char *const fuzz_corpus;
