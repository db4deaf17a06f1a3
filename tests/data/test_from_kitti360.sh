#!/bin/sh
# SPDX-License-Identifier: MIT
# samples/from_kitti360.py, on a data set that the test makes: see test_from_kitti360.py.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy PIL
tap_in_python test_from_kitti360.py
