/* SPDX-License-Identifier: MIT */
/* Results of verify and bench, moment by moment. A record is a JSON object: what made it, the scene
 * and the moment, and rows of results or an error. The file of --format jsonl has a record a line.
 * A command takes the records that it makes, merge takes those of files; both judge and print
 * alike. */
#pragma once

#include "src/cli/report.h"
#include "src/run/bench.h"

/* Up to RECORDS_SCENES_LISTED scenes have rows of their own. With more scenes a row stands for all
 * of them. */
enum { RECORDS_SCENES_LISTED = 32, RECORDS_MAX_SHARDS = 10000 };

typedef enum { ROW_SKIPPED, ROW_PASSED, ROW_FAILED } RowVerdict;

/* A kernel, format, align and cache state over all moments; of a few scenes each by itself. */
typedef struct {
    json_t *row;  /* the moment that is shown */
    json_t *most; /* the moment with the largest figure `most_of`; NULL: none */
    int64_t moments, failed;
    double sum;       /* the sum of the figure `mean_of` */
    json_t *left_out; /* the first moment with values that are not compared; NULL: none */
    int moments_left_out;
} Selection;

typedef struct {
    const Options *options;
    const char *command;  /* "verify", "bench" */
    const char *worst_by; /* of moments that pass or fail alike, the one with the largest such
                             figure is shown */
    const char *mean_of; /* the figure of which a row shows the mean over its moments; NULL: none */
    const char *most_of; /* the figure of which a row shows the largest of any moment; NULL: none */
    const char *const (*most_keys)[2]; /* what a row takes from that moment: its key, the moment's;
                                          NULL at the end */
    /* Judges a row, of which it may set figures. Rows come in the order of scenes and moments. */
    RowVerdict (*judge)(void *context, json_t *row);
    void *context;
    const char *const *scenes; /* the scenes of the plan; of --scenes in `names` and `listed` */
    int scene_count;
    char *listed;
    const char **names;
    GradOutFile grad_out; /* of --grad-out */

    Report row;    /* the columns, and the row that is being added */
    json_t *rows;  /* the rows of the current moment */
    json_t *head;  /* what all records of this file share */
    json_t *done;  /* keys of the moments that the file has */
    json_t *all;   /* all rows, of few scenes; NULL: they are not kept */
    json_t *index; /* numbers of the selections, by their keys */
    Selection *selections;
    int selection_count;
    MemoryStream junit;    /* the test cases of --format junit */
    int shard, shards, fd; /* fd -1: no --format jsonl */
    int moments; /* so far; those of them that could not be done, and that have a failure */
    int broken, failing;
    int passed, failed, skipped; /* rows */
    bool ended;                  /* the file says that an earlier run went to its end */
    PlanMoments each;
} Records;

/* Makes the plan of the options: select_plan() with these default masks, the file of --grad-out,
 * and the scenes: those of --scenes, those that are named, or the usual ones. */
bool records_plan(Records *records, unsigned dtypes, unsigned aligns, const char *const *usual,
                  int count, BenchPlan *plan, Err *err);

/* Begins the records of a plan, of which it sets `each`; NULL: there is no plan. With --format
 * jsonl and --output it opens that file and takes the records that it has. Then call records_close
 * in all cases. */
bool records_open(Records *records, BenchPlan *plan, Err *err);
void records_close(Records *records);

/* Ends the row that was added to records->row. Returns it as JSON, borrowed. */
json_t *records_row(Records *records);

/* Writes the key of a row's selection: the kernel's name, a slash, and the rest. */
enum { SELECTION_KEY = 512 };
void records_key(const Records *records, const json_t *row, char key[SELECTION_KEY]);

/* Takes a record: judges its rows and keeps those that are shown. */
bool records_take(Records *records, json_t *record, Err *err);

/* Ends the records of a plan that went to its end, which --format jsonl says in a line of its own.
 */
bool records_end(Records *records, Err *err);

/* Adds the rows that are shown to records->row, which has their columns. */
void records_rows(Records *records);

/* Prints the results by --format: as JUnit XML, or as tables whose first is records->row. Nothing
 * is left to print with --format jsonl. Releases `root`. */
bool records_print(Records *records, const OutputTable *tables, int count, json_t *root, Err *err);

/* Fails where moments could not be done. */
bool records_judge(const Records *records, Err *err);

/* ---- files of records ------------------------------------------------------------------------ */

/* A file of --format jsonl, or one of --format json, which counts as a single record. */
typedef struct {
    const char *path;
    FILE *file;
    char *line;
    size_t room;
    json_t *head;   /* the first record; NULL: the file has none */
    json_t *record; /* the current record; NULL: there are no more */
    long whole;     /* bytes of the lines so far */
    int number;     /* the number of the line */
    bool ended;     /* the last line says that the plan went to its end */
} RecordFile;

/* Opens the file and reads its first record. Call record_file_close in all cases. */
bool record_file_open(RecordFile *file, const char *path, Err *err);
void record_file_close(RecordFile *file);

/* Reads the next record. A last line that is not whole, as a kill leaves it, counts as none. */
bool record_file_next(RecordFile *file, Err *err);

/* Judge and print what the options' plan computes; with `files` the records of these, in the order
 * of scenes and moments. */
bool verify_results(const Options *options, RecordFile *files, int count, Err *err);
bool bench_results(const Options *options, RecordFile *files, int count, Err *err);

/* Takes all records of the files, in place of records_open. */
bool records_take_files(Records *records, RecordFile *files, int count, Err *err);

/* Refuses a record that another run made: its command, version, options or scenes differ, or its
 * value of the key `also`, which may be NULL. */
bool records_alike(const json_t *own, const json_t *other, const char *also, const char *path,
                   Err *err);

/* Times a training step with a new map each time (bench --stage step), or prints the recorded
 * steps. */
bool bench_step(const Options *options, Err *err);
