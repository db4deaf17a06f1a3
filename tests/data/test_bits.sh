#!/bin/sh
# The page of bits in plain lines, and every code of the formats of 4 and 8 bits as it prints it,
# against NumPy: E5M2 is the upper half of FP16, the others are computed from their fields.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy

cat >codes.py <<'PY'
import re, subprocess, sys
import numpy as np

def value(name, code):
    if name == "e5m2":
        return float(np.array(code << 8, np.uint16).view(np.float16))
    if name == "int8":
        return float(np.array(code, np.uint8).view(np.int8))
    exponent, fraction, bias = {"fp8": (4, 3, 7), "nvfp4": (2, 1, 1)}[name]
    sign = -1.0 if code >> exponent + fraction else 1.0
    magnitude = code & (1 << exponent + fraction) - 1
    if magnitude == 127 and exponent == 4:
        return float("nan")
    power, part = magnitude >> fraction, (magnitude & (1 << fraction) - 1) / np.exp2(fraction)
    return float(sign * (np.exp2(power - bias) * (1 + part) if power else np.exp2(1 - bias) * part))

# Codes in Gray's order: a flip each.
for name, bits in ("e5m2", 8), ("fp8", 8), ("nvfp4", 4), ("int8", 8):
    kind = "bits-of e5m2" if name == "e5m2" else f"dtype {name}"
    flips = "".join(f"bits-flip {(n & -n).bit_length() - 1}\n" for n in range(1, 1 << bits))
    text = subprocess.run([sys.argv[1], "live", "toy", "--plain", "--device", "cpu"], text=True, check=True, capture_output=True,
                          input=f"backend cpu\nkernel v4\n{kind}\nbits-value 0\n{flips}quit\n").stdout
    seen = {}
    for digits, number in re.findall(r": ([01 ]+) is (\S+?),? ", text):
        seen[int(digits.replace(" ", ""), 2)] = float(number)
    assert len(seen) == 1 << bits, (name, len(seen))
    for code, number in seen.items():
        want = value(name, code)
        assert number == want or (np.isnan(number) and np.isnan(want)) or abs(number / want - 1) < 1e-8, (name, code, number, want)
PY
tap_run 'each code of E5M2, E4M3, E2M1 and INT8 is what NumPy makes of its bits' "$python" codes.py "$BEVSCOPE"

printf 'dtype fp8\nbits-value 0.3\nbits\nbits-flip 9\nquit\n' |
    "$BEVSCOPE" live toy --plain --device cpu >out 2>err
grep -q '^S     E   E   E   E     F   F   F$' out && grep -q '^0.3125 = 2^-2 x (1 + 2/8), normal$' out &&
    grep -q 'below 0.28125, 0.03125 less; above 0.34375, 0.03125 more' out &&
    grep -q 'bits-flip: FP8 E4M3 has bits 0 to 7, not 9' out
tap_ok $? "in plain lines bits prints the page"
tap_done
