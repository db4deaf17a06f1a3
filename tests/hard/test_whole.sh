#!/bin/sh
# Tests of the first ring whose street is small there, or whose planted defects are a few, in whole.
. "${SRCDIR:-.}/tests/tap.sh"
tap_folder
export WHOLE=1
for test in photos clip_file export_numpy export_pooled from_nuscenes from_kitti360; do
    tap_include $test sh "$SRCDIR/tests/test_$test.sh"
done
tap_done
