#!/bin/sh
# The live display turned backward: every panel shows the way back, or says that it does not.
. "${SRCDIR:-.}/tests/tap.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for size in 80x24 160x50; do
    "$BEVSCOPE" live toy --script "${SRCDIR:-.}/samples/backward.keys" --frames "$folder/$size" \
        --size $size >"$folder/out" 2>&1
    tap_ok $? "$size: the sample plays"
    sed 's/^/# /' "$folder/out"
done
frame() { # NUMBER
    cat "$folder/160x50/frame-000$1.txt"
}

frame 2 | grep -q 'bevscope  .* FP16 nearest backward  toy  picture by '
tap_ok $? 'the selection goes backward, and what pools the picture is named'
frame 2 | grep -q 'Kernels, FP16 nearest backward' && frame 2 | grep -q '^   *1 REF '
tap_ok $? 'the ladder backward, from its reference on'
frame 2 | grep -q 'Accuracy of .*, nearest backward' && frame 2 | grep -q 'FP16  *pass  *pass  *pass'
tap_ok $? 'the three gates of its gradients'
frame 2 | grep -q 'FP8  *not in this kernel'
tap_ok $? 'formats without gradients say so'
frame 2 | grep -q 'Points of a pixel' && ! frame 1 | grep -q 'Points of a pixel'
tap_ok $? 'intervals are those of pixels'
tail -n +4 "$folder/80x24/frame-0002.txt" | grep -q 'grad_out .* gradients' &&
    grep -q '^ traffic ' "$folder/80x24/frame-0002.txt"
tap_ok $? 'the working set has grad_out and the gradients'
frame 2 | grep -q 'backward: .*: footprint .* to .*, max error'
tap_ok $? 'the log compares with the way forward'
frame 3 | grep -q 'FP32 bilinear backward'
tap_ok $? 'formats and aligns of the way back'
frame 4 | grep -q 'n/a: the model has no accesses of this kernel' || frame 4 | grep -q 'V4 on .* binds'
tap_ok $? 'the model follows the selection or says that it does not'
frame 5 | grep -q 'bevscope  .* FP32 bilinear  toy' && frame 5 | grep -q 'Intervals'
tap_ok $? 'and forward again'
tap_done
