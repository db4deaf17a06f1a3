#!/bin/sh
# SPDX-License-Identifier: MIT
# What NumPy reads and writes: each array in every form that says the same gives the same grid, each
# advice can be followed, and what is valid but too large is not called damaged.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy
tap_in_python test_numpy_forms.py
