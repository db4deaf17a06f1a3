/* SPDX-License-Identifier: MIT */
/* Reads JSON objects into C structs. A table has one row per key: its type, bounds, default value
 * and the member that receives it. A key without a row is an error. */
#pragma once

#include "src/base/data.h"
#include "src/base/units.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The JSON value of a field, and the C type that receives it. */
typedef enum {
    FIELD_INT,    /* whole number: int */
    FIELD_INT64,  /* whole number: int64_t */
    FIELD_FLOAT,  /* number: float */
    FIELD_DOUBLE, /* number: double */
    FIELD_ROW,    /* a number, or an array of 1 to `numbers`: int64_t, the count, then double[] */
    FIELD_TEXT,   /* string: char[] */
    FIELD_WORD,   /* one of a list of words: int, its index */
    FIELD_OBJECT, /* object: the struct of another table */
    FIELD_LIST    /* array of objects: FieldList */
} FieldType;

typedef struct {
    int count;
    void *items; /* from calloc; the caller frees it, also after a failure */
} FieldList;

typedef struct FieldTable FieldTable;

typedef struct {
    const char *key;
    FieldType type;
    size_t offset;           /* of the member in the C struct */
    int numbers;             /* 0: one number; else the length of an array of numbers */
    double min, max;         /* bounds of a number, of a text's bytes, of a list's length */
    bool optional;           /* the key may be missing */
    double fallback;         /* value of a missing number; a missing text stays empty */
    const void *words;       /* FIELD_WORDS() */
    size_t word_step;        /* bytes from one word to the next */
    int word_count;
    const FieldTable *table; /* FIELD_OBJECT, FIELD_LIST */
} Field;

enum { FIELDS_MAX = 16, FIELD_MAX_WORDS = 32 }; /* keys per object, words per field */

/* The members of a FIELD_WORD: its first word, which lies in an array of `count_` elements. */
#define FIELD_WORDS(first_, element_, count_)                                                      \
    .words = &(first_), .word_step = sizeof(element_), .word_count = count_

struct FieldTable {
    const Field *fields;
    size_t count;
    size_t item_size; /* bytes of the C struct */
};

#define FIELD_TABLE(fields_, type_)                                                                \
    { fields_, sizeof(fields_) / sizeof *(fields_), sizeof(type_) }

/* Return a place in the document, for error messages: "$.cameras[2].focal_px". */
ShortText field_path_key(ShortText parent, const char *key);
ShortText field_path_index(ShortText parent, size_t index);

/* Reads `object` into the zeroed struct at `target`. Stops at the first field with an error. */
bool fields_read(const Check *check, ShortText path, const FieldTable *table, const json_t *object,
                 void *target);

/* Returns the text as a JSON string, cleaned (clean.h): file names need not be UTF-8. NULL: out of
 * memory. */
json_t *fields_text(const char *text);

/* Parses JSON text, behind a byte order mark if there is one. The caller owns the value. NULL:
 * `error` says why. */
json_t *fields_parse(const char *text, size_t length, json_error_t *error);

/* Parses a JSON file of at most `limit` bytes. The caller owns the value. NULL: `err` says why.
 * `hint` is shown where the file is not JSON. */
json_t *fields_load(const char *path, size_t limit, const char *hint, Err *err);

/* Reads a JSON file of at most `limit` bytes whose root is an object of this table. The caller
 * frees the lists in `target`, also after a failure. */
bool fields_read_file(const char *path, size_t limit, const FieldTable *table, void *target,
                      Err *err);

/* Reports an error at `path_`. Arguments: a hint, a printf format, its values. Yields false. */
#define FIELD_REFUSE(check_, path_, ...)                                                           \
    data_refuse((check_)->err, (check_)->where, (path_).text, __VA_ARGS__)
