# SPDX-License-Identifier: MIT
"""Arrays of NumPy and tensors of PyTorch, which is optional, by one set of functions."""
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._library import BF16, CPU, FP16, FP32, FP64

try:
    import torch
except ImportError:  # NumPy alone
    torch = None

if TYPE_CHECKING:
    Array = Union["np.ndarray[Any, Any]", "torch.Tensor"]
else:
    Array = Any


def is_tensor(array):
    return torch is not None and isinstance(array, torch.Tensor)


def device_of(array):
    if not is_tensor(array):
        return CPU
    if array.is_cuda:
        return array.get_device()
    if array.device.type != "cpu":
        raise ValueError(f"a tensor on {array.device}, expected the CPU or CUDA")
    return CPU


def device_name(device):
    return "cpu" if device == CPU else f"cuda:{device}"


_dtypes = {np.dtype("float64"): FP64, np.dtype("float32"): FP32, np.dtype("float16"): FP16}
if torch is not None:
    _dtypes.update({torch.float64: FP64, torch.float32: FP32, torch.float16: FP16, torch.bfloat16: BF16})


def dtype_of(array):
    """The library's number of the format of features. FP64 is computed by the reference, on the CPU."""
    found = _dtypes.get(array.dtype)
    if found is None or found == FP64 and device_of(array) != CPU:
        raise TypeError(f"features of {array.dtype}, expected float32, float16 or bfloat16 "
                        "(on the CPU float64 as well)")
    return found


def as_read(array, dtype):
    """Dense, and of that format."""
    if is_tensor(array):
        return (array if array.dtype == dtype else array.to(dtype)).contiguous()
    return np.ascontiguousarray(array, dtype)


def sizes_of(sizes, names):
    """Whole numbers, as many as there are names."""
    found = tuple(map(int, sizes))
    if len(found) != len(names) or found != tuple(sizes):
        raise ValueError(f"sizes {tuple(sizes)}, expected ({', '.join(names)}) in whole numbers")
    return found


def copied(name, array, dtype, device):
    """A dense copy of that type; None stays None. With PyTorch it is a tensor on the device."""
    if array is None:
        return None
    if not is_tensor(array):
        array = np.asarray(array)
    if dtype == "int32":
        check_ints(name, array)
    if torch is None:
        return np.array(array, dtype, order="C")
    if not is_tensor(array):
        array = torch.from_numpy(np.array(array, dtype, order="C"))
    return array.detach().to(device_name(device), getattr(torch, dtype), copy=True).contiguous()


def as_numpy(array):
    """The same memory as an array of NumPy."""
    return array.detach().numpy() if is_tensor(array) else array


def check_ints(name, array):
    """Refuses what a copy as int32 would change."""
    if str(array.dtype) in ("int32", "torch.int32") or 0 in array.shape:
        return
    tensor = is_tensor(array)
    if (array.is_floating_point() or array.is_complex() or array.dtype == torch.bool) if tensor \
            else array.dtype.kind not in "iu":
        raise TypeError(f"{name} has {array.dtype}, expected whole numbers")
    wide = array.long() if tensor else array
    for value in int(wide.min()), int(wide.max()):
        if not -2**31 <= value < 2**31:
            raise ValueError(f"{name} holds {value}, which is beyond int32")


def address(array):
    if array is None:
        return None
    return array.data_ptr() if is_tensor(array) else array.ctypes.data


def empty(like, shape):
    return like.new_empty(shape) if is_tensor(like) else np.empty(shape, like.dtype)
