#!/bin/sh
# SPDX-License-Identifier: MIT
# samples/from_nuscenes.py, on a data set that the test makes: see test_from_nuscenes.py. Above 10 s: the
# street is cast for two moments, and read 30 times.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy PIL
tap_in_python test_from_nuscenes.py
