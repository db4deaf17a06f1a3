#!/bin/sh
# The LiDAR's own pillars, pooled in place of the cameras' points: count and height of each cell beside
# NumPy's histograms, of a file, a world, a clip and a grid with height; the control; what is refused.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_python "numpy" "NumPy (python3-numpy)"
tap_folder
tap_street street

cat >judge.py <<'E2'
"""judge.py SCENE.npz POOLED.npy [UNIT]: channel 0 is the histogram of the points, channel 1 that of
their heights, exactly but for UNIT, the rounding of a format, and the order of a sum."""
import sys
import numpy as np

scene, pooled = np.load(sys.argv[1]), np.load(sys.argv[2])
unit = float(sys.argv[3]) if len(sys.argv) > 3 else 2.0 ** -24
points = scene["lidar"][:, :3].astype(float)
low, high, step = scene["grid"].T
sizes = np.rint((high - low) / step).astype(int)
at = (points - low) / step
truncates = np.ravel(scene.get("rounding", "floor"))[0] == "truncate"
at = np.trunc(at) if truncates else np.floor(at)
kept = ((at >= 0) & (at < sizes)).all(1)
cells = at[kept].astype(int)
count, height, size = (np.zeros(sizes[::-1]) for _ in range(3))
where = tuple(cells.T[::-1])
np.add.at(count, where, 1)
np.add.at(height, where, points[kept, 2])
np.add.at(size, where, np.abs(points[kept, 2]))
pooled = pooled.reshape(*sizes[::-1], 2)
off = np.abs(pooled[..., 0] - count), np.abs(pooled[..., 1] - height)
room = 2 * unit * count, unit * (count + 4) * size + 2.0 ** -24 * count
if unit == 2.0 ** -24:
    room = 0 * count, room[1]
print(f"{kept.sum()} of {len(points)} points in {np.count_nonzero(count)} cells, off by {off[0].max():g}, {off[1].max():g}")
sys.exit(not (kept.sum() > 1000 and all((a <= b).all() for a, b in zip(off, room))))
E2

# pillars NAME SCENE TRUTH.npz OPTIONS...: what export --pillars pools is what NumPy counts.
pillars() {
    name=$1 scene=$2 truth=$3
    shift 3
    "$BEVSCOPE" export "$scene" --pillars --pooled grid.npy --device cpu "$@" >out 2>err &&
        "$python" judge.py "$truth" grid.npy $unit >said
    tap_status=$?
    tap_ok $tap_status "$name: $(cat err said 2>/dev/null | tr '\n' ' ')"
}

unit=
tap_run "a world with its LiDAR" tap_quiet "$BEVSCOPE" export street.json a.npz
for kernel in cpu_v2 cpu_v3 cpu_v4; do
    pillars "a file, $kernel" a.npz a.npz --kernel $kernel --dtype fp32
done
unit=0.00048828125
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

"$BEVSCOPE" info a.npz --pillars >info && grep -q "^points *$(sed 's/ .*//' said)\$" info || grep -q '^C  *2$' info
tap_ok $? "info describes them"
tap_run "a picture" "$BEVSCOPE" snapshot a.npz --pillars --device cpu -v channel --timing off -o pillars.png
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
