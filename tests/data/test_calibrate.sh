#!/bin/sh
# SPDX-License-Identifier: MIT
# Calibration: ranges beside those of NumPy, which shares no code with bevscope, and files that are refused.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy
imports="json, glob, numpy as np, calibrate as own"

# A clip of two moments, and what the kernel of the calibration pools of each.
mkdir clip
for t in 0 2; do
    "$BEVSCOPE" export street.json clip/$t.npz --time $t --device cpu >out 2>&1 &&
        "$BEVSCOPE" export clip/$t.npz --device cpu -k cpu_v3 -d fp32 --pooled out-$t.npy >>out 2>&1 ||
        sed 's/^/# /' out
done
for dtype in fp8 int8; do
    tap_run "the table, $dtype" tap_quiet "$BEVSCOPE" calibrate clip -d $dtype -f json
    "$BEVSCOPE" calibrate clip -d $dtype -f json >$dtype.json
    for method in max percentile entropy mse; do
        "$BEVSCOPE" calibrate clip -d $dtype --per-channel --method $method --percentile 99.9 \
            -o $dtype-$method.json >out 2>&1 || sed 's/^/# /' out
    done
done
tensors='
moments = [np.load(p) for p in sorted(glob.glob("clip/*.npz"))]
tensors = {"depth": np.stack([m["depth"] for m in moments]), "feat": np.stack([m["feat"] for m in moments]),
           "out": np.stack([np.load(p) for p in sorted(glob.glob("out-*.npy"))])}
feat = tensors["feat"].reshape(-1, tensors["feat"].shape[-1])
def near(a, b):
    return abs(a - b) <= 1e-6 * abs(b)
for dtype in ["fp8", "int8"]:'
tap_later "every cut is the same bin as NumPy's" "$tensors"'
    rows = json.load(open(dtype + ".json"))["results"]
    assert len(rows) >= 12, len(rows)
    for row in rows:
        want = own.cut(tensors[row["tensor"]], row["method"], row["format"])
        assert near(row["kept"], want), (row, want)
    assert len({row["kept"] for row in rows if row["tensor"] == "out"}) > 3, rows'
tap_later "every channel, too" "$tensors"'
    for method in ("max", "percentile 99.9", "entropy", "mse"):
        file = json.load(open(dtype + "-" + method.split()[0] + ".json"))
        assert file["moments"] == 2 and file["channels"] == feat.shape[1], file
        assert len(file["feat_channels"]) == feat.shape[1], file
        for c, kept in list(enumerate(file["feat_channels"]))[::8]:
            want = own.cut(feat[:, c], method, dtype)
            assert near(kept, want), (method, c, kept, want)'
tap_later "what saturates, what is lost and the error are those of the values themselves" "$tensors"'
    for row in json.load(open(dtype + ".json"))["results"]:
        want = own.costs(tensors[row["tensor"]], row["kept"], row["format"])
        got = row["saturated_percent"], row["underflow_percent"], row["rel_l2"]
        assert abs(got[0] - want[0]) < 1e-6 and abs(got[1] - want[1]) < 0.05, (row, want)
        assert abs(got[2] - want[2]) < 0.02 * want[2], (row, want)'
tap_later "two scenes are counted as one" '
import os, subprocess
a = json.load(open("fp8.json"))["results"]
both = json.loads(subprocess.check_output([os.environ["BEVSCOPE"], "calibrate", "clip/0.npz", "clip/2.npz", "-f", "json"]))
assert both["moments"] == 2 and both["results"] == a, both'

# ---- refused ------------------------------------------------------------------------------------
"$python" - <<'SCRIPT'
import numpy as np
d = dict(np.load("clip/0.npz"))
np.savez("zero.npz", **{**d, "feat": 0 * d["feat"]})
np.savez("tiny.npz", **{**d, "feat": d["feat"] * np.float32(1e-37)})
np.savez("narrow.npz", **{**d, "feat": d["feat"][..., :4]})
np.savez("nan.npz", **{**d, "feat": np.nan * d["feat"]})
d["feat"][:, :, :, 3] = 0
d["feat"][0, 0, 0, 5] = np.nan
np.savez("dead.npz", **d)
SCRIPT
tap_refuses "all values are 0" "an empty histogram" calibrate zero.npz -o never.json
tap_refuses "all values are NaN or infinite" "a histogram without a number" calibrate nan.npz -o never.json
tap_refuses "so small that a scale is subnormal" "a range too small" calibrate tiny.npz -o never.json
tap_refuses "4 channels, but clip/0.npz has" "scenes of other channels" calibrate clip/0.npz narrow.npz -o never.json
"$BEVSCOPE" calibrate dead.npz --per-channel -o dead.json >out 2>&1 &&
    grep -q '^bevscope: dead.npz: feat: 1 of [0-9]* values are NaN or infinite' out
tap_ok $? "a channel of zeros and a NaN, which is said"
"$BEVSCOPE" plot calibration dead.npz --tensor out -o dead.svg --device cpu 2>&1 | grep -q 'dead.npz: out: [1-9][0-9]* of'
tap_ok $? "for the chart of the output, too"
tap_later "get the tensor's range and no attention" '
file = json.load(open("dead.json"))
assert file["feat_channels"][3] == file["feat"] and max(file["feat_channels"]) == file["feat"], file'

# ---- --scales -----------------------------------------------------------------------------------
"$BEVSCOPE" calibrate clip/0.npz -o own.json >out 2>&1 || sed 's/^/# /' out
"$BEVSCOPE" calibrate clip/0.npz --method percentile --percentile 99 -o tight.json >out 2>&1 || sed 's/^/# /' out
for scales in "" own tight; do
    for dtype in fp8 nvfp4 int8 fp16; do
        "$BEVSCOPE" export clip/0.npz --device cpu -k cpu_v3 -d $dtype ${scales:+--scales $scales.json} \
            --pooled $dtype-$scales.npy >said-$dtype-$scales 2>&1 || sed 's/^/# /' said-$dtype-$scales
    done
done
tap_later "the frame's own ranges are the ideal ones; tighter ones are not, and a format without scales has none" '
for dtype in ("fp8", "nvfp4", "int8", "fp16"):
    ideal, own, tight = (np.load(f"{dtype}-{s}.npy") for s in ("", "own", "tight"))
    assert ideal.any() and np.array_equal(ideal, own), dtype
    assert np.array_equal(ideal, tight) == (dtype == "fp16"), dtype
tight = json.load(open("tight.json"))
assert np.load("fp8-tight.npy").max() == np.float32(np.float32(tight["out"] / 448) * 448), tight'
grep -q 'FP8, ideal scales' said-fp8- && grep -q 'FP8, scales of tight.json' said-fp8-tight && grep -q 'FP16, Nearest' said-fp16-tight
tap_ok $? "export says by which scales"
"$BEVSCOPE" verify clip/2.npz --device cpu -k cpu_v3 -a nearest -d fp8,fp16 --scales tight.json -f json >judged.json 2>err
tap_later "ranges of one moment are judged on another, and verify says by which" '
rows = json.load(open("judged.json"))["results"]
assert [row["scales"] for row in rows] == ["none", "tight.json"], rows
assert rows[1]["rel_l2"] > 0.1 and rows[1]["gate_a"] == "pass", rows'

printf 'TRT-8601-EntropyCalibration2\ndepth: 3c010a14\n' >cache.json
tap_expect 1 'line 1: .*' \
    export clip/0.npz never.npz --scales cache.json
tap_spoilt 'import json; d = json.load(open("../own.json")); CODE; json.dump(d, open("bad.json", "w"))' \
    export ../clip/0.npz never.npz --scales bad.json <<'TABLE'
$.feat: 0 is outside | a range of 0 | d["feat"] = 0
$.out: -1 is outside | a negative range | d["out"] = -1
line 1 | an infinite range | d["depth"] = float("inf")
$.out: is missing | a range that is missing | del d["out"]
but the scene has 16 | another number of channels | d["channels"] = 80
there are 16 channels | too few ranges of channels | d["feat_channels"] = [1, 2]
$.feat_channels[1]: 0 is outside | a channel with a range of 0 | d["feat_channels"] = [1, 0]
did you mean | an unknown key | d["feats"] = 1
TABLE
tap_run "a file with a range for each channel is read" tap_quiet "$BEVSCOPE" export clip/0.npz --device cpu \
    --pooled channels.npy -d fp8 --scales fp8-max.json
tap_done
