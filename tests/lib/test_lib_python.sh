#!/bin/sh
# samples/torch/bevpool.py: NumPy always, PyTorch where it is.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONPATH="$SRCDIR/samples/torch:$SRCDIR/tests/support"
tap_library
python=$(tap_having numpy)
[ -n "$python" ] || tap_skip_all "no Python with NumPy (python3-numpy)"
tap_judged "$python" test_lib_python.py numpy
# The wheel, unpacked as pip does it, needs neither the source tree nor a variable.
"$python" "$SRCDIR/samples/torch/wheel.py" 0 "$BEVPOOL_LIBRARY" "$folder" >"$folder/said" 2>&1 &&
    "$python" -m zipfile -e "$folder"/bevpool-0-py3-none-manylinux_*.whl "$folder/site" &&
    (cd "$folder" && env -u BEVPOOL_LIBRARY PYTHONPATH="$folder/site:$SRCDIR/tests/support" "$python" \
        "$SRCDIR/tests/lib/test_lib_python.py" numpy >>"$folder/said" 2>&1)
tap_ok $? "a wheel passes the same without the source tree: $(tail -n 1 "$folder/said")"
BEVPOOL_LIBRARY=$folder/none.so "$python" -c 'import bevpool' >"$folder/said" 2>&1
tail -n 1 "$folder/said" | grep -q 'ImportError: .*none.so.*(make install and ldconfig, or name the file'
tap_ok $? "without the library: what to do"

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
python=$(tap_having numpy,torch)
if [ -n "$python" ]; then
    tap_judged "$python" test_lib_python.py torch
    compared "$python" cpu
else
    tap_skip "PyTorch" "no Python with torch and NumPy"
fi
tap_done
