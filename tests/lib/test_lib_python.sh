#!/bin/sh
# SPDX-License-Identifier: MIT
# The package in samples/torch: NumPy always, and every PyTorch that there is. TORCH_PYTHON names one more
# Python to try.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONPATH="$SRCDIR/samples/torch:$SRCDIR/tests/support"
tap_library
python=$(tap_having numpy)
[ -n "$python" ] || tap_skip_all "no Python with NumPy (python3-numpy)"
tap_judged "$python" test_lib_python.py numpy
BEVPOOL_LIBRARY=$folder/none.so "$python" -c 'import bevpool' >"$folder/said" 2>&1
tail -n 1 "$folder/said" | grep -q 'ImportError: .*none.so.*(make install and ldconfig, or name the file'
tap_ok $? "without the library: what to do"
echo 'int libgomp;' >"$folder/empty.c"
"${CC:-cc}" -shared -fPIC -o "$folder/libgomp.so.9" -Wl,-soname,libgomp.so.9 "$folder/empty.c" &&
    "${CC:-cc}" -shared -fPIC -o "$folder/needs.so" -Wl,--no-as-needed "$folder/empty.c" "$folder/libgomp.so.9"
rm "$folder/libgomp.so.9"
BEVPOOL_LIBRARY=$folder/needs.so "$python" -c 'import bevpool' >"$folder/said" 2>&1
tail -n 1 "$folder/said" | grep -q "ImportError: libgomp.so.9: .*(install OpenMP's runtime: .*libgomp1"
tap_ok $? "without libgomp: what to install"
"$python" - "$folder/ranks.npz" >"$folder/said" 2>&1 <<'END'
import sys, numpy as np
sys.path.insert(0, sys.path[1] + "/..")
from export_scene import export_ranks
ranks = np.zeros(3, np.int64)
for spoilt in ranks + 2**32, ranks + 0.5:
    try:
        export_ranks(sys.argv[1], np.zeros((1, 1, 1, 1)), np.zeros((1, 1, 1, 4)), ranks, spoilt, ranks, [0], [3], (1, 1))
    except ValueError as error:
        assert str(error).startswith("ranks_feat: "), error
    else:
        sys.exit("taken: %s" % spoilt)
export_ranks(sys.argv[1], np.zeros((1, 1, 1, 1)), np.zeros((1, 1, 1, 4)), ranks, ranks, ranks, [0], [3], (1, 1))
END
tap_ok $? "export_ranks: ranks that int32 cannot hold are refused: $(tail -n 1 "$folder/said")"

# compared PYTHON DEVICE: samples/torch/compare.py on the toy scene; every row must be right.
compared() {
    "$1" "$SRCDIR/samples/torch/compare.py" "$folder/toy.npz" --device "$2" \
        --json "$folder/toy.json" --markdown "$folder/toy.md" >"$folder/said" 2>&1 &&
        "$1" - "$folder" >>"$folder/said" 2>&1 <<'END'
import json, sys
rows = json.load(open(sys.argv[1] + "/toy.json"))["rows"]
table = open(sys.argv[1] + "/toy.md").read().splitlines()
# A way that PyTorch does not have on this device says so; ours would have failed above.
assert all("failed" in row or (row["error"] < 5e-3 and row["eager_us"] > 0) for row in rows), rows
assert len({row["way"] for row in rows}) == len(table) - 2 >= 3, table
END
    status=$?
    [ $status = 0 ] || sed 's/^/# /' "$folder/said"
    tap_ok $status "compare.py: every way on the $2 is right, and stands in the table"
}
"$BEVSCOPE" export toy "$folder/toy.npz" >/dev/null
tap_ok $? "bevscope export"
compared "$python" numpy
TAP_SLOW=$((5 * ${TAP_SLOW:-1})) # each PyTorch compiles
export OMP_NUM_THREADS=1
torches=$(tap_torches)
for python in $torches; do
    tap_judged "$python" test_lib_python.py torch
    compared "$python" cpu
done
[ -n "$torches" ] || tap_skip "PyTorch" "no Python with torch and NumPy"
tap_done
