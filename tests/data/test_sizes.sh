#!/bin/sh
# SPDX-License-Identifier: MIT
# Cameras of different sizes: one input size, but an image, a resize and a crop of each. The grid and
# the photographs beside NumPy that shares no code with bevscope; what is refused.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy
tap_in_python test_sizes.py
