#!/bin/sh
# SPDX-License-Identifier: MIT
# From a world to a .npz with photographs, boxes and LiDAR, and from there to pictures; folders of such
# files as clips; comparisons of two files; what is refused.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
tap_street street

# larger A B: file A is larger: it shows more.
larger() {
    [ "$(wc -c <"$1")" -gt "$(wc -c <"$2")" ]
}

snapshot() {
    "$BEVSCOPE" snapshot "$@" --timing off --width 600
}

frames() {
    rm -rf frames
    "$BEVSCOPE" "$@" --script keys --frames frames --size 120x40 >out
}

tap_run "a world with what its car recorded" tap_quiet "$BEVSCOPE" export street.json a.npz
tap_run "and without" tap_quiet "$BEVSCOPE" export street.json --bare bare.npz
tap_run "told" tap_quiet "$BEVSCOPE" info a.npz bare.npz
[ "$(grep -cE "^(photographs +6 of $image_w x $image_h|boxes +[0-9]+|lidar +[0-9]+)\$" out)" = 3 ]
tap_ok $? "what it recorded is told of the first, and of it alone"
tap_run "which is smaller" larger a.npz bare.npz
tap_run "read and written again" tap_quiet "$BEVSCOPE" export a.npz b.npz
tap_run "gives the same bytes" cmp a.npz b.npz

# The file's pooled cells are the world's: the same pixels, but for title, outlines and boxes.
tap_run "the world's grid" snapshot street.json --title T --no-outlines -v norm -o world.png
tap_run "the file's grid" snapshot a.npz --title T --truth off -v norm -o file.png
tap_run "are the same picture" cmp world.png file.png
tap_run "true boxes" snapshot a.npz --title T --truth boxes -v norm -o boxes.png
tap_run "and LiDAR" snapshot a.npz --title T --truth both -v norm -o both.png
tap_run "show more" larger both.png boxes.png
for strip in image norm depth; do
    tap_run "photographs, $strip" snapshot a.npz --strip $strip -o $strip.png
done
tap_run "depth lies over them" sh -c '! cmp -s image.png depth.png && ! cmp -s norm.png depth.png'
tap_run "LiDAR over the photographs" snapshot a.npz --lidar -o dots.png
tap_run "without" snapshot a.npz --cameras -o none.png
tap_run "is more" larger dots.png none.png
tap_run "of a wrong calibration" snapshot a.npz --lidar --title T --camera front --yaw 3 -o off.png
! cmp -s dots.png off.png
tap_ok $? "is another picture"
tap_refuses "came without a LiDAR" "a file without" snapshot bare.npz --lidar -o never.png
tap_refuses "backward lights" "gradients" snapshot street.json --lidar --backward -o never.png
printf 'lidar on\ntick 0.1\nyaw 3\ntick 0.1\nlidar off\ntick 0.1\nlidar on\ntick 0\n' >keys
tap_run "in the display" frames street.json
grep -q 'LiDAR points in the window.s pictures: blue near, red far' frames/frame-0001.txt
tap_ok $? "which says so"
tap_refuses "add the array images" "no photographs" snapshot bare.npz --cameras -o never.png

tap_run "pooled photographs" snapshot a.npz --photo-features --title T -o above.png
tap_run "the same of the world" snapshot street.json --photo-features --title T --no-outlines -o above-world.png

# ---- comparisons ---------------------------------------------------------------------------------
tap_run "another file" tap_quiet "$BEVSCOPE" export street.json c.npz --temperature 4
tap_run "beside the first" snapshot a.npz --compare c.npz -o compare.png
"$BEVSCOPE" export street.json --channels 8 fewer.npz >out
tap_refuses "compare two of the same grid" "another grid" snapshot a.npz --compare fewer.npz -o never.png
printf 'tick 0.1\n' >keys
tap_run "in the display" frames a.npz --compare c.npz
tap_run "which names both" grep -q 'c | a' frames/frame-0001.txt

# ---- clips ---------------------------------------------------------------------------------------
mkdir clip
for i in 0 1 2; do
    "$BEVSCOPE" export street.json clip/$i.npz --time $((i / 2)).$((5 * i % 10)) >out
done
printf 'tick 0.01\ntick 0.5\ntick 0.5\ntick 0.5\nstep\ntick 0.1\nstep -\ntick 0.1\n' >keys
tap_run "a clip" frames clip
# shown N: the moment that frame N shows.
shown() {
    sed -n '1s/.*moment \([0-9]* of [0-9]*\).*/\1/p' "frames/frame-000$1.txt"
}
tap_run "plays" [ "$(shown 2)" = "2 of 3" ]
tap_run "a step is a moment" [ "$(shown 5)" = "2 of 3" ]
tap_run "back as well" [ "$(shown 6)" = "1 of 3" ]
printf 'pause\n' | sed 's/pause/play off\ntick 0.1/' >keys
frames clip/2.npz --view norm && mv frames/frame-0001.png last.png
frames clip --view norm && mv frames/frame-0001.png first.png
tap_run "its first moment is not its last" sh -c '! cmp -s first.png last.png'
tap_run "a moment of it" snapshot clip --time 1 --title T -o moment.png
tap_run "the file itself" snapshot clip/2.npz --title T -o itself.png
tap_run "are the same picture" cmp moment.png itself.png
cp fewer.npz clip/3.npz
tap_refuses "3.npz: another kind of moment" "another shape" snapshot clip --time 1.5 -o never.png

mkdir moments # boxes without labels in the second
cp "$SRCDIR/tests/fuzz/corpus_npz/seed-car" moments/0.npz
cp "$SRCDIR/tests/fuzz/corpus_npz/seed-car-no-labels" moments/1.npz
tap_run "boxes without labels in one moment" tap_quiet snapshot moments --time 0.5 -o labels.png
[ ! -e never.png ]
tap_ok $? "nothing was written"
tap_done
