#!/bin/sh
# SPDX-License-Identifier: MIT
# samples/onnx_bevpool.py: models, where a Python has onnx; PyTorch's exporters, where it has torch and
# onnxruntime, and onnxscript for the one with dynamo. ONNX_PYTHON names one more Python to try.
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
export OMP_NUM_THREADS=1
python=$(tap_having "numpy, onnx, onnxruntime; from torch import Tensor")
if [ -n "$python" ]; then
    onnx_judged TorchScript
else
    tap_skip "the TorchScript exporter" "no Python with torch, onnx and onnxruntime"
fi
python=$(tap_having "numpy, onnx, onnxruntime, onnxscript; from torch.onnx import ONNXProgram")
if [ -n "$python" ]; then
    onnx_judged dynamo
elif [ -z "$(tap_having "numpy; from torch.onnx import ONNXProgram")" ] && [ -n "$(tap_torches)" ]; then
    echo "# no PyTorch here has the exporter with dynamo: it came with 2.5"
else
    tap_skip "the exporter with dynamo" "no Python with PyTorch 2.5, onnx, onnxruntime and onnxscript"
fi
tap_done
