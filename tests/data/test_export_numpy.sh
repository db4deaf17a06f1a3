#!/bin/sh
# Exchange with NumPy: bevscope reads what np.savez and samples/export_scene.py write; np.load reads
# what bevscope writes; and NumPy code that follows BEVDet finds the same points as bevscope.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy
least=$([ -n "$WHOLE" ] && echo 200000 || echo 3000) # points of it

imports='numpy as np, bevdet, export_scene as ex'

same='def same(a, b):
    a, b = np.load(a), np.load(b)
    for k in sorted(set(a) & set(b)):
        count = min(a[k].size, b[k].size)  # crop may be (x, y) or (x, y, x2, y2)
        assert count and np.array_equal(a[k].ravel()[:count], b[k].ravel()[:count]), k
    return a, b'

tap_run "the exporter's demo" "$python" "$SRCDIR/samples/export_scene.py" demo.npz
tap_run "bevscope reads it and writes its own" tap_quiet "$BEVSCOPE" export demo.npz ours.npz
tap_later "NumPy reads the same arrays" "$same
a, b = same('demo.npz', 'ours.npz')
assert set(b) - set(a) == {'ranks_depth', 'ranks_feat', 'ranks_bev', 'interval_starts',
                           'interval_lengths', 'bev_shape'}, set(b) - set(a)
assert b['depth'].dtype == np.float32 and b['ranks_bev'].dtype == np.int32
assert b['bev_shape'].tolist() == [128, 128] and len(b['ranks_bev']) > 5000"

sed 's/"cells": \[[0-9]*, [0-9]*\]/&, "nz": 16/' street.json >tall.json
tap_run "a street" tap_quiet "$BEVSCOPE" export --bare street.json street.npz
tap_run "a grid with height" tap_quiet "$BEVSCOPE" export tall.json tall.npz
tap_script "as index arrays of int64 and of BEVDet's shape by the exporter" "
ours, tall = np.load('ours.npz'), np.load('tall.npz')
names = 'ranks_depth ranks_feat ranks_bev interval_starts interval_lengths'.split()
ex.export_ranks('ranks.npz', ours['depth'][None], ours['feat'][None], *[ours[n].astype(np.int64) for n in names],
                (1, 1, 128, 128, 16))
ex.export_ranks('tall-ranks.npz', tall['depth'], tall['feat'], *[tall[n] for n in names],
                tuple(tall['bev_shape'].tolist()))"

# again NAME CHECK: what bevscope writes of NAME.npz. The arrays b of NAME-again.npz are those, a, of another file.
again() {
    tap_run "$1.npz: bevscope reads it" tap_quiet "$BEVSCOPE" export $1.npz $1-again.npz
    tap_later "$1.npz: and keeps it" "$same
$2"
}
tap_run "in half precision" tap_quiet "$BEVSCOPE" export --half demo.npz half.npz
tap_later "features are float16" "assert np.load('half.npz')['feat'].dtype == np.float16"
again ranks "a, b = same('ours.npz', 'ranks-again.npz')
assert 'intrinsics' not in b and len(b['ranks_bev']) == len(a['ranks_bev'])"
again tall-ranks "a, b = same('tall.npz', 'tall-ranks-again.npz')
assert b['bev_shape'].tolist() == a['bev_shape'].tolist()"
again tall "same('tall.npz', 'tall-again.npz')"
tap_run "tall.npz: with the same bytes" cmp tall.npz tall-again.npz

for scene in street tall; do
    tap_later "$scene: NumPy finds its points by BEVDet's steps" "z = np.load('$scene.npz')
cell, kept, (nx, ny, nz) = bevdet.cells(z, bevdet.points(z))
assert z['bev_shape'].tolist() == ([ny, nx] if nz == 1 else [1, nz, ny, nx, z['feat'].shape[-1]])
bev, kept, (n, bins, h, w) = ((cell[..., 2] * ny + cell[..., 1]) * nx + cell[..., 0]).ravel(), kept.ravel(), z['depth'].shape
feature = np.broadcast_to(np.arange(n * h * w).reshape(n, 1, h, w), (n, bins, h, w)).ravel()
theirs = np.stack([np.flatnonzero(kept), feature[kept], bev[kept]])
ours = np.stack([z['ranks_depth'], z['ranks_feat'], z['ranks_bev']])
odd = set(map(tuple, theirs.T.tolist())) ^ set(map(tuple, ours.T.tolist()))
print(theirs.shape, ours.shape, len(odd))
assert nz == (16 if '$scene' == 'tall' else 1) and ours.shape[1] > $least
assert len(odd) <= (60 if nz > 1 else 20)  # rounding at cell edges
starts = np.flatnonzero(np.diff(ours[2], prepend=-1))
assert np.array_equal(z['interval_starts'], starts)
assert np.array_equal(z['interval_lengths'], np.diff(starts, append=ours.shape[1]))"
done
tap_later "the exporter checks shapes" "z = np.load('demo.npz')
try:
    ex.export_ranks('x.npz', z['depth'], z['feat'].transpose(0, 3, 1, 2), [], [], [], [], [], (1, 1))
except ValueError as error:
    assert 'channels last' in str(error)
else:
    raise AssertionError('accepted')"

tap_done
