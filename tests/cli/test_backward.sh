#!/bin/sh
# The live display turned backward: every panel shows backward, or says that it does not; a loss on
# cells lights the pixels that feed it.
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

grep -q 'bevscope  .* FP16 nearest  street.json  backward  picture by ' a/frame-0002.txt
tap_ok $? 'the selection goes backward, and what pools the picture is named'
grep -q 'Kernels, FP16 nearest backward' a/frame-0002.txt && grep -q '^   *1 REF ' a/frame-0002.txt
tap_ok $? 'the ladder backward, from its reference on'
grep -q 'Accuracy of .*, nearest backward' a/frame-0002.txt && grep -q 'FP16  *pass  *pass  *pass' a/frame-0002.txt
tap_ok $? 'the three gates of its gradients'
grep -qE '(FP8 .*|[0-9]+ other formats)  *not in this kernel' a/frame-0002.txt
tap_ok $? 'formats without gradients say so'
grep -q 'Points of a pixel' a/frame-0002.txt && ! grep -q 'Points of a pixel' a/frame-0001.txt
tap_ok $? 'intervals are those of pixels'
grep -q 'grad_out .* gradients' a/frame-0002.txt && grep -q '^ *kernel  ' a/frame-0002.txt
tap_ok $? 'the working set has grad_out and the gradients'
grep -q 'backward: .*: footprint .* to .*, max error' a/frame-0002.txt
tap_ok $? 'the log compares with the way forward'
tap_has 'without a cell there is no loss on it' a/frame-0002.txt 'point at a cell'
pixels() { # NUMBER
    frame "$1" | sed -n 's/.* \([0-9]*\) pixels would have to change.*/\1/p'
}
cell=$(pixels 3) car=$(pixels 4) cars=$(pixels 5) all=$(pixels 6)
echo "# pixels: cell $cell, car $car, cars $cars, all $all"
[ "${cell:-0}" -gt 0 ] && [ "${car:-0}" -gt "$cell" ] && [ "${cars:-0}" -gt "$car" ] &&
    [ "${all:-0}" -gt "$cars" ]
tap_ok $? 'more cells in the loss, more pixels that would have to change'
grep -q "Camera front-left .* of all $of pixels" a/frame-0003.txt && grep -q 'most: front-left .*grad_depth' a/frame-0003.txt
tap_ok $? 'the camera that sees the car, and the depths of its pixel'
tap_has 'the object is named' a/frame-0004.txt 'cells, car'
grep -q 'Camera front-left ' a/frame-0007.txt && grep -q "mouse: front-left $mouse, its grad_depth" a/frame-0007.txt
tap_ok $? 'the depths of the pixel under the mouse'
grep -q 'FP32  *FAIL  *FAIL  *FAIL' a/frame-0008.txt
tap_ok $? 'an injected bug: the gates fail'
grep -q 'bevscope  .* FP32 nearest  street.json' a/frame-0009.txt && grep -q 'Intervals' a/frame-0009.txt &&
    ! grep -q 'Gradients of a loss' a/frame-0009.txt
tap_ok $? 'and forward again'
tap_done
