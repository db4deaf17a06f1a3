# SPDX-License-Identifier: MIT
"""What PyTorch has for the operator scenes, timed on a GPU.

    bevscope export histogram histogram.npz              # the same for embedding_bag, voxelize, segments
    bevscope export embedding_bag embedding_bag-skew0.npz --skew 0
    python3 operators.py *.npz > torch.json              # the operator is the file name's beginning

Each line of "results" has the fields of `bevscope bench --format json`. Inputs lie on the GPU as
PyTorch's function takes them; making them is not timed. A launch is one replay of a CUDA graph, or,
where a function waits for the GPU and no graph can hold it (bincount), one call from the host. A
sample is the mean of 20 launches; median_us is the median of 50 samples, caches warm. Sums are compared
with FP64; the error stands beside the time.
"""

import json
import os
import sys

import numpy as np
import torch

SAMPLES, LAUNCHES, WARM_UP = 50, 20, 5


def histogram(a, dtype):
    """Bins of the values in the order of the values; the weight of each is its depth."""
    order = np.argsort(a["ranks_feat"], kind="stable")
    bins = torch.from_numpy(a["ranks_bev"][order].astype(np.int64)).cuda()
    weights = a["depth"].to(dtype).reshape(-1)[torch.from_numpy(np.sort(a["ranks_feat"])).cuda()]
    out = torch.zeros(a["cells"], dtype=dtype, device="cuda")
    if dtype == torch.float32:
        yield "torch.bincount, weighted", lambda: torch.bincount(bins, weights, a["cells"]), None
    yield "torch.index_add", lambda: out.zero_().index_add_(0, bins, weights), None


def embedding_bag(a, dtype):
    """Rows of bag after bag, as embedding_bag takes them with offsets. Every bag has rows."""
    rows = torch.from_numpy(a["ranks_feat"].astype(np.int64)).cuda()
    offsets = torch.from_numpy(a["interval_starts"].astype(np.int64)).cuda()
    table = a["feat"].to(dtype).reshape(-1, a["channels"])
    cells = torch.from_numpy(a["ranks_bev"][a["interval_starts"]].astype(np.int64)).cuda()
    bag = torch.nn.functional.embedding_bag
    yield "torch.embedding_bag", lambda: bag(rows, table, offsets, mode="sum"), cells


def voxelize(a, dtype):
    """The returns in the order in which they came; those outside the grid are left out."""
    order = np.argsort(a["ranks_feat"], kind="stable")
    rows = torch.from_numpy(a["ranks_feat"][order].astype(np.int64)).cuda()
    cells = torch.from_numpy(a["ranks_bev"][order].astype(np.int64)).cuda()
    source = a["feat"].to(dtype).reshape(-1, a["channels"])[rows].contiguous()
    index = cells[:, None].expand(-1, a["channels"])
    out = torch.zeros(a["cells"], a["channels"], dtype=dtype, device="cuda")
    mean = lambda: out.zero_().scatter_reduce_(0, index, source, "mean", include_self=False)
    scaled = source * a["depth"].to(dtype).reshape(-1)[rows][:, None]
    yield "torch.scatter_reduce, mean", mean, None
    yield "torch.index_add", lambda: out.zero_().index_add_(0, cells, scaled), None


def segments(a, dtype):
    """The rows as they lie; empty segments are left out."""
    lengths = torch.from_numpy(a["interval_lengths"].astype(np.int64)).cuda()
    rows = a["feat"].to(dtype).reshape(-1, a["channels"])[: len(a["ranks_feat"])].contiguous()
    cells = torch.from_numpy(a["ranks_bev"][a["interval_starts"]].astype(np.int64)).cuda()
    reduce = lambda: torch.segment_reduce(rows, "sum", lengths=lengths, axis=0, unsafe=True)
    yield "torch.segment_reduce", reduce, cells


OPERATORS = {f.__name__: f for f in (histogram, embedding_bag, voxelize, segments)}


def load(path):
    arrays = dict(np.load(path))
    for name in ("depth", "feat"):
        arrays[name] = torch.from_numpy(arrays[name].astype(np.float32)).cuda()
    arrays["cells"] = int(np.prod(arrays["bev_shape"]))
    arrays["channels"] = arrays["feat"].shape[-1]
    return arrays


def reference(a):
    """The sum of the scene's own arrays in FP64: (cells, channels)."""
    index = [torch.from_numpy(a[n].astype(np.int64)).cuda() for n in ("ranks_depth", "ranks_feat", "ranks_bev")]
    terms = a["depth"].double().reshape(-1)[index[0]][:, None]
    terms = terms * a["feat"].double().reshape(-1, a["channels"])[index[1]]
    out = torch.zeros(a["cells"], a["channels"], dtype=torch.float64, device="cuda")
    return out.index_add_(0, index[2], terms)


def error_of(result, cells, a):
    """The largest error over the largest sum."""
    want = reference(a)
    got = result.double().reshape(-1, a["channels"])
    want = want if cells is None else want[cells]
    return float((got - want).abs().max() / want.abs().max())


def graph_of(call):
    """A replay of the call, or the call itself where it cannot be captured."""
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        return graph.replay, "graph"
    except RuntimeError:
        torch.cuda.synchronize()
        return call, "call"


def time_us(launch):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for sample in range(WARM_UP + SAMPLES):
        start.record()
        for _ in range(LAUNCHES):
            launch()
        end.record()
        end.synchronize()
        if sample >= WARM_UP:
            times.append(start.elapsed_time(end) * 1000 / LAUNCHES)
    return np.array(times)


def rows_of(path):
    stem = os.path.splitext(os.path.basename(path))[0]
    names = [name for name in OPERATORS if stem.startswith(name)]
    if not names:
        sys.exit(f"{path}: the name begins with none of {', '.join(OPERATORS)}")
    scene = stem.replace("-skew", ", skew ")
    arrays = load(path)
    for dtype, word in ((torch.float32, "fp32"), (torch.float16, "fp16")):
        for kernel, call, cells in OPERATORS[names[0]](arrays, dtype):
            row = {"scene": scene, "kernel": kernel, "where": "cuda", "dtype": word,
                   "align": "nearest", "direction": "forward", "cache": "warm"}
            try:
                row["error"] = error_of(call(), cells, arrays)
                launch, row["launched"] = graph_of(call)
            except RuntimeError as reason:
                row["skipped"] = str(reason).split("\n")[0]
                torch.cuda.synchronize()
                yield row
                continue
            times = time_us(launch)
            for name, percent in (("median_us", 50), ("p95_us", 95), ("p99_us", 99)):
                row[name] = round(float(np.percentile(times, percent)), 3)
            yield row


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1])
    if not torch.cuda.is_available():
        sys.exit("operators.py: PyTorch finds no GPU here")
    machine = {"gpu": torch.cuda.get_device_name(), "cuda": torch.version.cuda,
               "torch": torch.__version__}
    rows = [row for path in sys.argv[1:] for row in rows_of(path)]
    json.dump({"machine": machine, "results": rows}, sys.stdout, indent=1)
    print()


main()
