#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing wrong in silence: scenes on which there is nothing to judge, or that disagree with
# themselves, give an error or a line that says so.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
tap_folder
scenes() { python3 "$SRCDIR/tests/cli/outside.py" "$@"; }

"$BEVSCOPE" export toy toy.npz >/dev/null
tap_ok $? "a scene to spoil"
scenes nan toy.npz nan.npz && scenes other toy.npz other.npz && scenes empty toy.npz empty.npz &&
    scenes far toy.npz both.npz && scenes one toy.npz one.npz && mkdir clip && cp toy.npz clip/0.npz &&
    cp one.npz clip/1.npz && cp toy.npz clip/2.npz
tap_ok $? "its spoilt copies"

# says STATUS PATTERN NAME ARGUMENTS...: the exit status, and a line on standard error.
says() {
    status=$1 pattern=$2 name=$3
    shift 3
    "$BEVSCOPE" "$@" --device cpu >out 2>err </dev/null
    got=$?
    [ $got = "$status" ] && grep -qE -e "$pattern" err
    ok=$?
    [ $ok = 0 ] || { echo "# exit $got"; sed 's/^/# /' err; }
    tap_ok $ok "$name"
}

says 0 '^[1-9][0-9]* passed, 0 failed' 'verify: the sound scene passes' verify toy.npz --dtype fp32 --align nearest
says 3 'gate A: nothing was compared: .*NaN' 'verify: all NaN is a failure of the check' \
    verify nan.npz --dtype fp32
says 3 'gate C: nothing was compared: no cell has a point' 'verify: so is a scene without points' \
    verify empty.npz --dtype fp32
"$BEVSCOPE" verify nan.npz --device cpu --dtype fp32 --align nearest --format json >out 2>/dev/null
python3 - out <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))["results"]
assert rows
for row in rows:
    assert row["gate_a"] == row["gate_b"] == "fail" and row["gate_c"] == "pass", row
    assert row["gate_a_values"] == row["gate_b_values"] == 0 < row["gate_c_values"], row
    assert row["nan_against_nan"] == 96, row  # six cells with points, 16 channels
    assert row["max_abs"] is row["rel_l2"] is row["cosine"] is None, row
PY
tap_ok $? "it says how many values each gate judged, and counts NaN against NaN"

says 3 'cpu_v4, int8, nearest: gate B: 2 values are numbers where FP64 .* NaN' \
    'verify: INT8 makes a number of a NaN, and gate B tells' verify one.npz -k cpu_v4 -d int8 -a nearest
says 0 '^bevscope: one.npz: FP64 is NaN or infinite: 2 values are not compared' \
    'verify: FP16 keeps it: what was left out is said' verify one.npz -k cpu_v4 -d fp16 -a nearest
says 0 '^bevscope: clip: FP64 is NaN or infinite at 0.5 s: 2 values' 'verify: of a clip the moment, too' \
    verify clip -k cpu_v4 -d fp16 -a nearest
says 3 'int8, nearest: at 0.5 s: gate B' 'verify: of the moment that fails' verify clip -k cpu_v4 -d int8 -a nearest
"$BEVSCOPE" sensitivity one.npz -d fp16 2>&1 >out | grep -q '^bevscope: one.npz: FP64 is NaN or infinite: 2 values'
tap_ok $? 'sensitivity: what is in no figure is said'
says 0 'one.npz: FP64 is NaN or infinite: 2 values' 'snapshot: of its table, too' snapshot one.npz -o table.png --table
says 0 '^54 passed, 0 failed' 'verify: gradients that FP32 cannot hold are no error' \
    verify toy --stage view --direction both

for command in info verify bench export snapshot; do
    case $command in
    export) words='never.npz' ;;
    snapshot) words='-o never.png' ;;
    bench) words='--quick --kernel cpu_v3 --cache warm' ;;
    *) words= ;;
    esac
    # shellcheck disable=SC2086
    says 1 'ranks_feat\[0\].*ranks_depth\[0\].*feature' \
        "$command: a depth and a feature of two pixels are refused" $command other.npz $words
    [ $command = verify ] ||
        # shellcheck disable=SC2086
        says 0 'no point falls into the grid' "$command: a map without points is said" \
            $command empty.npz $words
    rm -f never.*
done
says 0 'no point falls into the grid' "regime: too" regime empty.npz
echo 'tick 0.1' >s.keys
"$BEVSCOPE" empty.npz --script s.keys --frames frames --size 120x40 --device cpu >out 2>&1 &&
    grep -q 'no point falls into the grid' frames/frame-0001.txt
tap_ok $? "and the live display"
tap_done
