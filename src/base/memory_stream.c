/* SPDX-License-Identifier: MIT */
#include "src/base/memory_stream.h"

#include <stdlib.h>

bool memory_stream_open(MemoryStream *memory, Err *err) {
    *memory = (MemoryStream){.length = 0};
    memory->stream = open_memstream(&memory->bytes, &memory->length);
    return memory->stream || err_no_memory(err, "output", "");
}

bool memory_stream_close(MemoryStream *memory, const char *where, Err *err) {
    bool whole = !ferror(memory->stream);
    whole = fclose(memory->stream) == 0 && whole;
    memory->stream = NULL;
    if (whole)
        return true;
    free(memory->bytes);
    *memory = (MemoryStream){.length = 0};
    return err_no_memory(err, where, "");
}
