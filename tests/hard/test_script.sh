#!/bin/sh
# SPDX-License-Identifier: MIT
# Scripts at full size: canonical with one thread and with several, and the demo at its own pace.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder

printf '%s\n' 'kernel v2' 'tick 0.5' 'kernel v3' 'dtype fp8' 'tick 0.5 2' 'key Up' snapshot \
    'size 120 40' 'view points' 'tick 0' >short.keys
run() { # FOLDER
    "$BEVSCOPE" live canonical --script short.keys --frames "$1" --size 80x24 >out 2>&1
}
run a && OMP_NUM_THREADS=1 run b && diff -r a b >out
tap_ok $? 'canonical: the same script gives the same bytes, with one thread as well'
grep -qE 'FP8: (footprint )?10.2 to 6.42 MB, .*, (max )?error 0\.[0-9]+ \(FP16\) to 0\.[0-9]+ at t [0-9.]+ s' a/frame-0002.txt
tap_ok $? 'the log says what a control changed'
! grep -h 'measured, \|[0-9] fps' a/*.txt | grep -qv 'not measured, '
tap_ok $? 'no timing was measured'

"$BEVSCOPE" live toy --script "${SRCDIR:-.}/samples/demo.keys" --frames demo --size 80x24 >out 2>&1
tap_ok $? 'the demo runs to its end'
[ "$(ls demo/frame-*.txt | wc -l)" = 232 ]
tap_ok $? 'two minutes of it, two frames a second'
[ "$(ls demo | grep -vc '^frame')" -ge 8 ]
tap_ok $? 'and it leaves its snapshots behind'
tap_done
