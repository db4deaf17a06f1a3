#!/bin/sh
# SPDX-License-Identifier: MIT
# Pruning: the map that is left, its mass and the error it makes, beside NumPy that shares no code with it.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy
imports="json, subprocess, os, numpy as np"

tap_run "the whole map" tap_quiet "$BEVSCOPE" export --bare street.json whole.npz
for prune in 0.001 top1 top4 top12; do
    tap_run "the map pruned by $prune" tap_quiet "$BEVSCOPE" export --bare street.json $prune.npz --prune $prune
done
for dtype in fp32 fp16; do
    for prune in 0 1e-40 0.001; do
        "$BEVSCOPE" export street.json --device cpu -k cpu_v3 -d $dtype --prune $prune \
            --pooled $dtype-$prune.npy >out 2>&1 || sed 's/^/# /' out
    done
done
tap_later "points that stay are those of a depth not below, or of the strongest bins; info counts them" '
a = np.load("whole.npz")
cameras, bins, h, w = a["depth"].shape
order = np.argsort(-a["depth"], axis=1, kind="stable")
masks = {"0.001": a["depth"] >= 0.001}
for top in (1, 4, 12):
    masks[f"top{top}"] = mask = np.zeros(a["depth"].shape, bool)
    np.put_along_axis(mask, order[:, :top], True, axis=1)
    assert mask.sum() == top * cameras * h * w
depth = a["depth"].ravel()[a["ranks_depth"]].astype(float)
for prune, mask in masks.items():
    keep, b = mask.ravel()[a["ranks_depth"]], np.load(prune + ".npz")
    assert 0.01 < keep.mean() < 1 and (prune[0] == "t" or keep.mean() < 0.5), (prune, keep.mean())
    for name in ("ranks_depth", "ranks_feat", "ranks_bev"):
        assert np.array_equal(a[name][keep], b[name]), (prune, name)
    cells, starts, lengths = np.unique(b["ranks_bev"], return_index=True, return_counts=True)
    assert np.array_equal(b["interval_starts"], starts) and np.array_equal(b["interval_lengths"], lengths), prune
    row = json.loads(subprocess.check_output([os.environ["BEVSCOPE"], "info", "street.json", "--prune", prune,
                                              "--device", "cpu", "-f", "json"]))["results"][0]
    assert row["points_kept"] == f"{keep.sum()} of {len(keep)}", row
    assert abs(row["mass_kept"] - depth[keep].sum() / depth.sum()) < 1e-6, row'
tap_later "without points of depth zero the bits stay" '
for dtype in ("fp32", "fp16"):
    a, b = np.load(dtype + "-0.npy"), np.load(dtype + "-1e-40.npy")
    assert a.tobytes() == b.tobytes(), dtype'
tap_later "a cell is off by the mass it lost times the largest feature, at most" '
a = np.load("whole.npz")
depth = a["depth"].ravel()[a["ranks_depth"]].astype(float)
lost = np.bincount(a["ranks_bev"], np.where(depth < 0.001, depth, 0), 50 * 50)
got, want = np.load("fp32-0.001.npy").astype(float), np.load("fp32-0.npy").astype(float)
off = np.abs(got - want).reshape(50 * 50, -1).max(1)
assert off.max() > 0 and (off <= lost * np.abs(a["feat"]).max() + 1e-5).all(), (off - lost).max()'
bins=$("$BEVSCOPE" info street.json --device cpu -f json | grep -o '"depth_bins": [0-9]*' | grep -o '[0-9]*$')
"$BEVSCOPE" export street.json --device cpu -k cpu_v3 -d fp32 --prune "top$bins" --pooled all.npy >out 2>&1
cmp -s all.npy fp32-0.npy
tap_ok $? "all $bins bins: the bits stay"
"$BEVSCOPE" bench street.json -q -k cpu_v4 --device cpu -d fp32 --cache warm --prune 0.001 -f csv 2>err | grep -q 'pruned below 0.001'
tap_ok $? "rows say that points are missing"

# No depth at all: nothing is lost, and no figure is NaN.
tap_script "a file without any depth" '
arrays = dict(np.load("whole.npz"))
np.savez("dark.npz", **{**arrays, "depth": np.zeros_like(arrays["depth"])})'
"$BEVSCOPE" info dark.npz --prune 0.001 --device cpu -f json 2>err | grep -q '"mass_kept": 1.0'
tap_ok $? "of no mass nothing is lost"
tap_refuses "top999, but a pixel of this scene has" "more bins than a pixel has" info street.json --prune top999
"$BEVSCOPE" info toy --prune 1 --device cpu >out 2>err
[ $? = 0 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'every point is pruned' err && grep -q '^points  *0$' out
tap_ok $? "a threshold that leaves nothing says so in one line"
tap_done
