#!/bin/sh
# SPDX-License-Identifier: MIT
# Operators and NumPy: an exported operator scene is the sum that NumPy computes, and five arrays of
# NumPy are an operator; what is wrong with them is said in one line.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy

imports='numpy as np, os'

sum='def pooled(z):
    depth, feat = z["depth"].ravel().astype(float), z["feat"].reshape(-1, z["feat"].shape[-1])
    out = np.zeros((int(np.prod(z["bev_shape"])), feat.shape[1]))
    np.add.at(out, z["ranks_bev"], depth[z["ranks_depth"]][:, None] * feat[z["ranks_feat"]])
    return out'

tap_run "export: a histogram" "$BEVSCOPE" export histogram histogram.npz --points 4096 --skew 0.5
tap_later "its sum is NumPy's histogram of its bins" "$sum
z = np.load('histogram.npz')
counts = np.bincount(z['ranks_bev'], minlength=1024)
assert counts.sum() == 4096 and np.array_equal(pooled(z)[:, 0], counts * 0.25), counts"
tap_run "export: embedding bags" "$BEVSCOPE" export embedding_bag bags.npz --points 16384
tap_later "its sum is that of each bag's rows" "$sum
z = np.load('bags.npz')
table, first = z['feat'].reshape(-1, 64).astype(float), z['interval_starts']
assert len(first) == 8192 and (z['interval_lengths'] == 2).all()
assert np.allclose(pooled(z)[:8192], table[z['ranks_feat'][first]] + table[z['ranks_feat'][first + 1]])"

tap_script "five arrays, points in any order, 1,500 rows with 3 depths each" "$sum
r, p = np.random.default_rng(1), 5000
rf, rb = r.integers(0, 1500, p), r.integers(0, 77, p)
a = dict(ranks_feat=rf, ranks_depth=rf + 1500 * r.integers(0, 3, p), ranks_bev=rb,
         depth=r.random(4500, dtype=np.float32), feat=r.standard_normal((1500, 8)).astype(np.float32))
os.mkdir('mine')
for name, array in a.items():
    np.save('mine/' + name, array)
np.save('want', pooled(dict(a, bev_shape=[1, 77])))"
tap_run "are a scene: all kernels pass the gates" "$BEVSCOPE" verify mine/ --device cpu --align nearest \
    --dtype fp32,fp16 --direction both
tap_run "which can be exported" "$BEVSCOPE" export mine back.npz
tap_later "and has the same sum" "$sum
got, want = pooled(np.load('back.npz')), np.load('want.npy')
assert np.abs(got[:77] - want).max() < 1e-12 and not got[77:].any()"

tap_spoilt "import shutil, os, numpy as np; shutil.copytree('../mine', 'bad'); CODE" info bad <<'TABLE'
feat.npy: cannot open | a missing array | os.remove('bad/feat.npy')
depth.npy: 4501 depths | depths that are no multiple of rows | np.save('bad/depth', np.ones(4501, np.float32))
ranks_feat.npy: element 7 is 1500, must be 0 to 1499 | a row out of range | a = np.load('bad/ranks_feat.npy'); a[7] = 1500; np.save('bad/ranks_feat', a)
ranks_bev.npy: dtype float64 | ranks that are no whole numbers | np.save('bad/ranks_bev', np.load('bad/ranks_bev.npy') * 1.0)
feat.npy: shape | a truncated file | os.truncate('bad/feat.npy', 300)
have one camera and pixel | a depth of another row | a = np.load('bad/ranks_depth.npy'); a[0] = (a[0] + 1) % 4500; np.save('bad/ranks_depth', a)
bev_shape.npy | a grid too small | np.save('bad/bev_shape', np.array([0, 5]))
feat.npy: not a regular file | a pipe in its place | os.remove('bad/feat.npy'); os.mkfifo('bad/feat.npy')
ranks_bev.npy: element | a cell outside its grid | np.save('bad/bev_shape', np.array([1, 5]))
depth, features and output (nz, ny, nx, c: 1 x 4096 x 4096 x 64) | an output of 4 GB | np.save('bad/bev_shape', np.array([4096, 4096])); np.save('bad/feat', np.ones((1500, 64), np.float16))
weights.npy: cannot open: Too many levels of symbolic links | weights that are a loop of links | os.symlink('weights.npy', 'bad/weights.npy')
weights[7]: nan, must be finite | a weight that is none | a = np.ones(5000, np.float32); a[7] = np.nan; np.save('bad/weights', a[np.argsort(np.argsort(np.load('bad/ranks_bev.npy'), kind='stable'))])
TABLE

rm -rf weighted && cp -r mine weighted
tap_script "weights and a grid of one's own" "$sum
a = {name: np.load('weighted/%s.npy' % name) for name in ('ranks_feat', 'ranks_depth', 'ranks_bev', 'depth', 'feat')}
weights = np.random.default_rng(2).random(5000, dtype=np.float32)
np.save('weighted/weights', weights)
np.save('weighted/bev_shape', np.array([11, 7], np.int64))
want = np.zeros((77, 8))
np.add.at(want, a['ranks_bev'], (weights * a['depth'][a['ranks_depth']])[:, None] * a['feat'][a['ranks_feat']])
np.save('wanted', want)"
tap_run "can be pooled" "$BEVSCOPE" export weighted --pooled pooled.npy --kernel cpu_v3 --dtype fp32
tap_later "and give NumPy's sum" "got, want = np.load('pooled.npy').reshape(77, 8), np.load('wanted.npy')
assert np.abs(got - want).max() < 1e-4 * np.abs(want).max(), np.abs(got - want).max()"

sed 's/"intersection"/"segments"/' "$SRCDIR/samples/voxelize.json" >world.json
"$BEVSCOPE" info world.json --device cpu >out 2>err
[ $? = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'segments is an operator, must be a scene with cameras' err
tap_ok $? "voxelize in the world of an operator: $(cat err)"

tap_done
