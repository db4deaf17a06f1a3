#!/bin/sh
# SPDX-License-Identifier: MIT
# The memory model on the command line: regime and plot, the page of both, and what they refuse.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder

"$BEVSCOPE" regime toy --gpu h200 >regime && grep -q 'footprint 900 B, gather traffic 1.03 kB' regime
tap_ok $? 'regime: a small footprint is no zero'


good='"name": "mine", "compute_capability": [8, 6], "multiprocessors": 84, "dram_gb_s": 768'
gpu_file() { echo "{$1}" >gpu.json; }
gpu_file "$good, \"l2_mb\": 6, \"fp32_tflops\": 38.7, \"converts_fp8\": \"no\""
"$BEVSCOPE" regime toy -k v4 --gpu-file "$SRCDIR/samples/gpus/l40.json" >out &&
    grep -q 'V4 FP16 on L40, ' out
tap_ok $? 'the sample of a GPU of your own'
tap_run 'a GPU from a file' "$BEVSCOPE" regime toy --gpu-file gpu.json -f json \
    -o mine.json
for case in "$good|l2_mb" "$good, \"l2_mb\": -6|l2_mb.*-6" "$good, \"l2_mb\": 6, \"l3_mb\": 1|l3_mb.*l2_mb" \
    "$good, \"l2_mb\": 6, \"converts_fp8\": \"maybe\"|converts_fp8.*maybe"; do
    gpu_file "${case%|*}"
    tap_expect 1 "gpu.json.*${case##*|}" regime toy --gpu-file gpu.json
done
tap_expect 1 'none.json' regime toy --gpu-file none.json

stage='{"name": "a", "part": "pooling", "ms": 1}'
for case in '|title' "\"stages\": []|stages" "\"stages\": [$stage, {\"name\": \"b\"}]|stages.1..part.*missing" \
    '"stages": [{"name": "a", "part": "head", "ms": 1}]|no stage is of pooling' \
    "\"budget_ms\": -1, \"stages\": [$stage]|budget_ms.*-1" \
    '"stages": [{"name": "a", "part": "neck", "ms": 1}]|part.*neck'; do
    fields='"title": "mine", "gpu": "any", "source": "a trace", '
    [ "$case" != '|title' ] || fields=
    echo "{$fields${case%|*}}" >network.json
    tap_expect 1 "network.json.*${case##*|}" plot network toy --network network.json -o x.png
done
echo "{\"title\": \"mine\", \"gpu\": \"any\", \"source\": \"a trace\", \"stages\": [$stage]}" >network.json
tap_run 'a network from a file' "$BEVSCOPE" plot network toy --network network.json -o network.png

# The same GPU from the table: the same predictions. A small L2 misses, a huge one does not.
"$BEVSCOPE" regime toy --gpu a6000 -f json -o a6000.json
tap_street street
for l2 in 0.05:small 500:huge; do
    "$BEVSCOPE" regime street.json -k v2 --gpu a6000 --l2-mb ${l2%:*} -f json \
        -o "${l2#*:}.json"
done
"$BEVSCOPE" regime small -k v4 --gpu 'rtx pro 6000' --camera front --dropout -f json -o dirty.json
tap_ok $? 'a GPU by the title that tables print'
"$BEVSCOPE" info small --camera front --dropout -f json -o scene.json
grep -o '"footprint_mb": [0-9.]*' dirty.json | head -1 >model && grep -o '"footprint_mb": [0-9.]*' scene.json |
    cmp -s - model
tap_ok $? 'a camera dropout changes the model as it changes the scene'
"$BEVSCOPE" regime small -k v3_large_l2 --gpu pro6000 -f json -o published.json
"$BEVSCOPE" regime small -k v3_large_l2 --gpu pro6000 --l2-mb 500 -f json -o another.json
tap_run 'GPU file, what-if L2 and index traffic in JSON' python3 - "$folder" <<'PY'
import json, sys
def rows(name): return json.load(open(f"{sys.argv[1]}/{name}.json"))["results"]
mine, table = rows("mine"), rows("a6000")
assert len(mine) == len(table) >= 8
for a, b in zip(mine, table):
    assert a["gpu"] == "mine" and b["gpu"] == "RTX A6000"
    assert {**a, "gpu": 0, "published_us": 0} == {**b, "gpu": 0, "published_us": 0}, (a, b)
for small, huge in zip(rows("small"), rows("huge")):
    assert small["kernel"] == huge["kernel"] and small["source"] == "model"
    assert small["dram_mb_warm"] > huge["dram_mb_warm"] >= 0, small
    assert small["l2_hit_rate_warm"] < huge["l2_hit_rate_warm"] == 1, small
    assert small["regime"] == "streaming" and huge["regime"] == "fits"
assert rows("published")[0]["published_us"] and rows("another")[0]["published_us"] is None, "another L2"
(tiles,) = rows("small")
assert tiles["kernel"] == "v2"
assert round(tiles["ranks_mb"], 4) == round(tiles["ranks_formula_mb"], 4) == 0.0772
PY

"$BEVSCOPE" regime toy >table 2>&1
tap_run 'the table says model' grep -q 'Prediction (model' table
"$BEVSCOPE" regime toy -f markdown >markdown 2>&1
tap_run 'Markdown has tables' grep -q '^| v3_large_l2' markdown
"$BEVSCOPE" regime toy -f csv >csv 2>&1
sed -n 1p csv | grep -v toy | grep -q '^scene,kernel,dtype'
tap_ok $? 'CSV begins with its header'
tap_run 'regime: the columns of a row are its requested MB' python3 - csv table <<'PY'
import csv, sys
parts = ("features MB", "depth MB", "ranks MB", "owners MB", "weights MB", "sums read MB", "writes MB")
keys = ("feat_mb", "depth_mb", "ranks_mb", "owners_mb", "weight_mb", "out_read_mb", "out_write_mb")
for row in csv.DictReader(open(sys.argv[1])):
    assert abs(sum(float(row[key]) for key in keys) / float(row["kernel_traffic_mb"]) - 1) < 1e-6, row
table = open(sys.argv[2]).read()
assert all(part in table for part in parts), "a part of the sum has no column"
assert table.count("the root of the sum of the squares") == 1
PY

kinds=$("$BEVSCOPE" --list | sed -n '/^Charts/,/^$/s/^  \([a-z-]*\) .*/\1/p')
tap_run "--list names the charts" [ "$(echo "$kinds" | wc -w)" -ge 6 ]
for kind in $kinds; do
    [ "$kind" = published ] && continue # half a minute: hard/test_report.sh
    tap_run "plot $kind: PNG" "$BEVSCOPE" plot "$kind" toy -o "$kind.png"
    tap_run "plot $kind: really PNG" grep -q PNG "$kind.png"
done
"$BEVSCOPE" plot mrc toy -o a.svg && "$BEVSCOPE" plot mrc toy -o b.svg
tap_run 'the same chart gives the same bytes' cmp a.svg b.svg

"$BEVSCOPE" regime toy --gpu h200 -o small
tap_run 'findings: a wrong kernel has a limit, and no gain' \
    grep -q '^RACE FP16 on H200, [^:]*: [-A-Za-z0-9 ]* ([^)]*); wrong on purpose, so no gain is given$' small
# The page of a scene is a script.
PATH=${BEVSCOPE%/*}:$PATH sh "$SRCDIR/samples/report.sh" toy page --gpu h200 >/dev/null &&
    grep -q '^| v3_large_l2' page/report.md && grep -q '^!\[mrc\](mrc.png)' page/report.md
tap_ok $? 'samples/report.sh writes tables and pictures of a scene'
[ "$(cat page/*.png | grep -ac PNG)" = 4 ]
tap_ok $? 'and four of them'
tap_done
