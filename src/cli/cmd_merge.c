/* SPDX-License-Identifier: MIT */
/* bevscope merge: reads records of verify and bench, to judge and print them together. */
#include "src/cli/records.h"

#include "src/base/json_fields.h"
#include "src/run/recorded.h"

#include <stdlib.h>
#include <string.h>

/* ---- a file ---------------------------------------------------------------------------------- */

bool record_file_next(RecordFile *file, Err *err) {
    json_error_t error;
    json_decref(file->record);
    file->record = NULL;
    ssize_t length = file->file ? getline(&file->line, &file->room, file->file) : 0;
    if (length <= 0 || file->line[length - 1] != '\n')
        return true;
    file->number++;
    file->whole += (long)length;
    json_t *record = json_loadb(file->line, (size_t)length, 0, &error);
    if (!json_is_object(record)) {
        json_decref(record);
        return err_set(err, ERR_FAILED, file->path, recorded_hint, "line %d is no JSON object",
                       file->number);
    }
    if (!file->head)
        file->head = json_incref(record);
    file->ended = json_object_get(record, "moments") != NULL;
    if (file->ended)
        json_decref(record);
    else
        file->record = record;
    return true;
}

/* Reads a file of --format json as its only record. */
static bool read_whole(RecordFile *file, Err *err) {
    fclose(file->file);
    file->file = NULL;
    file->ended = true;
    file->record = fields_load(file->path, RECORDED_MAX_BYTES, recorded_hint, err);
    file->head = json_incref(file->record);
    return file->record &&
           (json_is_array(json_object_get(file->record, "results")) ||
            err_set(err, ERR_FAILED, file->path, recorded_hint, "no results in it"));
}

bool record_file_open(RecordFile *file, const char *path, Err *err) {
    *file = (RecordFile){.path = path, .file = data_open(path, err)};
    if (!file->file)
        return false;
    /* A record says how many scenes there are; its line may have been cut. */
    bool lines = getline(&file->line, &file->room, file->file) <= 0 ||
                 strstr(file->line, "\"scenes\"") || !strncmp(file->line, "{\"command\":\"", 12);
    rewind(file->file);
    return lines ? record_file_next(file, err) : read_whole(file, err);
}

void record_file_close(RecordFile *file) {
    if (file->file)
        fclose(file->file);
    json_decref(file->head);
    json_decref(file->record);
    free(file->line);
    *file = (RecordFile){.path = NULL};
}

/* ---- all files ------------------------------------------------------------------------------- */

/* Refuses files of different runs, a shard that is there twice, and one that is missing. */
static bool check_shards(const RecordFile *files, int count, Err *err) {
    static const char *of[RECORDS_MAX_SHARDS + 1];
    int shard, shards = 0, wanted = 0;
    for (int i = 0; i < count; i++) {
        if (!records_alike(files[0].head, files[i].head, NULL, files[i].path, err))
            return false;
        if (sscanf(row_text(files[i].head, "shard"), "%d/%d", &shard, &shards) != 2 || shard < 1 ||
            shard > shards || shards > RECORDS_MAX_SHARDS)
            continue; /* the file has no shards */
        if (of[shard] || (wanted && wanted != shards))
            return err_set(err, ERR_USAGE, files[i].path, "name each shard of a run once",
                           "it is shard %d/%d, beside %s", shard, shards,
                           of[shard] ? of[shard] : files[0].path);
        of[shard] = files[i].path;
        wanted = shards;
    }
    for (int i = 1; i <= wanted; i++)
        if (!of[i])
            return err_set(err, ERR_FAILED, "merge", "name the files of all shards",
                           "shard %d/%d is missing", i, wanted);
    return true;
}

/* Returns the file whose record comes next, by scene and moment. NULL: all are taken. */
static RecordFile *next_file(RecordFile *files, int count) {
    RecordFile *next = NULL;
    for (int i = 0; i < count; i++) {
        const json_t *own = files[i].record, *first = next ? next->record : NULL;
        double scenes = row_number(own, "scene_number") - row_number(first, "scene_number");
        double moments = row_number(own, "moment") - row_number(first, "moment");
        if (own && (!first || scenes < 0 || (scenes == 0 && moments < 0)))
            next = &files[i];
    }
    return next;
}

bool records_take_files(Records *records, RecordFile *files, int count, Err *err) {
    if (!records_open(records, NULL, err))
        return false;
    records->scene_count = (int)json_integer_value(json_object_get(files[0].head, "scenes"));
    for (RecordFile *next; (next = next_file(files, count));) {
        if (!records_alike(files[0].head, next->record, NULL, next->path, err) ||
            !records_take(records, next->record, err) || !record_file_next(next, err))
            return false;
    }
    for (int i = 0; i < count; i++)
        if (!files[i].ended)
            return err_set(err, ERR_FAILED, files[i].path,
                           "the same command again does what is left",
                           "the command was ended before its end");
    return true;
}

bool cmd_merge(const Options *options, Err *err) {
    int count = options->argument_count, opened = 0;
    RecordFile *files = calloc((size_t)count, sizeof *files);
    bool ok = files || err_no_memory(err, "merge", "");
    while (ok && opened < count) {
        ok = record_file_open(&files[opened], options->arguments[opened], err);
        opened++;
    }
    ok = ok && check_shards(files, count, err);
    if (ok) {
        bool verified = !strcmp(row_text(files[0].head, "command"), "verify");
        ok = (verified ? verify_results : bench_results)(options, files, count, err);
    }
    while (opened > 0)
        record_file_close(&files[--opened]);
    free(files);
    return ok;
}
