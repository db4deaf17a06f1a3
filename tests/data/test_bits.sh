#!/bin/sh
# SPDX-License-Identifier: MIT
# The page of bits in plain lines; what each code means is in kernels/test_codec.c and state/test_bits.c.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder

printf 'dtype fp8\nbits-value 0.3\nbits\nbits-flip 9\nquit\n' |
    "$BEVSCOPE" live toy --plain --device cpu >out 2>err
tap_has "in plain lines bits prints the page" out '^S     E   E   E   E     F   F   F$' \
    '^0.3125 = 2\^-2 x \(1 \+ 2/8\), normal$' 'below 0.28125, 0.03125 less; above 0.34375, 0.03125 more' \
    'bits-flip: FP8 E4M3 has bits 0 to 7, not 9'
tap_done
