/* SPDX-License-Identifier: MIT */
#include "src/base/memory_stream.h"

#include <stdlib.h>

static bool refuse_no_memory(const char *where, Err *err) {
    return err_set(err, ERR_FAILED, where, "", "out of memory");
}

bool memory_stream_open(MemoryStream *memory, Err *err) {
    *memory = (MemoryStream){.length = 0};
    memory->stream = open_memstream(&memory->bytes, &memory->length);
    return memory->stream || refuse_no_memory("output", err);
}

bool memory_stream_close(MemoryStream *memory, const char *where, Err *err) {
    bool whole = !ferror(memory->stream);
    whole = fclose(memory->stream) == 0 && whole;
    memory->stream = NULL;
    if (whole)
        return true;
    free(memory->bytes);
    *memory = (MemoryStream){.length = 0};
    return refuse_no_memory(where, err);
}
