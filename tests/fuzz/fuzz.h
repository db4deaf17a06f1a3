/* A fuzz target, for libFuzzer and for replay.c. To fuzz with clang, from the source folder:
 *   clang -g -O1 -D_GNU_SOURCE -DPKGDATADIR='"."' -DSOURCEDIR='"."' -I. \
 *     -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_npz.c \
 *     kernels/{err,codec,bevpool}.c src/base/{data,json_fields,nearest}.c \
 *     $(ls src/scene/[a-z]*.c | grep -vE 'problem|workload') -ljansson -lzip -lm -o fuzz_npz
 *   mkdir found; ./fuzz_npz -max_total_time=60 found tests/fuzz/corpus_npz */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* libFuzzer has its own main(), which calls this with generated inputs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Folder of the inputs that `make check` replays, relative to the source folder. */
extern const char *const fuzz_corpus;
