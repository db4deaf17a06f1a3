#!/bin/sh
# SPDX-License-Identifier: MIT
# Exchange with NumPy: bevscope reads what np.savez and samples/export_scene.py write; np.load reads
# what bevscope writes.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy


imports='numpy as np, export_scene as ex'

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
tap_run "a grid with height" tap_quiet "$BEVSCOPE" export tall.json tall.npz
tap_script "as index arrays of int64 and of BEVDet's shape by the exporter" "
ours, tall = np.load('ours.npz'), np.load('tall.npz')
names = 'ranks_depth ranks_feat ranks_bev interval_starts interval_lengths'.split()
ex.export_ranks('ranks.npz', ours['depth'][None], ours['feat'][None], *[ours[n].astype(np.int64) for n in names],
                (1, 1, 128, 128, 16))
ex.export_ranks('tall-ranks.npz', tall['depth'], tall['feat'], *[tall[n] for n in names],
                tuple(tall['bev_shape'].tolist()))"

# Cells numbered x * ny + y, in a grid of nx = ny and in one that is not square.
tap_run "a grid that is not square" tap_quiet "$BEVSCOPE" export asymmetric oblong.npz
tap_script "index arrays of cells that are numbered x * ny + y" "
names = 'ranks_depth ranks_feat ranks_bev interval_starts interval_lengths'.split()
for name in 'ours', 'oblong':
    z = np.load(name + '.npz')
    (ny, nx), ranks = z['bev_shape'].tolist(), {n: z[n] for n in names}
    ranks['ranks_bev'] = ranks['ranks_bev'] % nx * ny + ranks['ranks_bev'] // nx
    for form, shape, turn in ('mirrored', (ny, nx), False), ('swapped', (nx, ny), False), ('turned', (ny, nx), True):
        ex.export_ranks(f'{name}-{form}.npz', z['depth'], z['feat'], *ranks.values(), shape, x_major=turn)
    ex.export_ranks(f'{name}-kept.npz', z['depth'], z['feat'], *[z[n] for n in names], (ny, nx))"
for name in ours oblong; do
    for form in mirrored swapped turned kept; do
        "$BEVSCOPE" info $name-$form.npz --device cpu >info.txt 2>$name-$form.err
    done
    tap_has "$name: bevscope says so" $name-mirrored.err 'numbered x [*] ny [+] y.*x_major=True'
    tap_has "$name: also where bev_shape is (nx, ny)" $name-swapped.err 'numbered x [*] ny [+] y.*x_major=True'
    [ ! -s $name-turned.err ] && [ ! -s $name-kept.err ] && cmp -s $name-turned.npz $name-kept.npz
    tap_ok $? "$name: x_major=True turns them, and nothing is said of those that are right"
done

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

tap_later "the exporter checks shapes" "z = np.load('demo.npz')
try:
    ex.export_ranks('x.npz', z['depth'], z['feat'].transpose(0, 3, 1, 2), [], [], [], [], [], (1, 1))
except ValueError as error:
    assert 'channels last' in str(error)
else:
    raise AssertionError('accepted')"

tap_done
