# SPDX-License-Identifier: MIT
"""bevpool.h for ctypes: structures, the library, its errors."""
import ctypes
import os
import threading

CPU = -1
WRONG_DEVICE = 6
FP32, FP16, BF16 = 0, 1, 2
FP64 = -1  # not the library's: the reference computes it
FORWARD, BACKWARD = 0, 1
NEAREST, BILINEAR, LATTICE = 0, 1, 2
DEPTH, FEAT, _, OUT, GRAD_OUT, GRAD_DEPTH, GRAD_FEAT, ROLES = range(8)
ALIGNMENT = 256


class ErrorText(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("text", ctypes.c_char * 764)]


class Shape(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in
                ("batch", "cameras", "depth_bins", "feat_h", "feat_w", "nz", "ny", "nx")]


class Arrays(ctypes.Structure):
    _fields_ = [("points", ctypes.c_int64), ("intervals", ctypes.c_int64)] + \
        [(name, ctypes.c_void_p) for name in
         ("ranks_depth", "ranks_feat", "ranks_bev", "interval_starts", "interval_lengths",
          "weights")]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("channels", ctypes.c_int64)] + \
        [(name, ctypes.c_int32) for name in ("dtype", "direction", "feat_layout", "out_layout")] + \
        [("kernel", ctypes.c_char_p), ("view", ctypes.c_void_p)]


class View(ctypes.Structure):
    _fields_ = [("softmax", ctypes.c_int32), ("temperature", ctypes.c_float),
                ("depth_strides", ctypes.c_int64 * 4), ("feat_strides", ctypes.c_int64 * 4)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("dtype", ctypes.c_int32),
                ("scale", ctypes.c_float)]


class Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("tensors", Tensor * ROLES),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("stream", ctypes.c_void_p), ("map", ctypes.c_void_p)]


class Matrices(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("batch", ctypes.c_int64), ("cameras", ctypes.c_int32),
                ("wide", ctypes.c_int32)] + \
        [(name, ctypes.c_void_p) for name in
         ("sensor2ego", "intrinsics", "image_rotation", "image_translation", "bev")] + \
        [("bev_size", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class Points(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("points", ctypes.c_void_p), ("wide", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("lower_m", ctypes.c_double * 3), ("cell_m", ctypes.c_double * 3)]


class Prepared(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + \
        [(name, ctypes.c_void_p) for name in
         ("ranks_bev", "ranks_depth", "ranks_feat", "interval_starts", "interval_lengths", "counts")]


class Frustum(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("batch", ctypes.c_int64)] + \
        [(name, ctypes.c_int32) for name in
         ("cameras", "align", "input_w", "input_h", "feat_w", "feat_h", "depth_bins")] + \
        [(name, ctypes.c_double) for name in ("depth_start_m", "depth_step_m")] + \
        [("depths_m", ctypes.c_void_p)] + \
        [(name, ctypes.c_double) for name in
         ("x_min_m", "x_max_m", "y_min_m", "y_max_m", "z_min_m", "z_max_m")] + \
        [(name, ctypes.c_int32) for name in ("nx", "ny", "nz", "truncate")] + \
        [("most_entries", ctypes.c_int64)]


# A call as 64-bit words, which are faster to write than fields, and the numbers of some words.
Words = ctypes.c_uint64 * (ctypes.sizeof(Call) // 8)
WORKSPACE, STREAM, MAP = (getattr(Call, name).offset // 8 for name in
                             ("workspace", "stream", "map"))
DATA = [(Call.tensors.offset + role * ctypes.sizeof(Tensor) + Tensor.data.offset) // 8
         for role in range(ROLES)]
POOLED = [DATA[role] for role in (DEPTH, FEAT, OUT)]
GRADIENTS = [DATA[role] for role in (DEPTH, FEAT, GRAD_OUT, GRAD_DEPTH, GRAD_FEAT)]


def _load():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libbevpool.so.1")
    name = os.environ.get("BEVPOOL_LIBRARY") or \
        (beside if os.path.exists(beside) else "libbevpool.so.1")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        advice = "make install and ldconfig, or name the file: BEVPOOL_LIBRARY=PREFIX/lib/libbevpool.so.1"
        if "libgomp" in str(error):  # libbevpool is there
            advice = "install OpenMP's runtime: the package libgomp1 of Debian and Ubuntu, else libgomp"
        raise ImportError(f"{error} ({advice})") from None
    pointer, i32 = ctypes.c_void_p, ctypes.c_int32
    for name, result, *arguments in (
            ("version", ctypes.c_char_p),
            ("status_name", ctypes.c_char_p, i32),
            ("kernel_name", ctypes.c_char_p, i32, i32, i32),
            ("warm_up", i32, i32, i32, pointer),
            ("plan_kernel", ctypes.c_char_p, pointer),
            ("plan_workspace_bytes", ctypes.c_size_t, pointer),
            ("plan_bytes", ctypes.c_size_t, pointer, i32),
            ("map_from_arrays", i32, pointer, pointer, pointer, i32, ctypes.c_uint32, pointer),
            ("map_moving", i32, pointer, pointer, i32, pointer),
            ("map_changing", i32, pointer, pointer, ctypes.c_int64, i32, pointer),
            ("prepare_bytes", i32, pointer, i32, pointer, pointer),
            ("prepare", i32, pointer, pointer, pointer, pointer, ctypes.c_size_t, i32, pointer, pointer),
            ("poses", i32, pointer, pointer, i32, pointer, pointer),
            ("map_destroy", None, pointer),
            ("plan_create", i32, pointer, pointer, pointer, pointer),
            ("plan_destroy", None, pointer),
            ("plan_map_bytes", ctypes.c_size_t, pointer),
            ("plan_update", i32, pointer, pointer, pointer, ctypes.c_size_t, pointer, pointer),
            ("plan_update_arrays", i32, pointer, pointer, pointer, ctypes.c_size_t, pointer, pointer),
            ("run", i32, pointer, pointer, pointer)):
        function = getattr(library, "bevpool_" + name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()
run = library.bevpool_run
version = library.bevpool_version().decode()


class Error(RuntimeError):
    """What the library refuses: `status` is the name of its BevpoolStatus."""

    def __init__(self, error: ErrorText) -> None:
        self.status = library.bevpool_status_name(error.status).decode()
        super().__init__(f"{self.status}: {error.text.decode()}")


class Thread(threading.local):
    """An error's text is written and read by one thread."""

    def __init__(self):
        self.error = ErrorText()
        self.address = ctypes.addressof(self.error)


thread = Thread()


def check(function, *arguments):
    if function(*arguments, thread.address):
        raise Error(thread.error)


def kernels(device: int = CPU, direction: int = FORWARD) -> "list[str]":
    """The names of the kernels for a device (CPU, or a GPU's number), in the order of the ladder."""
    names = []
    while name := library.bevpool_kernel_name(device, direction, len(names)):
        names.append(name.decode())
    return names


def warm_up(device: int = 0, training: bool = False) -> None:
    """Loads what the first calls on a GPU would load, with `training` for gradients too, so that they
    do not wait for it: 14 and 5 ms on an H200."""
    for direction in (FORWARD, BACKWARD)[:2 if training else 1]:
        check(library.bevpool_warm_up, device, direction)
