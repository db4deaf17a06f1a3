#!/bin/sh
# SPDX-License-Identifier: MIT
# bevscope export --pooled: the grid and both gradients that it writes are those which NumPy finds in
# FP64 from the exported tensors and map, within what rounding may cost. Shares no code with bevscope.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy

cat >judge.py <<'E'
import numpy as np

FP32 = 2.0 ** -24
UNIT = {"fp32": FP32, "fp16": 2.0 ** -11}  # of one rounding
TINY = {"fp32": 2.0 ** -149, "fp16": 2.0 ** -24}


def sums(index, parts, rows):
    """out[index[t]] += parts[t] for each t, (rows, parts.shape[1])."""
    return np.stack([np.bincount(index, column, rows) for column in parts.T], 1)


def judge(what, dtype, array, index, parts, size, terms, shape):
    """array[index[t]] must be the sum of the rows parts[t], which have `terms` terms of that size."""
    rows = int(np.prod(shape)) // parts.shape[1]
    truth, size = sums(index, parts, rows), sums(index, size, rows)
    count = terms * np.bincount(index, minlength=rows)[:, None] + 8
    bound = UNIT[dtype] * np.abs(truth) + (1 + UNIT[dtype]) * count * FP32 * size + TINY[dtype]
    assert array.dtype == np.float32 and array.shape == shape, (what, array.dtype, array.shape)
    over = np.abs(array.reshape(truth.shape) - truth) / bound
    assert np.count_nonzero(truth) >= 12 and np.max(over) <= 1, f"{what}: {np.max(over):.3f} of the bound"


def judged(number, dtype, backward=False):
    """The arrays grid-NUMBER.npy, ... of the scene NUMBER.npz against FP64."""
    scene, name = np.load(f"{number}.npz"), f"grid-{number}"
    with open(name + ".npy", "rb") as file:
        assert np.lib.format.read_magic(file) == (1, 0)
    depth, feat = (scene[key].astype(np.float16 if dtype == "fp16" else np.float32).astype(float)
                   for key in ("depth", "feat"))
    d, f, b = scene["ranks_depth"], scene["ranks_feat"], scene["ranks_bev"]
    weight = scene["weights"].astype(float) if "weights" in scene else np.ones(len(d))
    channels, shape = feat.shape[-1], scene["bev_shape"].tolist()
    grid = tuple(shape[1:] if len(shape) == 5 else shape + [channels])  # (ny, nx, C), with height (nz, ...)
    amount, rows = weight * depth.ravel()[d], feat.reshape(-1, channels)[f]
    parts = amount[:, None] * rows
    judge("pooled", dtype, np.load(name + ".npy"), b, parts, abs(parts), 1, grid)
    if backward:
        grad = np.load(name + "-grad_out.npy")
        assert grad.dtype == np.float32 and grad.shape == grid and grad.std() > 0.1
        back = grad.reshape(-1, channels)[b].astype(float)
        parts = weight[:, None] * rows * back
        judge("grad_depth", dtype, np.load(name + "-grad_depth.npy"), d, parts.sum(1, keepdims=True),
              abs(parts).sum(1, keepdims=True), channels, depth.shape)
        parts = amount[:, None] * back
        judge("grad_feat", dtype, np.load(name + "-grad_feat.npy"), f, parts, abs(parts), 1, feat.shape)


E
export PYTHONPATH="$PWD"
imports='judge, numpy as np'

# same SCENE FORMAT ALIGN KERNEL [backward]: what it writes passes; the message says what was judged.
same() {
    number=$((number + 1))
    "$BEVSCOPE" export --bare "$1" $number.npz --align "$3" --pooled grid-$number.npy --kernel "$4" \
        --dtype "$2" --device cpu --direction "${5:-forward}" >out 2>said &&
        grep -q "by $4" out
    status=$?
    [ $status = 0 ] || cat said out | sed 's/^/# /'
    tap_later "$*" "assert $status == 0
judge.judged($number, '$2', ${5:+True})"
}

same toy fp32 nearest reference
same street.json fp16 bilinear cpu_v3
same toy fp32 bilinear grad_reference backward
same toy fp16 nearest cpu_grad_v4 backward
same street.json fp32 nearest cpu_v4 both
sed 's/"cells": \[3, 5\]/&, "nz": 5/' "$SRCDIR/samples/toy.json" >tall.json # slices of 0.5 m
same tall.json fp32 bilinear cpu_v2
same tall.json fp16 nearest cpu_grad_v4 backward
[ -z "$WHOLE" ] || same occupancy fp16 nearest cpu_v4

# A kernel that loses updates must not pass: the judge can say no.
"$BEVSCOPE" export --bare street.json 0.npz --pooled grid-0.npy --kernel cpu_race --device cpu >out
tap_later "lost updates are told" 'try:
    judge.judged(0, "fp32")
except AssertionError as error:
    assert str(error).startswith("pooled"), error
else:
    raise AssertionError("passed")'
tap_done
