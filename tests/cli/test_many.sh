#!/bin/sh
# SPDX-License-Identifier: MIT
# Many scenes: shards that are killed and resumed, their merge, and the samples that run them.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
PATH=${BEVSCOPE%/*}:$PATH
export OMP_NUM_THREADS=1
python3 - "$SRCDIR/samples/toy.json" <<'PY'
import json, sys
world = json.load(open(sys.argv[1]))
truck = world["world"]["solids"][0]
names = [f"clip{i:03}.json" for i in range(200)]
for i, name in enumerate(names):
    truck["center_m"] = [3 + 0.02 * i, 0]
    json.dump(world, open(name, "w")) if i != 77 else open(name, "w").write("{")
open("list", "w").write("\n".join(names) + "\n")
PY
tap_street clip041 2 # takes long enough for a kill
options="--device cpu -k cpu_v3,cpu_v4 -d fp16,fp8 -a nearest"
many="verify --scenes list $options --keep-going --format jsonl"

tap_expect 3 '' $many -o whole.jsonl
tap_has 'verify: a moment that cannot be done is a row, and the verdict' err '^bevscope: clip077.json: ' \
    '^796 passed, 0 failed' '1 of 200 moments could not be done'
tap_expect 1 'clip077.json' verify --scenes list $options --format jsonl -o stops.jsonl
[ "$(wc -l <stops.jsonl)" = 77 ]
tap_ok $? 'without --keep-going it is the end'

# A worker is killed in the midst of its moments: at most one is lost, none is done twice.
mkdir shards
for i in 1 2 3 4; do
    "$BEVSCOPE" $many --shard $i/4 -o shards/$i.jsonl 2>/dev/null &
    [ $i != 2 ] || killed=$!
done
has_ten() { [ "$(cat shards/2.jsonl 2>/dev/null | wc -l)" = 10 ]; }
tap_wait has_ten
kill -9 $killed
wait
cp shards/2.jsonl cut
printf '{"command":"verify","version":' >>shards/2.jsonl # as a kill within a write leaves it
has_ten && ! "$BEVSCOPE" merge shards/*.jsonl >out 2>err && grep -q '2.jsonl: .*ended before its end' err
tap_ok $? 'merge: a shard that was killed at its eleventh moment is not judged'
for run in 1 2; do
    tap_expect 3 '' $many --shard 2/4 -o shards/2.jsonl
done
head -c "$(wc -c <cut)" shards/2.jsonl | cmp - cut && [ "$(wc -l <shards/2.jsonl)" = 51 ]
tap_ok $? 'resumed, it has the moments that it had, the others, and one end'
tap_expect 2 'its options: .*fp16.*, here .*fp8.* .results of two runs' verify --scenes list --device cpu -d fp8 \
    --format jsonl -o whole.jsonl
tap_expect 2 "'5/4' is no part" $many --shard 5/4
tap_expect 1 'shard 4/4 is missing' merge shards/1.jsonl shards/2.jsonl shards/3.jsonl
tap_expect 2 'it is shard 1/4, beside shards/1.jsonl' merge shards/1.jsonl shards/1.jsonl

# What shards and one process say is the same, by line and merged.
for format in table csv json junit; do
    "$BEVSCOPE" merge whole.jsonl --format $format >one 2>&1
    status=$?
    "$BEVSCOPE" merge shards/*.jsonl --format $format >four 2>&1
    [ $status = $? ] && [ $status = 3 ] && sed -i '/"date"/d' one four && cmp one four
    tap_ok $? "merge --format $format: four shards are as one process, exit 3"
done
tap_run 'the records of shards are those of one process' python3 - "$SRCDIR" <<'PY'
import glob, json, sys
sys.path.insert(0, sys.argv[1] + "/tests/support")
from schema import check
def records(names):
    found = {}
    for record in (json.loads(line) for name in names for line in open(name)):
        check(sys.argv[1], record)
        assert record["version"] and record["machine"]["cpu"], record
        if "moments" in record:
            continue
        assert record["scene"] not in found, "done twice"
        found[record["scene"]] = record.get("error"), record.get("results")
    return found
one, four = records(["whole.jsonl"]), records(glob.glob("shards/*.jsonl"))
assert len(one) == 200 and one == four
assert one["clip077.json"][0].startswith("clip077.json") and not one["clip077.json"][1]
PY
"$BEVSCOPE" verify --scenes list $options --keep-going >plain 2>&1
"$BEVSCOPE" merge shards/*.jsonl >merged 2>&1
grep -v '^bevscope: clip077' plain | cmp - merged
tap_ok $? 'and the table is that of verify itself'
"$BEVSCOPE" merge shards/*.jsonl --max-abs 0.01 -f junit -o report.xml 2>err
tap_run 'JUnit: a test case a moment, with what fails' python3 - <<'PY'
import xml.etree.ElementTree as tree
suite = tree.parse("report.xml").getroot()
assert suite.tag == "testsuite" and len(suite.findall("testcase")) == int(suite.get("tests")) == 200
failing = [case for case in suite if case.find("failure") is not None]
assert len(failing) == int(suite.get("failures")) > 100, len(failing)
assert "above the line 0.01" in failing[0].find("failure").text
assert [case.get("classname") for case in suite if case.find("error") is not None] == ["clip077.json"]
PY

# bench: the same file format, and two files against each other.
timed="bench --device cpu -q -k cpu_v3 -d fp16 --cache warm --format jsonl"
tap_expect 0 '' $timed clip000.json clip001.json -o new.jsonl
sed 's/"median_us":[0-9.e-]*/"median_us":1e-6/g; s/"noise":[0-9.e-]*/"noise":0.0/g; s/"settled":false/"settled":true/g' \
    new.jsonl >old.jsonl
sed 's/"settled":false/"settled":true/g' new.jsonl >settled.jsonl
tap_expect 3 '2 of 2 rows are slower by more than 5% and noise, the worst clip00' merge settled.jsonl --against old.jsonl --fail 5%
tap_has 'merge --against: two files, nothing is run' out '^clip000.json  *cpu_v3 .* slower' '^clip001.json .* slower'
tap_expect 0 '' merge old.jsonl --against settled.jsonl --fail 5%
sed 's/"cpu":"[^"]*"/"cpu":"Z80"/' old.jsonl >other.jsonl
tap_expect 2 'measured on Z80, but this is .* .figures of two machines' merge new.jsonl --against other.jsonl

# The samples. No Slurm runs here: its variables are set by hand.
"$BEVSCOPE" merge whole.jsonl -f csv >one 2>/dev/null
same() { "$BEVSCOPE" merge "$1"/*.jsonl -f csv 2>/dev/null | cmp - one; }
for i in 1 2 3; do
    SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=3 sh "$SRCDIR/samples/many/on_slurm.sh" list slurm $options 2>err
done
tap_run 'samples/many/on_slurm.sh: an array of three tasks' same slurm
if command -v parallel >/dev/null; then
    sh "$SRCDIR/samples/many/on_parallel.sh" list 3 parallel $options >out 2>&1
    [ $? = 3 ] && same parallel
    tap_ok $? 'samples/many/on_parallel.sh: three processes, and their merge'
else
    tap_skip 'samples/many/on_parallel.sh' 'no GNU parallel'
fi
ray=${RAY_PYTHON:-python3}
if "$ray" -c 'import ray' 2>/dev/null; then
    "$ray" "$SRCDIR/samples/many/on_ray.py" list 3 ray $options >out 2>&1
    [ $? = 3 ] && same ray
    tap_ok $? 'samples/many/on_ray.py: three tasks, and their merge'
else
    tap_skip 'samples/many/on_ray.py' 'no Python with Ray'
fi
tap_done
