#!/bin/sh
# The memory model against recorded hardware counters: the agreement it has reached must not get
# worse.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_python json Python
tap_folder

"$BEVSCOPE" agreement small canonical -f json -o agreement.json
tap_ok $? 'two scenes that were counted'
cat >check.py <<'PY'
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
tap_run 'all hit rates and DRAM bytes agree, most latencies and orders do' "$python" check.py agreement.json

tap_done
