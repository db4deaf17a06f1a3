/* SPDX-License-Identifier: MIT */
#include "src/base/json_fields.h"

#include "kernels/clean.h"
#include "src/base/nearest.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ShortText field_path_key(ShortText parent, const char *key) {
    return short_text("%.80s.%.40s", parent.text, key);
}

ShortText field_path_index(ShortText parent, size_t index) {
    return short_text("%.100s[%zu]", parent.text, index);
}

static const char *type_name(const json_t *value) {
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    return names[json_typeof(value)];
}

/* Refuses a value unless `matches`. `wanted` names the JSON type that the value must have. */
static bool require_type(const Check *check, ShortText path, const json_t *value, bool matches,
                         const char *wanted) {
    return matches || FIELD_REFUSE(check, path, "", "is %s, must be %s", type_name(value), wanted);
}

static void store_number(const Field *field, void *target, int index, double value) {
    if (field->type == FIELD_INT || field->type == FIELD_WORD)
        ((int *)target)[index] = (int)value;
    else if (field->type == FIELD_INT64)
        ((int64_t *)target)[index] = (int64_t)value;
    else if (field->type == FIELD_FLOAT)
        ((float *)target)[index] = (float)value;
    else
        ((double *)target)[index] = value;
}

static bool read_number(const Check *check, ShortText path, const Field *field, const json_t *value,
                        void *target, int index) {
    const bool is_integer = field->type == FIELD_INT || field->type == FIELD_INT64;
    const double number = json_number_value(value);
    const bool matches = json_is_number(value) && (!is_integer || number == floor(number));
    if (!require_type(check, path, value, matches, is_integer ? "a whole number" : "a number"))
        return false;
    if (!(number >= field->min && number <= field->max))
        return FIELD_REFUSE(check, path, "", "%.15g is outside %.15g to %.15g", number, field->min,
                            field->max);
    store_number(field, target, index, number);
    return true;
}

static bool read_elements(const Check *check, ShortText path, const Field *field,
                          const json_t *array, void *target) {
    for (size_t i = 0; i < json_array_size(array); i++)
        if (!read_number(check, field_path_index(path, i), field, json_array_get(array, i), target,
                         (int)i))
            return false;
    return true;
}

static bool read_numbers(const Check *check, ShortText path, const Field *field,
                         const json_t *value, void *target) {
    if (!json_is_array(value))
        return FIELD_REFUSE(check, path, "", "is %s, must be an array of %d numbers",
                            type_name(value), field->numbers);
    if (json_array_size(value) != (size_t)field->numbers)
        return FIELD_REFUSE(check, path, "", "has %zu elements, must have %d",
                            json_array_size(value), field->numbers);
    return read_elements(check, path, field, value, target);
}

/* Reads a FIELD_ROW: `target` receives the count of numbers, and behind the count the numbers. */
static bool read_row(const Check *check, ShortText path, const Field *field, const json_t *value,
                     int64_t *target) {
    const size_t count = json_is_array(value) ? json_array_size(value) : 0;
    *target = 1;
    if (json_is_number(value))
        return read_number(check, path, field, value, target + 1, 0);
    if (count < 1 || count > (size_t)field->numbers)
        return FIELD_REFUSE(
            check, path, "",
            "is %s of %zu elements, must be a number, or an array of 1 to %d numbers",
            type_name(value), count, field->numbers);
    *target = (int64_t)count;
    return read_elements(check, path, field, value, target + 1);
}

static bool read_text(const Check *check, ShortText path, const Field *field, const json_t *value,
                      char *target) {
    if (!require_type(check, path, value, json_is_string(value), "a string"))
        return false;
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (length < (size_t)field->min || length > (size_t)field->max)
        return FIELD_REFUSE(check, path, "", "has %zu bytes, must have %g to %g", length,
                            field->min, field->max);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return FIELD_REFUSE(check, path, "", "byte %zu is a control character, 0x%02x", i,
                                (unsigned)text[i]);
    clean_text(text, target, length + 1);
    return true;
}

static bool read_word(const Check *check, ShortText path, const Field *field, const json_t *value,
                      int *target) {
    const char *words[FIELD_MAX_WORDS];
    const int count = field->word_count;
    assert(count <= FIELD_MAX_WORDS);
    for (int i = 0; i < count; i++)
        memcpy(&words[i], (const char *)field->words + (size_t)i * field->word_step, sizeof *words);
    if (!json_is_string(value))
        return FIELD_REFUSE(check, path, "", "is %s, must be a word such as \"%s\"",
                            type_name(value), words[0]);
    const char *text = json_string_value(value);
    for (*target = 0; *target < count; ++*target)
        if (strcmp(text, words[*target]) == 0)
            return true;
    char hint[256];
    nearest_hint(text, words, (size_t)count, NULL, hint, sizeof hint);
    return FIELD_REFUSE(check, path, hint, "unknown word \"%.60s\"", text);
}

static bool read_list(const Check *check, ShortText path, const Field *field, const json_t *value,
                      FieldList *list) {
    if (!require_type(check, path, value, json_is_array(value), "an array of objects"))
        return false;
    size_t count = json_array_size(value);
    if (count < (size_t)field->min || count > (size_t)field->max)
        return FIELD_REFUSE(check, path, "", "has %zu elements, must have %g to %g", count,
                            field->min, field->max);
    list->items = calloc(count ? count : 1, field->table->item_size);
    if (!list->items)
        return FIELD_REFUSE(check, path, "", "out of memory for %zu elements", count);
    list->count = (int)count;
    for (size_t i = 0; i < count; i++)
        if (!fields_read(check, field_path_index(path, i), field->table, json_array_get(value, i),
                         (char *)list->items + i * field->table->item_size))
            return false;
    return true;
}

static bool read_field(const Check *check, ShortText path, const Field *field, const json_t *value,
                       void *target) {
    if (field->type == FIELD_TEXT)
        return read_text(check, path, field, value, target);
    if (field->type == FIELD_WORD)
        return read_word(check, path, field, value, target);
    if (field->type == FIELD_OBJECT)
        return fields_read(check, path, field->table, value, target);
    if (field->type == FIELD_LIST)
        return read_list(check, path, field, value, target);
    if (field->type == FIELD_ROW)
        return read_row(check, path, field, value, target);
    return field->numbers ? read_numbers(check, path, field, value, target)
                          : read_number(check, path, field, value, target, 0);
}

static bool refuse_unknown_keys(const Check *check, ShortText path, const FieldTable *table,
                                const json_t *object) {
    const char *keys[FIELDS_MAX], *key;
    json_t *value;
    assert(table->count <= FIELDS_MAX);
    for (size_t i = 0; i < table->count; i++)
        keys[i] = table->fields[i].key;
    json_object_foreach((json_t *)object, key, value) {
        const char *nearest = nearest_name(key, keys, table->count);
        char hint[256];
        if (nearest && strcmp(key, nearest) == 0)
            continue;
        nearest_hint(key, keys, table->count, NULL, hint, sizeof hint);
        return FIELD_REFUSE(check, field_path_key(path, key), hint, "unknown key");
    }
    return true;
}

bool fields_read(const Check *check, ShortText path, const FieldTable *table, const json_t *value,
                 void *target) {
    if (!require_type(check, path, value, json_is_object(value), "an object") ||
        !refuse_unknown_keys(check, path, table, value))
        return false;
    for (size_t i = 0; i < table->count; i++) {
        const Field *field = &table->fields[i];
        void *at = (char *)target + field->offset;
        const json_t *member = json_object_get(value, field->key);
        if (member) {
            if (!read_field(check, field_path_key(path, field->key), field, member, at))
                return false;
        } else if (!field->optional) {
            return FIELD_REFUSE(check, field_path_key(path, field->key), "", "is missing");
        } else if (field->type == FIELD_ROW) {
            *(int64_t *)at = 0;
        } else if (field->type != FIELD_TEXT) {
            const int numbers = field->numbers ? field->numbers : 1;
            for (int n = 0; n < numbers; n++)
                store_number(field, at, n, field->fallback);
        }
    }
    return true;
}

json_t *fields_text(const char *text) {
    size_t size = strlen(text) + 1;
    char *clean = malloc(size);
    if (clean)
        clean_text(text, clean, size);
    json_t *json = json_string(clean); /* NULL of NULL */
    free(clean);
    return json;
}

json_t *fields_parse(const char *text, size_t length, json_error_t *error) {
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    size_t mark = length >= 3 && !memcmp(text, byte_order_mark, 3) ? 3 : 0;
    return json_loadb(text + mark, length - mark, JSON_REJECT_DUPLICATES, error);
}

json_t *fields_load(const char *path, size_t limit, const char *hint, Err *err) {
    char *text;
    size_t length;
    json_error_t error;
    if (!data_read(path, limit, &text, &length, err))
        return NULL;
    json_t *json = fields_parse(text, length, &error);
    free(text);
    if (!json)
        err_set(err, ERR_FAILED, path, hint, "line %d: %s", error.line, error.text);
    return json;
}

bool fields_read_file(const char *path, size_t limit, const FieldTable *table, void *target,
                      Err *err) {
    json_t *json = fields_load(path, limit, "", err);
    Check check = {path, err};
    bool ok = json && fields_read(&check, (ShortText){"$"}, table, json, target);
    json_decref(json);
    return ok;
}
