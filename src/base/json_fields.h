/* JSON objects read into C structs by tables: one row per key says its type, its bounds, its
 * default and where it goes. What no row names is refused. */
#ifndef BEV_JSON_FIELDS_H
#define BEV_JSON_FIELDS_H

#include "kernels/err.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The C type behind a field: int, int64_t, float, double, char[], int (a word's number), the struct
 * of another table, FieldList. */
typedef enum {
    FIELD_INT,
    FIELD_INT64,
    FIELD_FLOAT,
    FIELD_DOUBLE,
    FIELD_TEXT,
    FIELD_WORD,
    FIELD_OBJECT,
    FIELD_LIST
} FieldType;

typedef struct {
    int count;
    void *items; /* calloc'd; the caller frees it, also after a failure */
} FieldList;

typedef const char *FieldWordAt(int index); /* NULL after the last word */

typedef struct FieldTable FieldTable;

typedef struct {
    const char *key;
    FieldType type;
    size_t offset;   /* in the C struct */
    int numbers;     /* 0: a plain number; else the length of an array of numbers */
    double min, max; /* of a number, of the bytes of a text, of the elements of a list */
    bool optional;
    double fallback;         /* of numbers; a missing text stays empty */
    FieldWordAt *word_at;    /* FIELD_WORD */
    const FieldTable *table; /* FIELD_OBJECT, FIELD_LIST */
} Field;

enum { FIELDS_MAX = 16, FIELD_MAX_WORDS = 32 }; /* keys of an object, words of a field */

struct FieldTable {
    const Field *fields;
    size_t count;
    size_t item_size; /* of the C struct */
};

#define FIELD_TABLE(fields_, type_)                                                                \
    { fields_, sizeof(fields_) / sizeof *(fields_), sizeof(type_) }

/* A place in the document: "$.cameras[2].focal_px". */
typedef struct {
    char text[128];
} FieldPath;

FieldPath field_path_key(FieldPath parent, const char *key);
FieldPath field_path_index(FieldPath parent, size_t index);

typedef struct {
    const char *where; /* heads errors: the file */
    Err *err;
} FieldReader;

/* Reads `object` into the zeroed struct at `target`; stops at the first field that is broken. */
bool fields_read(const FieldReader *reader, FieldPath path, const FieldTable *table,
                 const json_t *object, void *target);

/* Refuses what lies at `path`; returns false. */
__attribute__((format(printf, 4, 5))) bool field_refuse(const FieldReader *reader, FieldPath path,
                                                        const char *hint, const char *what, ...);

#endif
