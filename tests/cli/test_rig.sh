#!/bin/sh
# SPDX-License-Identifier: MIT
# bevscope rig: the rigs that come with it, changed by options, and what it refuses.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
small='--stride 16 --depth 1:9:2 --reach 16 --cell 1 --channels 8 --gpu a6000 --quiet'

# A square grid, features and channels as asked for, and a scene that info reads the same.
for rig in nuscenes argoverse2 waymo kitti360 robot; do
    # shellcheck disable=SC2086
    "$BEVSCOPE" rig --from "$rig" $small -o "$rig.json" >"$rig.txt" &&
        "$BEVSCOPE" info "$rig.json" >info.txt
    tap_ok $? "rig --from $rig"
    tap_has "its speed-up names the baseline's row: $rig" "$rig.txt" 'over v2$'
    points=$(awk '$1 == "points" { print $2 }' info.txt)
    [ "$(sed -n 's/^\([0-9,]*\) points,.*/\1/p' "$rig.txt" | tr -d ,)" = "$points" ] && [ "$points" -gt 0 ] &&
        grep -q ', 4 depth bins, 32 x 32 cells of 1 m, C = 8, FP16, nearest' "$rig.txt" &&
        grep -q '^RTX A6000  *6.00 .* fits  *[A-Z]' "$rig.txt"
    tap_ok $? "$rig: $points points, as info counts them, and the GPU's row"
done
# shellcheck disable=SC2086
"$BEVSCOPE" rig --from nuscenes.json $small --input 352x128 -o half.json >half.txt && grep -q 'features 22 x 8' half.txt
tap_ok $? 'a file of its own, with another input'
tap_run 'which every command takes' "$BEVSCOPE" snapshot half.json --timing off -o half.png

# shellcheck disable=SC2086
"$BEVSCOPE" rig $small --dtype fp8 >fp8.txt && grep -q ', C = 8, FP8, nearest' fp8.txt
tap_ok $? 'in another format'

# One portrait camera: a scene in which it alone has its own image.
python3 - <<'PY'
import json
rig = json.load(open("half.json"))
front = next(camera for camera in rig["cameras"] if camera["name"] == "front")
front.update(image_px=[900, 1600], focal_px=front["focal_px"] * 900 / 1600, center_px=[450, 800])
json.dump(rig, open("portrait.json", "w"))
PY
# shellcheck disable=SC2086
"$BEVSCOPE" rig --from portrait.json --input 704x256 --stride 16 $small -o tall.json >tall.txt &&
    [ "$(grep -c '"image_px"' tall.json)" = 2 ]
tap_ok $? 'a camera with an image of its own'
"$BEVSCOPE" info tall.json | grep -qE '^front +900 x 1600 +0.7822 +0.7822 +0 +996.0$'
tap_ok $? 'which info tells'

echo '[]' >list.json
"$BEVSCOPE" export toy toy.npz >/dev/null
tap_expect 1 'toy.npz: ' rig --from toy.npz
printf '\357\273\277' | cat - half.json >mark.json
"$BEVSCOPE" export half.json half.npz >/dev/null && "$BEVSCOPE" export mark.json mark.npz >/dev/null &&
    cmp half.npz mark.npz
tap_ok $? 'a byte order mark in front changes nothing'
tap_expect 1 'list.json: .: is an array, must be an object' rig --from list.json
mkdir tmp
for signal in INT TERM HUP QUIT; do
    TMPDIR=$PWD/tmp timeout -s $signal 0.3 "$BEVSCOPE" rig --from waymo --quiet >/dev/null 2>&1
    [ $? = 124 ] && [ -z "$(ls tmp)" ]
    tap_ok $? "$signal leaves no temporary file"
done
tap_done
