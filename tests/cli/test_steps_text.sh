#!/bin/sh
# SPDX-License-Identifier: MIT
# bevscope steps, and the steps in the live display: text as agreed, same bytes twice, bad input.
# `make goldens` writes the texts anew.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder

golden() { # NAME ARGUMENTS...
    name=$1
    shift
    file="$SRCDIR/tests/golden/steps-$name.txt"
    "$BEVSCOPE" steps "$@" >"$name.txt" 2>err
    [ -n "$BEVSCOPE_UPDATE_GOLDEN" ] && cp "$name.txt" "$file"
    tap_run "steps $*: the agreed text" diff "$file" "$name.txt"
}

golden bevdet toy -k v2_bevdet
golden v3 toy -k v3_large_l2 --cell 1,0
golden atomic toy -k atomic --cell 0,1 --count 3
golden v4 toy -k v4
golden tiles canonical -k v4 --from 3 --count 2
golden chw toy --channels 64 -k v2_chw,v2_bevdet --from 2 --count 2
golden queue canonical -k v2,block_atomic --count 2
golden passes canonical -k v2,v2_do --cell 125,100 --from 3 --count 1
golden lane toy -k v2_bevdet --lane 17 --from 3 --count 1

! LC_ALL=C grep -q '[^ -~]' *.txt
tap_ok $? 'in ASCII'
[ "$(awk '{ if (length > most) most = length } END { print most }' bevdet.txt \
    v4.txt tiles.txt)" -le 80 ] &&
    [ "$(awk '{ if (length > most) most = length } END { print most }' chw.txt \
        queue.txt)" -le 160 ]
tap_ok $? '80 columns for a kernel, 160 for two'

"$BEVSCOPE" steps -k v4 --from 3 --count 2 --png a.png &&
    "$BEVSCOPE" steps -k v4 --from 3 --count 2 --png b.png &&
    cmp a.png b.png && [ "$(head -c 4 a.png | tail -c 3)" = PNG ]
tap_ok $? 'the picture is a PNG, the same twice'


tap_keys steps.keys 'steps-at 2; kernel v2_bevdet; steps on; tick 0; steps-at; steps-at 4; tick 0;
    steps-at -; baseline on; kernel v2_do; size 160 50; tick 0; kernel reference; tick 0;
    steps off; tick 0'
live() { # FOLDER ARGUMENTS...
    frames=$1
    shift
    "$BEVSCOPE" live toy --device cpu --script steps.keys --frames "$frames" \
        "$@" >out 2>err
}
live one --size 80x24 && OMP_NUM_THREADS=1 live two --size 80x24 &&
    diff -r one two
tap_ok $? 'in the live display: the same bytes twice'
tap_has 'forward and back' one/frame-0001.txt 'step 1 of 4: find owners' @one/frame-0002.txt \
    'step 4 of 4: store sums' @one/frame-0003.txt 'step 3 of 4: points'
tap_has 'the pinned baseline stands beside it' one/frame-0003.txt 'V2\+DO, cell 1,0' \
    'V2 \(BEVDet\), cell 1,0'
tap_has 'a kernel without steps says so' one/frame-0004.txt 'no CUDA kernel of its idea' @one/frame-0005.txt \
    '!Steps'
live plain --size 80x24 --ascii --color never && ! LC_ALL=C grep -q '[^ -~]' plain/*.txt
tap_ok $? 'without colour, in ASCII'
grep -A 1 -h '^ step 1 of 4' plain/frame-0001.txt | grep -q 'array  *access  *bytes lines'
tap_ok $? 'in 80 x 24 its columns have their names'

grep -q 'step 1 of .* pass 1 of 10' passes.txt || grep -q 'pass 2 of 10' passes.txt
tap_ok $? 'the passes of channel tiles are counted'
"$BEVSCOPE" steps canonical -k v2_bevdet,v2_do --block 2632 --warp 1 --count 2 >block.txt &&
    [ "$(grep -o 'cell 123,100' block.txt | wc -l)" -ge 2 ]
tap_ok $? 'of a block, the second kernel follows the same cell'
tap_done
