# SPDX-License-Identifier: MIT
"""BEV pooling for NumPy and PyTorch over libbevpool, in one file to copy. PyTorch is optional.

    import bevpool
    out = bevpool.bev_pool_v2(depth, feat, ranks_depth, ranks_feat, ranks_bev, bev_feat_shape,
                              interval_starts, interval_lengths)     # as in BEVDet: (B, C, Z, Y, X)

    grid = bevpool.Map(shape, ranks_depth, ranks_feat, ranks_bev)    # once, for a map that stays
    out = bevpool.pool(depth, feat, grid)                            # (B, Z, Y, X, C)

    out = bevpool.view_transform(x, grid, depth_bins=D)              # (B, C, Z, Y, X), softmax and all
    view = bevpool.LiftSplat(grid, depth_bins=D)                     # the same as a module

    cameras = bevpool.Cameras(shape, (256, 704), (1, 0.5), x, y, z)  # a map each step: no Map is made
    out = bevpool.view_transform(x, cameras, D, poses=cameras.poses(sensor2ego, cam2imgs, post_rots,
                                                                    post_trans, bda))

    out = bevpool.voxel_pool(volume, geom, bev_h, bev_w)             # (B, C, bev_h, bev_w)
    out = bevpool.voxel_align(volume, geom, bev_h, bev_w)

With tensors these are operators of PyTorch (1.13 or later; older ones call them eagerly) with first
and higher gradients, for torch.compile, torch.export, torch.jit.trace and CUDA graphs. A map's arrays
are arguments of its operator. Launches run on the current stream. A map's first launch prepares a
plan, which waits for the GPU: do that before a graph is captured.

bev_pool_v2, voxel_pool and voxel_align keep the maps of the last calls. Arrays on the CPU are compared
with those of the call before, so that no change is missed. Arrays on a GPU are known by their memory and
their version: a change is missed if PyTorch does not count it, which is so of `.data`, of DLPack and of
tensors made under torch.inference_mode(). After such a change pass new tensors.

The library is the file that BEVPOOL_LIBRARY names, else libbevpool.so.1 beside this file (a wheel of
`make wheel` has it there), else that on the usual paths.
"""
import collections
import contextlib
import ctypes
import functools
import os
import threading
import weakref

import numpy as np

try:
    import torch
    import torch.autograd.forward_ad as forward_ad
    from torch.multiprocessing.reductions import StorageWeakRef
except ImportError:  # NumPy alone
    torch = None

CPU = -1
WRONG_DEVICE = 6
FP32, FP16, BF16 = 0, 1, 2
FORWARD, BACKWARD = 0, 1
NEAREST, BILINEAR, LATTICE = 0, 1, 2
DEPTH, FEAT, _, OUT, GRAD_OUT, GRAD_DEPTH, GRAD_FEAT, ROLES = range(8)
ALIGNMENT = 256

# ---- bevpool.h -----------------------------------------------------------------------------------


class _Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("text", ctypes.c_char * 764)]


class _Shape(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in
                ("batch", "cameras", "depth_bins", "feat_h", "feat_w", "nz", "ny", "nx")]


class _Arrays(ctypes.Structure):
    _fields_ = [("points", ctypes.c_int64), ("intervals", ctypes.c_int64)] + \
        [(name, ctypes.c_void_p) for name in
         ("ranks_depth", "ranks_feat", "ranks_bev", "interval_starts", "interval_lengths",
          "weights")]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("channels", ctypes.c_int64)] + \
        [(name, ctypes.c_int32) for name in ("dtype", "direction", "feat_layout", "out_layout")] + \
        [("kernel", ctypes.c_char_p), ("view", ctypes.c_void_p)]


class _View(ctypes.Structure):
    _fields_ = [("softmax", ctypes.c_int32), ("temperature", ctypes.c_float),
                ("depth_strides", ctypes.c_int64 * 4), ("feat_strides", ctypes.c_int64 * 4)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("dtype", ctypes.c_int32),
                ("scale", ctypes.c_float)]


class _Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("tensors", _Tensor * ROLES),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("stream", ctypes.c_void_p), ("map", ctypes.c_void_p)]


class _Matrices(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("batch", ctypes.c_int64), ("cameras", ctypes.c_int32),
                ("wide", ctypes.c_int32)] + \
        [(name, ctypes.c_void_p) for name in
         ("sensor2ego", "intrinsics", "image_rotation", "image_translation", "bev")] + \
        [("bev_size", ctypes.c_int32), ("reserved", ctypes.c_int32)]


class _Frustum(ctypes.Structure):
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
_Words = ctypes.c_uint64 * (ctypes.sizeof(_Call) // 8)
_WORKSPACE, _STREAM, _MAP = (getattr(_Call, name).offset // 8 for name in
                             ("workspace", "stream", "map"))
_DATA = [(_Call.tensors.offset + role * ctypes.sizeof(_Tensor) + _Tensor.data.offset) // 8
         for role in range(ROLES)]
_POOLED = [_DATA[role] for role in (DEPTH, FEAT, OUT)]
_GRADIENTS = [_DATA[role] for role in (DEPTH, FEAT, GRAD_OUT, GRAD_DEPTH, GRAD_FEAT)]


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
            ("status_name", ctypes.c_char_p, i32),
            ("kernel_name", ctypes.c_char_p, i32, i32, i32),
            ("warm_up", i32, i32, i32, pointer),
            ("plan_kernel", ctypes.c_char_p, pointer),
            ("plan_workspace_bytes", ctypes.c_size_t, pointer),
            ("plan_bytes", ctypes.c_size_t, pointer, i32),
            ("map_from_arrays", i32, pointer, pointer, pointer, i32, ctypes.c_uint32, pointer),
            ("map_moving", i32, pointer, pointer, i32, pointer),
            ("poses", i32, pointer, pointer, i32, pointer, pointer),
            ("map_destroy", None, pointer),
            ("plan_create", i32, pointer, pointer, pointer, pointer),
            ("plan_destroy", None, pointer),
            ("plan_map_bytes", ctypes.c_size_t, pointer),
            ("plan_update", i32, pointer, pointer, pointer, ctypes.c_size_t, pointer, pointer),
            ("run", i32, pointer, pointer, pointer)):
        function = getattr(library, "bevpool_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()
_run = _library.bevpool_run


class Error(RuntimeError):
    """What the library refuses: `status` is the name of its BevpoolStatus."""

    def __init__(self, error):
        self.status = _library.bevpool_status_name(error.status).decode()
        super().__init__(f"{self.status}: {error.text.decode()}")


class _Thread(threading.local):
    """An error's text is written and read by one thread."""

    def __init__(self):
        self.error = _Error()
        self.address = ctypes.addressof(self.error)


_thread = _Thread()


def _check(function, *arguments):
    if function(*arguments, _thread.address):
        raise Error(_thread.error)


def kernels(device=CPU, direction=FORWARD):
    """The names of the kernels for a device, in the order of the ladder."""
    names = []
    while name := _library.bevpool_kernel_name(device, direction, len(names)):
        names.append(name.decode())
    return names


def warm_up(device=0, training=False):
    """Loads what the first calls on a GPU would load, with `training` for gradients too, so that they
    do not wait for it: 14 and 5 ms on an H200."""
    for direction in (FORWARD, BACKWARD)[:2 if training else 1]:
        _check(_library.bevpool_warm_up, device, direction)


# ---- arrays of NumPy and of PyTorch --------------------------------------------------------------


def _is_tensor(array):
    return torch is not None and isinstance(array, torch.Tensor)


def _device(array):
    if not _is_tensor(array):
        return CPU
    if array.is_cuda:
        return array.get_device()
    if array.device.type != "cpu":
        raise ValueError(f"a tensor on {array.device}, expected the CPU or CUDA")
    return CPU


_dtypes = {np.dtype("float32"): FP32, np.dtype("float16"): FP16}
if torch is not None:
    _dtypes.update({torch.float32: FP32, torch.float16: FP16, torch.bfloat16: BF16})


def _dtype(array):
    if array.dtype not in _dtypes:
        raise TypeError(f"features of {array.dtype}, expected float32, float16 or bfloat16")
    return _dtypes[array.dtype]


def _as_read(array, dtype):
    """Dense, and of that format."""
    if _is_tensor(array):
        return (array if array.dtype == dtype else array.to(dtype)).contiguous()
    return np.ascontiguousarray(array, dtype)


def _sizes(sizes, names):
    """Whole numbers, as many as there are names."""
    found = tuple(map(int, sizes))
    if len(found) != len(names) or found != tuple(sizes):
        raise ValueError(f"sizes {tuple(sizes)}, expected ({', '.join(names)}) in whole numbers")
    return found


def _copied(name, array, dtype, device):
    """A dense copy of that type; None stays None. With PyTorch it is a tensor on the device."""
    if array is None:
        return None
    if not _is_tensor(array):
        array = np.asarray(array)
    if dtype == "int32":
        _check_ints(name, array)
    if torch is None:
        return np.array(array, dtype, order="C")
    if not _is_tensor(array):
        array = torch.from_numpy(np.array(array, dtype, order="C"))
    place = "cpu" if device == CPU else f"cuda:{device}"
    return array.detach().to(place, getattr(torch, dtype), copy=True).contiguous()


def _check_ints(name, array):
    """Refuses what a copy as int32 would change."""
    if str(array.dtype) in ("int32", "torch.int32") or 0 in array.shape:
        return
    tensor = _is_tensor(array)
    if (array.is_floating_point() or array.is_complex() or array.dtype == torch.bool) if tensor \
            else array.dtype.kind not in "iu":
        raise TypeError(f"{name} has {array.dtype}, expected whole numbers")
    wide = array.long() if tensor else array
    for value in int(wide.min()), int(wide.max()):
        if not -2**31 <= value < 2**31:
            raise ValueError(f"{name} holds {value}, which is beyond int32")


def _address(array):
    if array is None:
        return None
    return array.data_ptr() if _is_tensor(array) else array.ctypes.data


def _empty(like, shape):
    return like.new_empty(shape) if _is_tensor(like) else np.empty(shape, like.dtype)


# ---- maps and plans ------------------------------------------------------------------------------

_ARRAYS = ("ranks_depth", "ranks_feat", "ranks_bev", "interval_starts", "interval_lengths", "weights")
_maps = weakref.WeakValueDictionary()  # by shape and the memory of their own arrays


def _key(arrays, shape):
    return (_device(arrays[2]), shape, *map(_address, arrays))


class Map:
    """Which points there are. `shape` is (B, N, D, H, W, Z, Y, X); the arrays are BEVDet's, sorted
    by cell, on the CPU or all on the GPU `device`. Without intervals they are found. The arrays are
    checked and copied: `arrays`, which must not be changed. A pickled Map is made again of them."""

    def __init__(self, shape, ranks_depth, ranks_feat, ranks_bev, interval_starts=None,
                 interval_lengths=None, weights=None, device=None):
        self.shape = _sizes(shape, ("B", "N", "D", "H", "W", "Z", "Y", "X"))
        self.device = _device(ranks_bev) if device is None else device
        self._plans, self._ready = {}, {}
        if _is_tensor(weights) and weights.requires_grad:
            raise ValueError("weights have no gradients in a Map: pass weights.detach()")
        given = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths, weights
        types = ("int32",) * 5 + ("float32",)
        # A tensor of inference_mode() could not be saved for backward.
        with torch.inference_mode(False) if torch is not None else contextlib.nullcontext():
            self.arrays = tuple(_copied(*array, self.device) for array in zip(_ARRAYS, given, types))
        points, intervals = (0 if a is None else int(a.shape[0]) for a in self.arrays[2:4])
        for name, array, length in zip(_ARRAYS, self.arrays,
                                       (points, points, points, intervals, intervals, points)):
            if array is not None and tuple(array.shape) != (length,):
                raise ValueError(f"{name} has shape {tuple(array.shape)}, expected ({length},)")
        if torch is not None and self.device != CPU:
            torch.cuda.synchronize(self.device)  # the copies must be there
        made = ctypes.c_void_p()
        _check(_library.bevpool_map_from_arrays, ctypes.byref(made),
               ctypes.byref(_Shape(*self.shape)),
               ctypes.byref(_Arrays(points, intervals, *map(_address, self.arrays))), self.device, 0)
        self._destroy = weakref.finalize(self, _library.bevpool_map_destroy, made)
        self._map = made
        for array in self.arrays:
            if _is_tensor(array):  # so that torch.compile records no copies of it in CUDA graphs
                array._dynamo_static_input_type = "unguarded"
        _maps[_key(self.arrays, self.shape)] = self

    def __reduce__(self):
        return Map, (self.shape, *self.arrays)

    def plan(self, channels, dtype, direction=FORWARD, channels_first=False, kernel=None,
             view=None):
        """The plan for that, made once. channels_first: of the output. view: of a view transform
        (softmax, temperature, strides of x)."""
        key = channels, dtype, direction, channels_first, kernel, view
        if key not in self._plans:
            self._plans[key] = Plan(self, *key)
        return self._plans[key]


class Cameras:
    """Cameras that move: each call makes its own map, of its `poses`. `shape` is (B, N, D, H, W, Z, Y,
    X) and `input_size` (height, width) of the network's input, in pixels; `depth` is (start, step) or
    a row of D depths; x, y, z are (minimum, maximum) of the grid: all in metres. Cells are numbered by
    cutting toward zero, as BEVDet does, or by rounding down."""

    def __init__(self, shape, input_size, depth, x, y, z, align=NEAREST, truncate=True):
        self.shape = _sizes(shape, ("B", "N", "D", "H", "W", "Z", "Y", "X"))
        bins, row = self.shape[2], tuple(map(float, depth))
        if len(row) not in (2, bins):
            raise ValueError(f"depth has {len(row)} numbers, expected (start, step) or {bins} depths")
        self.numbers = *map(float, (*x, *y, *z)), *row
        self.ints = *_sizes(input_size, ("height", "width")), int(align), int(bool(truncate))
        self._on(CPU)  # what is wrong is told now

    def _on(self, device):
        """This, prepared for a device."""
        return _moving(device, self.shape, self.ints, self.numbers)

    def poses(self, sensor2ego, cam2imgs, post_rots, post_trans, bda=None):
        """Poses (B, N, 12) of BEVDet's tensors: sensor2ego (B, N, 4, 4), cam2imgs and post_rots
        (B, N, 3, 3), post_trans (B, N, 3), bda (B, 3, 3) or (B, 4, 4)."""
        given = sensor2ego, cam2imgs, post_rots, post_trans, bda
        return (_operators.poses if _is_tensor(sensor2ego) else _poses)(*given)


class _Moving(Map):
    """Cameras on a device, with plans as a Map has them."""

    def __init__(self, device, shape, ints, numbers):
        self.shape, self.device, self._plans, self._ready = shape, device, {}, {}
        batch, cameras, bins, height, width, nz, ny, nx = shape
        row = numbers[6:]
        depths = (ctypes.c_double * len(row))(*row) if len(row) != 2 else None
        start, step = row if depths is None else (0.0, 0.0)
        frustum = _Frustum(ctypes.sizeof(_Frustum), batch, cameras, ints[2], ints[1], ints[0], width,
                           height, bins, start, step, depths and ctypes.addressof(depths), *numbers[:6],
                           nx, ny, nz, ints[3], 0)
        made = ctypes.c_void_p()
        _check(_library.bevpool_map_moving, ctypes.byref(made), ctypes.byref(frustum), device)
        self._destroy = weakref.finalize(self, _library.bevpool_map_destroy, made)
        self._map = made


@functools.lru_cache(maxsize=16)
def _moving(device, shape, ints, numbers):
    return _Moving(device, shape, ints, numbers)


def _poses(sensor2ego, cam2imgs, post_rots, post_trans, bda):
    """Poses (B, N, 12) of the matrices, by one kernel on the current stream."""
    b, n = map(int, sensor2ego.shape[:2])
    shapes = [(b, n, 4, 4), (b, n, 3, 3), (b, n, 3, 3), (b, n, 3)]
    given = [sensor2ego, cam2imgs, post_rots, post_trans]
    names = "sensor2ego", "cam2imgs", "post_rots", "post_trans", "bda"
    if bda is not None:
        size = 3 if bda.shape[-1] == 3 else 4
        given, shapes = [*given, bda], [*shapes, (b, size, size)]
    for name, array, shape in zip(names, given, shapes):
        if tuple(array.shape) != shape or _device(array) != _device(sensor2ego):
            raise ValueError(f"{name} has shape {tuple(array.shape)} on device {_device(array)}, expected "
                             f"{shape} on device {_device(sensor2ego)}")
    of = torch if _is_tensor(sensor2ego) else np
    wide = not all(array.dtype == of.float32 for array in given)
    given = [_as_read(array, of.float64 if wide else of.float32) for array in given]
    poses, device = of.empty((b, n, 12), dtype=of.float64), _device(sensor2ego)
    if device != CPU:
        poses = sensor2ego.new_empty((b, n, 12), dtype=of.float64)
    bev = (None, 0) if bda is None else (_address(given[4]), size)
    matrices = _Matrices(ctypes.sizeof(_Matrices), b, n, wide, *map(_address, given[:4]), *bev)
    _check(_library.bevpool_poses, ctypes.addressof(matrices), _address(poses), device,
           None if device == CPU else _raw_stream(device))
    return poses


class Plan:
    """A kernel prepared for a map, a format and a number of channels."""

    def __init__(self, grid, channels, dtype, direction, channels_first, kernel, view):
        its_view = view and _View(int(view[0]), view[1], view[2], view[2])
        options = _Options(ctypes.sizeof(_Options), channels, dtype, direction, 0,
                           int(channels_first), kernel and kernel.encode(),
                           its_view and ctypes.addressof(its_view))
        made = ctypes.c_void_p()
        _check(_library.bevpool_plan_create, ctypes.byref(made), grid._map, ctypes.byref(options))
        self._destroy = weakref.finalize(self, _library.bevpool_plan_destroy, made)
        self._plan, self.device = made.value, grid.device
        self.kernel = _library.bevpool_plan_kernel(made).decode()
        self.workspace_bytes = _library.bevpool_plan_workspace_bytes(made)
        self._item = 4 if dtype == FP32 else 2
        call = _Call(size=ctypes.sizeof(_Call), workspace_bytes=self.workspace_bytes)
        for role in range(ROLES):
            call.tensors[role] = _Tensor(None, _library.bevpool_plan_bytes(made, role), dtype, 0)
        self._call = bytes(call)  # all but the addresses
        self._map_bytes = _library.bevpool_plan_map_bytes(made)

    def _made_map(self, poses):
        """The map of moving cameras, made of poses (..., 12) on the current stream: its memory."""
        poses = _as_read(poses, torch.float64 if _is_tensor(poses) else np.float64)
        memory = _empty(poses, (self._map_bytes + ALIGNMENT + 7) // 8)
        start = (_address(memory) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        stream = None if self.device == CPU else _raw_stream(self.device)
        _check(_library.bevpool_plan_update, self._plan, _address(poses), start, self._map_bytes, stream)
        return memory, start

    def _launch(self, words, arrays, poses=None):
        """Launches on the current stream. `words`: where the addresses of the arrays go, which are
        dense and have the sizes of the plan. poses: of moving cameras."""
        call = _Words.from_buffer_copy(self._call)
        if self._map_bytes:
            memory, call[_MAP] = self._made_map(poses)
        for word, array in zip(words, arrays):
            call[word] = _address(array)
        if self.workspace_bytes:
            scratch = _empty(arrays[0], (self.workspace_bytes + ALIGNMENT) // self._item)
            call[_WORKSPACE] = (_address(scratch) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        if self.device == CPU:
            return _check(_run, self._plan, call)
        call[_STREAM] = _raw_stream(self.device)
        status = _run(self._plan, call, _thread.address)
        if status == WRONG_DEVICE:  # the calling thread's current one
            with torch.cuda.device(self.device):
                _check(_run, self._plan, call)
        elif status:
            raise Error(_thread.error)


def _prepared(depth, feat, grid, direction, channels_first, kernel=None):
    """The plan for such arrays, and the shape of what it pools. Arrays of one kind are checked
    once."""
    kind = (depth.shape, feat.shape, depth.dtype, feat.dtype, getattr(depth, "device", None),
            getattr(feat, "device", None), direction, channels_first, kernel)
    found = grid._ready.get(kind)
    if found is None:
        _check_arrays(grid, depth, feat)
        channels = int(feat.shape[-1])
        plan = grid.plan(channels, _dtype(feat), direction, channels_first, kernel)
        found = grid._ready[kind] = plan, _out_shape(grid.shape, channels, channels_first)
    return found


def _check_arrays(grid, depth, feat):
    b, n, d, h, w = grid.shape[:5]
    for name, array, shape in ("depth", depth, (d, h, w)), ("feat", feat, (h, w, feat.shape[-1])):
        if array.shape != (b, n, *shape) and array.shape != (b * n, *shape):
            expected = f"{(b, n, *shape)}" if name == "depth" else f"({b}, {n}, {h}, {w}, channels)"
            raise ValueError(f"{name} has shape {tuple(array.shape)}, expected {expected}")
        if _device(array) != grid.device:
            raise ValueError(f"the map is on device {grid.device}, {name} is not")


def _out_shape(shape, channels, channels_first):
    b, z, y, x = shape[0], *shape[5:]
    return (b, channels, z, y, x) if channels_first else (b, z, y, x, channels)


def _forward(depth, feat, grid, channels_first, kernel=None):
    plan, shape = _prepared(depth, feat, grid, FORWARD, channels_first, kernel)
    out = _empty(feat, shape)
    plan._launch(_POOLED, (_as_read(depth, feat.dtype), _as_read(feat, feat.dtype), out))
    return out


def _backward(grad, depth, feat, grid, channels_first):
    plan, shape = _prepared(depth, feat, grid, BACKWARD, channels_first)
    if tuple(grad.shape) != shape or _device(grad) != plan.device:
        raise ValueError(f"the gradient of the output has shape {tuple(grad.shape)} on device "
                         f"{_device(grad)}, expected {shape} on device {plan.device}")
    grads = _empty(feat, tuple(depth.shape)), _empty(feat, tuple(feat.shape))
    inputs = (_as_read(array, feat.dtype) for array in (depth, feat, grad))
    plan._launch(_GRADIENTS, (*inputs, *grads))
    return _as_read(grads[0], depth.dtype), grads[1]


# ---- the whole view transform --------------------------------------------------------------------


def _as_given(x):
    """x (cameras, D + C, H, W), dense in either memory format of PyTorch."""
    x = x if len(x.shape) == 4 else x.reshape((-1, *x.shape[-3:]))
    if not _is_tensor(x):
        return np.ascontiguousarray(x)
    last = len(x.shape) == 4 and x.is_contiguous(memory_format=torch.channels_last)
    return x if last else x.contiguous()


def _prepared_view(x, grid, direction, channels_first, softmax, temperature):
    kind = ("view", x.shape, x.strides if not _is_tensor(x) else x.stride(), x.dtype, _device(x),
            direction, channels_first, softmax, temperature)
    found = grid._ready.get(kind)
    if found is None:
        b, n, d, h, w = grid.shape[:5]
        channels = int(x.shape[1]) - d
        if channels < 1 or tuple(x.shape) != (b * n, d + channels, h, w):
            raise ValueError(f"x has shape {tuple(x.shape)}, expected ({b * n}, {d} + channels, {h}, {w})")
        if _device(x) != grid.device:
            raise ValueError(f"the map is on device {grid.device}, x is not")
        strides = x.stride() if _is_tensor(x) else [s // x.itemsize for s in x.strides]
        view = bool(softmax), float(temperature), tuple(map(int, strides))
        plan = grid.plan(channels, _dtype(x), direction, channels_first, view=view)
        found = grid._ready[kind] = plan, _out_shape(grid.shape, channels, channels_first)
    return found


def _view_forward(x, grid, *how, poses=None):
    x = _as_given(x)
    plan, shape = _prepared_view(x, grid, FORWARD, *how)
    out = _empty(x, shape)
    plan._launch(_POOLED, (x, x[:, grid.shape[2]:], out), poses)
    return out


def _view_backward(grad, given, grid, *how, poses=None):
    x = _as_given(given)
    plan, shape = _prepared_view(x, grid, BACKWARD, *how)
    if tuple(grad.shape) != shape or _device(grad) != plan.device:
        raise ValueError(f"the gradient of the output has shape {tuple(grad.shape)} on device "
                         f"{_device(grad)}, expected {shape} on device {plan.device}")
    of_x = torch.empty_like(x) if _is_tensor(x) else np.empty_like(x)
    bins = grid.shape[2]
    plan._launch(_GRADIENTS, (x, x[:, bins:], _as_read(grad, x.dtype), of_x, of_x[:, bins:]), poses)
    return of_x.reshape(given.shape)


def _moving_forward(x, poses, shape, ints, numbers, *how):
    grid = _moving(_device(x), tuple(shape), tuple(ints), tuple(numbers))
    return _view_forward(x, grid, *how, poses=_checked_poses(poses, x, shape))


def _moving_backward(grad, x, poses, shape, ints, numbers, *how):
    grid = _moving(_device(x), tuple(shape), tuple(ints), tuple(numbers))
    return _view_backward(grad, x, grid, *how, poses=_checked_poses(poses, x, shape))


def _checked_poses(poses, x, shape):
    if tuple(poses.shape) != (shape[0], shape[1], 12):
        raise ValueError(f"poses have shape {tuple(poses.shape)}, expected ({shape[0]}, {shape[1]}, 12)")
    if _device(poses) != _device(x):
        raise ValueError(f"x is on device {_device(x)}, poses are not")
    return poses


# ---- maps of the last calls ----------------------------------------------------------------------


class _Recent:
    """The maps of the last calls. An array is looked up by its memory. It is the same if a copy on
    the CPU is equal to it, or if its memory on a GPU was never freed and has the same version."""

    def __init__(self, most=16):
        self.most, self.maps = most, collections.OrderedDict()

    def find(self, arrays, rest, make):
        """The map of what these arrays hold. `rest`: what it depends on besides arrays."""
        key = (rest, *map(self.place, arrays))
        found = self.maps.pop(key, None)
        if found is None or not all(map(self.same, arrays, found[1])):
            found = make(), [self.proof(array) for array in arrays]
        self.maps[key] = found
        while len(self.maps) > self.most:
            self.maps.popitem(last=False)
        return found[0]

    @staticmethod
    def place(array):
        if not _is_tensor(array):
            return array is None or (_address(array), array.shape, array.strides, array.dtype)
        version = array._version if array.is_cuda and not array.is_inference() else None
        return array.data_ptr(), tuple(array.shape), array.stride(), array.dtype, version

    @staticmethod
    def proof(array):
        if not _is_tensor(array):
            return None if array is None else array.copy()
        if not array.is_cuda:
            return array.detach().clone()
        return StorageWeakRef(getattr(array, "untyped_storage", array.storage)())

    @staticmethod
    def same(array, proof):
        if not _is_tensor(array):
            return array is None or np.array_equal(array, proof)
        return torch.equal(array, proof) if not array.is_cuda else not proof.expired()


_recent = _Recent()


def _map_of(arrays, shape, device):
    """The Map whose arrays these are, or one made of them."""
    shape = tuple(shape)
    return _maps.get(_key(arrays, shape)) or \
        _recent.find(arrays, (shape, device), lambda: Map(shape, *arrays, device=device))


# ---- voxel_pool and voxel_align ------------------------------------------------------------------


def _voxel_points(xy, bev_h, bev_w, align):
    """Of float cell coordinates (points, 2): arrays point, y, x, weight of all that hit a cell."""
    count = len(xy)
    if not align:  # towards zero, as BEV pooling does: -0.9 is in cell 0
        cells = np.trunc(xy)
        entries = [(np.arange(count), cells[:, 0], cells[:, 1], np.ones(count, np.float32))]
    else:
        low = np.floor(xy)
        part = xy - low
        entries = [(np.arange(count), low[:, 0] + i, low[:, 1] + j,
                    np.abs(1 - i - part[:, 0]) * np.abs(1 - j - part[:, 1]))
                   for i in (0, 1) for j in (0, 1)]
    point, x, y, weight = (np.concatenate(parts) for parts in zip(*entries))
    inside = (x >= 0) & (x < bev_w) & (y >= 0) & (y < bev_h) & (weight > 0)
    return point[inside], y[inside].astype(np.int64), x[inside].astype(np.int64), weight[inside]


def _voxel_map(geom, shape, bev_h, bev_w, align, device):
    host = geom.detach().float().cpu().numpy() if _is_tensor(geom) else np.asarray(geom, np.float32)
    b = shape[0]
    point, y, x, weight = _voxel_points(host.reshape(-1, host.shape[-1])[:, :2], bev_h, bev_w, align)
    sample = point // (host[..., 0].size // b)
    cell = (sample * bev_h + y) * bev_w + x
    order = np.lexsort((point, cell))
    ranks = point[order]
    return Map(shape, ranks, ranks, cell[order], weights=weight[order] if align else None,
               device=device)


def _voxel_grid(geom, bev_h, bev_w, align, device):
    b, n, d, h, w = geom.shape[:5]
    shape = b, n, 1, d * h, w, 1, bev_h, bev_w
    return _recent.find([geom], (shape, align, device),
                        lambda: _voxel_map(geom, shape, bev_h, bev_w, align, device))


def _ones(feat):
    shape = *feat.shape[:2], 1, *feat.shape[2:4]
    return feat.new_ones(shape) if _is_tensor(feat) else np.ones(shape, feat.dtype)


def _voxel_forward(volume, geom, *how):
    b, n, d, h, w, channels = volume.shape
    feat = volume.reshape((b, n, d * h, w, channels))
    return _forward(_ones(feat), feat, _voxel_grid(geom, *how, _device(volume)), True)[:, :, 0]


def _voxel_backward(grad, geom, *how):
    b, n, d, h, w = geom.shape[:5]
    feat = grad.new_zeros((b, n, d * h, w, grad.shape[1]))
    grid = _voxel_grid(geom, *how, _device(grad))
    found = _backward(grad[:, :, None], _ones(feat), feat, grid, True)[1]
    return found.reshape((b, n, d, h, w, grad.shape[1]))


def _voxel(volume, geom, bev_h, bev_w, align):
    if len(volume.shape) != 6 or tuple(geom.shape[:5]) != tuple(volume.shape[:5]):
        raise ValueError(f"volume {tuple(volume.shape)} and geom {tuple(geom.shape)}, expected "
                         "(B, N, D, H, W, C) and (B, N, D, H, W, 2 or 3)")
    how = *_sizes((bev_h, bev_w), ("bev_h", "bev_w")), align
    if not _is_tensor(volume):
        return _voxel_forward(volume, geom, *how)
    if align and geom.requires_grad and torch.is_grad_enabled():
        raise ValueError("geom has no gradients in voxel_align: pass geom.detach()")
    return _operators.voxel(volume, geom, *how)


def voxel_pool(volume, geom, bev_h, bev_w):
    """Adds volume (B, N, D, H, W, C) into the cells that geom (B, N, D, H, W, 3), in units of
    cells, lies in, rounded towards zero. x and y count, z does not. (B, C, bev_h, bev_w)"""
    return _voxel(volume, geom, bev_h, bev_w, False)


def voxel_align(volume, geom, bev_h, bev_w):
    """The same, each point shared out to the four lattice points round it. (B, C, bev_h, bev_w)"""
    return _voxel(volume, geom, bev_h, bev_w, True)


# ---- what there is to call -----------------------------------------------------------------------


def pool(depth, feat, grid, channels_first=False, kernel=None):
    """Pools depth (B, N, D, H, W) and feat (B, N, H, W, C) with a Map: (B, Z, Y, X, C), or
    (B, C, Z, Y, X). The axes B and N may be one. Without gradients: `kernel`, one that kernels()
    names."""
    if _is_tensor(feat):
        return _operators.pool(depth, feat, grid.shape, channels_first, *grid.arrays, kernel)
    return _forward(depth, feat, grid, channels_first, kernel)


def view_transform(x, grid, depth_bins, channels_first=True, softmax=True, temperature=1.0, poses=None):
    """What a depth net gives, x (B * N, D + C, H, W) or (B, N, D + C, H, W), D logits in front, pooled
    with a Map, or with Cameras and their `poses` (B, N, 12): (B, C, Z, Y, X), or (B, Z, Y, X, C). Not
    `softmax`: they are depths already."""
    if depth_bins != grid.shape[2]:
        raise ValueError(f"depth_bins is {depth_bins}, expected {grid.shape[2]} as in the map")
    if (poses is None) == isinstance(grid, Cameras):
        raise ValueError("poses belong to Cameras, and Cameras need them")
    if poses is not None:
        how = grid.shape, grid.ints, grid.numbers, channels_first, softmax, temperature
        return (_operators.moving_view if _is_tensor(x) else _moving_forward)(x, poses, *how)
    if _is_tensor(x):
        return _operators.view(x, grid.shape, channels_first, *grid.arrays, softmax, temperature)
    return _view_forward(x, grid, channels_first, softmax, temperature)


def _with_channels_in_front(out):
    """(B, Z, Y, X, C) as (B, C, Z, Y, X), in the same memory: channels last is its memory format."""
    return out.permute(0, 4, 1, 2, 3) if _is_tensor(out) else out.transpose(0, 4, 1, 2, 3)


def bev_pool_v2(depth, feat, ranks_depth, ranks_feat, ranks_bev, bev_feat_shape, interval_starts,
                interval_lengths, channels_last=False):
    """BEVDet's function: depth (B, N, D, H, W), feat (B, N, H, W, C), bev_feat_shape
    (B, Z, Y, X, C). (B, C, Z, Y, X), with channels_last in that memory format, which costs less."""
    batch, *cells, channels = _sizes(bev_feat_shape, ("B", "Z", "Y", "X", "C"))
    if len(depth.shape) != 5:
        raise ValueError(f"depth has shape {tuple(depth.shape)}, expected (B, N, D, H, W)")
    if batch != depth.shape[0] or channels != feat.shape[-1]:
        raise ValueError(f"bev_feat_shape is {tuple(bev_feat_shape)}, expected "
                         f"({int(depth.shape[0])}, Z, Y, X, {int(feat.shape[-1])})")
    arrays = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths, None
    sizes = map(int, depth.shape) if torch is not None and torch.jit.is_tracing() else depth.shape
    shape = *sizes, *cells
    first = not channels_last
    out = _operators.pool(depth, feat, shape, first, *arrays, None) if _is_tensor(feat) else \
        _forward(depth, feat, _map_of(arrays, shape, CPU), first)
    return out if first else _with_channels_in_front(out)


# ---- operators of PyTorch ------------------------------------------------------------------------

if torch is not None:
    # What torch.cuda.current_stream(device).cuda_stream says, without an object in between.
    _raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or \
        (lambda device: torch.cuda.current_stream(device).cuda_stream)
    _dispatcher = torch.library.Library("bevpool", "DEF") if hasattr(torch, "library") else None
    _tag = getattr(getattr(torch, "Tag", None), "needs_fixed_stride_order", None)

    _below_autograd = getattr(torch._C, "_AutoDispatchBelowAutograd", None)
    if not hasattr(_below_autograd, "__enter__"):  # before PyTorch 2: as long as the object lives
        @contextlib.contextmanager
        def _below_autograd():
            guard = torch._C._AutoDispatchBelowAutograd()
            yield guard

    class _Node(torch.autograd.Function):
        """A step of autograd's graph: run(*arguments), and backward(*gradients, *arguments), which
        gives the gradients of the first arguments."""

        @staticmethod
        def forward(ctx, run, rules, *arguments):
            ctx.rules, ctx.arguments = rules, arguments
            ctx.rest = [None if _is_tensor(a) else a for a in arguments]
            ctx.save_for_backward(*(a if _is_tensor(a) else None for a in arguments))
            if forward_ad._current_level < 0:
                del ctx.arguments
            return run(*arguments)

        @staticmethod
        def backward(ctx, *grads):
            arguments = [rest if saved is None else saved
                         for saved, rest in zip(ctx.saved_tensors, ctx.rest)]
            found = ctx.rules[0](*grads, *arguments)
            return (None, None, *found) + (None,) * (len(arguments) - len(found))

        @staticmethod
        def jvp(ctx, _, __, *tangents):
            arguments = [forward_ad.unpack_dual(a).primal if _is_tensor(a) else a for a in ctx.arguments]
            del ctx.arguments
            return ctx.rules[1](arguments, tangents)

    def _tangent(call, linear, primals, tangents):
        """The product rule: call(*primals) is linear in each group of arguments in `linear`."""
        terms = []
        for group in linear:
            if any(tangents[i] is not None for i in group):
                moved = list(primals)
                for i in group:
                    moved[i] = torch.zeros_like(moved[i]) if tangents[i] is None else tangents[i]
                terms.append(call(*moved))
        if _is_tensor(terms[0]):
            return sum(terms[1:], terms[0])
        return tuple(sum(parts[1:], parts[0]) for parts in zip(*terms))

    def _operator(signature, kernel, fake, linear, backward=None, composed=None, exact=None):
        """Makes an operator. kernel: computes it. fake: what has the shape of its output. linear:
        groups of its first arguments, which have gradients. backward: as _Node has it. composed: the
        same of other operators, where these know gradients that this one does not. exact: whether
        arguments are such that there are gradients. Returns what to call."""
        count = sum(map(len, linear))
        name = signature[:signature.index("(")]

        def observed(*arguments):
            leaves = arguments[:count]
            moving = forward_ad._current_level >= 0 and \
                any(forward_ad.unpack_dual(leaf).tangent is not None for leaf in leaves)
            wanted = torch.is_grad_enabled() and any(leaf.requires_grad for leaf in leaves)
            if (moving or wanted) and exact and not exact(*arguments):
                raise ValueError("there are no gradients with kernel: detach the inputs")
            if composed and (moving or wanted and not backward):
                return composed(*arguments)
            if wanted:
                return _Node.apply(run, (backward, tangent), *arguments)
            if not moving:
                return run(*arguments)
            primals, tangents = zip(*map(forward_ad.unpack_dual, leaves))
            arguments = *primals, *arguments[count:]
            out, moved = run(*arguments), tangent(arguments, tangents)
            return forward_ad.make_dual(out, moved) if _is_tensor(out) else \
                tuple(map(forward_ad.make_dual, out, moved))

        def tangent(primals, tangents):
            return _tangent(call, linear, primals, tangents)

        if _dispatcher is None:
            def call(*arguments):
                if torch.jit.is_tracing() or forward_ad._current_level >= 0:
                    raise RuntimeError("bevpool under torch.jit.trace, torch.onnx.export and forward_ad "
                                       f"takes PyTorch 1.13 or later, this is {torch.__version__}")
                return observed(*arguments)
            run = kernel
            return call
        tags = {} if _tag is None else {"tags": (_tag,)}
        _dispatcher.define(signature, **tags)
        for key, function in (("CompositeExplicitAutograd", kernel), ("Meta", fake), ("Autograd", observed)):
            _dispatcher.impl(name, function, key)
        call = getattr(torch.ops.bevpool, name).default

        def run(*arguments):
            with _below_autograd():
                return call(*arguments)
        return call

    def _with_map(compute, count):
        """compute(*tensors, Map, channels_first, ...) as a kernel, whose arguments spell the Map."""
        def kernel(*arguments):
            tensors, (shape, channels_first, *rest) = arguments[:count], arguments[count:]
            grid = _map_of(rest[:6], shape, _device(tensors[-1]))
            return compute(*tensors, grid, channels_first, *rest[6:])
        return kernel

    def _split(x, shape, softmax, temperature):
        """Depth (cameras, D, H, W) and features (cameras, H, W, C) of x."""
        x, bins = x.reshape((-1, *x.shape[-3:])), shape[2]
        logits, feat = x[:, :bins], x[:, bins:].permute(0, 2, 3, 1)
        return (logits / (temperature or 1.0)).softmax(1) if softmax else logits, feat

    def _composed_view(x, shape, *rest):
        *of_map, softmax, temperature = rest
        return _operators.pool(*_split(x, shape, softmax, temperature), shape, *of_map, None)

    def _composed_view_grad(grad, x, shape, *rest):
        *of_map, softmax, temperature = rest
        depth, feat = _split(x, shape, softmax, temperature)
        of_depth, of_feat = _operators.pool_grad(grad, depth, feat, shape, *of_map)
        if softmax:
            of_depth = depth * (of_depth - (depth * of_depth).sum(1, keepdim=True)) / (temperature or 1.0)
        return torch.cat([of_depth, of_feat.permute(0, 3, 1, 2)], 1).reshape(x.shape)

    def _pool_grad_backward(of_depth, of_feat, grad, depth, feat, *of_map):
        """pool_grad() gives the gradients of <grad, pool(depth, feat)>, which is linear in each."""
        of_grad = _operators.pool(of_depth, feat, *of_map, None) + \
            _operators.pool(depth, of_feat, *of_map, None)
        return of_grad, *_operators.pool_grad(grad, of_depth, of_feat, *of_map)

    class _operators:
        _map = ("SymInt[] shape, bool channels_first, Tensor ranks_depth, Tensor ranks_feat, "
                "Tensor ranks_bev, Tensor? interval_starts, Tensor? interval_lengths, Tensor? weights")
        _geom = "Tensor geom, SymInt bev_h, SymInt bev_w, bool align"

        pool = _operator(
            f"pool(Tensor depth, Tensor feat, {_map}, str? kernel) -> Tensor",
            _with_map(_forward, 2),
            lambda depth, feat, shape, first, *_: feat.new_empty(_out_shape(shape, feat.shape[-1], first)),
            linear=((0,), (1,)), exact=lambda *arguments: not arguments[-1],
            backward=lambda grad, *rest: _operators.pool_grad(grad, *rest[:-1]))

        pool_grad = _operator(
            f"pool_grad(Tensor grad, Tensor depth, Tensor feat, {_map}) -> (Tensor, Tensor)",
            _with_map(_backward, 3),
            lambda grad, depth, feat, *_: (depth.new_empty(depth.shape), feat.new_empty(feat.shape)),
            linear=((0,), (1, 2)), backward=_pool_grad_backward)

        view = _operator(
            f"view(Tensor x, {_map}, bool softmax, float temperature) -> Tensor",
            _with_map(_view_forward, 1),
            lambda x, shape, first, *_: x.new_empty(_out_shape(shape, x.shape[-3] - shape[2], first)),
            linear=((0,),), composed=_composed_view,
            backward=lambda grad, x, *rest: (_operators.view_grad(grad, x, *rest),))

        view_grad = _operator(
            f"view_grad(Tensor grad, Tensor x, {_map}, bool softmax, float temperature) -> Tensor",
            _with_map(_view_backward, 2),
            lambda grad, x, *_: torch.empty_like(_as_given(x)).reshape(x.shape),
            linear=((0, 1),), composed=_composed_view_grad)

        _moving = ("Tensor poses, SymInt[] shape, int[] ints, float[] numbers, bool channels_first, "
                   "bool softmax, float temperature")

        poses = _operator(
            "poses(Tensor sensor2ego, Tensor cam2imgs, Tensor post_rots, Tensor post_trans, Tensor? bda) "
            "-> Tensor", _poses,
            lambda sensor2ego, *_: sensor2ego.new_empty((*sensor2ego.shape[:2], 12), dtype=torch.float64),
            linear=())

        moving_view = _operator(
            f"moving_view(Tensor x, {_moving}) -> Tensor", _moving_forward,
            lambda x, poses, shape, ints, numbers, first, *_: x.new_empty(
                _out_shape(shape, x.shape[-3] - shape[2], first)),
            linear=((0,),),
            backward=lambda grad, x, *rest: (_operators.moving_view_grad(grad, x, *rest),))

        moving_view_grad = _operator(
            f"moving_view_grad(Tensor grad, Tensor x, {_moving}) -> Tensor", _moving_backward,
            lambda grad, x, *_: torch.empty_like(_as_given(x)).reshape(x.shape),
            linear=((0, 1),))

        voxel = _operator(
            f"voxel(Tensor volume, {_geom}) -> Tensor", _voxel_forward,
            lambda volume, geom, bev_h, bev_w, align: volume.new_empty(
                (volume.shape[0], volume.shape[-1], bev_h, bev_w)),
            linear=((0,),), backward=lambda grad, volume, *how: (_operators.voxel_grad(grad, *how),))

        voxel_grad = _operator(
            f"voxel_grad(Tensor grad, {_geom}) -> Tensor", _voxel_backward,
            lambda grad, geom, *_: grad.new_empty((*geom.shape[:5], grad.shape[1])),
            linear=((0,),), backward=lambda moved, grad, *how: (_operators.voxel(moved, *how),))

    class LiftSplat(torch.nn.Module):
        """What BEVDet's LSSViewTransformer does behind its depth net: x (B * N, D + C, H, W) becomes
        (B, Z * C, Y, X), slices of height one behind the other. `grid`: a Map, or Cameras, whose poses
        forward() takes each step. `channels_last`: the output's memory format, which costs less; None:
        that of x. Grids with several slices have it by a copy."""

        def __init__(self, grid, depth_bins, temperature=1.0, channels_last=None):
            super().__init__()
            self.grid, self.depth_bins, self.temperature = grid, depth_bins, temperature
            self.channels_last = channels_last

        def _writes_last(self, x):
            if self.channels_last is None:
                return len(x.shape) == 4 and not x.is_contiguous() and \
                    x.is_contiguous(memory_format=torch.channels_last)
            return self.channels_last

        def forward(self, x, poses=None):
            last, flat = self._writes_last(x), self.grid.shape[5] == 1
            bev = view_transform(x, self.grid, self.depth_bins, not (last and flat),
                                 temperature=self.temperature, poses=poses)
            if flat:
                return (_with_channels_in_front(bev) if last else bev)[:, :, 0]
            bev = bev.transpose(1, 2).flatten(1, 2)
            return bev.contiguous(memory_format=torch.channels_last) if last else bev
