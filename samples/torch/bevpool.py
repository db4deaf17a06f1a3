"""BEV pooling for NumPy and PyTorch over libbevpool, in one file to copy. PyTorch is optional.

    import bevpool
    out = bevpool.bev_pool_v2(depth, feat, ranks_depth, ranks_feat, ranks_bev, bev_feat_shape,
                              interval_starts, interval_lengths)     # as in BEVDet: (B, C, Z, Y, X)

    grid = bevpool.Map(shape, ranks_depth, ranks_feat, ranks_bev)    # once, for a map that stays
    out = bevpool.pool(depth, feat, grid)                            # (B, Z, Y, X, C)

    out = bevpool.view_transform(x, grid, depth_bins=D)              # (B, C, Z, Y, X), softmax and all
    view = bevpool.LiftSplat(grid, depth_bins=D)                     # the same as a module

    out = bevpool.voxel_pool(volume, geom, bev_h, bev_w)             # (B, C, bev_h, bev_w)
    out = bevpool.voxel_align(volume, geom, bev_h, bev_w)

With tensors these are operators with gradients, for torch.compile and CUDA graphs; they run on the
current stream. A map's first launch prepares a plan, which waits for the GPU: do that before a graph
is captured. bev_pool_v2, voxel_pool and voxel_align keep the maps of the last calls and know them by
the memory and the version of their arrays; a NumPy array must not be changed in between.

The library is the file that BEVPOOL_LIBRARY names, else libbevpool.so.0 beside this file (a wheel of
`make wheel` has it there), else that on the usual paths.
"""
import collections
import ctypes
import os
import threading
import weakref

import numpy as np

try:
    import torch
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
        [("kernel", ctypes.c_char_p), ("view", ctypes.c_void_p), ("prune", ctypes.c_float)]


class _View(ctypes.Structure):
    _fields_ = [("softmax", ctypes.c_int32), ("temperature", ctypes.c_float),
                ("depth_strides", ctypes.c_int64 * 4), ("feat_strides", ctypes.c_int64 * 4)]


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t), ("dtype", ctypes.c_int32),
                ("scale", ctypes.c_float)]


class _Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("tensors", _Tensor * ROLES),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("stream", ctypes.c_void_p)]


# A call as 64-bit words, which are faster to write than fields, and the numbers of some words.
_Words = ctypes.c_uint64 * (ctypes.sizeof(_Call) // 8)
_WORKSPACE, _STREAM = _Call.workspace.offset // 8, _Call.stream.offset // 8
_DATA = [(_Call.tensors.offset + role * ctypes.sizeof(_Tensor) + _Tensor.data.offset) // 8
         for role in range(ROLES)]
_POOLED = [_DATA[role] for role in (DEPTH, FEAT, OUT)]
_GRADIENTS = [_DATA[role] for role in (DEPTH, FEAT, GRAD_OUT, GRAD_DEPTH, GRAD_FEAT)]


def _load():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libbevpool.so.0")
    name = os.environ.get("BEVPOOL_LIBRARY") or \
        (beside if os.path.exists(beside) else "libbevpool.so.0")
    try:
        library = ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"{error} (make install and ldconfig, or name the file: "
                          "BEVPOOL_LIBRARY=PREFIX/lib/libbevpool.so.0)") from None
    pointer, i32 = ctypes.c_void_p, ctypes.c_int32
    for name, result, *arguments in (
            ("status_name", ctypes.c_char_p, i32),
            ("kernel_name", ctypes.c_char_p, i32, i32, i32),
            ("plan_kernel", ctypes.c_char_p, pointer),
            ("plan_workspace_bytes", ctypes.c_size_t, pointer),
            ("plan_bytes", ctypes.c_size_t, pointer, i32),
            ("map_from_arrays", i32, pointer, pointer, pointer, i32, ctypes.c_uint32, pointer),
            ("map_destroy", None, pointer),
            ("plan_create", i32, pointer, pointer, pointer, pointer),
            ("plan_destroy", None, pointer),
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
    _dtypes |= {torch.float32: FP32, torch.float16: FP16, torch.bfloat16: BF16}


def _dtype(array):
    if array.dtype not in _dtypes:
        raise TypeError(f"features of {array.dtype}, expected float32, float16 or bfloat16")
    return _dtypes[array.dtype]


def _as_read(array, dtype):
    """Dense, and of that format."""
    if _is_tensor(array):
        return (array if array.dtype == dtype else array.to(dtype)).contiguous()
    return np.ascontiguousarray(array, dtype)


def _ints(array, dtype="int32"):
    """A dense array of that type; None stays None."""
    if array is None:
        return None
    if _is_tensor(array):
        return array.detach().to(getattr(torch, dtype)).contiguous()
    return np.ascontiguousarray(array, dtype)


def _address(array):
    if array is None:
        return None
    return array.data_ptr() if _is_tensor(array) else array.ctypes.data


def _empty(like, shape):
    return like.new_empty(shape) if _is_tensor(like) else np.empty(shape, like.dtype)


# ---- maps and plans ------------------------------------------------------------------------------

_maps = weakref.WeakValueDictionary()  # by handle: what operators get in the place of a map


class Map:
    """Which points there are. `shape` is (B, N, D, H, W, Z, Y, X); the arrays are BEVDet's, sorted
    by cell, on the CPU or all on the GPU `device`. Without intervals they are found. The arrays are
    copied and checked."""

    _next = 1

    def __init__(self, shape, ranks_depth, ranks_feat, ranks_bev, interval_starts=None,
                 interval_lengths=None, weights=None, device=None):
        self.shape = tuple(int(size) for size in shape)
        if len(self.shape) != 8:
            raise ValueError(f"shape has {len(self.shape)} sizes, expected (B, N, D, H, W, Z, Y, X)")
        self.device = _device(ranks_bev) if device is None else device
        self._plans, self._ready = {}, {}
        arrays = [_ints(a) for a in (ranks_depth, ranks_feat, ranks_bev, interval_starts,
                                     interval_lengths)] + [_ints(weights, "float32")]
        points, intervals = (0 if a is None else int(a.shape[0]) for a in (arrays[2], arrays[3]))
        for name, array, length in zip(("ranks_depth", "ranks_feat", "ranks_bev", "interval_starts",
                                        "interval_lengths", "weights"), arrays,
                                       (points, points, points, intervals, intervals, points)):
            if array is not None and tuple(array.shape) != (length,):
                raise ValueError(f"{name} has shape {tuple(array.shape)}, expected ({length},)")
        if any(_device(a) != CPU for a in arrays if a is not None):
            torch.cuda.synchronize(self.device)  # what writes the arrays must be done
        made = ctypes.c_void_p()
        _check(_library.bevpool_map_from_arrays, ctypes.byref(made),
               ctypes.byref(_Shape(*self.shape)),
               ctypes.byref(_Arrays(points, intervals, *map(_address, arrays))), self.device, 0)
        self._destroy = weakref.finalize(self, _library.bevpool_map_destroy, made)
        self._map = made
        self.handle, Map._next = Map._next, Map._next + 1
        _maps[self.handle] = self

    def plan(self, channels, dtype, direction=FORWARD, channels_first=False, kernel=None,
             view=None, prune=0.0):
        """The plan for that, made once. channels_first: of the output. view: of a view transform
        (softmax, temperature, strides of x). prune: depths up to this may be left out."""
        key = channels, dtype, direction, channels_first, kernel, view, prune
        if key not in self._plans:
            self._plans[key] = Plan(self, *key)
        return self._plans[key]


class Plan:
    """A kernel prepared for a map, a format and a number of channels."""

    def __init__(self, grid, channels, dtype, direction, channels_first, kernel, view, prune):
        its_view = view and _View(int(view[0]), view[1], view[2], view[2])
        options = _Options(ctypes.sizeof(_Options), channels, dtype, direction, 0,
                           int(channels_first), kernel and kernel.encode(),
                           its_view and ctypes.addressof(its_view), prune)
        made = ctypes.c_void_p()
        _check(_library.bevpool_plan_create, ctypes.byref(made), grid._map, ctypes.byref(options))
        self._destroy = weakref.finalize(self, _library.bevpool_plan_destroy, made)
        self._plan, self.device = made.value, grid.device
        self.kernel = _library.bevpool_plan_kernel(made).decode()
        self.workspace_bytes = _library.bevpool_plan_workspace_bytes(made)
        call = _Call(size=ctypes.sizeof(_Call), workspace_bytes=self.workspace_bytes)
        for role in range(ROLES):
            call.tensors[role] = _Tensor(None, _library.bevpool_plan_bytes(made, role), dtype, 0)
        self._call = bytes(call)  # all but the addresses

    def _launch(self, words, arrays):
        """Launches on the current stream. `words`: where the addresses of the arrays go, which are
        dense and have the sizes of the plan."""
        call = _Words.from_buffer_copy(self._call)
        for word, array in zip(words, arrays):
            call[word] = _address(array)
        if self.workspace_bytes:
            scratch = _empty(arrays[0], (self.workspace_bytes + ALIGNMENT) // arrays[0].itemsize)
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


def _prepared(depth, feat, grid, direction, channels_first, kernel=None, prune=0.0):
    """The plan for such arrays, and the shape of what it pools. Arrays of one kind are checked
    once."""
    kind = (depth.shape, feat.shape, depth.dtype, feat.dtype, getattr(depth, "device", None),
            getattr(feat, "device", None), direction, channels_first, kernel, prune)
    found = grid._ready.get(kind)
    if found is None:
        _check_arrays(grid, depth, feat)
        channels = int(feat.shape[-1])
        plan = grid.plan(channels, _dtype(feat), direction, channels_first, kernel, prune=prune)
        found = grid._ready[kind] = plan, _out_shape(grid, channels, channels_first)
    return found


def _check_arrays(grid, depth, feat):
    b, n, d, h, w = grid.shape[:5]
    for name, array, shape in ("depth", depth, (d, h, w)), ("feat", feat, (h, w, feat.shape[-1])):
        if array.shape != (b, n, *shape) and array.shape != (b * n, *shape):
            expected = f"{(b, n, *shape)}" if name == "depth" else f"({b}, {n}, {h}, {w}, channels)"
            raise ValueError(f"{name} has shape {tuple(array.shape)}, expected {expected}")
        if _device(array) != grid.device:
            raise ValueError(f"the map is on device {grid.device}, {name} is not")


def _out_shape(grid, channels, channels_first):
    b, z, y, x = grid.shape[0], *grid.shape[5:]
    return (b, channels, z, y, x) if channels_first else (b, z, y, x, channels)


def _forward(depth, feat, grid, channels_first, kernel=None, prune=0.0):
    plan, shape = _prepared(depth, feat, grid, FORWARD, channels_first, kernel, prune)
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


def _prepared_view(x, grid, depth_bins, direction, channels_first, softmax, temperature,
                   prune=0.0):
    kind = ("view", x.shape, x.strides if not _is_tensor(x) else x.stride(), x.dtype, _device(x),
            depth_bins, direction, channels_first, softmax, temperature, prune)
    found = grid._ready.get(kind)
    if found is None:
        b, n, d, h, w = grid.shape[:5]
        channels = int(x.shape[1]) - depth_bins
        if depth_bins != d or channels < 1 or tuple(x.shape) != (b * n, d + channels, h, w):
            raise ValueError(f"x has shape {tuple(x.shape)} and depth_bins is {depth_bins}, "
                             f"expected ({b * n}, {d} + channels, {h}, {w}) and {d}")
        if _device(x) != grid.device:
            raise ValueError(f"the map is on device {grid.device}, x is not")
        strides = x.stride() if _is_tensor(x) else [s // x.itemsize for s in x.strides]
        view = bool(softmax), float(temperature), tuple(map(int, strides))
        plan = grid.plan(channels, _dtype(x), direction, channels_first, view=view, prune=prune)
        found = grid._ready[kind] = plan, _out_shape(grid, channels, channels_first)
    return found


def _view_forward(x, grid, depth_bins, *how):
    x = _as_given(x)
    plan, shape = _prepared_view(x, grid, depth_bins, FORWARD, *how)
    out = _empty(x, shape)
    plan._launch(_POOLED, (x, x[:, depth_bins:], out))
    return out


def _view_backward(grad, given, grid, depth_bins, *how):
    x = _as_given(given)
    plan, shape = _prepared_view(x, grid, depth_bins, BACKWARD, *how)
    if tuple(grad.shape) != shape or _device(grad) != plan.device:
        raise ValueError(f"the gradient of the output has shape {tuple(grad.shape)} on device "
                         f"{_device(grad)}, expected {shape} on device {plan.device}")
    of_x = torch.empty_like(x) if _is_tensor(x) else np.empty_like(x)
    plan._launch(_GRADIENTS, (x, x[:, depth_bins:], _as_read(grad, x.dtype), of_x,
                              of_x[:, depth_bins:]))
    return of_x.reshape(given.shape)


# ---- maps of the last calls ----------------------------------------------------------------------


class _Recent:
    """The last maps, by the identity of the arrays they were made of. Weak references keep an
    identity from being given to other memory as long as it stands here."""

    def __init__(self, most=16):
        self.most, self.maps = most, collections.OrderedDict()
        self.same = {}  # by the objects themselves, which is faster

    @staticmethod
    def identity(array):
        if not _is_tensor(array):
            return (id(array), array.shape), weakref.ref(array)
        reference = StorageWeakRef(array.untyped_storage())
        version = 0 if array.is_inference() else array._version
        return (reference.cdata, array.storage_offset(), tuple(array.shape), array.stride(),
                version), reference

    def known(self, arrays, kind):
        """The map of these very objects, or None."""
        found = self.same.get((kind, *map(id, arrays)))
        if found is None:
            return None
        for array, (reference, version, address) in zip(arrays, found[1]):
            if reference() is not array or address is not None and (
                    array.data_ptr() != address or
                    version is not None and array._version != version):
                return None
        return found[0]

    @staticmethod
    def state(array):
        if not _is_tensor(array):
            return weakref.ref(array), None, None
        version = None if array.is_inference() else array._version
        return weakref.ref(array), version, array.data_ptr()

    def find(self, arrays, kind, rest, make):
        """The map of what these arrays hold. `kind`: what known() is asked with; `rest`: what a map
        depends on besides arrays."""
        found = self.find_by_memory(arrays, rest, make)
        if len(self.same) > 4 * self.most:
            self.same.clear()
        self.same[(kind, *map(id, arrays))] = found, [self.state(a) for a in arrays]
        return found

    def find_by_memory(self, arrays, rest, make):
        keys, references = zip(*map(self.identity, arrays))
        key = keys, rest
        found = self.maps.get(key)
        if found is None or any(self.gone(r) for r in found[1]):
            found = make(), references
        self.maps[key] = found
        self.maps.move_to_end(key)
        while len(self.maps) > self.most:
            self.maps.popitem(last=False)
        return found[0]

    @staticmethod
    def gone(reference):
        return reference() is None if isinstance(reference, weakref.ref) else reference.expired()


_recent = _Recent()


def _v2_map(depth, feat, arrays, bev_feat_shape):
    kind = depth.shape, feat.shape, getattr(feat, "device", None), tuple(bev_feat_shape)
    found = _recent.known(arrays, kind)
    if found is not None:
        return found
    b, n, d, h, w = depth.shape
    if len(bev_feat_shape) != 5:
        raise ValueError(f"bev_feat_shape is {tuple(bev_feat_shape)}, expected (B, Z, Y, X, C)")
    its_batch, z, y, x, channels = map(int, bev_feat_shape)
    shape, device = (b, n, d, h, w, z, y, x), _device(feat)
    if its_batch != b or channels != feat.shape[-1]:
        raise ValueError(f"bev_feat_shape is {tuple(bev_feat_shape)}, expected "
                         f"({b}, Z, Y, X, {feat.shape[-1]})")
    return _recent.find(arrays, kind, (shape, device), lambda: Map(shape, *arrays, device=device))


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


def _voxel(volume, geom, bev_h, bev_w, align):
    if len(volume.shape) != 6 or tuple(geom.shape[:5]) != tuple(volume.shape[:5]):
        raise ValueError(f"volume {tuple(volume.shape)} and geom {tuple(geom.shape)}, expected "
                         "(B, N, D, H, W, C) and (B, N, D, H, W, 2 or 3)")
    b, n, d, h, w, c = (int(size) for size in volume.shape)
    shape, device = (b, n, 1, d * h, w, 1, int(bev_h), int(bev_w)), _device(volume)
    kind = shape, align, device
    grid = _recent.known([geom], kind) or _recent.find(
        [geom], kind, kind,
        lambda: _voxel_map(geom, shape, int(bev_h), int(bev_w), align, device))
    feat = volume.reshape(b, n, d * h, w, c)
    ones = feat.new_ones((b, n, 1, d * h, w)) if _is_tensor(feat) else \
        np.ones((b, n, 1, d * h, w), feat.dtype)
    return pool(ones, feat, grid, channels_first=True)[:, :, 0]


def voxel_pool(volume, geom, bev_h, bev_w):
    """Adds volume (B, N, D, H, W, C) into the cells that geom (B, N, D, H, W, 3), in units of
    cells, lies in, rounded towards zero. x and y count, z does not. (B, C, bev_h, bev_w)"""
    return _voxel(volume, geom, bev_h, bev_w, False)


def voxel_align(volume, geom, bev_h, bev_w):
    """The same, each point shared out to the four lattice points round it. (B, C, bev_h, bev_w)"""
    return _voxel(volume, geom, bev_h, bev_w, True)


# ---- what there is to call -----------------------------------------------------------------------


def pool(depth, feat, grid, channels_first=False, kernel=None, prune=0.0):
    """Pools depth (B, N, D, H, W) and feat (B, N, H, W, C) with a Map: (B, Z, Y, X, C), or
    (B, C, Z, Y, X). The axes B and N may be one. Without gradients: `kernel`, one that kernels()
    names, and `prune`, up to which depths may be left out; bevpool.h has the error's bound."""
    if kernel is not None or prune:
        return _forward(depth, feat, grid, channels_first, kernel, prune)
    if _is_tensor(feat) and _traced(depth, feat):
        return torch.ops.bevpool.pool(depth, feat, grid.handle, channels_first)
    return _eager(depth, feat, grid, channels_first)


def view_transform(x, grid, depth_bins, channels_first=True, softmax=True, temperature=1.0,
                   prune=0.0):
    """What a depth net gives, x (B * N, D + C, H, W) or (B, N, D + C, H, W), D logits in front, pooled
    with a Map: (B, C, Z, Y, X), or (B, Z, Y, X, C). Not `softmax`: they are depths already. `prune`
    (no gradients) as in pool()."""
    how = channels_first, softmax, temperature
    if prune:
        return _view_forward(x, grid, depth_bins, *how, prune)
    if _is_tensor(x) and _traced(x, x):
        return torch.ops.bevpool.view(x, grid.handle, depth_bins, *how)
    if _is_tensor(x) and _wants_grad(x, x):
        return _Transform.apply(x, grid, depth_bins, *how)
    return _view_forward(x, grid, depth_bins, *how)


def _eager(depth, feat, grid, channels_first):
    if _is_tensor(feat) and _wants_grad(depth, feat):
        return _Pool.apply(depth, feat, grid, channels_first)
    return _forward(depth, feat, grid, channels_first)


def bev_pool_v2(depth, feat, ranks_depth, ranks_feat, ranks_bev, bev_feat_shape, interval_starts,
                interval_lengths):
    """BEVDet's function: depth (B, N, D, H, W), feat (B, N, H, W, C), bev_feat_shape
    (B, Z, Y, X, C). (B, C, Z, Y, X)"""
    arrays = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths
    if _is_tensor(feat) and _traced(depth, feat):
        return torch.ops.bevpool.bev_pool_v2(depth, feat, *arrays, list(map(int, bev_feat_shape)))
    return _eager(depth, feat, _v2_map(depth, feat, arrays, bev_feat_shape), True)


# ---- operators of PyTorch ------------------------------------------------------------------------

if torch is not None:
    from torch import Tensor

    _plain = Tensor, torch.nn.Parameter
    # What torch.cuda.current_stream(device).cuda_stream says, without an object in between.
    _raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or \
        (lambda device: torch.cuda.current_stream(device).cuda_stream)

    def _traced(depth, feat):
        """Whether a compiler looks on, which must see an operator. Otherwise the ways below cost a
        tenth of that."""
        return torch.compiler.is_compiling() or type(feat) not in _plain or type(depth) not in _plain

    def _wants_grad(depth, feat):
        return torch.is_grad_enabled() and (depth.requires_grad or feat.requires_grad)

    class _Pool(torch.autograd.Function):
        @staticmethod
        def forward(ctx, depth, feat, grid, channels_first):
            ctx.grid, ctx.channels_first = grid, channels_first
            ctx.save_for_backward(depth, feat)
            return _forward(depth, feat, grid, channels_first)

        @staticmethod
        def backward(ctx, grad):
            return *_backward(grad, *ctx.saved_tensors, ctx.grid, ctx.channels_first), None, None

    def _handled(handle):
        handle = int(handle)  # a compiler may think that it varies
        if handle not in _maps:
            raise ValueError(f"map {handle} is gone: keep the Map as long as it is used")
        return _maps[handle]

    @torch.library.custom_op("bevpool::pool", mutates_args=())
    def _pool(depth: Tensor, feat: Tensor, grid: int, channels_first: bool) -> Tensor:
        return _forward(depth, feat, _handled(grid), channels_first)

    @_pool.register_fake
    def _(depth, feat, grid, channels_first):
        return feat.new_empty(_out_shape(_handled(grid), feat.shape[-1], channels_first))

    @torch.library.custom_op("bevpool::pool_grad", mutates_args=())
    def _pool_grad(grad: Tensor, depth: Tensor, feat: Tensor, grid: int,
                   channels_first: bool) -> tuple[Tensor, Tensor]:
        return _backward(grad, depth, feat, _handled(grid), channels_first)

    @_pool_grad.register_fake
    def _(grad, depth, feat, grid, channels_first):
        return depth.new_empty(depth.shape), feat.new_empty(feat.shape)

    def _pool_save(ctx, inputs, output):
        depth, feat, ctx.grid, ctx.channels_first = inputs
        ctx.save_for_backward(depth, feat)

    def _pool_back(ctx, grad):
        grads = torch.ops.bevpool.pool_grad(grad, *ctx.saved_tensors, ctx.grid, ctx.channels_first)
        return *grads, None, None

    _pool.register_autograd(_pool_back, setup_context=_pool_save)

    class _Transform(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, *rest):
            ctx.rest = rest
            ctx.save_for_backward(x)
            return _view_forward(x, *rest)

        @staticmethod
        def backward(ctx, grad):
            return _view_backward(grad, *ctx.saved_tensors, *ctx.rest), *[None] * len(ctx.rest)

    @torch.library.custom_op("bevpool::view", mutates_args=())
    def _view(x: Tensor, grid: int, depth_bins: int, channels_first: bool, softmax: bool,
              temperature: float) -> Tensor:
        return _view_forward(x, _handled(grid), depth_bins, channels_first, softmax, temperature)

    @_view.register_fake
    def _(x, grid, depth_bins, channels_first, softmax, temperature):
        return x.new_empty(_out_shape(_handled(grid), x.shape[-3] - depth_bins, channels_first))

    @torch.library.custom_op("bevpool::view_grad", mutates_args=())
    def _view_grad(grad: Tensor, x: Tensor, grid: int, depth_bins: int, channels_first: bool,
                   softmax: bool, temperature: float) -> Tensor:
        how = channels_first, softmax, temperature
        return _view_backward(grad, x, _handled(grid), depth_bins, *how)

    @_view_grad.register_fake
    def _(grad, x, *rest):
        return torch.empty_like(_as_given(x)).reshape(x.shape)

    def _view_save(ctx, inputs, output):
        x, *ctx.rest = inputs
        ctx.save_for_backward(x)

    def _view_back(ctx, grad):
        x, = ctx.saved_tensors
        return torch.ops.bevpool.view_grad(grad, x, *ctx.rest), *[None] * len(ctx.rest)

    _view.register_autograd(_view_back, setup_context=_view_save)

    class LiftSplat(torch.nn.Module):
        """What BEVDet's LSSViewTransformer does behind its depth net: x (B * N, D + C, H, W) becomes
        (B, Z * C, Y, X), slices of height one behind the other."""

        def __init__(self, grid, depth_bins, temperature=1.0):
            super().__init__()
            self.grid, self.depth_bins, self.temperature = grid, depth_bins, temperature

        def forward(self, x):
            bev = view_transform(x, self.grid, self.depth_bins, temperature=self.temperature)
            return bev[:, :, 0] if bev.shape[2] == 1 else bev.transpose(1, 2).flatten(1, 2)

    @torch.library.custom_op("bevpool::bev_pool_v2", mutates_args=())
    def _v2(depth: Tensor, feat: Tensor, ranks_depth: Tensor, ranks_feat: Tensor,
            ranks_bev: Tensor, interval_starts: Tensor, interval_lengths: Tensor,
            bev_feat_shape: list[int]) -> Tensor:
        arrays = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths
        return _forward(depth, feat, _v2_map(depth, feat, arrays, bev_feat_shape), True)

    @_v2.register_fake
    def _(depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths,
          bev_feat_shape):
        b, z, y, x, c = bev_feat_shape
        return feat.new_empty((b, c, z, y, x))

    @torch.library.custom_op("bevpool::bev_pool_v2_grad", mutates_args=())
    def _v2_grad(grad: Tensor, depth: Tensor, feat: Tensor, ranks_depth: Tensor,
                 ranks_feat: Tensor, ranks_bev: Tensor, interval_starts: Tensor,
                 interval_lengths: Tensor, bev_feat_shape: list[int]) -> tuple[Tensor, Tensor]:
        arrays = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths
        return _backward(grad, depth, feat, _v2_map(depth, feat, arrays, bev_feat_shape), True)

    @_v2_grad.register_fake
    def _(grad, depth, feat, *rest):
        return depth.new_empty(depth.shape), feat.new_empty(feat.shape)

    def _v2_save(ctx, inputs, output):
        *tensors, ctx.bev_feat_shape = inputs
        ctx.save_for_backward(*tensors)

    def _v2_back(ctx, grad):
        grads = torch.ops.bevpool.bev_pool_v2_grad(grad, *ctx.saved_tensors, ctx.bev_feat_shape)
        return (*grads,) + (None,) * 6

    _v2.register_autograd(_v2_back, setup_context=_v2_save)
