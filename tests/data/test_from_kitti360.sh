#!/bin/sh
# samples/from_kitti360.py, on a data set that the test makes: see test_from_kitti360.py.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/samples:$SRCDIR/tests/data"
tap_python "numpy, PIL" "NumPy and Pillow (python3-numpy python3-pil)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" "$SRCDIR/tests/data/test_from_kitti360.py" "$BEVSCOPE" "$folder" 2>"$folder/errors"
status=$?
[ $status = 0 ] || sed 's/^/# /' "$folder/errors"
tap_time
exit $status
