#!/bin/sh
# Tests of the first ring whose street is small there, with the intersection as it is.
. "${SRCDIR:-.}/tests/tap.sh"
tap_folder
export WHOLE=1
for test in photos clip_file export_numpy export_pooled; do
    tap_include $test sh "$SRCDIR/tests/test_$test.sh"
done
tap_done
