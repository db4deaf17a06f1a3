# SPDX-License-Identifier: MIT
"""Holds JSON to samples/schema/results.json. `schema.py SOURCES FILE...` checks files; check() a value."""
import json, re, sys

KINDS = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict,
         "null": type(None)}
known = {}


def is_a(value, kind):
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def hold(root, rule, value, place):
    unknown = set(rule) - {"$ref", "$schema", "$defs", "title", "description", "type", "enum", "required", "items",
                           "properties", "patternProperties", "additionalProperties"}
    assert not unknown, f"{place}: the schema says {unknown}, which nothing checks"
    if "$ref" in rule:
        hold(root, root["$defs"][rule["$ref"].rsplit("/", 1)[1]], value, place)
    kinds = rule.get("type", [])
    assert not kinds or any(is_a(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)), \
        f"{place}: {value!r} is no {kinds}"
    assert value in rule.get("enum", [value]), f"{place}: {value!r}"
    for i, item in enumerate(value if "items" in rule and isinstance(value, list) else []):
        hold(root, rule["items"], item, f"{place}[{i}]")
    for key in rule.get("required", []):
        assert key in value, f"{place}: no {key}"
    for key, inner in value.items() if isinstance(value, dict) else []:
        rules = [r for pattern, r in rule.get("patternProperties", {}).items() if re.search(pattern, key)]
        rules += [rule["properties"][key]] if key in rule.get("properties", {}) else []
        assert rules or rule.get("additionalProperties", True), f"{place}: {key} is not in the schema"
        for one in rules:
            hold(root, one, inner, f"{place}.{key}")


def check(sources, value):
    if not known:
        known.update(json.load(open(sources + "/samples/schema/results.json")))
    hold(known, known, value, "$")


if __name__ == "__main__":
    for name in sys.argv[2:]:
        check(sys.argv[1], json.load(open(name)))
