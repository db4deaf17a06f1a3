#!/bin/sh
# SPDX-License-Identifier: MIT
# samples/onnx_bevpool.py: models, where a Python has onnx; PyTorch's exporter, where it has torch
# and onnxscript too. ONNX_PYTHON names one more Python to try.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONPATH="$SRCDIR/samples:$SRCDIR/tests/support:$SRCDIR/samples/torch:${PYTHONPATH:-}"
tap_library
# onnx_judged PART
onnx_judged() {
    tap_judged "$python" test_onnx.py "$1" "$folder/toy.npz" "$folder" "$SRCDIR/src/lib/tensorrt/fields.cpp"
}

python=$(tap_having numpy,onnx)
[ -n "$python" ] || tap_skip_all "no Python with onnx and NumPy (pip install onnx)"
"$BEVSCOPE" export toy "$folder/toy.npz" >/dev/null
tap_ok $? "bevscope export"
onnx_judged onnx
python=$(tap_having "numpy, onnx, onnxscript; from torch import Tensor")
if [ -n "$python" ]; then
    onnx_judged torch
else
    tap_skip "PyTorch's exporter" "no Python with torch, onnx and onnxscript"
fi
tap_done
