/* SPDX-License-Identifier: MIT */
/* Reads operator scenes from JSON. */
#include "src/scene/operator/operator_internal.h"

#include <string.h>

typedef struct {
    int version, kind;
    char title[128];
    OperatorSpec spec;
} OperatorFields;

static const char *operator_word(int index) {
    return index < OPERATOR_COUNT ? operator_kinds[index].name : NULL;
}

#define FIELD(member_)      .offset = offsetof(OperatorFields, member_)
#define RANGE(min_, max_)   .min = min_, .max = max_
#define OPTIONAL(fallback_) .optional = true, .fallback = fallback_

static const Field operator_fields[] = {
    {"bevscope", FIELD_INT, FIELD(version), RANGE(1, 1)},
    {"title", FIELD_TEXT, FIELD(title), RANGE(0, 127), OPTIONAL(0)},
    {"operator", FIELD_WORD, FIELD(kind), .word_at = operator_word},
    {"points", FIELD_INT64, FIELD(spec.points), RANGE(1, OPERATOR_MAX_POINTS)},
    {"cells", FIELD_INT64, FIELD(spec.cells), RANGE(1, OPERATOR_MAX_CELLS)},
    {"rows", FIELD_INT64, FIELD(spec.rows), RANGE(1, OPERATOR_MAX_ROWS), OPTIONAL(0)},
    {"channels", FIELD_INT64, FIELD(spec.channels), RANGE(1, SCENE_MAX_CHANNELS)},
    {"skew", FIELD_DOUBLE, FIELD(spec.skew), RANGE(0, OPERATOR_MAX_SKEW)},
    {"seed", FIELD_INT64, FIELD(spec.seed), RANGE(0, 9007199254740991.0), OPTIONAL(1)},
    {"world", FIELD_TEXT, FIELD(spec.world), RANGE(1, 63), OPTIONAL(0)},
};
static const FieldTable operator_table = FIELD_TABLE(operator_fields, OperatorFields);

/* Checks a field that one kind of operator must have and all others must not have. */
static bool check_field_of_kind(const Check *check, const char *key, bool given, int kind,
                                OperatorKind owner) {
    FieldPath path = field_path_key((FieldPath){"$"}, key);
    if (given && kind != (int)owner)
        return FIELD_REFUSE(check, path, "", "only %s has it", operator_kinds[owner].name);
    if (!given && kind == (int)owner)
        return FIELD_REFUSE(check, path, "", "is missing, and %s needs it",
                            operator_kinds[owner].name);
    return true;
}

bool operator_read_json(const Check *check, const json_t *json, bool build, Scene *scene) {
    OperatorFields fields = {0};
    if (!fields_read(check, (FieldPath){"$"}, &operator_table, json, &fields) ||
        !check_field_of_kind(check, "rows", fields.spec.rows > 0, fields.kind,
                             OPERATOR_EMBEDDING_BAG) ||
        !check_field_of_kind(check, "world", fields.spec.world[0], fields.kind, OPERATOR_VOXELIZE))
        return false;
    fields.spec.kind = (OperatorKind)fields.kind;
    memcpy(scene->title, fields.title, sizeof scene->title);
    return !build || operator_build(&fields.spec, check->where, scene, check->err);
}
