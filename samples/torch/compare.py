#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times BEV pooling as people write it in PyTorch beside libbevpool: one table.

    bevscope export canonical canonical.npz
    compare.py canonical.npz                      # on the GPU where there is one
    compare.py small.npz --device cpu --dtype fp32 --json cpu.json --markdown cpu.md

Every way gets the same depth and features, and is compared with the formula in FP64. On a GPU a
figure is the median of replays of a CUDA graph that holds several calls; a way that cannot be
captured is timed call by call, and marked `eager`. The two ways of bevpool are timed both ways.
On the CPU a figure is the median of single calls. Backward is both gradients, of depth and features,
given that of the output. Without PyTorch NumPy is compared, forward.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bevpool  # noqa: E402
sys.path.insert(1, os.path.dirname(HERE))  # later: this folder's name, torch, must not pass for PyTorch
from export_scene import cells_of  # noqa: E402

torch = bevpool.torch

SAMPLES, GRAPH_US, WRONG = 25, 2000, 0.1

# ---- the problem ---------------------------------------------------------------------------------


class Problem:
    """The arrays of a file that `bevscope export` wrote, on a device, in a number format."""

    def __init__(self, path, device, dtype):
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        nz, ny, nx = cells_of(arrays["bev_shape"])
        n, d, h, w = arrays["depth"].shape
        self.cells, self.channels = nz * ny * nx, int(arrays["feat"].shape[-1])
        self.shape = 1, n, d, h, w, nz, ny, nx
        rows = np.bincount(arrays["ranks_bev"], minlength=self.cells)
        self.cell_starts = np.concatenate([[0], np.cumsum(rows)]).astype(np.int32)
        for name in ("ranks_depth", "ranks_feat", "ranks_bev", "interval_starts",
                     "interval_lengths", "weights"):
            setattr(self, name, arrays.get(name))
        self.depth, self.feat = (arrays[name][None].astype(dtype) for name in ("depth", "feat"))
        self.grad = np.random.default_rng(1).standard_normal((self.cells, self.channels)) \
            .astype(dtype)
        if device != "numpy":
            for name, value in list(vars(self).items()):
                if isinstance(value, np.ndarray):
                    setattr(self, name, torch.from_numpy(value).to(device))
            # What PyTorch indexes with.
            self.at_depth, self.at_feat, self.at_bev = (
                ranks.long() for ranks in (self.ranks_depth, self.ranks_feat, self.ranks_bev))
        self.map = bevpool.Map(self.shape, self.ranks_depth, self.ranks_feat, self.ranks_bev,
                               weights=self.weights)

    @property
    def points(self):
        return int(self.ranks_bev.shape[0])

    def leaves(self):
        return [tensor.clone().requires_grad_() for tensor in (self.depth, self.feat)]

    def values(self, depth):
        """The factor of each point: depth, and the weight where the map has weights."""
        found = depth.reshape(-1)[self.at_depth]
        return found if self.weights is None else found * self.weights.to(found.dtype)

    def rows(self, feat):
        return feat.reshape(-1, self.channels)


def rows_of(out, problem, channels_first):
    """(1, C, 1, Y, X) or (1, 1, Y, X, C) as (cells, C)."""
    if channels_first:
        return out.reshape(problem.channels, problem.cells).T
    return out.reshape(problem.cells, problem.channels)


# ---- ways of PyTorch -----------------------------------------------------------------------------
# Each makes a function of depth and features for a problem. Its result is (cells, C).


def index_add(p):
    def pool(depth, feat):
        rows = p.values(depth)[:, None] * p.rows(feat)[p.at_feat]
        return rows.new_zeros(p.cells, p.channels).index_add(0, p.at_bev, rows)
    return pool


def embedding_bag(p):
    def pool(depth, feat):
        return torch.nn.functional.embedding_bag(
            p.ranks_feat, p.rows(feat), p.cell_starts, mode="sum",
            per_sample_weights=p.values(depth), include_last_offset=True)
    return pool


def csr(p):
    """A matrix with a row a cell and a column a feature row; its values are new in every call. The
    gradient of the features is its transpose times that of the output."""
    pixels = p.rows(p.feat).shape[0]
    order = torch.argsort(p.at_feat, stable=True)
    counts = torch.bincount(p.at_feat, minlength=pixels)
    pixel_starts = torch.cat([counts.new_zeros(1), counts.cumsum(0)]).int()
    cells_of = p.ranks_bev[order]

    def matrix(starts, columns, values, size):
        return torch.sparse_csr_tensor(starts, columns, values, size, check_invariants=False)

    class Pool(torch.autograd.Function):
        @staticmethod
        def forward(ctx, depth, feat):
            ctx.save_for_backward(depth, feat)
            return matrix(p.cell_starts, p.ranks_feat, p.values(depth), (p.cells, pixels)) @ \
                p.rows(feat)

        @staticmethod
        def backward(ctx, grad):
            depth, feat = ctx.saved_tensors
            grad_feat = matrix(pixel_starts, cells_of, p.values(depth)[order],
                               (pixels, p.cells)) @ grad
            values = (grad[p.at_bev] * p.rows(feat)[p.at_feat]).sum(-1)
            if p.weights is not None:
                values = values * p.weights.to(values.dtype)
            grad_depth = torch.zeros_like(depth).reshape(-1).index_add(0, p.at_depth, values)
            return grad_depth.reshape(depth.shape), grad_feat.reshape(feat.shape)
    return Pool.apply


def compiled(p):
    return torch.compile(index_add(p), dynamic=False)


def v2_bevdet(p):
    return lambda depth, feat: rows_of(bevpool.pool(depth, feat, p.map, kernel="v2_bevdet"), p, False)


def our_pool(p):
    return lambda depth, feat: rows_of(bevpool.pool(depth, feat, p.map), p, False)


def our_v2(p):
    shape = (1, *p.shape[-3:], p.channels)
    if p.weights is not None:
        raise ValueError("BEVDet's signature has no weights")
    return lambda depth, feat: rows_of(
        bevpool.bev_pool_v2(depth, feat, p.ranks_depth, p.ranks_feat, p.ranks_bev, shape,
                            p.interval_starts, p.interval_lengths), p, True)


# ---- a way of NumPy ------------------------------------------------------------------------------


def reduceat(p):
    def pool(depth, feat):
        values = depth.reshape(-1)[p.ranks_depth]
        if p.weights is not None:
            values = values * p.weights.astype(values.dtype)
        rows = values[:, None] * p.rows(feat)[p.ranks_feat]
        out = np.zeros((p.cells, p.channels), feat.dtype)
        out[p.ranks_bev[p.interval_starts]] = np.add.reduceat(rows, p.interval_starts)
        return out
    return pool


WAYS = {  # what the table says: (the way, what it needs, whether it goes backward, whether ours)
    "index_add": (index_add, "torch", True, False),
    "embedding_bag": (embedding_bag, "torch", True, False),
    "CSR times dense": (csr, "torch", True, False),
    "torch.compile of index_add": (compiled, "torch", True, False),
    "BEVDet's kernel (`v2_bevdet`)": (v2_bevdet, "cuda", False, False),
    "np.add.reduceat": (reduceat, "numpy", False, False),
    "**bevpool.bev_pool_v2**": (our_v2, "any", True, True),
    "**bevpool.pool**": (our_pool, "any", True, True),
}


def fits(needs, device):
    return needs == "any" or needs == device or (needs == "torch" and device != "numpy")


# ---- timing --------------------------------------------------------------------------------------


def synchronize(device):
    if device == "cuda":
        torch.cuda.synchronize()


def median_of_calls(call, device, count):
    """Microseconds a call, of `count` calls without a wait in between."""
    found = []
    for _ in range(SAMPLES if device == "cuda" else 9):
        synchronize(device)
        begun = time.perf_counter()
        for _ in range(count):
            call()
        synchronize(device)
        found.append((time.perf_counter() - begun) * 1e6 / count)
    return statistics.median(found)


def median_of_replays(call, count):
    """Microseconds a call, of a CUDA graph of `count` calls on the current stream."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        for _ in range(count):
            kept = call()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    found = []
    for sample in range(-3, SAMPLES):
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if sample >= 0:
            found.append(begin.elapsed_time(end) * 1e3 / count)
    del kept
    return statistics.median(found)


def time_call(call, device, ours):
    """What a row says of time: graph_us, eager_us, or why there is no graph."""
    for _ in range(3):
        call()
    if device != "cuda":
        return {"eager_us": median_of_calls(call, device, 1)}
    synchronize(device)
    begun = time.perf_counter()
    call()
    synchronize(device)
    count = max(2, min(100, int(GRAPH_US / 1e6 / (time.perf_counter() - begun))))
    times = {}
    try:
        times["graph_us"] = median_of_replays(call, count)
    except RuntimeError as error:
        times["no_graph"] = str(error).splitlines()[0]
    if ours or "no_graph" in times:
        times["eager_us"] = median_of_calls(call, device, max(count, 100 if ours else 1))
    return times


def relative_error(found, wanted):
    scale = float(abs(wanted).max())
    return float(abs(found - wanted).max()) / scale if scale else 0.0


def wanted_of(p, device):
    """Output and gradients by the formula in FP64."""
    if device == "numpy":
        return [reduceat(p)(p.depth.astype(np.float64), p.feat.astype(np.float64))], []
    depth, feat = (tensor.double().requires_grad_() for tensor in (p.depth, p.feat))
    out = index_add(p)(depth, feat)
    return [out.detach()], torch.autograd.grad(out, (depth, feat), p.grad.double())


def measured(p, way, device, direction, wanted, ours):
    pool = way(p)
    if direction == "forward":
        def call():
            return pool(p.depth, p.feat)
        found = [call()]
    else:
        leaves = p.leaves()
        out = pool(*leaves)

        def call():
            return torch.autograd.grad(out, leaves, p.grad, retain_graph=True)
        found = call()
    as_fp64 = [a.astype(np.float64) if device == "numpy" else a.double() for a in found]
    error = max(map(relative_error, as_fp64, wanted))
    del found, as_fp64
    if not error < WRONG:
        raise ValueError(f"another result: the error is {error:.2g} of the largest value")
    return {**time_call(call, device, ours), "error": error}


def measure(path, device, dtype, directions):
    """Rows of one file in one format."""
    scene = os.path.splitext(os.path.basename(path))[0]
    p = Problem(path, device, {"fp32": np.float32, "fp16": np.float16}[dtype])
    out, grads = wanted_of(p, device)
    for direction in directions:
        for title, (way, needs, backward, ours) in WAYS.items():
            if not fits(needs, device) or (direction == "backward" and not backward):
                continue
            row = {"scene": scene, "points": p.points, "channels": p.channels, "dtype": dtype,
                   "direction": direction, "way": title}
            try:
                row.update(measured(p, way, device, direction,
                                    out if direction == "forward" else grads, ours))
            except (RuntimeError, ValueError, TypeError, AttributeError) as error:
                row["failed"] = str(error).splitlines()[0]
            yield row


# ---- what is written -----------------------------------------------------------------------------


def machine_of(device):
    facts = {"date": datetime.date.today().isoformat(), "numpy": np.__version__,
             "cpu": platform.processor() or platform.machine(), "threads": os.cpu_count()}
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
        facts["cpu"] = names[0] if names else facts["cpu"]
    if device != "numpy":
        facts["torch"] = torch.__version__
    if device == "cuda":
        facts["gpu"], facts["cuda"] = torch.cuda.get_device_name(), torch.version.cuda
        asked = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                               capture_output=True, text=True, check=False)
        facts["driver"] = asked.stdout.split("\n")[0]
    return facts


def said(row, eager=False):
    if row is None or "failed" in row:
        return "failed" if row else ""
    if eager or "graph_us" not in row:
        return f"{row['eager_us']:.1f}" + (" eager" if "no_graph" in row else "")
    return f"{row['graph_us']:.1f}"


def table_of(rows):
    """Markdown: a row a way, a column for each scene, format and direction."""
    columns = list(dict.fromkeys((r["direction"], r["scene"], r["dtype"]) for r in rows))
    columns.sort(key=lambda column: column[0] != "forward")
    lines = ["| µs | " + " | ".join(f"{s} {d.upper()}{', back' if b == 'backward' else ''}"
                                    for b, s, d in columns) + " |",
             "|---|" + "---:|" * len(columns)]
    for title in dict.fromkeys(row["way"] for row in rows):
        found = {(r["direction"], r["scene"], r["dtype"]): r for r in rows if r["way"] == title}
        cells = [said(found.get(column)) for column in columns]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
        if WAYS[title][3] and any("graph_us" in r for r in found.values()):
            cells = [said(found.get(column), eager=True) for column in columns]
            lines.append(f"| {title}, eager | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE.npz", help="of bevscope export")
    parser.add_argument("--device", choices=("cuda", "cpu", "numpy"))
    parser.add_argument("--dtype", default="fp16,fp32", help="fp16, fp32 or both (the default)")
    parser.add_argument("--direction", default="forward,backward")
    parser.add_argument("--json", metavar="FILE", help="all figures, with machine and versions")
    parser.add_argument("--markdown", metavar="FILE", help="the table, which is also printed")
    options = parser.parse_args(arguments)
    options.dtype, options.direction = options.dtype.split(","), options.direction.split(",")
    for name, known in ("dtype", {"fp16", "fp32"}), ("direction", {"forward", "backward"}):
        unknown = set(getattr(options, name)) - known
        if unknown:
            parser.error(f"--{name}: {', '.join(sorted(unknown))}, expected {' or '.join(known)}")
    if options.device is None:
        options.device = "numpy" if torch is None else \
            "cuda" if torch.cuda.is_available() and bevpool.kernels(0) else "cpu"
    if options.device != "numpy" and torch is None:
        parser.error(f"--device {options.device} needs PyTorch")
    if options.device == "numpy":
        options.direction = ["forward"]
    return options


def write(path, text):
    if path:
        with open(path, "w") as file:
            file.write(text)


def main():
    options = options_of(sys.argv[1:])
    report = {"machine": machine_of(options.device), "device": options.device, "rows": []}
    if options.device == "cuda":
        torch.cuda.set_stream(torch.cuda.Stream())  # captures need one that is not the default
        # A compiled backward would give memory away that the next call of it needs.
        from torch._functorch import config
        config.donated_buffer = False
    rows = report["rows"]
    for path in options.files:
        for dtype in options.dtype:
            for row in measure(path, options.device, dtype, options.direction):
                rows.append(row)
                if "failed" in row:
                    print(f"{row['way']}, {row['scene']} {dtype} {row['direction']}: "
                          f"{row['failed']}", file=sys.stderr)
                write(options.json, json.dumps(report, indent=1) + "\n")
    table = table_of(rows)
    print(", ".join(f"{name} {value}" for name, value in report["machine"].items()) + "\n\n" + table)
    write(options.markdown, table + "\n")
    sys.exit(any("failed" in row and WAYS[row["way"]][3] for row in rows))


if __name__ == "__main__":
    main()
