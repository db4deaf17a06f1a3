/* NumPy's .npz: a zip of .npy arrays, stored or deflated. Nothing is allocated on the word of a
 * file: sizes are checked against each other and against what is there first. */
#ifndef BEV_NPZ_H
#define BEV_NPZ_H

#include "src/scene/npy.h"
#include "src/scene/zip_directory.h"

#include <stdint.h>

enum { NPZ_MAX_MEMBERS = ZIP_MAX_ENTRIES, NPZ_MAX_NAME = 64 };

typedef struct {
    char name[NPZ_MAX_NAME]; /* without ".npy" */
    uint64_t bytes;          /* of the .npy, inflated */
} NpzMember;

/* An open archive. */
typedef struct {
    struct zip *zip;
    char where[128]; /* heads errors; a long path keeps its end */
    int count;
    NpzMember members[NPZ_MAX_MEMBERS];
} Npz;

/* Opens an archive and checks its directory: at most NPZ_MAX_MEMBERS arrays, no name twice, nothing
 * encrypted, no other method than stored or deflated, no size that the archive cannot hold. Memory
 * is borrowed until npz_close. */
bool npz_open_file(Npz *npz, const char *path, uint64_t max_bytes, Err *err);
bool npz_open_memory(Npz *npz, const void *bytes, size_t length, const char *where, Err *err);
void npz_close(Npz *npz);

/* Index of the member of that name, or -1. */
int npz_find(const Npz *npz, const char *name);

/* Reads a member's header and checks that shape x element size is exactly what follows it. */
bool npz_read_array(const Npz *npz, int member, NpyArray *array, Err *err);

/* Reads all elements as `type` (array->count of them): F2 as F4; any as F8; I8 as I4, where values
 * that do not fit are refused. Every byte of the member is checked, its sum included. */
bool npz_read(const Npz *npz, int member, const NpyArray *array, NpyType type, void *elements,
              Err *err);

/* Refuses member[i] in the flat order of `array`, written as "where: name[c, d, h, w]". */
__attribute__((format(printf, 6, 7))) bool npz_refuse_element(const Npz *npz, const char *name,
                                                              const NpyArray *array, int64_t i,
                                                              Err *err, const char *what, ...);

/* An archive being written in memory: stored members with a fixed date, so that the same arrays
 * give the same bytes. */
typedef struct {
    struct zip *zip;
    struct zip_source *source;
} NpzWriter;

bool npz_writer_open(NpzWriter *writer, Err *err);
bool npz_writer_add(NpzWriter *writer, const char *name, NpyType type, int rank,
                    const int64_t *shape, const void *elements, Err *err);
/* Closes the writer, also on failure. The caller frees *bytes. */
bool npz_writer_finish(NpzWriter *writer, char **bytes, size_t *length, Err *err);
void npz_writer_abort(NpzWriter *writer);

#endif
