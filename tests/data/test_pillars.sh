#!/bin/sh
# The LiDAR's own pillars, pooled in place of the cameras' points: count and height of each cell beside
# NumPy's histograms, of a file, a world, a clip and a grid with height; the control; what is refused.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy

cat >judge.py <<'E'
import numpy as np


def judged(truth, path, unit=2.0 ** -24):
    """Channel 0 is the histogram of the points, channel 1 that of their heights, exactly but for `unit`, the
    rounding of a format, and the order of a sum. Returns how many points are kept."""
    scene, pooled = np.load(truth), np.load(path)
    points = scene["lidar"][:, :3].astype(float)
    low, high, step = scene["grid"].T
    sizes = np.rint((high - low) / step).astype(int)
    truncates = np.ravel(scene.get("rounding", "floor"))[0] == "truncate"
    at = (np.trunc if truncates else np.floor)((points - low) / step)
    kept = ((at >= 0) & (at < sizes)).all(1)
    count, height, size = (np.zeros(sizes[::-1]) for _ in range(3))
    where, z = tuple(at[kept].astype(int).T[::-1]), points[kept, 2]
    for grid, values in (count, 1), (height, z), (size, np.abs(z)):
        np.add.at(grid, where, values)
    off = np.abs(np.moveaxis(pooled.reshape(*sizes[::-1], 2), -1, 0) - [count, height])
    assert kept.sum() > 1000 and (off[0] <= (2 * unit * count if unit > 2.0 ** -24 else 0)).all(), off[0].max()
    assert (off[1] <= unit * (count + 4) * size + 2.0 ** -24 * count).all(), off[1].max()
    return kept.sum()
E
export PYTHONPATH="$PWD"
imports='judge, re'

# pillars NAME SCENE TRUTH.npz OPTIONS...: what export --pillars pools is what NumPy counts.
pillars() {
    name=$1 scene=$2 truth=$3 number=$((number + 1))
    shift 3
    "$BEVSCOPE" export "$scene" --pillars --pooled grid$number.npy --device cpu "$@" >out 2>err
    status=$?
    tap_later "$name: $(cat err)" "assert $status == 0
judge.judged('$truth', 'grid$number.npy'$unit)"
}

unit=
tap_run "a world with its LiDAR" tap_quiet "$BEVSCOPE" export street.json a.npz
for kernel in cpu_v2 cpu_v3 cpu_v4; do
    pillars "a file, $kernel" a.npz a.npz --kernel $kernel --dtype fp32
done
unit=', 2.0 ** -11'
pillars "in FP16" a.npz a.npz --dtype fp16
unit=
pillars "the world itself" street.json a.npz --dtype fp32
sed 's/"cells"/"rounding": "truncate", "nz": 3, "cells"/' street.json >tall.json
tap_run "a grid with height that truncates" tap_quiet "$BEVSCOPE" export tall.json tall.npz
pillars "is cut the same" tall.npz tall.npz --dtype fp32
mkdir clip
tap_run "a clip" sh -c 'for t in 0 1; do "$BEVSCOPE" export street.json clip/$t.npz --time $t >out || exit; done'
pillars "its second moment" clip clip/1.npz --dtype fp32 --time 1
pillars "the world's at that time" street.json clip/1.npz --dtype fp32 --time 1

"$BEVSCOPE" info a.npz --pillars >info
tap_later "info describes them" "points, channels = (re.search(f'^{word} +(.*)', open('info').read(), re.M)[1] for word in ('points', 'C'))
assert (int(points), int(channels)) == (judge.judged('a.npz', 'grid1.npy'), 2), (points, channels)"
tap_run "a picture" "$BEVSCOPE" snapshot a.npz --pillars --device cpu -v channel --timing off --width 600 -o pillars.png
tap_run "judged as any scene" tap_quiet "$BEVSCOPE" verify a.npz --pillars --device cpu --kernel cpu_v4 --dtype fp32

# ---- the control ---------------------------------------------------------------------------------
printf 'tick 0.1\npillars on\ntick 0.2\ncursor-x 27\ncursor-y 25\ntick 0.2\npillars off\ntick 0.2\n' >keys
"$BEVSCOPE" live street.json --script keys --frames frames --size 120x40 >out 2>&1
tap_ok $? "in the display"
grep -q "pooled: the LiDAR's points of 0.10 s; count and height" frames/frame-0002.txt
tap_ok $? "which says so"
grep -qE "[1-9][0-9]* LiDAR points, mean height -?[0-9.]+ m" frames/frame-0003.txt
tap_ok $? "the cell under the cursor: count and height"
! cmp -s frames/frame-0001.txt frames/frame-0002.txt && grep -q "pooled: the cameras' points" frames/frame-0004.txt
tap_ok $? "and goes back"

# ---- refused -------------------------------------------------------------------------------------
"$BEVSCOPE" export street.json --bare bare.npz >out
tap_expect 2 "came without a LiDAR" info bare.npz --pillars --device cpu
tap_expect 2 "without cameras has no LiDAR" info histogram --pillars --device cpu
tap_expect 2 "skew" info street.json --pillars --skew 1 --device cpu
tap_done
