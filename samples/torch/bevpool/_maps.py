# SPDX-License-Identifier: MIT
"""Maps, plans, and the maps of the last calls."""
import collections
import contextlib
import ctypes
import functools
import weakref
from typing import Optional, Sequence

import numpy as np

from ._arrays import (Array, address, as_read, copied, device_of, device_name, dtype_of, empty, is_tensor,
                      sizes_of, torch)
from ._library import (ALIGNMENT, CPU, FORWARD, FP32, FP64, MAP, NEAREST, ROLES, STREAM, WORKSPACE,
                       WRONG_DEVICE, Arrays, Call, Error, Frustum, Options, Shape, Tensor, View, Words,
                       check, library, run, thread)
from ._reference import Reference

raw_stream = None
if torch is not None:
    from torch.multiprocessing.reductions import StorageWeakRef
    # What torch.cuda.current_stream(device).cuda_stream says, without an object in between.
    raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None) or \
        (lambda device: torch.cuda.current_stream(device).cuda_stream)

ARRAYS = ("ranks_depth", "ranks_feat", "ranks_bev", "interval_starts", "interval_lengths", "weights")
_maps = weakref.WeakValueDictionary()  # by shape and the memory of their own arrays


def _key(arrays, shape):
    return (device_of(arrays[2]), shape, *map(address, arrays))


def marks_of(arrays):
    """What changes when tensors are changed in place or others take their place."""
    return tuple(a is not None and (a.data_ptr(), None if a.is_inference() else a._version) for a in arrays)


def _outside_inference_mode():
    """A tensor of inference_mode() could not be saved for backward."""
    return torch.inference_mode(False) if torch is not None else contextlib.nullcontext()


def _intervals(ranks_bev):
    """Starts and lengths of the runs of equal, sorted ranks."""
    if not is_tensor(ranks_bev):
        starts = np.flatnonzero(np.r_[True, ranks_bev[1:] != ranks_bev[:-1]][:len(ranks_bev)])
        return starts.astype(np.int32), np.diff(np.r_[starts, len(ranks_bev)]).astype(np.int32)
    lengths = torch.unique_consecutive(ranks_bev, return_counts=True)[1]
    return (lengths.cumsum(0) - lengths).int(), lengths.int()


class Map:
    """Which points there are, in a grid of cells.

    `shape` is (B, N, D, H, W, Z, Y, X): samples, cameras, depth bins, rows and columns of features, then
    cells. ranks_depth, ranks_feat, ranks_bev (points,), interval_starts and interval_lengths (intervals,)
    are BEVDet's, whole numbers sorted by cell; without intervals they are found. weights (points,) are
    float32, without gradients. All lie on the CPU, or all on the GPU `device`, a number.

    The arrays are checked and copied: `arrays`, which must not be changed. A pickled Map is made again of
    them. A Map of B samples also serves fewer, and any multiple of B."""

    def __init__(self, shape: Sequence[int], ranks_depth: Array, ranks_feat: Array, ranks_bev: Array,
                 interval_starts: Optional[Array] = None, interval_lengths: Optional[Array] = None,
                 weights: Optional[Array] = None, device: Optional[int] = None) -> None:
        self.shape = sizes_of(shape, ("B", "N", "D", "H", "W", "Z", "Y", "X"))
        self.device = device_of(ranks_bev) if device is None else device
        self._plans, self._ready, self._batches = {}, {}, {}
        if is_tensor(weights) and weights.requires_grad:
            raise ValueError("weights have no gradients in a Map: pass weights.detach()")
        given = ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths, weights
        types = ("int32",) * 5 + ("float32",)
        with _outside_inference_mode():
            self.arrays = tuple(copied(*array, self.device) for array in zip(ARRAYS, given, types))
        points, intervals = (0 if a is None else int(a.shape[0]) for a in self.arrays[2:4])
        for name, array, length in zip(ARRAYS, self.arrays,
                                       (points, points, points, intervals, intervals, points)):
            if array is not None and tuple(array.shape) != (length,):
                raise ValueError(f"{name} has shape {tuple(array.shape)}, expected ({length},)")
        if torch is not None and self.device != CPU:
            torch.cuda.current_stream(self.device).synchronize()  # the copies must be there
        made = ctypes.c_void_p()
        check(library.bevpool_map_from_arrays, ctypes.byref(made),
               ctypes.byref(Shape(*self.shape)),
               ctypes.byref(Arrays(points, intervals, *map(address, self.arrays))), self.device, 0)
        self._destroy = weakref.finalize(self, library.bevpool_map_destroy, made)
        self._map = made
        if self.arrays[3] is None and self.arrays[4] is None:
            with _outside_inference_mode():
                self.arrays = (*self.arrays[:3], *_intervals(self.arrays[2]), self.arrays[5])
        if is_tensor(self.arrays[0]):
            for array in self.arrays:
                if array is not None:  # so that torch.compile records no copies of it in CUDA graphs
                    array._dynamo_static_input_type = "unguarded"
            self._marks = marks_of(self.arrays)
        _maps[_key(self.arrays, self.shape)] = self

    def __reduce__(self):
        return Map, (self.shape, *self.arrays)

    def __repr__(self):
        return f"Map(shape={self.shape}, points={len(self.arrays[0])}, device={device_name(self.device)!r})"

    def is_unchanged(self) -> bool:
        """Whether nobody wrote into its arrays, as far as PyTorch counts that."""
        return not is_tensor(self.arrays[0]) or marks_of(self.arrays) == self._marks

    def of_batch(self, batch: int) -> "Map":
        """The same cameras and cells for `batch` samples: the first ones of the map, or the map again and
        again. Made once for each batch."""
        own = self.shape[0]
        if batch == own:
            return self
        if batch < 1 or (batch > own and batch % own):
            raise ValueError(f"{batch} samples, expected 1 to {own}, as the map has, or a multiple of {own}")
        if batch not in self._batches:
            arrays = self._first(batch) if batch < own else self._again(batch // own)
            self._batches[batch] = Map((batch, *self.shape[1:]), *arrays[:3], None, None, arrays[3],
                                       device=self.device)
        return self._batches[batch]

    def _first(self, batch):
        """Ranks and weights of the first samples: cells of a sample lie side by side."""
        points = int((self.arrays[2] < batch * self._cells()).sum())
        return [a if a is None else a[:points] for a in (*self.arrays[:3], self.arrays[5])]

    def _again(self, times):
        """Ranks and weights of the samples, several times."""
        b, n, d, h, w = self.shape[:5]
        steps = b * n * d * h * w, b * n * h * w, b * self._cells()
        join = torch.cat if is_tensor(self.arrays[0]) else np.concatenate
        ranks = [join([a + step * i for i in range(times)]) for a, step in zip(self.arrays, steps)]
        return [*ranks, self.arrays[5] if self.arrays[5] is None else join([self.arrays[5]] * times)]

    def for_call(self, *_):
        return self

    def made_map(self, _):
        return None  # it is in the plan

    def fits(self):
        return True

    def _cells(self):
        return self.shape[5] * self.shape[6] * self.shape[7]

    def plan(self, channels, dtype, direction=FORWARD, channels_first=False, kernel=None,
             view=None):
        """The plan for that, made once. channels_first: of the output. view: of a view transform
        (softmax, temperature, strides of x)."""
        key = channels, dtype, direction, channels_first, kernel, view
        if key not in self._plans:
            self._plans[key] = (Reference if dtype == FP64 else Plan)(self, *key)
        return self._plans[key]


class Cameras:
    """Cameras that move: each call makes its own map, of its `poses`. `shape` is (B, N, D, H, W, Z, Y,
    X) and `input_size` (height, width) of the network's input, in pixels; `depth` is (start, step) or
    a row of D depths; x, y, z are (minimum, maximum) of the grid: all in metres. Cells are numbered by
    cutting toward zero, as BEVDet does, or by rounding down. A call may have any number of samples."""

    def __init__(self, shape: Sequence[int], input_size: Sequence[int], depth: Sequence[float],
                 x: Sequence[float], y: Sequence[float], z: Sequence[float], align: int = NEAREST,
                 truncate: bool = True) -> None:
        self.shape = sizes_of(shape, ("B", "N", "D", "H", "W", "Z", "Y", "X"))
        bins, row = self.shape[2], tuple(map(float, depth))
        if len(row) not in (2, bins):
            raise ValueError(f"depth has {len(row)} numbers, expected (start, step) or {bins} depths")
        self.numbers = *map(float, (*x, *y, *z)), *row
        self.ints = *sizes_of(input_size, ("height", "width")), int(align), int(bool(truncate))
        self._on(CPU)  # what is wrong is told now

    def _on(self, device):
        """This, prepared for a device."""
        return moving(device, self.shape, self.ints, self.numbers)

    def __repr__(self):
        return f"Cameras(shape={self.shape})"

    def poses(self, sensor2ego: Array, cam2imgs: Array, post_rots: Array, post_trans: Array,
              bda: Optional[Array] = None) -> Array:
        """Poses (B, N, 12) in FP64 of BEVDet's tensors: sensor2ego (B, N, 4, 4), cam2imgs and post_rots
        (B, N, 3, 3), post_trans (B, N, 3), bda (B, 3, 3) or (B, 4, 4)."""
        from .functional import _poses  # which imports this file
        return _poses(sensor2ego, cam2imgs, post_rots, post_trans, bda)



class Moving(Map):
    """Cameras on a device, with plans as a Map has them."""

    def __init__(self, device, shape, ints, numbers):
        self.shape, self.device, self._plans, self._ready = shape, device, {}, {}
        batch, cameras, bins, height, width, nz, ny, nx = shape
        row = numbers[6:]
        depths = (ctypes.c_double * len(row))(*row) if len(row) != 2 else None
        start, step = row if depths is None else (0.0, 0.0)
        frustum = Frustum(ctypes.sizeof(Frustum), batch, cameras, ints[2], ints[1], ints[0], width,
                          height, bins, start, step, depths and ctypes.addressof(depths), *numbers[:6],
                          nx, ny, nz, ints[3], 0)
        made = ctypes.c_void_p()
        check(library.bevpool_map_moving, ctypes.byref(made), ctypes.byref(frustum), device)
        self._destroy = weakref.finalize(self, library.bevpool_map_destroy, made)
        self._map = made

    def of_batch(self, batch):
        return self  # moving() makes one for each batch

    def plan(self, channels, dtype, *how, **view):
        if dtype == FP64:
            raise TypeError("features of float64 with Cameras, expected float32, float16 or bfloat16")
        return super().plan(channels, dtype, *how, **view)


@functools.lru_cache(maxsize=16)
def moving(device, shape, ints, numbers):
    return Moving(device, shape, ints, numbers)


class Changing(Map):
    """Arrays on a GPU that are others in each step, with plans as a Map has them."""

    def __init__(self, device, shape):
        self.shape, self.device, self._plans, self._ready = shape, device, {}, {}
        made = ctypes.c_void_p()
        check(library.bevpool_map_changing, ctypes.byref(made), ctypes.byref(Shape(*shape)), 0, device)
        self._destroy = weakref.finalize(self, library.bevpool_map_destroy, made)
        self._map = made

    def of_batch(self, batch):
        return self

    def serves(self, channels, dtype, direction, channels_first):
        """Whether the library has a plan for that."""
        try:
            return bool(self.plan(channels, dtype, direction, channels_first))
        except Error as error:
            if error.status != "BEVPOOL_UNSUPPORTED":
                raise
            return False


@functools.lru_cache(maxsize=16)
def changing(device, shape):
    return Changing(device, shape)


class Seen:
    """What is known of arrays that came before."""
    pooled = sound = False


class Step:
    """Arrays of one call, on a GPU. Who prepares arrays in each step would prepare a plan in each step:
    arrays that come the first time are taken as they are, on the stream; those that pool once more
    become a Map."""

    def __init__(self, shape, arrays, device, seen):
        self.shape, self.device, self._arrays, self._seen, self._flags = shape, device, arrays, seen, None
        self._grid = changing(device, shape)
        self._ready = self._grid._ready
        self.plan = self._grid.plan

    def of_batch(self, _):
        return self

    def whole(self):
        return recent.put(self._arrays, (self.shape, self.device),
                          Map(self.shape, *self._arrays, device=self.device))

    def for_call(self, depth, feat, direction, channels_first, kernel):
        """This, or its Map where that is faster or has to be."""
        b, n, d, h, w = self.shape[:5]
        again = direction == FORWARD and self._seen.pooled and not torch.cuda.is_current_stream_capturing()
        if again or kernel or depth.shape not in ((b, n, d, h, w), (b * n, d, h, w)) or \
                not self._is_plain() or \
                not self._grid.serves(int(feat.shape[-1]), dtype_of(feat), direction, channels_first):
            return self.whole()
        if direction == FORWARD:
            self._seen.pooled = True
        return self

    def _is_plain(self):
        ranks, (starts, lengths) = self._arrays[:3], self._arrays[3:5]
        where, sizes = ranks[0].device, []
        for array in ranks if starts is None and lengths is None else self._arrays[:5]:
            if array is None or array.dtype != torch.int32 or array.device != where or array.dim() != 1 or \
                    not array.is_contiguous():
                return False
            sizes.append(array.shape[0])
        return device_of(ranks[0]) == self.device and sizes[0] == sizes[1] == sizes[2] and sizes[3:4] == sizes[4:]

    def made_map(self, plan):
        """Its map on the current stream, and, the first time, a copy of what the map says of the arrays."""
        memory, start = plan.made_map(self._arrays)
        if not self._seen.sound and not torch.cuda.is_current_stream_capturing():
            words = torch.empty(2, dtype=torch.int32, pin_memory=True)
            words.copy_(memory[(start - address(memory)) // 4:][:2], non_blocking=True)
            self._flags = words, torch.cuda.current_stream(self.device).record_event()
        return memory, start

    def fits(self):
        """Whether the map had room, and the arrays were right. Asked behind the launch, which the GPU does
        meanwhile."""
        if self._flags:
            words, there = self._flags
            there.synchronize()
            self._seen.sound = words.tolist() == [0, 0]
            return self._seen.sound
        return True


@functools.lru_cache(maxsize=None)
def _beside(device):
    return torch.cuda.Stream(device)


class Plan:
    """A kernel prepared for a map, a format and a number of channels."""

    def __init__(self, grid, channels, dtype, direction, channels_first, kernel, view):
        its_view = view and View(int(view[0]), view[1], view[2], view[2])
        options = Options(ctypes.sizeof(Options), channels, dtype, direction, 0,
                          int(channels_first), kernel and kernel.encode(),
                          its_view and ctypes.addressof(its_view))
        made = ctypes.c_void_p()
        check(library.bevpool_plan_create, ctypes.byref(made), grid._map, ctypes.byref(options))
        self._destroy = weakref.finalize(self, library.bevpool_plan_destroy, made)
        self._plan, self.device = made.value, grid.device
        self.kernel = library.bevpool_plan_kernel(made).decode()
        self.workspace_bytes = library.bevpool_plan_workspace_bytes(made)
        self._item = 4 if dtype == FP32 else 2
        call = Call(size=ctypes.sizeof(Call), workspace_bytes=self.workspace_bytes)
        for role in range(ROLES):
            call.tensors[role] = Tensor(None, library.bevpool_plan_bytes(made, role), dtype, 0)
        self._call = bytes(call)  # all but the addresses
        self._map_bytes = library.bevpool_plan_map_bytes(made)
        # Small maps do not fill a GPU: that of the gradients is made beside that of the sums, and kept.
        self.makes_ahead = 0 < self._map_bytes <= 8 << 20
        self._ahead = None  # a map made before its launch: what of, and its memory

    def make_ahead(self, poses):
        """Begins the map of the next launch with these poses, on a second stream. Returns what the current
        stream has to wait for."""
        poses, beside = as_read(poses, torch.float64), _beside(self.device)
        beside.wait_stream(torch.cuda.current_stream(self.device))
        made = self.made_map(poses, beside.cuda_stream)
        self._ahead = self._mark(poses), Recent.proof(poses), made
        return beside

    def _mark(self, poses):
        return Recent.place(poses), raw_stream(self.device), torch.cuda.is_current_stream_capturing()

    def _taken_ahead(self, poses):
        """The map that make_ahead() made of these poses, once; or None."""
        (mark, proof, made), self._ahead = self._ahead, None
        return made if mark == self._mark(poses) and not proof.expired() else None

    def made_map(self, source, stream=None):
        """The map of a step, made of poses (..., 12) or of arrays on the current stream: its memory."""
        arrays = isinstance(source, tuple)
        if not arrays:
            source = as_read(source, torch.float64 if is_tensor(source) else np.float64)
            if self._ahead and stream is None and (made := self._taken_ahead(source)):
                return made
        like = source[0] if arrays else source
        item = 4 if arrays else 8
        memory = empty(like, (self._map_bytes + ALIGNMENT + item - 1) // item)
        start = (address(memory) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        update, given = library.bevpool_plan_update, address(source) if not arrays else None
        if arrays:
            update = library.bevpool_plan_update_arrays
            counts = (0 if a is None else len(a) for a in source[2:4])
            given = ctypes.byref(Arrays(*counts, *map(address, source)))
        if self.device != CPU and stream is None:
            stream = raw_stream(self.device)
        self._call_library(update, self._plan, given, start, self._map_bytes, stream)
        return memory, start

    def _call_library(self, function, *arguments):
        status = function(*arguments, thread.address)
        if status == WRONG_DEVICE:  # the calling thread's current one
            with torch.cuda.device(self.device):
                status = function(*arguments, thread.address)
        if status:
            raise Error(thread.error)

    def launch(self, words, arrays, made=None):
        """Launches on the current stream. `words`: where the addresses of the arrays go, which are
        dense and have the sizes of the plan. made: the map of this step, of made_map()."""
        call = Words.from_buffer_copy(self._call)
        if made:
            call[MAP] = made[1]
        for word, array in zip(words, arrays):
            call[word] = address(array)
        if self.workspace_bytes:
            scratch = empty(arrays[0], (self.workspace_bytes + ALIGNMENT) // self._item)
            call[WORKSPACE] = (address(scratch) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        if self.device != CPU:
            call[STREAM] = raw_stream(self.device)
        self._call_library(run, self._plan, call)


# ---- maps of the last calls ----------------------------------------------------------------------


class Recent:
    """The maps of the last calls. An array is looked up by its memory. It is the same if a copy on
    the CPU is equal to it, or if its memory on a GPU was never freed and has the same version."""

    def __init__(self, most=16):
        self.most, self.maps = most, collections.OrderedDict()

    def find(self, arrays, rest, make):
        """The map of what these arrays hold. `rest`: what it depends on besides arrays."""
        key = (rest, *map(self.place, arrays))
        found = self.maps.get(key)
        if found is None or not all(map(self.same, arrays, found[1])):
            return self.put(arrays, rest, make(), key)
        self.maps.move_to_end(key)
        return found[0]

    def put(self, arrays, rest, made, key=None):
        key = key or (rest, *map(self.place, arrays))
        self.maps[key] = made, [self.proof(array) for array in arrays]
        self.maps.move_to_end(key)
        while len(self.maps) > self.most:
            self.maps.popitem(last=False)
        return made

    @staticmethod
    def place(array):
        if not is_tensor(array):
            return array is None or (address(array), array.shape, array.strides, array.dtype)
        version = array._version if array.is_cuda and not array.is_inference() else None
        return array.data_ptr(), tuple(array.shape), array.stride(), array.dtype, version

    @staticmethod
    def proof(array):
        if not is_tensor(array):
            return None if array is None else array.copy()
        if not array.is_cuda:
            return array.detach().clone()
        return StorageWeakRef(getattr(array, "untyped_storage", array.storage)())

    @staticmethod
    def same(array, proof):
        if not is_tensor(array):
            return array is None or np.array_equal(array, proof)
        return torch.equal(array, proof) if not array.is_cuda else not proof.expired()


recent = Recent()


def map_of(arrays, shape, device, steps=False):
    """The Map whose arrays these are, or one made of them; with `steps` a Step where they are on a GPU."""
    shape = tuple(shape)
    found = _maps.get(_key(arrays, shape))
    if found is not None and found.is_unchanged():
        return found
    once = steps and device != CPU and arrays[5] is None
    found = recent.find(arrays, (shape, device), Seen if once else lambda: Map(shape, *arrays, device=device))
    if isinstance(found, Map):
        return found
    step = Step(shape, tuple(arrays), device, found)
    return step if steps else step.whole()
