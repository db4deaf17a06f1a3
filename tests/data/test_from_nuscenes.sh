#!/bin/sh
# samples/from_nuscenes.py, on a data set that the test makes: see test_from_nuscenes.py. Above 10 s: the
# street is cast for two moments, and read 30 times.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/samples:$SRCDIR/tests/data"
tap_python "numpy, PIL" "NumPy and Pillow (python3-numpy python3-pil)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" "$SRCDIR/tests/data/test_from_nuscenes.py" "$BEVSCOPE" "$folder" 2>"$folder/errors"
status=$?
[ $status = 0 ] || sed 's/^/# /' "$folder/errors"
tap_time
exit $status
