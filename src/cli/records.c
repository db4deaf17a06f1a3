/* SPDX-License-Identifier: MIT */
#include "src/cli/records.h"
#include "src/base/json_fields.h"
#include "src/base/progress.h"
#include "src/run/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static bool is_format(const Records *records, const char *name) {
    return !strcmp(records->options->format, name);
}

static int64_t row_integer(const json_t *row, const char *key) {
    return json_integer_value(json_object_get(row, key));
}

/* ---- JUnit XML ------------------------------------------------------------------------------- */

static void print_xml(FILE *out, const char *text) {
    for (; *text; text++)
        fputs(*text == '&'   ? "&amp;"
              : *text == '<' ? "&lt;"
              : *text == '"' ? "&quot;"
                             : (char[]){*text, 0},
              out);
}

/* Prints the test case of a moment with judged rows. `error` "": the moment was done. */
static void print_test_case(FILE *out, const json_t *record, const char *error) {
    size_t i, line;
    const json_t *row, *why;
    fputs(" <testcase classname=\"", out);
    print_xml(out, row_text(record, "scene"));
    fprintf(out, "\" name=\"moment %lld\">\n", (long long)row_integer(record, "moment"));
    if (error[0]) {
        fputs("  <error message=\"", out);
        print_xml(out, error);
        fputs("\"/>\n", out);
    }
    json_array_foreach(json_object_get(record, "results"), i, row) {
        if (!row_integer(row, "moments_failed"))
            continue;
        fputs("  <failure message=\"", out);
        print_xml(out, row_text(row, "kernel"));
        fprintf(out, ", %s, %s %s\">", row_text(row, "dtype"), row_text(row, "align"),
                row_text(row, "cache"));
        json_array_foreach(json_object_get(row, "failures"), line, why) {
            print_xml(out, json_string_value(why));
            fputc('\n', out);
        }
        fputs("</failure>\n", out);
    }
    fputs(" </testcase>\n", out);
}

static bool print_junit(Records *records, Err *err) {
    MemoryStream whole, *cases = &records->junit;
    if (!memory_stream_close(cases, "JUnit", err))
        return false;
    bool ok = memory_stream_open(&whole, err);
    if (ok)
        fprintf(whole.stream,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"bevscope %s\" "
                "tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"0\">\n%s</testsuite>\n",
                records->command, records->moments, records->failing, records->broken,
                cases->bytes);
    free(cases->bytes);
    *cases = (MemoryStream){0};
    return ok && output_close(&whole, records->options->output, err);
}

/* ---- adding records -------------------------------------------------------------------------- */

static bool lists_scenes(const Records *records) {
    return records->scene_count <= RECORDS_SCENES_LISTED;
}

void records_key(const Records *records, const json_t *row, char key[SELECTION_KEY]) {
    snprintf(key, SELECTION_KEY, "%s/%s/%s/%s/%s", row_text(row, "kernel"), row_text(row, "dtype"),
             row_text(row, "align"), row_text(row, "cache"),
             lists_scenes(records) ? row_text(row, "scene") : "");
}

/* Returns the selection of a row. The first row of a selection makes it. NULL: no memory. */
static Selection *selection_of(Records *records, const json_t *row) {
    char key[SELECTION_KEY];
    records_key(records, row, key);
    const json_t *known = json_object_get(records->index, key);
    if (known)
        return &records->selections[json_integer_value(known)];
    int count = records->selection_count;
    Selection *more = realloc(records->selections, (size_t)(count + 1) * sizeof *more);
    if (!more)
        return NULL;
    json_object_set_new(records->index, key, json_integer(count));
    records->selections = more;
    more[records->selection_count++] = (Selection){.row = NULL};
    return &more[count];
}

/* Whether `row` is shown in place of `shown`. A failed row goes before one that passed, a row that
 * ran before a skipped row, then the larger figure `worst_by`, and any number before NaN. */
static bool is_worse(const Records *records, const json_t *row, const json_t *shown) {
    bool fails = row_integer(row, "moments_failed"), failed = row_integer(shown, "moments_failed");
    double figure = row_number(row, records->worst_by), best = row_number(shown, records->worst_by);
    bool ran = row_integer(row, "moments"), had = row_integer(shown, "moments");
    return fails != failed ? fails
           : ran != had    ? ran
                           : figure > best || isnan(best) > isnan(figure);
}

static void keep_row(json_t **kept, json_t *row) {
    json_decref(*kept);
    *kept = json_incref(row);
}

/* Judges a row of a moment and adds it to its selection. */
static bool add_record_row(Records *records, json_t *row, Err *err) {
    RowVerdict verdict = records->judge(records->context, row);
    Selection *selection = selection_of(records, row);
    records->skipped += verdict == ROW_SKIPPED;
    records->passed += verdict == ROW_PASSED;
    records->failed += verdict == ROW_FAILED;
    if (!selection)
        return err_no_memory(err, "results", "choose fewer scenes");
    json_object_set_new(row, "moments_failed", json_integer(verdict == ROW_FAILED));
    int64_t moments = row_integer(row, "moments");
    selection->moments += moments;
    selection->failed += verdict == ROW_FAILED;
    if (records->mean_of && moments)
        selection->sum += (double)moments * row_number(row, records->mean_of);
    if (!selection->row || is_worse(records, row, selection->row))
        keep_row(&selection->row, row);
    double most = records->most_of ? row_number(selection->most, records->most_of) : INFINITY;
    if (isnan(most) || row_number(row, records->most_of) > most)
        keep_row(&selection->most, row);
    const bool leaves_out = row_integer(row, "left_out") != 0;
    if (leaves_out && !selection->left_out)
        selection->left_out = json_incref(row);
    selection->moments_left_out += leaves_out;
    if (records->all && lists_scenes(records))
        json_array_append(records->all, row);
    return true;
}

/* Judges the rows of a record and keeps those that are shown. */
static bool add_record(Records *records, json_t *record, Err *err) {
    const char *error = row_text(record, "error");
    const int before = records->failed;
    size_t i;
    json_t *row;
    records->moments++;
    records->broken += error[0] != '\0';
    json_array_foreach(json_object_get(record, "results"), i, row) {
        if (!add_record_row(records, row, err))
            return false;
    }
    records->failing += records->failed > before;
    if (records->junit.stream)
        print_test_case(records->junit.stream, record, error);
    return true;
}

void records_list_rows(Records *records) {
    report_clear(&records->row);
    for (int i = 0; i < records->selection_count; i++) {
        const Selection *selection = &records->selections[i];
        json_t *row = json_copy(selection->row);
        json_object_set_new(row, "moments", json_integer(selection->moments));
        json_object_set_new(row, "moments_failed", json_integer(selection->failed));
        if (records->mean_of && selection->moments)
            json_object_set_new(row, records->mean_of,
                                json_real(selection->sum / (double)selection->moments));
        for (int k = 0; selection->most && records->most_keys[k][0]; k++)
            json_object_set(row, records->most_keys[k][0],
                            json_object_get(selection->most, records->most_keys[k][1]));
        report_add_object(&records->row, row);
        json_decref(row);
    }
}

bool records_print(Records *records, const OutputTable *tables, int count, json_t *root, Err *err) {
    if (records->junit.stream || is_format(records, "jsonl"))
        json_decref(root);
    if (records->junit.stream)
        return print_junit(records, err);
    return is_format(records, "jsonl") || output_tables(records->options, tables, count, root, err);
}

bool records_judge(const Records *records, Err *err) {
    return !records->broken ||
           err_set(err, ERR_GATE, records->command, "see their \"error\"",
                   "%d of %d moments could not be done", records->broken, records->moments);
}

/* ---- the records of a plan ------------------------------------------------------------------- */

json_t *records_row(Records *records) {
    json_t *row = report_at(&records->row, 0);
    json_array_append(records->rows, row);
    report_clear(&records->row);
    return row;
}

static ShortText moment_key(int64_t scene, int64_t moment) {
    return short_text("%lld,%lld", (long long)scene, (long long)moment);
}

/* Whether the moment belongs to this shard and is not in the file. Moment m of scene s belongs to
 * the shard (s + m) mod shards. */
static bool wants_moment(void *context, int scene, int moment) {
    const Records *records = context;
    return (scene + moment) % records->shards == records->shard - 1 &&
           !json_object_get(records->done, moment_key(scene, moment).text);
}

/* Writes a line of --format jsonl with a single call, so that a kill cuts at most this line. */
static bool write_line(Records *records, const json_t *record, Err *err) {
    const char *path = records->options->output;
    char *text = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(17));
    size_t length = strlen(text);
    text[length] = '\n'; /* in the place of the NUL */
    bool ok = data_write_all(records->fd, text, length + 1) ||
              err_set(err, ERR_FAILED, path ? path : "standard output", "", "cannot be written: %s",
                      strerror(errno));
    free(text);
    return ok;
}

/* Makes a moment's record. A failure ends the plan; with --keep-going only ERR_DEVICE does. */
static bool end_moment(void *context, int scene, int moment, const Err *failed, Err *err) {
    Records *records = context;
    const char *name = records->scenes[scene];
    char line[1024];
    if (failed && (!records->options->keep_going || failed->kind == ERR_DEVICE)) {
        *err = *failed;
        return false;
    }
    json_t *record = json_copy(records->head);
    json_object_update_new(record, json_pack("{si so si}", "scene_number", scene, "scene",
                                             fields_text(name), "moment", moment));
    if (failed)
        err_line(failed, line, sizeof line);
    json_object_set_new(record, failed ? "error" : "results",
                        failed ? fields_text(line) : json_copy(records->rows));
    progress_hide(); /* the record or the error may go to the terminal */
    bool ok =
        add_record(records, record, err) && (records->fd < 0 || write_line(records, record, err));
    if (failed)
        fprintf(stderr, "bevscope: %s\n", line);
    json_array_clear(records->rows);
    json_decref(record);
    return ok;
}

bool records_end(Records *records, Err *err) {
    progress_end();
    json_t *end = json_copy(records->head);
    json_object_set_new(end, "moments", json_integer(records->moments));
    bool ok = records->fd < 0 || records->ended || write_line(records, end, err);
    json_decref(end);
    return ok;
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Refuses a record of another run: its command, version, options or scenes differ, or its value of
 * the key `also`, which may be NULL. */
static bool check_same_run(const json_t *own, const json_t *other, const char *also,
                           const char *path, Err *err) {
    const char *const keys[] = {"command", "version", "options", "scenes", also};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && keys[i]; i++) {
        const json_t *a = json_object_get(own, keys[i]), *b = json_object_get(other, keys[i]);
        if (a == b || json_equal((json_t *)a, (json_t *)b))
            continue;
        char *said = json_dumps(b, JSON_ENCODE_ANY), *wanted = json_dumps(a, JSON_ENCODE_ANY);
        err_set(err, ERR_USAGE, path, "results of two runs go into two files",
                "its %s: %s, here %s", keys[i], said ? said : "none", wanted ? wanted : "none");
        free(said);
        free(wanted);
        return false;
    }
    return true;
}

/* Adds the records of an earlier run, and cuts off a line that was not completed. */
static bool resume_records(Records *records, Err *err) {
    static RecordFile file;
    const char *path = records->options->output;
    bool ok = record_file_open(&file, path, err);
    while (ok && file.record) {
        const json_t *record = file.record;
        const ShortText key =
            moment_key(row_integer(record, "scene_number"), row_integer(record, "moment"));
        json_object_set_new(records->done, key.text, json_true());
        ok = check_same_run(records->head, record, "shard", path, err) &&
             add_record(records, file.record, err) && record_file_next(&file, err);
    }
    records->ended = file.ended;
    if (ok && ftruncate(records->fd, file.whole) != 0)
        ok = err_set(err, ERR_FAILED, path, "", "cannot be cut: %s", strerror(errno));
    return ok;
}

/* Opens the file of --format jsonl, which one process at a time may write. */
static bool open_record_lines(Records *records, Err *err) {
    const char *path = records->options->output;
    if (!path || !strcmp(path, "-")) {
        records->fd = STDOUT_FILENO;
        return true;
    }
    records->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (records->fd < 0)
        return err_set(err, ERR_FAILED, path, "", "cannot be written: %s", strerror(errno));
    if (flock(records->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return err_set(err, ERR_FAILED, path, "give each shard a file",
                       "another process writes it");
    return lseek(records->fd, 0, SEEK_END) <= 0 || resume_records(records, err);
}

bool records_open(Records *records, const BenchPlan *plan, Err *err) {
    const char *text = records->options->shard; /* "I/N"; NULL: there is one shard */
    char options[1024];
    int used = 0;
    records->fd = -1;
    records->rows = json_array();
    records->index = json_object();
    records->done = json_object();
    records->shard = records->shards = 1;
    const bool is_shard =
        !text || (sscanf(text, "%d/%d%n", &records->shard, &records->shards, &used) == 2 &&
                  !text[used] && records->shard >= 1 && records->shard <= records->shards);
    if (!is_shard || records->shards > RECORDS_MAX_SHARDS)
        return err_set(err, ERR_USAGE, "--shard", "such as 1/16, the first of 16",
                       "'%s' is no part I/N of the moments", text);
    if (plan) {
        records->each = (PlanMoments){wants_moment, end_moment, records};
        records->scenes = plan->scenes;
        records->scene_count = plan->scene_count;
    }
    options_given(records->options, options, sizeof options);
    const ShortText shard = short_text("%d/%d", records->shard, records->shards);
    records->head = output_head(records->command);
    json_object_update_new(records->head, json_pack("{ss ss si}", "options", options, "shard",
                                                    shard.text, "scenes", records->scene_count));
    return (!is_format(records, "junit") || memory_stream_open(&records->junit, err)) &&
           (!is_format(records, "jsonl") || open_record_lines(records, err));
}

/* ---- a file of records ----------------------------------------------------------------------- */

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
    /* The first record says how many scenes there are, but its line may have been cut. */
    bool lines = getline(&file->line, &file->room, file->file) <= 0 ||
                 strstr(file->line, "\"scenes\"") || !strncmp(file->line, "{\"command\":\"", 12);
    rewind(file->file);
    return lines ? record_file_next(file, err) : read_whole(file, err);
}

/* ---- bevscope merge: the records of several files -------------------------------------------- */

/* Refuses files of different runs, a shard that two files have, and a shard that no file has. */
static bool check_shards(const RecordFile *files, int count, Err *err) {
    static const char *file_of[RECORDS_MAX_SHARDS + 1];
    int shard, shards = 0, wanted = 0;
    for (int i = 0; i < count; i++) {
        if (!check_same_run(files[0].head, files[i].head, NULL, files[i].path, err))
            return false;
        if (sscanf(row_text(files[i].head, "shard"), "%d/%d", &shard, &shards) != 2 || shard < 1 ||
            shard > shards || shards > RECORDS_MAX_SHARDS)
            continue; /* the file has no shards */
        if (file_of[shard] || (wanted && wanted != shards))
            return err_set(err, ERR_USAGE, files[i].path, "name each shard of a run once",
                           "it is shard %d/%d, beside %s", shard, shards,
                           file_of[shard] ? file_of[shard] : files[0].path);
        file_of[shard] = files[i].path;
        wanted = shards;
    }
    for (int i = 1; i <= wanted; i++)
        if (!file_of[i])
            return err_set(err, ERR_FAILED, "merge", "name the files of all shards",
                           "shard %d/%d is missing", i, wanted);
    return true;
}

/* Returns the file whose record comes next, by scene and moment. NULL: no record is left. */
static RecordFile *next_file(RecordFile *files, int count) {
    RecordFile *next = NULL;
    for (int i = 0; i < count; i++) {
        const json_t *own = files[i].record, *first = next ? next->record : NULL;
        double scene_gap = row_number(own, "scene_number") - row_number(first, "scene_number");
        double moment_gap = row_number(own, "moment") - row_number(first, "moment");
        const bool comes_before = scene_gap < 0 || (scene_gap == 0 && moment_gap < 0);
        if (own && (!first || comes_before))
            next = &files[i];
    }
    return next;
}

bool records_open_files(Records *records, RecordFile *files, int count, Err *err) {
    if (!records_open(records, NULL, err))
        return false;
    records->scene_count = (int)json_integer_value(json_object_get(files[0].head, "scenes"));
    for (RecordFile *next; (next = next_file(files, count));) {
        if (!check_same_run(files[0].head, next->record, NULL, next->path, err) ||
            !add_record(records, next->record, err) || !record_file_next(next, err))
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
    static RecordFile *files;
    const int count = options->argument_count;
    if (!(files = calloc((size_t)count, sizeof *files)))
        return err_no_memory(err, "merge", "");
    for (int i = 0; i < count; i++)
        if (!record_file_open(&files[i], options->arguments[i], err))
            return false;
    if (!check_shards(files, count, err))
        return false;
    bool verified = !strcmp(row_text(files[0].head, "command"), "verify");
    return (verified ? verify_results : bench_results)(options, files, count, err);
}
