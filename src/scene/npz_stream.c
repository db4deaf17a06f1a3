#include "src/scene/npz_stream.h"

#include <stdlib.h>

bool npz_stream_open(NpzStream *stream, const Npz *npz, int member, Err *err) {
    const NpzMember *row = &npz->members[member];
    snprintf(stream->where, sizeof stream->where, "%s: %s", npz->where, row->name);
    stream->left = row->bytes;
    stream->stored = row->stored;
    stream->file = zip_fopen_index(npz->zip, (zip_uint64_t)member, 0);
    return stream->file ||
           err_set(err, ERR_FAILED, stream->where, "", "cannot read: %s", zip_strerror(npz->zip));
}

bool npz_stream_read(NpzStream *stream, void *to, size_t count, Err *err) {
    if (count > stream->left)
        return err_set(err, ERR_FAILED, stream->where, "", "truncated: %llu bytes left of %zu",
                       (unsigned long long)stream->left, count);
    for (char *at = to; count > 0;) {
        zip_int64_t got = zip_fread(stream->file, at, count);
        if (got < 0)
            return err_set(err, ERR_FAILED, stream->where, "", "cannot read: %s",
                           zip_file_strerror(stream->file));
        if (got == 0)
            return err_set(err, ERR_FAILED, stream->where, "", "truncated: %llu bytes are missing",
                           (unsigned long long)stream->left);
        at += got;
        count -= (size_t)got;
        stream->left -= (uint64_t)got;
    }
    return true;
}

bool npz_stream_skip(NpzStream *stream, uint64_t count, Err *err) {
    unsigned char passed[16 * 1024];
    if (stream->stored && count > 0) {
        if (zip_fseek(stream->file, (zip_int64_t)count, SEEK_CUR) != 0)
            return err_set(err, ERR_FAILED, stream->where, "", "cannot read: %s",
                           zip_file_strerror(stream->file));
        stream->left -= count;
        return true;
    }
    for (uint64_t piece; count > 0; count -= piece) {
        piece = count < sizeof passed ? count : sizeof passed;
        if (!npz_stream_read(stream, passed, (size_t)piece, err))
            return false;
    }
    return true;
}

bool npz_stream_finish(NpzStream *stream, Err *err) {
    char more;
    if (stream->left > 0)
        return true;
    zip_int64_t got = zip_fread(stream->file, &more, 1);
    if (got < 0)
        return err_set(err, ERR_FAILED, stream->where, "the file is damaged", "%s",
                       zip_file_strerror(stream->file));
    return got == 0 || err_set(err, ERR_FAILED, stream->where, "",
                               "has more data than its directory entry says");
}

void npz_stream_close(NpzStream *stream) {
    if (stream->file)
        zip_fclose(stream->file);
}

void npz_stream_free(NpzStream *stream) {
    if (stream)
        npz_stream_close(stream);
    free(stream);
}
