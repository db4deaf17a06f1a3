#!/bin/sh
# Several moments in one .npz, as NumPy writes it from a folder of moments: the same pictures as
# that folder, by the same keys and options, stored and deflated; what is refused.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
tap_python "numpy" "NumPy (python3-numpy)"
tap_folder

# refuses WORDS NAME SCRIPT: NumPy writes bad.npz from the arrays d of the clip, changed by SCRIPT;
# bevscope refuses it with one line that contains WORDS.
refuses() {
    { echo 'import numpy as np'; echo 'd = dict(np.load("clip.npz"))'; echo "$3"
      echo 'np.savez("bad.npz", **d)'; } >script.py
    "$python" script.py
    tap_refuses "$1" "$2" snapshot bad.npz -o never.png
}

snapshot() {
    "$BEVSCOPE" snapshot "$1" --time "$2" --truth both --cameras --timing off --title T -o "$3"
}

mkdir clip
for i in 0 1 2; do
    "$BEVSCOPE" export intersection clip/$i.npz --time $i --channels 8 >out
done
cat >join.py <<'EOT'
import numpy as np
m = [dict(np.load(f"clip/{i}.npz")) for i in range(3)]
d = dict(m[0])
for name in "depth", "feat", "images", "cam2ego", "timestamps":
    d[name] = np.stack([a[name] for a in m])
for name in "boxes", "box_labels", "lidar":
    d[name] = np.concatenate([a[name] for a in m])
for name in "boxes", "lidar":
    d[name + "_count"] = [len(a[name]) for a in m]
np.savez("clip.npz", **d)
np.savez_compressed("packed.npz", **d)
EOT
tap_run "NumPy joins a folder of moments" "$python" join.py
for time in 0 1 2; do
    snapshot clip $time folder.png
    for file in clip packed; do
        tap_run "moment $time of $file.npz" snapshot $file.npz $time file.png
        tap_run "is the picture of the folder's" cmp folder.png file.png
    done
done
"$BEVSCOPE" info clip >folder.txt
for file in clip packed; do
    tap_run "info of $file.npz" tap_quiet "$BEVSCOPE" info $file.npz
    tap_run "has the moments" grep -qx 'moments  *3' out
    grep -v 'scene\|map us' out >info.txt
    grep -v 'scene\|map us' folder.txt | cmp - info.txt
    tap_ok $? "and is that of the folder"
done
tap_run "a moment of it" tap_quiet "$BEVSCOPE" export clip.npz moment.npz --time 2
tap_run "is the folder's file" cmp moment.npz clip/2.npz

# ---- the display ---------------------------------------------------------------------------------
printf 'tick 0.01\ntick 1\ntick 1\ntick 1\nstep\ntick 0.1\nstep -\ntick 0.1\n' >keys
# played CLIP: the moments that the frames of the script show.
played() {
    rm -rf frames
    "$BEVSCOPE" "$1" --script keys --frames frames --size 120x40 >out
    for i in 1 2 3 4 5 6; do
        sed -n '1s/.*\(moment [0-9]* of 3\).*/\1/p' frames/frame-000$i.txt
    done
}
played clip >folder.txt
for file in clip packed; do
    played $file.npz >file.txt
    tap_run "keys move $file.npz as the folder" cmp folder.txt file.txt
done
tap_run "through all moments" [ "$(sort -u folder.txt | wc -l)" = 3 ]

# ---- what is refused -----------------------------------------------------------------------------
refuses "feat: 2 moments, but depth has 3" "features of fewer moments" "d['feat'] = d['feat'][:2]"
refuses "depth: 0 moments, must be 1 to 10000" "no moments" "d['depth'] = d['depth'][:0]"
refuses "images: shape (6, 256, 704, 3), must be (moments, cameras," "images of one moment" \
    "d['images'] = d['images'][0]"
refuses "boxes_count[1]: -1 is outside 0 to 4096" "a negative count" "d['boxes_count'][1] = -1"
refuses "lidar_count: " "a count too small" "d['lidar_count'][2] -= 1"
refuses "grid: shape (1, 3, 3), must be (3, 3)" "a batch axis" "d['grid'] = d['grid'][None]"
cp clip.npz clip/3.npz
! "$BEVSCOPE" snapshot clip -o never.png 2>err
tap_ok $? "a file of three moments in a folder of moments"
tap_run "is named" grep -q '3.npz: depth: 3 moments, a file in a folder of moments has one' err
[ ! -e never.png ]
tap_ok $? "nothing was written"
tap_done
