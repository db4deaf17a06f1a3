#!/bin/sh
# SPDX-License-Identifier: MIT
# The memory model against recorded hardware counters, and of V4's pieces against latencies: the
# agreement it has reached must not get worse.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_python json Python
tap_folder

for scene in small canonical; do
    "$BEVSCOPE" regime $scene -d fp16 -g h200 --counters --device cpu -f json -o counted-$scene.json
    tap_ok $? "$scene was counted"
done
cat >check.py <<'PY'
import json, sys
rows = [row for file in sys.argv[1:] for row in json.load(open(file))["counters"] if row["predicted_us"]]
assert len(rows) >= 18
for row in rows:
    assert abs(row["l2_hit_off_points"]) <= 5 and abs(row["dram_off_percent"] or 0) <= 15, row
near = sum(abs(row["latency_off_percent"]) <= 30 for row in rows)
assert 10 * near >= 8 * len(rows), near
pairs = [(a, b) for i, a in enumerate(rows) for b in rows[:i] if a["scene"] == b["scene"]]
ordered = sum((a["predicted_us"] < b["predicted_us"]) == (a["median_us"] < b["median_us"]) for a, b in pairs)
assert 100 * ordered >= 85 * len(pairs), ordered
PY
tap_run 'all hit rates and DRAM bytes agree, most latencies and orders do' "$python" check.py counted-*.json

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
