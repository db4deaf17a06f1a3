#!/bin/sh
# The memory model against recorded hardware counters, and of V4's pieces against latencies: the
# agreement it has reached must not get worse.
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

# Maps without columns: what a worker costs beside its points was once left out, and half the time.
cat >pieces.py <<'PY'
import json, sys
rows = [json.load(open(f"{scene}.json"))["results"] for scene in sys.argv[1:]]
ratios = [row["predicted_warm_us"] / row["recorded_us"] for found in rows for row in found]
assert len(ratios) == 4 and all(0.7 < ratio < 1.3 for ratio in ratios), ratios
PY
scenes='segments embedding_bag voxelize histogram'
for scene in $scenes; do
    "$BEVSCOPE" regime "$scene" -k v4 -d fp16 -g h200 -f json -o "$scene.json" || break
done
tap_run "V4's pieces take what was recorded, within 30 %" "$python" pieces.py $scenes

tap_done
