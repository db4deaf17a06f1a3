#!/bin/sh
# SPDX-License-Identifier: MIT
# Hardware counters on the command line without a GPU: recorded ones, beside the model.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_python json Python
tap_folder

# What the hardware counted on small stands for toy, which is simulated at once.
counted=$folder/counted/samples/recorded
mkdir -p "$counted" && cp "$SRCDIR"/samples/*.json "$counted/.." &&
    sed 's/"scene": "small"/"scene": "toy"/' "$SRCDIR/samples/recorded/h200-counters.json" \
        >"$counted/h200-counters.json"
regime() { BEVSCOPE_DATA=$folder/counted "$BEVSCOPE" regime "$@" --counters --device cpu --gpu h200; }

regime toy >table 2>err
tap_run 'a table of its own, with the machine' \
    grep -q '^recorded on NVIDIA H200, driver' table
tap_run 'every row says recorded' \
    grep -Eq '^v2_bevdet +fp16 +nearest +recorded +[01]\.[0-9]+ ' table
tap_run 'no complaint where the CPU was asked for' [ ! -s err ]

regime toy -f json -o toy.json
tap_run 'JSON: recorded figures, the model, their difference' "$python" - toy.json "$counted"/*.json <<'PY'
import json, math, sys
shown = json.load(open(sys.argv[1]))["counters"]
recorded = [row for file in sys.argv[2:] for row in json.load(open(file))["counters"]
            if row["scene"] == "toy"]
shown.sort(key=lambda row: row["kernel"])
recorded.sort(key=lambda row: row["kernel"])
assert [row["kernel"] for row in shown] == [row["kernel"] for row in recorded] and shown
def near(a, b):
    return a == b or math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-7)  # ten digits are printed
modelled = 0
for row, was in zip(shown, recorded):
    assert row["source"] == "recorded" and row["machine"].startswith("NVIDIA H200"), row
    assert row["cache"] == "warm"
    for key in ("dram_read_bytes", "l2_sectors", "l2_miss_sectors", "median_us"):
        assert near(row[key], was[key]), (key, row, was)
    reads = was["l2_read_hit_sectors"] + was["l2_read_miss_sectors"]
    assert near(row["l2_read_hit_rate"], was["l2_read_hit_sectors"] / reads)
    assert near(row["dram_mb"], (was["dram_read_bytes"] + was["dram_write_bytes"]) * 1e-6)
    if row["predicted_us"] is None:
        assert row["latency_off_percent"] is None and row["l2_hit_off_points"] is None
        continue
    modelled += 1
    off = 100 * (row["l2_hit_rate_model"] - row["l2_hit_rate"])
    assert near(row["l2_hit_off_points"], off), row
    assert near(row["latency_off_percent"], 100 * (row["predicted_us"] / row["median_us"] - 1))
assert modelled >= 6, modelled
PY

regime toy -f csv >csv
head -n 1 csv | grep -q '^scene,kernel,.*source,machine,l2_hit_rate' &&
    [ "$(wc -l <csv)" = "$(($(cat "$counted"/*.json | grep -c '"scene": "toy"') + 1))" ]
tap_ok $? 'CSV: the counters alone'

regime toy --l2-mb 1 >what_if && grep -q '^n/a: nothing was recorded' what_if
tap_ok $? 'a what-if GPU has no counters'

BEVSCOPE_DATA=$folder/counted BEVSCOPE_CUPTI=/nowhere/libcupti.so "$BEVSCOPE" regime toy --counters --gpu h200 \
    >table 2>err
[ $? = 0 ] && [ "$(wc -l <err)" = 1 ] && grep -q '^recorded on' table &&
    grep -Eq '(libcupti.so was not found|built without CUPTI).*recorded counters' err
tap_ok $? 'without CUPTI: one line, and what was recorded'

# Counters that say what the model says, but of three kernels: one misses, one reads more, one takes longer.
tap_run 'a doctored recording' "$python" - toy.json "$counted/h200-counters.json" <<'PY'
import json, sys
model = {row["kernel"]: row for row in json.load(open(sys.argv[1]))["counters"]}
file = json.load(open(sys.argv[2]))
for row in file["counters"]:
    said, sectors = model.get(row["kernel"]), 10**6
    if row["scene"] != "toy" or not said or said["predicted_us"] is None:
        continue
    row["l2_hit_sectors"] = round(sectors * said["l2_hit_rate_model"]) // (2 if row["kernel"] == "v2_bevdet" else 1)
    row["l2_miss_sectors"] = sectors - row["l2_hit_sectors"]
    row["dram_read_bytes"] = said["dram_mb_model"] * 1e6 + (50e6 if row["kernel"] == "v4" else 0)
    row["dram_write_bytes"] = 0
    row["median_us"] = said["predicted_us"] * (3 if row["kernel"] == "v2_do" else 1)
json.dump(file, open(sys.argv[2], "w"))
PY
regime toy >doctored
rows=$(sed -n 's/.* points in [0-9]* of \([0-9]*\) rows.*/\1/p' doctored) others=$((rows - 1))
[ "$rows" -ge 6 ] &&
    grep -q "points in $others of $rows rows, DRAM bytes within 15 % in $others, latencies within 30 % in $others;" doctored
tap_ok $? 'the verdict counts the rows that agree'

mkdir -p data/samples/recorded
echo '{"machine": {"gpu": "X"}, "counters": [{"scene": "small", "kernel": "v2_bevdet"}]}' \
    >data/samples/recorded/empty.json
BEVSCOPE_DATA=data "$BEVSCOPE" bench --recorded >/dev/null 2>err
[ $? = 1 ] && grep -q 'empty.json.*no recorded result' err
tap_ok $? 'a file without a figure is named'
tap_done
