#!/bin/sh
# SPDX-License-Identifier: MIT
# bevscope export --pooled: the grid and both gradients that it writes are those which NumPy finds in
# FP64 from the exported tensors and map, within what rounding may cost. Shares no code with bevscope.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy

cat >judge.py <<'E'
import numpy as np

FP32 = 2.0 ** -24
UNIT = {"fp32": FP32, "fp16": 2.0 ** -11, "bf16": 2.0 ** -8}  # of one rounding
TINY = {"fp32": 2.0 ** -149, "fp16": 2.0 ** -24, "bf16": 2.0 ** -133}


def stored(values, dtype):
    """What the format keeps of float32 values, to nearest, ties to even."""
    if dtype == "fp16":
        return values.astype(np.float16).astype(float)
    if dtype == "bf16":
        bits = values.view(np.uint32)
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
        return bits.view(np.float32).astype(float)
    return values.astype(float)


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
    depth, feat = stored(scene["depth"], dtype), stored(scene["feat"], dtype)
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


def refused(number):
    try:
        judged(number, "fp32")
    except AssertionError as error:
        assert str(error).startswith("pooled"), error
    else:
        raise AssertionError("passed")
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

for kernel in reference cpu_atomic cpu_v2 cpu_v2_do cpu_v3 cpu_v4; do
    same toy fp32 nearest $kernel
done
for dtype in fp32 fp16 bf16; do
    same street.json $dtype nearest cpu_v4
done
same street.json fp16 bilinear cpu_v3
for kernel in grad_reference cpu_grad_owner cpu_grad_v4; do
    same toy fp32 bilinear $kernel backward
    same toy fp16 nearest $kernel backward
done
same street.json fp32 nearest cpu_v4 both
sed 's/"cells": \[3, 5\]/&, "nz": 5/' "$SRCDIR/samples/toy.json" >tall.json # slices of 0.5 m
for kernel in cpu_v2 cpu_v3 cpu_v4; do
    same tall.json fp32 bilinear $kernel
done
same tall.json fp16 nearest cpu_grad_v4 backward
[ -z "$WHOLE" ] || same occupancy fp16 nearest cpu_v4

# A kernel that loses updates must not pass: the judge can say no.
"$BEVSCOPE" export --bare street.json 0.npz --pooled grid-0.npy --kernel cpu_race --device cpu >out
tap_later "lost updates are told" 'judge.refused(0)'
# The depth of one pixel changed by a hundredth is told as well.
tap_later "a hundredth of one depth is told" 'd = dict(np.load("1.npz"))
d["depth"][0, 0, 1, 1] *= np.float32(1.01)
np.savez("1.npz", **d)
judge.refused(1)'

tap_expect 2 'no file is named' export toy
tap_expect 2 'add --pooled' export toy a.npz --dtype fp16
tap_expect 2 'call it once for each' export toy a.npz --align nearest,bilinear
tap_expect 2 'none in FP8' export toy --device cpu --pooled a.npy --dtype fp8 --direction backward
tap_expect 2 'computes gradients' export toy --device cpu --pooled a.npy --kernel grad_reference
tap_done
