#!/usr/bin/env python3
"""Times a training step whose calibration is new each time: libbevpool beside BEVDet's own way.

    step.py --json step.json                  # on a GPU; nvcc is needed for BEVDet's kernels
    step.py canonical --batch 1 --samples 5

A step is the view transform and its gradient, given that of the output. Cameras are those of
samples/rigs/nuscenes.json; images are resized, cropped, flipped and turned, the BEV is flipped, turned
and scaled, as BEVDet augments. Ways:

- moving: bevpool.Cameras, whose map is made of matrices on the stream; FP16 or FP32, eager and as one
  CUDA graph
- update: the maps of both directions alone, on two streams side by side
- static: bevpool.Map, made once: what a step costs where no camera moves
- bevdet: coordinates, voxel_pooling_prepare_v2 and both kernels of BEVDet in FP32, eager, as it has no
  other form
- drop-in: bevpool.bev_pool_v2 in the place of BEVDet's kernels, behind the same preparation
- prepare: the same behind bevpool.prepare and BEVDet's coordinates

Results are compared with BEVDet's first: points that its FP32 arithmetic puts into another cell are
counted. A figure is a median: of replays of a graph that holds four steps, or of single steps that are
waited for.
"""
import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import bevpool  # noqa: E402
from compare import machine_of  # noqa: E402

CHANNELS, HEIGHT_M, GRAPH_STEPS = 80, (-5.0, 3.0), 4

# bins, features, input, depth (start, step), cells, reach in metres, resize
COLUMNS = {"canonical": (59, (16, 44), (256, 704), (1.0, 1.0), 200, 50.0, 0.44),
           "xlarge": (118, (32, 88), (512, 1408), (1.0, 0.5), 360, 54.0, 0.88)}

BEVDET = r"""
static __global__ void forward(int c, int n, const float *depth, const float *feat, const int *rd,
                               const int *rf, const int *rb, const int *starts, const int *lengths,
                               float *out) {
    int id = blockIdx.x * blockDim.x + threadIdx.x, i = id / c, channel = id % c;
    if (i >= n)
        return;
    float sum = 0;
    for (int t = starts[i]; t < starts[i] + lengths[i]; t++)
        sum += depth[rd[t]] * feat[(size_t)rf[t] * c + channel];
    out[(size_t)rb[starts[i]] * c + channel] = sum;
}
static __global__ void backward(int c, int n, const float *grad, const float *depth, const float *feat,
                                const int *rd, const int *rf, const int *rb, const int *starts,
                                const int *lengths, float *grad_depth, float *grad_feat) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int first = starts[i], end = first + lengths[i];
    for (int t = first; t < end; t++) {
        float sum = 0;
        for (int k = 0; k < c; k++)
            sum += grad[(size_t)rb[t] * c + k] * feat[(size_t)rf[t] * c + k];
        grad_depth[rd[t]] = sum;
    }
    for (int k = 0; k < c; k++) {
        float sum = 0;
        for (int t = first; t < end; t++)
            sum += grad[(size_t)rb[t] * c + k] * depth[rd[t]];
        grad_feat[(size_t)rf[first] * c + k] = sum;
    }
}
extern "C" void bevdet_forward(int c, int n, float *a, float *b, int *d, int *e, int *f, int *g, int *h,
                               float *out, cudaStream_t stream) {
    forward<<<((size_t)n * c + 255) / 256, 256, 0, stream>>>(c, n, a, b, d, e, f, g, h, out);
}
extern "C" void bevdet_backward(int c, int n, float *o, float *a, float *b, int *d, int *e, int *f, int *g,
                                int *h, float *x, float *y, cudaStream_t stream) {
    backward<<<(n + 255) / 256, 256, 0, stream>>>(c, n, o, a, b, d, e, f, g, h, x, y);
}
"""


def compiled():
    """BEVDet's two kernels: a thread a channel of an interval, and a thread an interval of a pixel."""
    folder = tempfile.mkdtemp()
    source, library = os.path.join(folder, "bevdet.cu"), os.path.join(folder, "bevdet.so")
    with open(source, "w") as file:
        file.write(BEVDET)
    major, minor = torch.cuda.get_device_capability()
    subprocess.run(["nvcc", "-O3", f"-arch=sm_{major}{minor}", "-shared", "-Xcompiler", "-fPIC", source,
                    "-o", library], check=True)
    return ctypes.CDLL(library)


# ---- calibration ---------------------------------------------------------------------------------


def rotation(yaw, pitch, roll):
    """A camera's frame (right, down, ahead) in that of the vehicle."""
    y, p, r = map(math.radians, (yaw, pitch, roll))
    turns = [[[math.cos(y), -math.sin(y), 0], [math.sin(y), math.cos(y), 0], [0, 0, 1]],
             [[math.cos(p), 0, math.sin(p)], [0, 1, 0], [-math.sin(p), 0, math.cos(p)]],
             [[1, 0, 0], [0, math.cos(r), -math.sin(r)], [0, math.sin(r), math.cos(r)]],
             [[0, 0, 1], [-1, 0, 0], [0, -1, 0]]]
    return torch.linalg.multi_dot([torch.tensor(t, dtype=torch.double) for t in turns])


def turned(angle, size=2):
    """A rotation by degrees in the plane."""
    c, s, found = math.cos(math.radians(angle)), math.sin(math.radians(angle)), torch.eye(size).double()
    found[:2, :2] = torch.tensor([[c, -s], [s, c]])
    return found


def augmented_image(size, resize, draw):
    """Resized, cropped, flipped and turned about the middle: rotation (2, 2) and translation (2)."""
    height, width = size
    scale = resize * draw(0.94, 1.11)
    turn = scale * torch.eye(2).double()
    move = -torch.tensor([(scale * 1600 - width) * draw(0, 1), scale * 900 - height]).double()
    if draw(0, 1) > 0.5:
        flip = torch.tensor([-1.0, 1.0]).double()
        turn, move = flip[:, None] * turn, flip * move + torch.tensor([width, 0]).double()
    middle, by = torch.tensor([width / 2, height / 2]).double(), turned(draw(-5.4, 5.4))
    return by @ turn, by @ (move - middle) + middle


def calibration(batch, column, seed):
    """BEVDet's tensors of one step: sensor2ego, cam2imgs, post_rots, post_trans, bda."""
    with open(os.path.join(HERE, "..", "rigs", "nuscenes.json")) as file:
        cameras = json.load(file)["cameras"]
    generator = torch.Generator().manual_seed(seed)

    def draw(low, high):
        return low + (high - low) * torch.rand((), generator=generator).item()

    _, _, size, _, _, _, resize = COLUMNS[column]
    eye = torch.eye(4).double().repeat(batch, len(cameras), 1, 1)
    sensor2ego, cam2imgs, post_rots = eye.clone(), eye[..., :3, :3].clone(), eye[..., :3, :3].clone()
    post_trans, bda = eye[..., 0, :3] * 0, torch.eye(3).double().repeat(batch, 1, 1)
    for b in range(batch):
        for i, camera in enumerate(cameras):
            angles = (camera[name] for name in ("yaw_deg", "pitch_deg", "roll_deg"))
            sensor2ego[b, i, :3, :3] = rotation(*angles)
            sensor2ego[b, i, :3, 3] = torch.tensor(camera["position_m"])
            cam2imgs[b, i, 0, 0] = cam2imgs[b, i, 1, 1] = camera["focal_px"]
            cam2imgs[b, i, :2, 2] = torch.tensor(camera["center_px"])
            post_rots[b, i, :2, :2], post_trans[b, i, :2] = augmented_image(size, resize, draw)
        signs = torch.tensor([1 if draw(0, 1) > 0.5 else -1, 1 if draw(0, 1) > 0.5 else -1, 1])
        bda[b] = signs[:, None] * draw(0.95, 1.05) * turned(draw(-22.5, 22.5), 3)
    return [t.float().cuda() for t in (sensor2ego, cam2imgs, post_rots, post_trans, bda)]


# ---- BEVDet's way --------------------------------------------------------------------------------


def frustum(column):
    """Pixels and depths (D, H, W, 3)."""
    bins, (height, width), (input_h, input_w), (start, step), *_ = COLUMNS[column]
    d = (torch.arange(bins, device="cuda") * step + start).view(bins, 1, 1).expand(bins, height, width)
    u = torch.linspace(0, input_w - 1, width, device="cuda").expand(bins, height, width)
    v = torch.linspace(0, input_h - 1, height, device="cuda").view(1, height, 1).expand_as(u)
    return torch.stack([u, v, d], -1)


def intervals(ranks):
    """Where runs of equal ranks start, and how long they are."""
    first = torch.ones(ranks.shape[0], device="cuda", dtype=torch.bool)
    first[1:] = ranks[1:] != ranks[:-1]
    starts = torch.where(first)[0].int()
    lengths = torch.zeros_like(starts)
    lengths[:-1] = starts[1:] - starts[:-1]
    lengths[-1] = ranks.shape[0] - starts[-1]
    return starts, lengths


def coordinates(pixels, sensor2ego, cam2imgs, post_rots, post_trans, bda):
    """Points (B, N, D, H, W, 3) in the frame of the grid."""
    b, n = sensor2ego.shape[:2]
    wide = (b, n, 1, 1, 1)
    p = (pixels - post_trans.view(*wide, 3))[..., None]
    p = torch.inverse(post_rots).view(*wide, 3, 3).matmul(p)
    p = torch.cat((p[..., :2, :] * p[..., 2:3, :], p[..., 2:3, :]), 5)
    p = sensor2ego[..., :3, :3].matmul(torch.inverse(cam2imgs)).view(*wide, 3, 3).matmul(p)
    p = p + sensor2ego[..., :3, 3].view(*wide, 3, 1)
    return bda.view(b, 1, 1, 1, 1, 3, 3).matmul(p).squeeze(-1)


def grid_of(column):
    """The lower ends of the grid, the sizes and the numbers of its cells."""
    *_, cells, reach, _ = COLUMNS[column]
    low, size = HEIGHT_M[0], HEIGHT_M[1] - HEIGHT_M[0]
    return (-reach, -reach, low), (2 * reach / cells, 2 * reach / cells, size), (cells, cells, 1)


def prepared(p, column):
    """voxel_pooling_prepare_v2: depth, feature and cell of each point, by cell, and the intervals."""
    b, n, d, h, w, _ = p.shape
    low, cell_m, (cells, *_) = grid_of(column)
    at = ((p - p.new_tensor(low)) / p.new_tensor(cell_m)).long().view(-1, 3)
    points = at.shape[0]
    ranks_depth = torch.arange(points, dtype=torch.int, device="cuda")
    ranks_feat = torch.arange(points // d, dtype=torch.int, device="cuda").view(b, n, 1, h, w)
    ranks_feat = ranks_feat.expand(b, n, d, h, w).flatten()
    sample = torch.arange(b, device="cuda").view(b, 1).expand(b, points // b).reshape(-1)
    kept = ((at >= 0) & (at < at.new_tensor([cells, cells, 1]))).all(1)
    ranks_bev = ((sample * cells + at[:, 1]) * cells + at[:, 0])[kept]
    order = ranks_bev.argsort()
    arrays = ranks_depth[kept][order], ranks_feat[kept][order], ranks_bev[order]
    return [t.int().contiguous() for t in (*arrays, *intervals(arrays[2]))]


def addresses(*tensors):
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    return *(ctypes.c_void_p(t.data_ptr()) for t in tensors), stream


def bevdet_pool(library):
    """BEVDet's bev_pool_v2 with its own kernels."""
    class Pool(torch.autograd.Function):
        @staticmethod
        def forward(ctx, depth, feat, rd, rf, rb, shape, starts, lengths):
            out = feat.new_zeros(shape)
            library.bevdet_forward(feat.shape[-1], starts.numel(),
                                   *addresses(depth, feat, rd, rf, rb, starts, lengths, out))
            ctx.save_for_backward(depth, feat, rd, rf, rb)
            return out

        @staticmethod
        def backward(ctx, grad):
            depth, feat, rd, rf, rb = ctx.saved_tensors
            order = rf.argsort()
            rd, rf, rb = (ranks[order].contiguous() for ranks in (rd, rf, rb))
            starts, lengths = intervals(rf)
            grads = torch.zeros_like(depth), torch.zeros_like(feat)
            library.bevdet_backward(feat.shape[-1], starts.numel(),
                                    *addresses(grad.contiguous(), depth, feat, rd, rf, rb, starts, lengths,
                                               *grads))
            return *grads, None, None, None, None, None, None

    def pool(depth, feat, *rest):
        out = Pool.apply(depth.contiguous(), feat.contiguous(), *rest)
        return out.permute(0, 4, 1, 2, 3).contiguous()
    return pool


# ---- timing --------------------------------------------------------------------------------------


def eager_us(step, samples):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    found = []
    for _ in range(samples):
        begun = time.perf_counter()
        step()
        torch.cuda.synchronize()
        found.append((time.perf_counter() - begun) * 1e6)
    return statistics.median(found)


def graph_us(step, samples):
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(GRAPH_STEPS):
            step()
    found = []
    for _ in range(samples + 1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        found.append(begin.elapsed_time(end) * 1e3 / GRAPH_STEPS)
    return statistics.median(found[1:])


def peak_mb(step):
    step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 1e6


# ---- the table -----------------------------------------------------------------------------------


class Problem:
    """One column of the table: a scene and a batch."""

    def __init__(self, column, batch, library):
        self.column, self.batch, self.turn = column, batch, 0
        bins, (h, w), size, depth, cells, reach, _ = COLUMNS[column]
        self.bins, self.shape = bins, (batch, 6, bins, h, w, 1, cells, cells)
        self.steps = [calibration(batch, column, seed) for seed in range(8)]
        self.pixels, self.own_pool = frustum(column), bevdet_pool(library)
        ahead = (-reach, reach)
        self.cameras = bevpool.Cameras(self.shape, size, depth, ahead, ahead, HEIGHT_M)
        self.grid = bevpool.Map(self.shape, *prepared(coordinates(self.pixels, *self.steps[0]), column))
        torch.manual_seed(1)
        self.x = torch.randn(batch * 6, bins + CHANNELS, h, w, device="cuda")
        self.grad = torch.randn(batch, CHANNELS, 1, cells, cells, device="cuda")

    def matrices(self):
        """The next calibration."""
        self.turn += 1
        return self.steps[self.turn % len(self.steps)]

    def stepped(self, view, dtype):
        """A step: the output and the gradient of x."""
        x, grad = self.x.to(dtype), self.grad.to(dtype)

        def step():
            leaf = x.detach().requires_grad_()
            out = view(leaf)
            return out, *torch.autograd.grad(out, leaf, grad)
        return step

    def moving(self, matrices):
        return lambda x: bevpool.view_transform(x, self.cameras, self.bins,
                                                poses=self.cameras.poses(*matrices()))

    def static(self, x):
        return bevpool.view_transform(x, self.grid, self.bins)

    @staticmethod
    def own_prepared(points, column):
        """What prepared() gives, by bevpool.prepare."""
        rb, rd, rf, starts, lengths = bevpool.prepare(points, *grid_of(column))
        return rd, rf, rb, starts, lengths

    def bevdet(self, pool, matrices, pixels=None, prepare=prepared):
        b, n, d, h, w, *cells = self.shape

        def view(x):
            points = coordinates(self.pixels if pixels is None else pixels, *matrices())
            rd, rf, rb, starts, lengths = prepare(points, self.column)
            depth = x[:, :d].softmax(1).view(b, n, d, h, w)
            feat = x[:, d:].view(b, n, CHANNELS, h, w).permute(0, 1, 3, 4, 2)
            return pool(depth, feat, rd, rf, rb, (b, *cells, CHANNELS), starts, lengths)
        return view

    def differences(self):
        """Points in another cell than in FP64, and the largest relative error beside FP64 cells."""
        first = self.steps[0]
        exact = [t.double() for t in first]
        cells = []
        for pixels, matrices in (self.pixels, first), (self.pixels.double(), exact):
            rd, _, rb, *_ = prepared(coordinates(pixels, *matrices), self.column)
            cells.append(torch.full((math.prod(self.shape[:5]),), -1, device="cuda", dtype=torch.int)
                         .index_put((rd.long(),), rb))
        own = self.stepped(self.moving(lambda: first), torch.float32)()
        other = self.stepped(self.bevdet(self.own_pool, lambda: exact, self.pixels.double()),
                             torch.float32)()
        errors = [((a - b).norm() / b.norm()).item() for a, b in zip(own, other)]
        return {"points_moved_by_fp32": int((cells[0] != cells[1]).sum()), "error": max(errors)}

    def update(self):
        """Makes the maps of both directions of one step, on two streams."""
        self.stepped(self.moving(lambda: self.steps[0]), torch.float16)()  # its plans
        poses, beside = self.cameras.poses(*self.steps[0]), torch.cuda.Stream()
        forward, backward = (plan for plan, _ in self.cameras._on(0)._ready.values() if plan._item == 2)

        def both():
            beside.wait_stream(torch.cuda.current_stream())
            kept = forward.made_map(poses)
            with torch.cuda.stream(beside):
                kept = kept, backward.made_map(poses)
            torch.cuda.current_stream().wait_stream(beside)
            return kept
        return both


def rows_of(problem, samples):
    """Rows of results: a way, a format, how it is launched, and its figures."""
    first = problem.steps[0]
    half, single = torch.float16, torch.float32
    few = max(3, samples // 3)
    ways = (("moving", "fp16", "graph", problem.stepped(problem.moving(lambda: first), half)),
            ("moving", "fp16", "eager", problem.stepped(problem.moving(problem.matrices), half)),
            ("moving", "fp32", "eager", problem.stepped(problem.moving(problem.matrices), single)),
            ("static", "fp16", "graph", problem.stepped(problem.static, half)),
            ("update", "fp16", "graph", problem.update()),
            ("bevdet", "fp32", "eager", problem.stepped(
                problem.bevdet(problem.own_pool, problem.matrices), single)),
            ("drop-in", "fp32", "eager", problem.stepped(
                problem.bevdet(bevpool.bev_pool_v2, problem.matrices), single)),
            ("prepare", "fp32", "eager", problem.stepped(
                problem.bevdet(bevpool.bev_pool_v2, problem.matrices, prepare=problem.own_prepared), single)))
    for way, dtype, launch, step in ways:
        us = graph_us(step, samples) if launch == "graph" else \
            eager_us(step, samples if way in ("moving", "static") else few)
        row = {"stage": "step", "scene": problem.column, "batch": problem.batch, "way": way,
               "dtype": dtype, "launch": launch, "median_us": round(us, 2)}
        if launch == "eager":
            row["peak_mb"] = round(peak_mb(step), 1)
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=f"of {', '.join(COLUMNS)}; default: all")
    parser.add_argument("--batch", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--samples", type=int, default=21)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    if unknown := set(options.scenes) - set(COLUMNS):
        parser.error(f"{unknown.pop()}: expected {' or '.join(COLUMNS)}")
    if not torch.cuda.is_available():
        sys.exit("step.py: no GPU")
    library, results = compiled(), []
    for column in options.scenes or COLUMNS:
        for batch in options.batch:
            problem = Problem(column, batch, library)
            print(column, f"batch {batch}:", problem.differences(), flush=True)
            for row in rows_of(problem, options.samples):
                results.append(row)
                print(f"{row['way']:8} {row['dtype']} {row['launch']:6} {row['median_us']:10.1f} us",
                      f"{row['peak_mb']:8.1f} MB" if "peak_mb" in row else "", flush=True)
    if options.json:
        machine = {**machine_of("cuda"), "seed": "0 to 7"}
        with open(options.json, "w") as file:
            json.dump({"machine": machine, "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
