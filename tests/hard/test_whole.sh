#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests of the first ring whose street is small there, or whose injected bugs are a few, in whole.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
export WHOLE=1
for test in data/test_photos data/test_export_numpy data/test_export_pooled \
    data/test_from_nuscenes data/test_from_kitti360 data/test_numpy_forms cli/test_backward; do
    tap_include "$test" sh "$SRCDIR/tests/$test.sh"
done
tap_done
