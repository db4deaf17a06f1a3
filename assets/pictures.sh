#!/bin/sh
# SPDX-License-Identifier: MIT
# pictures.sh SOURCES: draws the pictures of README.md, which the sources keep. Run by `make pictures` in the
# build folder. One needs a Python with NumPy and Pillow.
set -e
BEVSCOPE_DATA=$1
export BEVSCOPE_DATA
to=$1/assets/pictures
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
./bevscope canonical --script "$1/samples/readme.keys" --frames "$folder" --size 130x44
cp "$folder/frame-0002.png" "$to/dashboard.png"
cp "$folder"/canonical-*.png "$to/model.png"
cp "$folder"/xlarge-*.png "$to/window.png"
./bevscope snapshot intersection --align bilinear --cameras --table --device cpu -o "$to/intersection.png"
./bevscope snapshot intersection --backward --cell 118,112 --loss box --align bilinear --device cpu \
    -o "$to/backward.png"
./bevscope snapshot occupancy --slice side --view class --device cpu -o "$to/height.png"
./bevscope export intersection "$folder/world.npz" >/dev/null
python3 "$1/tests/data/nuscenes_street.py" "$folder/world.npz" "$folder"
python3 "$1/samples/from_nuscenes.py" "$folder" --sample sample0 --bevscope ./bevscope \
    --picture "$to/photographs.png" \
    --snapshot='--width 1000 --device cpu --title "A rendered street in the layout of nuScenes"'
