# SPDX-License-Identifier: MIT
"""The operators of PyTorch: torch.ops.bevpool."""

import contextlib

import torch
import torch.autograd.forward_ad as forward_ad

from . import _compute
from ._arrays import device_of, is_tensor
from ._compute import as_given, out_shape
from ._maps import map_of

_dispatcher = torch.library.Library("bevpool", "DEF") if hasattr(torch, "library") else None
_tag = getattr(getattr(torch, "Tag", None), "needs_fixed_stride_order", None)

_below_autograd = getattr(torch._C, "_AutoDispatchBelowAutograd", None)
if not hasattr(_below_autograd, "__enter__"):  # before PyTorch 2: as long as the object lives
    @contextlib.contextmanager
    def _below_autograd():
        guard = torch._C._AutoDispatchBelowAutograd()
        yield guard


# Without the checks by which Function refuses torch.func: an operator sees one level of it at a time.
_single = getattr(torch.autograd.function, "_SingleLevelFunction", torch.autograd.Function)


class _Node(_single):
    """A step of autograd's graph: run(*arguments), and backward(*gradients, *arguments), which
    gives the gradients of the first arguments."""

    @staticmethod
    def forward(ctx, run, rules, *arguments):
        ctx.rules, ctx.arguments = rules, arguments
        ctx.rest = [None if is_tensor(a) else a for a in arguments]
        ctx.save_for_backward(*(a if is_tensor(a) else None for a in arguments))
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
        arguments = [forward_ad.unpack_dual(a).primal if is_tensor(a) else a for a in ctx.arguments]
        del ctx.arguments
        return ctx.rules[1](arguments, tangents)


def _step(run, rules, *arguments):
    """A _Node, also under torch.func."""
    active = getattr(torch._C, "_are_functorch_transforms_active", None)
    if active is None or not active():
        return _Node.apply(run, rules, *arguments)
    with torch._functorch.autograd_function.enable_single_level_autograd_function():
        return _Node.apply(run, rules, *arguments)



def _tangent(call, linear, primals, tangents):
    """The product rule: call(*primals) is linear in each group of arguments in `linear`."""
    terms = []
    for group in linear:
        if any(tangents[i] is not None for i in group):
            moved = list(primals)
            for i in group:
                moved[i] = torch.zeros_like(moved[i]) if tangents[i] is None else tangents[i]
            terms.append(call(*moved))
    if is_tensor(terms[0]):
        return sum(terms[1:], terms[0])
    return tuple(sum(parts[1:], parts[0]) for parts in zip(*terms))


def _autocast_dtype(device):
    if hasattr(torch, "get_autocast_dtype"):
        return torch.get_autocast_dtype(device)
    return torch.get_autocast_gpu_dtype() if device == "cuda" else torch.get_autocast_cpu_dtype()


def _autocasts(device):
    return torch.is_autocast_enabled() if device == "cuda" else torch.is_autocast_cpu_enabled()


def _under_autocast(call, count, device):
    """call() with its first arguments in autocast's format, as a convolution has them. FP64 stays."""
    def cast(*arguments):
        dtype = _autocast_dtype(device)
        leaves = [a if a.dtype == torch.float64 else a.to(dtype) for a in arguments[:count]]
        with torch.autocast(device, enabled=False):
            return call(*leaves, *arguments[count:])
    return cast


def _operator(signature, kernel, fake, linear, backward=None, composed=None, exact=None, autocast=False):
    """Makes an operator. kernel: computes it. fake: what has the shape of its output. linear:
    groups of its first arguments, which have gradients. backward: as _Node has it. composed: the
    same of other operators, where these know gradients that this one does not. exact: whether
    arguments are such that there are gradients. autocast: whether these arguments are cast under
    torch.autocast. Returns what to call."""
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
            return _step(run, (backward, tangent), *arguments)
        if not moving:
            return run(*arguments)
        primals, tangents = zip(*map(forward_ad.unpack_dual, leaves))
        arguments = *primals, *arguments[count:]
        out, moved = run(*arguments), tangent(arguments, tangents)
        return forward_ad.make_dual(out, moved) if is_tensor(out) else \
            tuple(map(forward_ad.make_dual, out, moved))

    def tangent(primals, tangents):
        return _tangent(call, linear, primals, tangents)

    if _dispatcher is None:
        def call(*arguments):
            if torch.jit.is_tracing() or forward_ad._current_level >= 0:
                raise RuntimeError("bevpool under torch.jit.trace, torch.onnx.export and forward_ad "
                                   f"takes PyTorch 1.13 or later, this is {torch.__version__}")
            for device in ("cpu", "cuda") if autocast else ():
                if arguments[0].device.type == device and _autocasts(device):
                    return _under_autocast(observed, count, device)(*arguments)
            return observed(*arguments)
        run = kernel
        return call
    tags = {} if _tag is None else {"tags": (_tag,)}
    _dispatcher.define(signature, **tags)
    for key, function in (("CompositeExplicitAutograd", kernel), ("Meta", fake), ("Autograd", observed)):
        _dispatcher.impl(name, function, key)
    call = getattr(torch.ops.bevpool, name).default
    for device in ("cpu", "cuda") if autocast else ():
        _dispatcher.impl(name, _under_autocast(call, count, device), "Autocast" + device.upper())

    def run(*arguments):
        with _below_autograd():
            return call(*arguments)
    return call


def _with_map(compute, count, steps=False):
    """compute(*tensors, Map, channels_first, ...) as a kernel, whose arguments spell the Map."""
    def kernel(*arguments):
        tensors, (shape, channels_first, *rest) = arguments[:count], arguments[count:]
        grid = map_of(rest[:6], shape, device_of(tensors[-1]), steps)
        return compute(*tensors, grid, channels_first, *rest[6:])
    return kernel


def _fit(shape, array):
    """The shape for the samples of an array (B, N, ...) or (B * N, ...)."""
    samples = array.shape[0] if len(array.shape) == 5 else array.shape[0] // shape[1]
    return samples, *shape[1:]


def _split(x, shape, softmax, temperature):
    """Depth (cameras, D, H, W) and features (cameras, H, W, C) of x."""
    x, bins = x.reshape((-1, *x.shape[-3:])), shape[2]
    logits, feat = x[:, :bins], x[:, bins:].permute(0, 2, 3, 1)
    return (logits / (temperature or 1.0)).softmax(1) if softmax else logits, feat


def _composed_view(x, shape, *rest):
    *of_map, softmax, temperature = rest
    return operators.pool(*_split(x, shape, softmax, temperature), shape, *of_map, None)


def _composed_view_grad(grad, x, shape, *rest):
    *of_map, softmax, temperature = rest
    depth, feat = _split(x, shape, softmax, temperature)
    of_depth, of_feat = operators.pool_grad(grad, depth, feat, shape, *of_map)
    if softmax:
        of_depth = depth * (of_depth - (depth * of_depth).sum(1, keepdim=True)) / (temperature or 1.0)
    return torch.cat([of_depth, of_feat.permute(0, 3, 1, 2)], 1).reshape(x.shape)


def _pool_grad_backward(of_depth, of_feat, grad, depth, feat, *of_map):
    """pool_grad() gives the gradients of <grad, pool(depth, feat)>, which is linear in each."""
    of_grad = operators.pool(of_depth, feat, *of_map, None) + \
        operators.pool(depth, of_feat, *of_map, None)
    return of_grad, *operators.pool_grad(grad, of_depth, of_feat, *of_map)


class operators:
    _map = ("SymInt[] shape, bool channels_first, Tensor ranks_depth, Tensor ranks_feat, "
            "Tensor ranks_bev, Tensor? interval_starts, Tensor? interval_lengths, Tensor? weights")
    _geom = "Tensor geom, SymInt bev_h, SymInt bev_w, bool align"

    pool = _operator(
        f"pool(Tensor depth, Tensor feat, {_map}, str? kernel) -> Tensor",
        _with_map(_compute.pool, 2, steps=True),
        lambda depth, feat, shape, first, *_: feat.new_empty(
            out_shape(_fit(shape, depth), feat.shape[-1], first)),
        linear=((0,), (1,)), autocast=True, exact=lambda *arguments: not arguments[-1],
        backward=lambda grad, *rest: operators.pool_grad(grad, *rest[:-1]))

    pool_grad = _operator(
        f"pool_grad(Tensor grad, Tensor depth, Tensor feat, {_map}) -> (Tensor, Tensor)",
        _with_map(_compute.pool_grad, 3, steps=True),
        lambda grad, depth, feat, *_: (depth.new_empty(depth.shape), feat.new_empty(feat.shape)),
        linear=((0,), (1, 2)), backward=_pool_grad_backward)

    view = _operator(
        f"view(Tensor x, {_map}, bool softmax, float temperature) -> Tensor",
        _with_map(_compute.view, 1),
        lambda x, shape, first, *_: x.new_empty(
            out_shape(_fit(shape, x), x.shape[-3] - shape[2], first)),
        linear=((0,),), autocast=True, composed=_composed_view,
        backward=lambda grad, x, *rest: (operators.view_grad(grad, x, *rest),))

    view_grad = _operator(
        f"view_grad(Tensor grad, Tensor x, {_map}, bool softmax, float temperature) -> Tensor",
        _with_map(_compute.view_grad, 2),
        lambda grad, x, *_: torch.empty_like(as_given(x)).reshape(x.shape),
        linear=((0, 1),), composed=_composed_view_grad)

    _moving = ("Tensor poses, SymInt[] shape, int[] ints, float[] numbers, bool channels_first, "
               "bool softmax, float temperature")

    poses = _operator(
        "poses(Tensor sensor2ego, Tensor cam2imgs, Tensor post_rots, Tensor post_trans, Tensor? bda) "
        "-> Tensor", _compute.poses,
        lambda sensor2ego, *_: sensor2ego.new_empty((*sensor2ego.shape[:2], 12), dtype=torch.float64),
        linear=())

    moving_view = _operator(
        f"moving_view(Tensor x, {_moving}) -> Tensor", _compute.moving_view,
        lambda x, poses, shape, ints, numbers, first, *_: x.new_empty(
            out_shape((poses.shape[0], *shape[1:]), x.shape[-3] - shape[2], first)),
        linear=((0,),), autocast=True,
        backward=lambda grad, x, *rest: (operators.moving_view_grad(grad, x, *rest),))

    moving_view_grad = _operator(
        f"moving_view_grad(Tensor grad, Tensor x, {_moving}) -> Tensor", _compute.moving_view_grad,
        lambda grad, x, *_: torch.empty_like(as_given(x)).reshape(x.shape),
        linear=((0, 1),))

    voxel = _operator(
        f"voxel(Tensor volume, {_geom}) -> Tensor", _compute.voxel,
        lambda volume, geom, bev_h, bev_w, align: volume.new_empty(
            (volume.shape[0], volume.shape[-1], bev_h, bev_w)),
        linear=((0,),), autocast=True, backward=lambda grad, volume, *how: (operators.voxel_grad(grad, *how),))

    voxel_grad = _operator(
        f"voxel_grad(Tensor grad, {_geom}) -> Tensor", _compute.voxel_grad,
        lambda grad, geom, *_: grad.new_empty((*geom.shape[:5], grad.shape[1])),
        linear=((0,),), backward=lambda moved, grad, *how: (operators.voxel(moved, *how),))
