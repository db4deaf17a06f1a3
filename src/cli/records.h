/* SPDX-License-Identifier: MIT */
/* Results of verify and bench, moment by moment. A record is a JSON object. It has the options of
 * the run, the scene, the moment, and rows of results or an error. A file of --format jsonl has one
 * record in each line. verify and bench make records, merge reads the records of files. All three
 * judge and print records in the same way. */
#pragma once

#include "src/cli/report.h"
#include "src/run/bench.h"

/* With at most RECORDS_SCENES_LISTED scenes each scene has rows. Else a row has all scenes. */
enum { RECORDS_SCENES_LISTED = 32, RECORDS_MAX_SHARDS = 10000 };
typedef enum { ROW_SKIPPED, ROW_PASSED, ROW_FAILED } RowVerdict;

/* All moments of a kernel, format, align and cache state, and of a scene if each scene has rows. */
typedef struct {
    json_t *row;  /* the row of the moment that is shown */
    json_t *most; /* the row of the moment with the largest figure `most_of`; NULL: none */
    int64_t moments, failed;
    double sum;       /* the sum of the figure `mean_of` */
    json_t *left_out; /* the first moment with values that are not compared; NULL: none */
    int moments_left_out;
} Selection;

typedef struct {
    const Options *options;
    const char *command; /* "verify", "bench" */
    /* Keys of figures. Of the moments with the same verdict the largest `worst_by` is shown, with
     * the mean of `mean_of` and the largest `most_of` of all moments. NULL: none. */
    const char *worst_by, *mean_of, *most_of;
    /* The keys that a row copies from the moment of the largest `most_of`: the key in the row, and
     * the key in the moment. NULL at the end. */
    const char *const (*most_keys)[2];
    /* Judges a row, and may set its figures. Rows come in the order of scenes and moments. */
    RowVerdict (*judge)(void *context, json_t *row);
    void *context;
    const char *const *scenes; /* the scenes of the plan */
    int scene_count;
    PlanMoments each; /* makes a record of each moment of the plan: plan->each points here */

    Report row;    /* the columns, and the row that is being added */
    json_t *rows;  /* the rows of the current moment */
    json_t *head;  /* the keys that all records of this run share */
    json_t *done;  /* keys of the moments that the file has already */
    json_t *all;   /* all rows, if there are few scenes; NULL: they are not kept */
    json_t *index; /* numbers of the selections, by their keys */
    Selection *selections;
    int selection_count;
    MemoryStream junit;           /* the test cases of --format junit */
    int shard, shards, fd;        /* fd -1: no --format jsonl */
    int moments, broken, failing; /* moments so far; those with an error; those with a failed row */
    int passed, failed, skipped;  /* rows */
    bool ended; /* the file says that an earlier run reached the end of the plan */
} Records;

/* Begins the records of a plan, and fills records->each; NULL: there is no plan. With --format
 * jsonl and --output the records that the file has already are added. */
bool records_open(Records *records, const BenchPlan *plan, Err *err);

/* Ends the row that was added to records->row. Returns the row as JSON, borrowed. */
json_t *records_row(Records *records);

/* Writes the key of a row's selection: the name of the kernel, a slash, and the other parts. */
enum { SELECTION_KEY = 512 };
void records_key(const Records *records, const json_t *row, char key[SELECTION_KEY]);

/* Ends the records of a plan whose end was reached. --format jsonl writes a line that says so. */
bool records_end(Records *records, Err *err);

/* Adds the rows that the table shows to the report records->row. The caller has set its columns. */
void records_list_rows(Records *records);

/* Prints results as JUnit XML or tables; jsonl is printed already. Releases `root`. */
bool records_print(Records *records, const OutputTable *tables, int count, json_t *root, Err *err);

/* Fails if a moment could not be done. */
bool records_judge(const Records *records, Err *err);

/* ---- files of records ------------------------------------------------------------------------ */

/* A file of --format jsonl, or a file of --format json, which counts as a single record. */
typedef struct {
    const char *path;
    FILE *file;
    char *line;
    size_t room;
    json_t *head;   /* the first record; NULL: the file has none */
    json_t *record; /* the current record; NULL: there are no more */
    long whole;     /* bytes of the lines so far */
    int number;     /* the number of the line */
    bool ended;     /* the last line says that the end of the plan was reached */
} RecordFile;

/* Opens the file and reads its first record. The file stays open. */
bool record_file_open(RecordFile *file, const char *path, Err *err);

/* Reads the next record. A last line without its end is left out: a kill has cut this line. */
bool record_file_next(RecordFile *file, Err *err);

/* Judge and print the records of `files`, in the order of scenes and moments. `files` NULL: the
 * records of the options' plan, which is computed. */
bool verify_results(const Options *options, RecordFile *files, int count, Err *err);
bool bench_results(const Options *options, RecordFile *files, int count, Err *err);

/* Begins the records with those of the files, in place of records_open. */
bool records_open_files(Records *records, RecordFile *files, int count, Err *err);

/* Times a training step with a new map each time (--stage step), or prints recorded steps. */
bool bench_step(const Options *options, Err *err);
