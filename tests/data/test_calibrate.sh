#!/bin/sh
# Calibration: ranges beside those of NumPy, which shares no code with bevscope, and files that are refused.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/tests/data"
tap_python "numpy" "NumPy (python3-numpy)"
tap_folder
tap_street street
imports="json, glob, numpy as np, calibrate as own"

# A clip of two moments, and what the kernel of the calibration pools of each.
mkdir clip
for t in 0 2; do
    "$BEVSCOPE" export street.json clip/$t.npz --time $t --device cpu >out 2>&1 &&
        "$BEVSCOPE" export clip/$t.npz --device cpu -k cpu_v3 -d fp32 --pooled out-$t.npy >>out 2>&1 ||
        sed 's/^/# /' out
done
for dtype in fp8; do
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
for dtype in ["fp8"]:'
tap_script "every cut is the same bin as NumPy's" "$tensors"'
    rows = json.load(open(dtype + ".json"))["results"]
    assert len(rows) >= 12, len(rows)
    for row in rows:
        want = own.cut(tensors[row["tensor"]], row["method"], row["format"])
        assert near(row["kept"], want), (row, want)
    assert len({row["kept"] for row in rows if row["tensor"] == "out"}) > 3, rows'
tap_script "every channel, too" "$tensors"'
    for method in ("max", "percentile 99.9", "entropy", "mse"):
        file = json.load(open(dtype + "-" + method.split()[0] + ".json"))
        assert file["moments"] == 2 and file["channels"] == feat.shape[1], file
        assert len(file["feat_channels"]) == feat.shape[1], file
        for c, kept in list(enumerate(file["feat_channels"]))[::4]:
            want = own.cut(feat[:, c], method, dtype)
            assert near(kept, want), (method, c, kept, want)'
tap_script "what saturates, what is lost and the error are those of the values themselves" "$tensors"'
    for row in json.load(open(dtype + ".json"))["results"]:
        want = own.costs(tensors[row["tensor"]], row["kept"], row["format"])
        got = row["saturated_percent"], row["lost_percent"], row["rel_l2"]
        assert abs(got[0] - want[0]) < 1e-6 and abs(got[1] - want[1]) < 0.05, (row, want)
        assert abs(got[2] - want[2]) < 0.02 * want[2], (row, want)'
tap_script "two scenes are counted as one" '
import os, subprocess
a = json.load(open("fp8.json"))["results"]
both = json.loads(subprocess.check_output([os.environ["BEVSCOPE"], "calibrate", "clip/0.npz", "clip/2.npz", "-f", "json"]))
assert both["moments"] == 2 and both["results"] == a, both'

# refuses WORDS NAME ARGUMENT...: calibrate fails with one line that contains WORDS, and writes nothing.
refuses() {
    words=$1 name=$2
    shift 2
    ! "$BEVSCOPE" calibrate "$@" -o never.json >out 2>err && [ "$(wc -l <err)" = 1 ] &&
        grep -qF -e "$words" err && [ ! -e never.json ]
    status=$?
    [ $status = 0 ] || sed 's/^/# /' err
    tap_ok $status "$name"
}

# ---- refused ------------------------------------------------------------------------------------
"$python" - <<'SCRIPT'
import numpy as np
d = dict(np.load("clip/0.npz"))
np.savez("zero.npz", **{**d, "feat": 0 * d["feat"]})
np.savez("tiny.npz", **{**d, "feat": d["feat"] * np.float32(1e-37)})
np.savez("narrow.npz", **{**d, "feat": d["feat"][..., :4]})
d["feat"][:, :, :, 3] = 0
d["feat"][0, 0, 0, 5] = np.nan
np.savez("dead.npz", **d)
SCRIPT
refuses "all values are 0" "an empty histogram" zero.npz
refuses "so small that a scale is subnormal" "a range too small" tiny.npz
refuses "4 channels, but clip/0.npz has" "scenes of other channels" clip/0.npz narrow.npz
refuses "has no scale" "a format without a scale" toy -d fp16
refuses "has no scale" "a format of blocks" toy -d nvfp4
refuses "did you mean entropy" "an unknown method" toy --method entropi
refuses "50 to 100" "a percentile out of bounds" toy --percentile 20
tap_run "a channel of zeros and a NaN" tap_quiet "$BEVSCOPE" calibrate dead.npz --per-channel -o dead.json
tap_script "get the tensor's range and no attention" '
file = json.load(open("dead.json"))
assert file["feat_channels"][3] == file["feat"] and max(file["feat_channels"]) == file["feat"], file'
tap_done
