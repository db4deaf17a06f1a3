#!/bin/sh
# SPDX-License-Identifier: MIT
# Sensitivity: each tensor in a format by itself, beside NumPy that shares no code with it.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy
imports="json, numpy as np, calibrate as own"
judge() { # options, and the file that takes the JSON
    file=$1
    shift
    tap_run "sensitivity $*" tap_quiet "$BEVSCOPE" sensitivity "$@" -f json -o "$file"
}

mkdir clip
"$BEVSCOPE" export --bare street.json clip/0.npz -c 40 >/dev/null
"$BEVSCOPE" export --bare street.json clip/1.npz -c 40 --time 0.5 >/dev/null
judge one.json clip/0.npz -d fp16,fp8
judge other.json clip/1.npz -d fp16,fp8
judge both.json clip -d fp16,fp8
"$BEVSCOPE" verify clip/0.npz -k reference -d fp8 -a nearest --device cpu -f json -o verified.json
tap_later "depth, features, output and all, and groups of channels, are those of NumPy" '
def e4m3(values, like=None): # `like`: the values that decide the scale
    return own.quantise(values, np.abs(values if like is None else like).max(), "fp8")
a = np.load("clip/0.npz")
depth, feat = a["depth"], a["feat"]
def pool(depth, feat):
    rows = feat.reshape(-1, feat.shape[-1]).astype(np.float64)[a["ranks_feat"]]
    out = np.zeros((a["ranks_bev"].max() + 1, feat.shape[-1]))
    np.add.at(out, a["ranks_bev"], depth.astype(np.float64).ravel()[a["ranks_depth"]][:, None] * rows)
    return out
want = pool(depth, feat)
result = json.load(open("one.json"))
rows = {(row["dtype"], row["tensor"]): row for row in result["results"]}
groups = {(row["dtype"], row["tensor"], row["channels"]): row["harm"] for row in result["groups"]}
assert len(rows) == 8 and len(groups) == 2 * 2 * 3, (len(rows), len(groups))
norm = np.linalg.norm(want)
for dtype, store in ("fp16", lambda v, like=None: v.astype(np.float16)), ("fp8", e4m3):
    d, f = store(depth), store(feat)
    grids = {"depth": pool(d, feat), "features": pool(depth, f), "output": store(want.astype(np.float32)),
             "all": store(pool(d, f).astype(np.float32), want)}
    for tensor, got in grids.items():
        error, row = got.astype(np.float64) - want, rows[dtype, tensor]
        harm = np.linalg.norm(error) / norm
        assert abs(row["harm"] / harm - 1) < 2e-3, (dtype, tensor, row, harm)
        if tensor in ("features", "output"):
            for first, last in (0, 15), (16, 31), (32, 39):
                part = np.linalg.norm(error[:, first:last + 1]) / norm
                assert abs(groups[dtype, tensor, f"{first}-{last}"] / part - 1) < 2e-3, (dtype, tensor, first)
harms = [row["harm"] for row in result["results"]]
assert harms == sorted(harms, reverse=True), harms
assert abs(rows["fp8", "all"]["harm"] / json.load(open("verified.json"))["results"][0]["rel_l2"] - 1) < 1e-3
assert rows["fp8", "depth"]["mb"] == depth.size / 1e6 and rows["fp16", "features"]["mb"] == 2 * feat.size / 1e6'
tap_later "of a clip: all moments, and the time of the worst" '
of = lambda name: {(row["dtype"], row["tensor"]): row for row in json.load(open(name))["results"]}
first, second, both = of("one.json"), of("other.json"), of("both.json")
for key, row in both.items():
    a, b = first[key], second[key]
    assert row["moments"] == 2 and row["max_abs"] == max(a["max_abs"], b["max_abs"]), (row, a, b)
    assert row["time_s"] == (0.5 if b["max_abs"] > a["max_abs"] else 0), (row, a, b)
    assert min(a["harm"], b["harm"]) <= row["harm"] <= max(a["harm"], b["harm"]), (row, a, b)'

judge mixed.json street.json -c 40 -d fp8,int8_fp16 --mixed int8,int8,fp16
tap_later "a mixture as a format has it is that format, and has its bytes" '
rows = {(row["dtype"], row["tensor"]): row for row in json.load(open("mixed.json"))["results"]}
mixed, same = rows["mixed", "mixed"], rows["int8_fp16", "all"]
assert all(mixed[key] == same[key] for key in ("harm", "mb", "max_abs", "cosine")), (mixed, same)
assert mixed["stored"] == "uint8, int8, fp16", mixed'
tap_refuses "not three number formats: int8,fp17,fp16" "an unknown format" sensitivity street.json --mixed int8,fp17,fp16
judge large.json street.json -c 40 -d nvfp4 --outlier 1000
tap_later "an outlier harms the group that shares its blocks" '
groups = [row for row in json.load(open("large.json"))["groups"] if row["tensor"] == "features"]
worst = max(groups, key=lambda row: row["channels_l2"])
assert worst["channels"] == "0-15" and worst["channels_l2"] > 2 * groups[-1]["channels_l2"], groups'
# Ranges that are far too wide leave the features few codes, and touch nothing else.
"$BEVSCOPE" calibrate street.json -c 40 --moments 1 -o own.json >/dev/null
sed 's/"feat": [0-9.e+-]*/"feat": 1e6/' own.json >wide.json
judge own-scales.json street.json -c 40 -d fp8 --scales own.json
judge wide-scales.json street.json -c 40 -d fp8 --scales wide.json
tap_later "scales of a file harm the tensor that they are wrong for" '
of = lambda name: {row["tensor"]: row for row in json.load(open(name))["results"]}
own, wide = of("own-scales.json"), of("wide-scales.json")
assert own["depth"]["harm"] == wide["depth"]["harm"] and own["features"]["scales"] == "own.json", own
assert wide["features"]["harm"] > 3 * own["features"]["harm"], (own, wide)'
judge small.json small -d fp16
"$BEVSCOPE" bench --recorded small -k v4 -d fp16 -a nearest --cache warm -f json -o recorded.json
tap_later "the three together have the recorded latency of their format" '
rows = {row["tensor"]: row["recorded_us"] for row in json.load(open("small.json"))["results"]}
recorded = [row["median_us"] for row in json.load(open("recorded.json"))["results"]]
assert rows["all"] in recorded and rows["depth"] is None, (rows, recorded)'
"$BEVSCOPE" export --bare street.json clip/2.npz -c 8 >/dev/null
tap_refuses "clip/2.npz: another kind of moment" "moments of other channels" sensitivity clip
tap_done
