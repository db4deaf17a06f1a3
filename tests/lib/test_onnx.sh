#!/bin/sh
# samples/onnx_bevpool.py: models, where a Python has onnx; PyTorch's exporter, where it has torch
# and onnxscript too. ONNX_PYTHON names one more Python to try.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/samples:$SRCDIR/samples/torch:${PYTHONPATH:-}"
BEVPOOL_LIBRARY=$(ls "${BUILDDIR:-.}"/lib/libbevpool.so.*.*)
export BEVPOOL_LIBRARY
[ -z "${SANITIZED:-}" ] || tap_skip_all "Python loads no library with AddressSanitizer"
# having MODULES: the first Python that has them.
having() {
    for python in ${ONNX_PYTHON:-} python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && echo "$python" && return
    done
}

# judged PYTHON PART ARGUMENTS...: each of its lines is a check.
judged() {
    "$1" "$SRCDIR/tests/lib/test_onnx.py" "$2" "$folder/toy.npz" "$folder" \
        "$SRCDIR/src/lib/tensorrt/fields.cpp" >"$folder/said" 2>"$folder/errors"
    status=$?
    while read -r line; do
        case $line in
        "ok "*) tap_ok 0 "${line#*- }" ;;
        "not ok "*) tap_ok 1 "${line#*- }" ;;
        esac
    done <"$folder/said"
    [ $status = 0 ] || sed 's/^/# /' "$folder/errors"
    tap_ok $status "$2: ended well"
}

python=$(having numpy,onnx)
[ -n "$python" ] || tap_skip_all "no Python with onnx and NumPy (pip install onnx)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$BEVSCOPE" export toy "$folder/toy.npz" >/dev/null
tap_ok $? "bevscope export"
judged "$python" onnx
python=$(having "numpy, onnx, onnxscript; from torch import Tensor")
if [ -n "$python" ]; then
    judged "$python" torch
else
    tap_skip "PyTorch's exporter" "no Python with torch, onnx and onnxscript"
fi
tap_done
