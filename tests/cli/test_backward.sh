#!/bin/sh
# The live display turned backward: every panel shows the way back, or says that it does not; a loss on
# cells lights the pixels that feed it; depth follows the gradient, and does not where that is wrong.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
tap_street street 2

# samples/backward.keys, with the cursor and the pixel where the small street has them.
small='s/^cursor-x 118/cursor-x 60/; s/^cursor-y 112/cursor-y 56/; s/^pixel 0 30 9/pixel 0 15 4/'
of=1056 mouse='15, 4'
[ -z "$WHOLE" ] || small='' of=4224 mouse='30, 9'
sed "$small" "$SRCDIR/samples/backward.keys" >keys
"$BEVSCOPE" live street.json --script keys --frames "$folder/a" --size 160x50 >"$folder/out" 2>&1
tap_ok $? "the sample plays"
sed 's/^/# /' "$folder/out"
frame() { # NUMBER
    cat "$folder/a/frame-$(printf %04d "$1").txt"
}

frame 2 | grep -q 'bevscope  .* FP16 nearest  street.json  backward  picture by '
tap_ok $? 'the selection goes backward, and what pools the picture is named'
frame 2 | grep -q 'Kernels, FP16 nearest backward' && frame 2 | grep -q '^   *1 REF '
tap_ok $? 'the ladder backward, from its reference on'
frame 2 | grep -q 'Accuracy of .*, nearest backward' && frame 2 | grep -q 'FP16  *pass  *pass  *pass'
tap_ok $? 'the three gates of its gradients'
frame 2 | grep -Eq '(FP8 .*|[0-9]+ others)  *not in this kernel'
tap_ok $? 'formats without gradients say so'
frame 2 | grep -q 'Points of a pixel' && ! frame 1 | grep -q 'Points of a pixel'
tap_ok $? 'intervals are those of pixels'
frame 2 | grep -q 'grad_out .* gradients' && frame 2 | grep -q '^ *traffic '
tap_ok $? 'the working set has grad_out and the gradients'
frame 2 | grep -q 'backward: .*: footprint .* to .*, max error'
tap_ok $? 'the log compares with the way forward'
frame 2 | grep -q 'point at a cell'
tap_ok $? 'without a cell there is no loss on it'
pixels() { # NUMBER
    frame "$1" | sed -n 's/.* \([0-9]*\) pixels would have to change.*/\1/p'
}
cell=$(pixels 3) car=$(pixels 4) cars=$(pixels 5) all=$(pixels 6)
echo "# pixels: cell $cell, car $car, cars $cars, all $all"
[ "${cell:-0}" -gt 0 ] && [ "${car:-0}" -gt "$cell" ] && [ "${cars:-0}" -gt "$car" ] &&
    [ "${all:-0}" -gt "$cars" ]
tap_ok $? 'more cells in the loss, more pixels that would have to change'
frame 3 | grep -q "Camera front-left .* of $of pixels" && frame 3 | grep -q 'most: front-left .*grad_depth'
tap_ok $? 'the camera that sees the car, and the depths of its pixel'
frame 4 | grep -q 'cells, car'
tap_ok $? 'the object is named'
frame 6 | grep -q 'V4 on .* binds'
tap_ok $? 'the model follows the selection'
frame 7 | grep -q 'Camera front-left ' && frame 7 | grep -q "mouse: front-left $mouse, its grad_depth"
tap_ok $? 'the depths of the pixel under the mouse'
loss() { # NUMBER
    frame "$1" | sed -n 's/.* loss \([0-9.e-]*\), was \([0-9.e-]*\).*/\1 \2/p' | head -1
}
frame 8 | grep -q 'Training: loss by step .* step 40' && frame 8 | grep -q 'depth in wrong bins' &&
    loss 8 | awk '{ exit !($1 < $2 / 10) }'
tap_ok $? "depth that follows the gradient: loss $(loss 8 | sed 's/ /, was /')"
frame 8 | grep -q 'forward n/a, backward n/a'
tap_ok $? 'a script says nothing about time'
frame 9 | grep -q 'FP32  *FAIL  *FAIL  *FAIL' && loss 9 | awk '{ exit !($1 == $2) }' &&
    frame 9 | grep -q '[0-9]* of 40 steps taken back: a wrong gradient?'
tap_ok $? 'a planted defect: the gates fail, and no step leads down'
frame 10 | grep -q 'bevscope  .* FP32 nearest  street.json' && frame 10 | grep -q 'Intervals' &&
    ! frame 10 | grep -q Training && ! frame 10 | grep -q 'Gradients of a loss'
tap_ok $? 'and forward again'
tap_done
