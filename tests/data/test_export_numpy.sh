#!/bin/sh
# Exchange with NumPy: bevscope reads what np.savez and samples/export_scene.py write; np.load reads
# what bevscope writes; and NumPy code that follows BEVDet finds the same points as bevscope.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/samples"
tap_python "numpy" "NumPy (python3-numpy)"
tap_folder
tap_street street
least=$([ -n "$WHOLE" ] && echo 200000 || echo 3000) # points of it

imports='numpy as np, export_scene as ex'

# refuses WORDS NAME SCRIPT: NumPy writes bad.npz, bevscope reports it in one line that contains WORDS.
refuses() {
    { echo 'import numpy as np'; echo 'd = dict(np.load("demo.npz"))'; echo "$3"
      echo 'np.savez("bad.npz", **d)'; } >script.py
    rm -f bad.npz
    "$python" script.py
    tap_refuses "$1" "$2" export bad.npz never.npz
}

same='def same(a, b):
    a, b = np.load(a), np.load(b)
    for k in sorted(set(a) & set(b)):
        count = min(a[k].size, b[k].size)  # crop may be (x, y) or (x, y, x2, y2)
        assert count and np.array_equal(a[k].ravel()[:count], b[k].ravel()[:count]), k
    return a, b'

tap_run "the exporter's demo" "$python" "$SRCDIR/samples/export_scene.py" demo.npz
tap_run "bevscope reads it and writes its own" tap_quiet "$BEVSCOPE" export demo.npz ours.npz
tap_script "NumPy reads the same arrays" "$same
a, b = same('demo.npz', 'ours.npz')
assert set(b) - set(a) == {'ranks_depth', 'ranks_feat', 'ranks_bev', 'interval_starts',
                           'interval_lengths', 'bev_shape'}, set(b) - set(a)
assert b['depth'].dtype == np.float32 and b['ranks_bev'].dtype == np.int32
assert b['bev_shape'].tolist() == [128, 128] and len(b['ranks_bev']) > 5000"

tap_script "the same, compressed" "np.savez_compressed('packed.npz', **np.load('ours.npz'))"
tap_run "bevscope reads it" tap_quiet "$BEVSCOPE" export packed.npz again.npz
tap_run "and writes the same bytes" cmp ours.npz again.npz

tap_script "index arrays without calibration, int64, by the exporter" "z = np.load('ours.npz')
names = 'ranks_depth ranks_feat ranks_bev interval_starts interval_lengths'.split()
ex.export_ranks('ranks.npz', z['depth'][None], z['feat'][None], *[z[n].astype(np.int64) for n in names],
                (1, 1, 128, 128, 16))"
tap_run "bevscope reads them" tap_quiet "$BEVSCOPE" export ranks.npz ranks-again.npz
tap_script "and keeps them" "$same
a, b = same('ours.npz', 'ranks-again.npz')
assert 'intrinsics' not in b and len(b['ranks_bev']) == len(a['ranks_bev'])"

tap_script "float16 tensors" "d = dict(np.load('demo.npz'))
d['depth'], d['feat'] = d['depth'].astype(np.float16), d['feat'].astype(np.float16)
np.savez('half.npz', **d)"
tap_run "bevscope reads them" tap_quiet "$BEVSCOPE" export --half half.npz half-again.npz
tap_script "and writes the same" "$same
a, b = same('half.npz', 'half-again.npz')
assert b['feat'].dtype == np.float16"

# BEVDet's steps: the cell (x, y, z) of each point of z, (camera, depth, h, w, 3).
steps="n, bins, h, w = z['depth'].shape
(H, W), (x0, y0) = z['image_size'], z['crop'][:2]
u, v, d = np.linspace(0, W - 1, w), np.linspace(0, H - 1, h), np.arange(*z['depth_range'])
d, v, u = np.meshgrid(d, v, u, indexing='ij')
pixel = np.stack([(u + x0) / z['resize'], (v + y0) / z['resize'], np.ones_like(u)], -1) * d[..., None]
ego = np.einsum('nij,njk,dhwk->ndhwi', z['cam2ego'][:, :3, :3], np.linalg.inv(z['intrinsics']), pixel)
ego += z['cam2ego'][:, None, None, None, :3, 3]
cell = np.floor((ego - z['grid'][:, 0]) / z['grid'][:, 2]).astype(np.int64)"

tap_run "a street" tap_quiet "$BEVSCOPE" export street.json street.npz
tap_script "NumPy finds its points by BEVDet's steps" "z = np.load('street.npz')
$steps
ny, nx = z['bev_shape']
kept = ((cell >= 0) & (cell < [nx, ny, 1])).all(-1).ravel()
bev = (cell[..., 1] * nx + cell[..., 0]).ravel()
feature = np.broadcast_to(np.arange(n * h * w).reshape(n, 1, h, w), (n, bins, h, w)).ravel()
order = np.argsort(bev[kept], kind='stable')
theirs = np.stack([np.flatnonzero(kept), feature[kept], bev[kept]])[:, order]
ours = np.stack([z['ranks_depth'], z['ranks_feat'], z['ranks_bev']])
odd = set(map(tuple, theirs.T.tolist())) ^ set(map(tuple, ours.T.tolist()))
print(theirs.shape, ours.shape, len(odd))
assert ours.shape[1] > $least and len(odd) <= 20  # rounding at cell edges
starts = np.flatnonzero(np.diff(ours[2], prepend=-1))
assert np.array_equal(z['interval_starts'], starts)
assert np.array_equal(z['interval_lengths'], np.diff(starts, append=ours.shape[1]))"

sed 's/"cells": \[[0-9]*, [0-9]*\]/&, "nz": 16/' street.json >tall.json
tap_run "a grid with height" tap_quiet "$BEVSCOPE" export tall.json tall.npz
tap_run "goes there and back" tap_quiet "$BEVSCOPE" export tall.npz tall-again.npz
tap_run "with the same bytes" cmp tall.npz tall-again.npz
tap_script "NumPy finds its points and cells by BEVDet's steps" "z = np.load('tall.npz')
$steps
B, Z, Y, X, C = z['bev_shape']
assert B == 1 and Z == 16 and X == Y and C == z['feat'].shape[-1]
kept = ((cell >= 0) & (cell < [X, Y, Z])).all(-1).ravel()
bev = ((cell[..., 2] * Y + cell[..., 1]) * X + cell[..., 0]).ravel()
theirs = np.stack([np.flatnonzero(kept), bev[kept]])
ours = np.stack([z['ranks_depth'], z['ranks_bev']])
odd = set(map(tuple, theirs.T.tolist())) ^ set(map(tuple, ours.T.tolist()))
print(theirs.shape, ours.shape, len(odd))
assert ours.shape[1] > $least and len(odd) <= 60  # rounding at cell edges"
tap_script "index arrays alone, with BEVDet's shape" "z = np.load('tall.npz')
names = 'ranks_depth ranks_feat ranks_bev interval_starts interval_lengths'.split()
ex.export_ranks('tall-ranks.npz', z['depth'], z['feat'], *[z[n] for n in names],
                tuple(z['bev_shape'].tolist()))"
tap_run "bevscope reads them" tap_quiet "$BEVSCOPE" export tall-ranks.npz tall-ranks-again.npz
tap_script "and keeps them" "$same
a, b = same('tall.npz', 'tall-ranks-again.npz')
assert b['bev_shape'].tolist() == a['bev_shape'].tolist()"

tap_script "the exporter checks shapes" "z = np.load('demo.npz')
try:
    ex.export_ranks('x.npz', z['depth'], z['feat'].transpose(0, 3, 1, 2), [], [], [], [], [], (1, 1))
except ValueError as error:
    assert 'channels last' in str(error)
else:
    raise AssertionError('accepted')"

refuses 'feat: big-endian dtype ">f4"' "big-endian" 'd["feat"] = d["feat"].astype(">f4")'
refuses 'feat: object dtype' "objects" 'd["feat"] = np.array([None, {}])'
refuses 'depth: shape (1, 2, 40, 8, 22): 1 moments or samples in one file' "a batch" 'd["depth"] = d["depth"][None]'
refuses 'labels: unknown array' "an array too many" 'd["labels"] = np.zeros(3)'
refuses 'crop: is missing' "no crop" 'del d["crop"]'
refuses 'structured dtype' "records" 'd["crop"] = np.zeros(2, [("x", "f4"), ("y", "f4")])'
tap_done
