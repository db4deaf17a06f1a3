# SPDX-License-Identifier: MIT
"""A stranger's story: a network with BEVDet's LSSViewTransformer takes bevpool in its place, is trained, saved,
loaded and exported. One line of TAP a check.
    test_stranger.py FOLDER               all of it
    test_stranger.py FOLDER loaded        what a new process does with the checkpoint"""
import subprocess
import sys
import warnings

import numpy as np
import torch
import torch.distributed as dist
from torch import nn

import bevpool
from tap import done, ok

GRID = {"x": [-9.6, 9.6, 0.8], "y": [-9.6, 9.6, 0.8], "z": [-5.0, 3.0, 4.0], "depth": [1.0, 13.0, 0.5]}
INPUT, STRIDE, CHANNELS, CAMERAS, SAMPLES, STEPS = (64, 128), 8, 10, 3, 5, 20


class LSSViewTransformer(nn.Module):
    """As in BEVDet, for cameras that stay; its kernel in CUDA is replaced by operators of PyTorch."""

    def __init__(self, grid_config, input_size, downsample, in_channels, out_channels):
        super().__init__()
        rows = torch.tensor([grid_config[axis] for axis in "xyz"])
        self.grid_lower, self.grid_step = rows[:, 0], rows[:, 2]
        self.grid_size = ((rows[:, 1] - rows[:, 0]) / rows[:, 2]).round()
        depth = torch.arange(*grid_config["depth"])
        h, w = (size // downsample for size in input_size)
        self.D, self.out_channels, self.initial = len(depth), out_channels, True
        x = torch.linspace(0, input_size[1] - 1, w).view(1, 1, w).expand(self.D, h, w)
        y = torch.linspace(0, input_size[0] - 1, h).view(1, h, 1).expand(self.D, h, w)
        self.frustum = torch.stack([x, y, depth.view(-1, 1, 1).expand(self.D, h, w)], -1)
        self.depth_net = nn.Conv2d(in_channels, self.D + out_channels, 1)

    def get_lidar_coor(self, sensor2ego, ego2global, cam2imgs, post_rots, post_trans, bda):
        b, n = sensor2ego.shape[:2]
        points = self.frustum - post_trans.view(b, n, 1, 1, 1, 3)
        points = post_rots.inverse().view(b, n, 1, 1, 1, 3, 3).matmul(points[..., None])
        points = torch.cat([points[..., :2, :] * points[..., 2:, :], points[..., 2:, :]], -2)
        turn = sensor2ego[..., :3, :3].matmul(cam2imgs.inverse())
        points = turn.view(b, n, 1, 1, 1, 3, 3).matmul(points).squeeze(-1)
        points = points + sensor2ego[..., :3, 3].view(b, n, 1, 1, 1, 3)
        return bda.view(b, 1, 1, 1, 1, 3, 3).matmul(points[..., None]).squeeze(-1)

    def voxel_pooling_prepare_v2(self, coor):
        b, n, d, h, w, _ = coor.shape
        count = b * n * d * h * w
        ranks_depth = torch.arange(count)
        ranks_feat = torch.arange(count // d).view(b, n, 1, h, w).expand(b, n, d, h, w).flatten()
        cells = ((coor - self.grid_lower) / self.grid_step).long().view(count, 3)
        batch = torch.arange(b).view(b, 1).expand(b, count // b).flatten()
        kept = ((cells >= 0) & (cells < self.grid_size)).all(1)
        x, y, z = cells[kept].unbind(1)
        nx, ny, nz = map(int, self.grid_size)
        ranks_bev = ((batch[kept] * nz + z) * ny + y) * nx + x
        order = ranks_bev.argsort()
        ranks = [a[order].int() for a in (ranks_bev, ranks_depth[kept], ranks_feat[kept])]
        lengths = torch.unique_consecutive(ranks[0], return_counts=True)[1]
        return (*ranks, (lengths.cumsum(0) - lengths).int(), lengths.int())

    def pre_compute(self, input):
        self.ranks = self.voxel_pooling_prepare_v2(self.get_lidar_coor(*input[1:7]))

    def view_transform(self, input, depth_and_feat):
        depth = depth_and_feat[:, :self.D].softmax(1)
        feat = depth_and_feat[:, self.D:].permute(0, 2, 3, 1).reshape(-1, self.out_channels)
        nx, ny, nz = map(int, self.grid_size)
        ranks_bev, ranks_depth, ranks_feat = (a.long() for a in self.ranks[:3])
        rows = depth.flatten()[ranks_depth, None] * feat[ranks_feat]
        b = input[1].shape[0]
        bev = rows.new_zeros(b * nz * ny * nx, self.out_channels).index_add(0, ranks_bev, rows)
        bev = bev.view(b, nz, ny, nx, -1).permute(0, 4, 1, 2, 3)
        return torch.cat(bev.unbind(dim=2), 1), depth

    def forward(self, input):
        if self.initial:
            self.pre_compute(input)
            self.initial = False
        return self.view_transform(input, self.depth_net(input[0].flatten(0, 1)))


# changed, beside the import
class ViewTransformer(LSSViewTransformer):
    def pre_compute(self, input):
        coor = self.get_lidar_coor(*[tensor[:1] for tensor in input[1:7]])
        ranks_bev, ranks_depth, ranks_feat, starts, lengths = self.voxel_pooling_prepare_v2(coor)
        shape = (1, *coor.shape[1:5], *map(int, self.grid_size.tolist()[::-1]))
        grid = bevpool.Map(shape, ranks_depth, ranks_feat, ranks_bev, starts, lengths)
        self.view = bevpool.LiftSplat(grid, depth_bins=self.D)

    def view_transform(self, input, depth_and_feat):
        return self.view(depth_and_feat), depth_and_feat[:, :self.D].softmax(1)
# to here


def rig(samples):
    """sensor2ego, ego2global, cam2imgs, post_rots, post_trans, bda of cameras that look round."""
    yaw = torch.arange(CAMERAS) * 2 * np.pi / CAMERAS
    zero, one = torch.zeros(CAMERAS), torch.ones(CAMERAS)
    right = torch.stack([yaw.sin(), -yaw.cos(), zero], -1)
    down, ahead = torch.stack([zero, zero, -one], -1), torch.stack([yaw.cos(), yaw.sin(), zero], -1)
    sensor2ego = torch.eye(4).repeat(CAMERAS, 1, 1)
    sensor2ego[:, :3, :3] = torch.stack([right, down, ahead], -1)
    sensor2ego[:, :3, 3] = ahead + torch.tensor([0.0, 0.0, 1.5])
    image = torch.tensor([[100.0, 0, 64], [0, 100, 32], [0, 0, 1]]).repeat(CAMERAS, 1, 1)
    each = sensor2ego, torch.eye(4).repeat(CAMERAS, 1, 1), image, torch.eye(3).repeat(CAMERAS, 1, 1), \
        torch.zeros(CAMERAS, 3)
    return [a[None].repeat(samples, *[1] * a.dim()) for a in each] + [torch.eye(3).repeat(samples, 1, 1)]


class Net(nn.Module):
    def __init__(self, transformer):
        super().__init__()
        self.backbone = nn.Conv2d(3, 16, 3, padding=1, stride=STRIDE)
        self.view_transformer = transformer(GRID, INPUT, STRIDE, 16, CHANNELS)
        self.head = nn.Conv2d(CHANNELS * 2, 2, 3, padding=1)

    def forward(self, images):
        feat = self.backbone(images.flatten(0, 1))
        feat = feat.view(*images.shape[:2], *feat.shape[1:])
        return self.head(self.view_transformer([feat, *rig(images.shape[0])])[0])


def made(transformer):
    """A network whose view transformer has seen the rig."""
    torch.manual_seed(1)
    net = Net(transformer)
    net(torch.zeros(1, CAMERAS, 3, *INPUT))
    return net


class Drives(torch.utils.data.Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, at):
        random = np.random.default_rng(at)
        return tuple(torch.from_numpy(random.standard_normal(size).astype(np.float32))
                     for size in ((CAMERAS, 3, *INPUT), (2, 24, 24)))


def test_equal():
    found = []
    images = torch.from_numpy(np.random.default_rng(9).standard_normal((2, CAMERAS, 3, *INPUT)).astype(np.float32))
    for transformer in LSSViewTransformer, ViewTransformer:
        net = made(transformer)
        net.view_transformer.initial = transformer is LSSViewTransformer  # for its batch of two
        images.requires_grad_().grad = None
        out = net(images)
        out.square().mean().backward()
        found.append([out.detach(), images.grad, *(p.grad for p in net.parameters())])
    off = max(float((a - b).abs().max() / b.abs().max().clamp(min=1)) for a, b in zip(found[1], found[0]))
    ok(off <= 1e-6 and all(bool(g.abs().max() > 0) for g in found[0]),
       f"forward and backward are the old network's in FP32: off by {off:.1e}")


# ---- training: two processes, autocast, an average of the weights --------------------------------


def scaler():
    """What autocast's gradients are scaled by, where PyTorch has one for the CPU."""
    return torch.amp.GradScaler("cpu") if hasattr(torch.amp, "GradScaler") else None


def steps(net, ema, loader):
    """Trains, epoch after epoch: the losses."""
    optimizer, scale, losses = torch.optim.AdamW(net.parameters(), lr=3e-3), scaler(), []
    while len(losses) < STEPS:
        for images, wanted in loader:
            with torch.autocast("cpu", torch.bfloat16):
                loss = nn.functional.mse_loss(net(images).float(), wanted)
            optimizer.zero_grad()
            (scale.scale(loss) if scale else loss).backward()
            scale.step(optimizer) if scale else optimizer.step()
            if scale:
                scale.update()
            ema.update_parameters(net)
            losses.append(float(loss.detach()))
    return losses


def train(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    net = nn.parallel.DistributedDataParallel(made(ViewTransformer))
    ema = torch.optim.swa_utils.AveragedModel(net, avg_fn=lambda old, new, _: 0.9 * old + 0.1 * new)
    data = Drives()
    sampler = torch.utils.data.distributed.DistributedSampler(data, 2, rank)
    loader = torch.utils.data.DataLoader(data, 2, sampler=sampler, num_workers=1, persistent_workers=True)  # batches of 2 and of 1
    losses = steps(net, ema, loader)
    sums = torch.stack([p.detach().double().sum() for p in net.parameters()])
    others = [torch.zeros_like(sums) for _ in range(2)]
    dist.all_gather(others, sums)
    if rank == 0:
        images = torch.stack([data[at][0] for at in range(3)])
        averaged = ema.module.module.eval()
        with torch.no_grad():
            wanted = averaged(images)
        torch.save({"net": averaged.state_dict(), "images": images, "wanted": wanted, "losses": losses,
                    "same": torch.equal(*others)}, folder + "/checkpoint.pt")
    dist.destroy_process_group()


def test_trained(folder):
    torch.multiprocessing.spawn(train, (folder,), nprocs=2)
    saved = torch.load(folder + "/checkpoint.pt")
    losses = saved["losses"]
    ok(len(losses) >= STEPS and saved["same"] and np.isfinite(losses).all() and losses[-1] < losses[0],
       f"{len(losses)} steps in two processes, with autocast and an average: loss {losses[0]:.3f} to {losses[-1]:.3f}")
    ok("view_transformer.view.ranks_bev" in saved["net"], "the checkpoint has the ranks")


# ---- a new process: the checkpoint, ONNX ---------------------------------------------------------


def test_exported(net, images, wanted, folder):
    try:
        import onnx  # noqa: F401
        import onnxruntime
    except ImportError as error:
        ok(True, f"exported and run in onnxruntime # SKIP {error}")
        return
    import bevpool.onnx
    path = folder + "/net.onnx"
    bevpool.onnx.export(net, (images,), path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    out, = session.run(None, {session.get_inputs()[0].name: images.numpy()})
    off = float(np.abs(out - wanted.numpy()).max())
    ok(out.shape == tuple(wanted.shape) and off < 1e-5, f"exported, run in onnxruntime: off by {off:.1e}")


def test_loaded(folder):
    saved = torch.load(folder + "/checkpoint.pt")
    net = made(ViewTransformer).eval()
    net.load_state_dict(saved["net"])
    with torch.no_grad():
        out = net(saved["images"])
    off = float((out - saved["wanted"]).abs().max())
    ok(off < 1e-6, f"loaded in a new process: off by {off:.1e}")
    test_exported(net, saved["images"], saved["wanted"], folder)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(2)
    if sys.argv[2:] == ["loaded"]:
        test_loaded(sys.argv[1])
        done()
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().split("# changed, beside the import\n")[1].split("# to here")[0].split("\n")
    count = 1 + sum(bool(line) for line in lines)
    ok(count <= 10, f"changed: {count} lines")
    test_equal()
    test_trained(sys.argv[1])
    story = subprocess.run([sys.executable, __file__, sys.argv[1], "loaded"], stdout=subprocess.PIPE, text=True)
    for line in story.stdout.splitlines():
        if " - " in line:
            ok(line.startswith("ok "), line.split(" - ", 1)[1])
    ok(story.returncode == 0, "the new process ended well")
    done()
