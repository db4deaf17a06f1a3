#!/bin/sh
# SPDX-License-Identifier: MIT
# A gradient of the output from a file: used as it is, or refused in a line that says what, where,
# what was expected; NaN and infinite values are counted; a pixel by name.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy
imports='numpy as np'

# The toy has 5 x 3 cells of 16 channels.
tap_script "gradients in files" '
grad = np.zeros((5, 3, 16), np.float32)
grad[0, 0, :2] = 1
np.save("right", grad)
np.save("shape", grad[..., :7])
np.save("rank", grad.ravel())
open("500.npy", "wb").write(open("right.npy", "rb").read()[:500])
grad[0, 0, 1:4] = np.nan, -np.inf, np.nan
np.save("nan", grad)
np.save("street", np.full((50, 50, 16), 0.0115, np.float32))'

backward="toy --direction backward --dtype fp32 --device cpu"
verify="verify $backward --align nearest --grad-out"
"$BEVSCOPE" $verify right.npy >out 2>err && ! grep bevscope err
tap_ok $? 'a gradient of the right shape is taken'
mkfifo endless
while read -r file words; do
    tap_expect 1 "$words" $verify "$file"
done <<'TABLE'
shape.npy shape.npy: grad_out has the shape \(5, 3, 7\), must be \(ny, nx, channels\) = \(5, 3, 16\)
rank.npy grad_out has the shape \(240,\), must be \(ny, nx, channels\)
500.npy but has 372
none.npy none.npy
/dev/zero not a regular file
endless not a regular file
TABLE
"$BEVSCOPE" $verify nan.npy >out 2>err
[ "$(grep -c bevscope err)" = 1 ] &&
    grep -qF "nan.npy: grad_out: 2 of 240 values are NaN, 1 infinite, the first at [0, 0, 1]" err
tap_ok $? 'NaN and infinite values are counted, with the first place'
tap_expect 2 'add --direction backward' verify toy --device cpu --grad-out right.npy
"$BEVSCOPE" bench $backward --quick --cache warm --grad-out right.npy >out 2>err && grep -q cpu_grad_v4 out
tap_ok $? 'bench takes it'

snapshot="snapshot street.json --backward --device cpu --dtype fp32 -o back.png"
"$BEVSCOPE" $snapshot --grad-out street.npy >out 2>err
tap_has 'snapshot takes a file instead of a loss' out 'over 2500 cells' 'of 264 feed it; the brightest'
for camera in front 1; do
    "$BEVSCOPE" $snapshot --pixel $camera,5,2 >out 2>err
    tap_has "snapshot shows the bins of a pixel of camera $camera" out 'the chosen one: front, column 5, row 2'
done
tap_expect 2 "there is no camera 'side'" $snapshot --pixel side,5,2
tap_expect 2 '11,2 is outside of 11 x 4 pixels' $snapshot --pixel front,11,2
tap_expect 2 'is not CAMERA,X,Y' $snapshot --pixel front,5
tap_expect 2 'comes from a file' $snapshot --grad-out right.npy --cell 1,1
tap_done
