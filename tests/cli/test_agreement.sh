#!/bin/sh
# The memory model against recorded hardware counters: the agreement it has reached must not get
# worse, and a recording that disagrees must be noticed.
. "${SRCDIR:-.}/tests/support/tap.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$BEVSCOPE" agreement small canonical -f json -o "$folder/agreement.json"
tap_ok $? 'two scenes that were counted'
cat >"$folder/check.py" <<'PY'
import json, re, sys
found = json.load(open(sys.argv[1]))
rows = found["results"]
assert {row["scene"] for row in rows} == {"small", "canonical"} and len(rows) >= 18
counts = [int(n) for n in re.findall(r"in (\d+)(?: of| rows|,|;)", found["verdict"])]
hits, dram, latency, ordered = counts
assert hits == len(rows), found["verdict"]
assert dram == len(rows), found["verdict"]
assert 10 * latency >= 8 * len(rows), found["verdict"]
pairs = int(re.search(r"of (\d+) pairs", found["verdict"]).group(1))
assert pairs == sum(a["scene"] == b["scene"] for i, a in enumerate(rows) for b in rows[:i])
assert 100 * ordered >= 85 * pairs, found["verdict"]
for row in rows:
    off = 100 * (row["l2_hit_rate_model"] - row["l2_hit_rate_counted"])
    assert abs(off - row["l2_hit_off_points"]) < 1e-6, row
    beyond = abs(row["latency_off_percent"]) > 30
    assert beyond == ("latency" in row["beyond"]), row
PY
tap_run 'all hit rates and DRAM bytes agree, most latencies and orders do' \
    python3 "$folder/check.py" "$folder/agreement.json"

# Changed counters: one kernel misses half the time, one reads more, and one takes longer.
mkdir -p "$folder/data/samples/recorded" &&
    cp "$SRCDIR"/samples/*.json "$folder/data/samples/" &&
    python3 - "$SRCDIR/samples/recorded/h200-counters.json" \
        "$SRCDIR/samples/recorded/h200-counters-v3-large.json" \
        "$SRCDIR/samples/recorded/h200-counters-v4.json" \
        "$folder/data/samples/recorded/doctored.json" <<'PY'
import json, sys
recorded = json.load(open(sys.argv[1]))
for other in sys.argv[2:-1]:
    recorded["counters"] += json.load(open(other))["counters"]
for row in recorded["counters"]:
    if row["kernel"] == "v2":
        row["l2_miss_sectors"] += row["l2_hit_sectors"]
    if row["kernel"] == "v4":
        row["dram_read_bytes"] += 50e6
    if row["kernel"] == "v2_do":
        row["median_us"] *= 3
json.dump(recorded, open(sys.argv[-1], "w"))
PY
BEVSCOPE_DATA="$folder/data" "$BEVSCOPE" agreement small >"$folder/doctored"
grep -Eq '^v2 .* hits *$' "$folder/doctored" &&
    grep -Eq '^v4 .* DRAM *$' "$folder/doctored" &&
    grep -Eq '^v2_do .* latency *$' "$folder/doctored" &&
    grep -q 'within 5 points in 8 of 9 rows, DRAM bytes within 15 % in 8' "$folder/doctored"
tap_ok $? 'a doctored recording does not agree, row by row and in all'

"$BEVSCOPE" agreement toy >"$folder/out" 2>"$folder/err"
[ $? = 1 ] && [ ! -s "$folder/out" ] && grep -q 'toy: no hardware counters were recorded' "$folder/err"
tap_ok $? 'a scene that nobody counted is refused'
tap_done
