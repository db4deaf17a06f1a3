#!/bin/sh
# SPDX-License-Identifier: MIT
# The live display turned backward: every panel shows backward, or says that it does not; a loss on
# cells lights the pixels that feed it.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
tap_street street 2

# samples/backward.keys, with the cursor and the pixel where the small street has them.
small='s/^cursor-x 118/cursor-x 60/; s/^cursor-y 112/cursor-y 56/; s/^pixel 0 30 9/pixel 0 15 4/'
mouse='15, 4'
[ -z "$WHOLE" ] || small='' mouse='30, 9'
sed "$small" "$SRCDIR/samples/backward.keys" >keys
"$BEVSCOPE" live street.json --script keys --frames "$folder/a" --size 160x60 >"$folder/out" 2>&1
tap_ok $? "the sample plays"
sed 's/^/# /' "$folder/out"
frame() { # NUMBER
    cat "$folder/a/frame-$(printf %04d "$1").txt"
}

grep -q 'bevscope  .* FP16 nearest  street.json  backward  picture drawn by ' a/frame-0002.txt
tap_ok $? 'the selection goes backward, and what pools the picture is named'
tap_has 'no time is promised where nothing is timed, and the gates have a verdict' a/frame-0002.txt \
    'V4: its time is not recorded' ' adds no error ' '!follow'
tap_has 'the ladder backward, from its reference on' a/frame-0003.txt 'Kernels on a CPU, FP16 nearest backward' ' 1  *REF '
tap_has 'the three gates of its gradients' a/frame-0003.txt 'Accuracy of .*, nearest backward' \
    'FP16  *pass  *pass  *pass'
tap_has 'formats without gradients say so' a/frame-0003.txt '(FP8 .*|[0-9]+ other formats)  *not in this kernel'
tap_has 'intervals are those of pixels' a/frame-0002.txt 'Points of a pixel' @a/frame-0001.txt '!Points of a pixel'
tap_has 'the working set has grad_out and the gradients' a/frame-0002.txt 'grad_out .* gradients' '!output' \
    @a/frame-0003.txt 'grad_out .* gradients' ' kernel  '
grep -q 'backward: .*: arrays .* to .*, max error' a/frame-0002.txt
tap_ok $? 'the log compares with the way forward'
tap_has 'without a cell there is no loss on it' a/frame-0002.txt 'point at a cell'
pixels() { # NUMBER
    frame "$1" | sed -n 's/.* \([0-9]*\) pixels would have to change.*/\1/p'
}
cell=$(pixels 4) car=$(pixels 5) cars=$(pixels 6) all=$(pixels 7)
echo "# pixels: cell $cell, car $car, cars $cars, all $all"
[ "${cell:-0}" -gt 0 ] && [ "${car:-0}" -gt "$cell" ] && [ "${cars:-0}" -gt "$car" ] &&
    [ "${all:-0}" -gt "$cars" ]
tap_ok $? 'more cells in the loss, more pixels that would have to change'
tap_has 'the camera that sees the car, and the depths of its pixel' a/frame-0004.txt \
    'most: front-left .*grad_depth' ' m  *[+-][0-9.e-]+ '
tap_has 'the object is named' a/frame-0005.txt 'cells, car'
tap_has 'the pixel under the mouse' a/frame-0008.txt "mouse: front-left $mouse, its grad_depth"
tap_has 'an injected bug: the display tells' a/frame-0009.txt 'BUG 11 has an injected bug' 'gate . fails'
tap_has 'and so do the gates' a/frame-0010.txt 'FP32  *FAIL  *FAIL  *FAIL'
tap_has 'and forward again' a/frame-0011.txt 'bevscope  .* FP32 nearest  street.json' 'Pinned cell' \
    '!Gradients of a loss'
tap_done
