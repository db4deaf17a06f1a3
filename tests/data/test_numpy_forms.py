# SPDX-License-Identifier: MIT
"""The forms of .npz and .npy files that NumPy takes for the same arrays: see test_numpy_forms.sh."""
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np

import bevdet
import grids
from grids import pooled, refused, run, same
from tap import done, ok

TIMES = 10 if os.environ.get("WHOLE") else 4  # of what is drawn by chance


def saved(**changes):
    """A file of the arrays with these changes; None: without that one."""
    return grids.saved(arrays | changes)


dropped = dict.fromkeys(["ranks_depth", "ranks_feat", "ranks_bev", "interval_starts",
                         "interval_lengths", "bev_shape"])


def test_types():
    same("half depths", saved(depth=arrays["depth"].astype("f2")), plain)
    same("all in f8", saved(**{name: a.astype("f8") for name, a in arrays.items() if a.dtype.kind == "f"}), plain)
    same("ranks in u4", saved(**{name: a.astype("u4") for name, a in arrays.items() if name in dropped}), plain)
    refused("Fortran order", saved(grid=np.asfortranarray(arrays["grid"])), "numpy.ascontiguousarray")
    random, bins, bad = np.random.default_rng(3), len(arrays["depth"][0]), []
    for _ in range(2 * TIMES):
        start, step = random.uniform(0.5, 5), random.uniform(0.05, 3)
        ends = np.array([start, start + bins * step, step])
        for kind in np.float32, np.float64:
            got = pooled(saved(depth_range=ends.astype(kind), **dropped))
            bad += [f"{ends} {got}"] if isinstance(got, str) else []
    ok(not bad, f"{4 * TIMES} ranges of depth, rounded", bad[:1])


def test_archives():
    for save in "savez", "savez_compressed":
        getattr(np, save)("form.npz", **arrays)
        same(f"{save}: a file", "form.npz", plain)
        code = f"import numpy, sys; numpy.{save}(sys.stdout.buffer, **numpy.load('form.npz'))"
        # A pipe cannot seek: sizes and checksums lie behind the data.
        piped = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout
        with open("piped.npz", "wb") as file:
            file.write(piped)
        same(f"{save}: a pipe", "piped.npz", plain)
    with open("bad.npz", "wb") as file:
        file.write(b"#!/bin/sh\n" + piped)
    refused("bytes before the archive", "bad.npz", "bad.npz")


def test_advice():
    """Every advice is followed, and what it makes is taken."""
    depth, feat = arrays["depth"], arrays["feat"]
    refused("images of 0 to 1", saved(images=images / 255), "images: dtype float64, must be uint8",
            "(255 * images).round().astype(numpy.uint8)")
    ok(np.array_equal((255 * (images / 255)).round().astype(np.uint8), images), "the advice gives them back")
    names = np.array([f"c{i}" for i in range(len(depth))], object)
    refused("names as objects", saved(camera_names=names), "camera_names", "dtype=str")
    same("the advice for names", saved(camera_names=np.array(list(names), dtype=str)), plain)
    refused("names as numbers", saved(camera_names=np.arange(len(depth))), "save names")
    stamps = np.full(len(depth), 1533151603512404)
    refused("microseconds", saved(timestamps=stamps), "timestamps[0]", "outside 0 to 1e+12", "timestamps / 1e6")
    same("whole seconds", saved(timestamps=stamps // 10**6), plain)
    for name in "depth_range", "grid":
        refused(f"{name} of each camera", saved(**{name: np.stack([arrays[name]] * len(depth))}), name)
    wide = np.zeros((len(depth), 4, 4))
    wide[:, :3, :3] = arrays["intrinsics"]
    refused("intrinsics of 4 x 4", saved(intrinsics=wide), "save intrinsics[:, :3, :3]")
    refused("one camera's intrinsics", saved(intrinsics=arrays["intrinsics"][0]), "camera axis")
    with zipfile.ZipFile("net.pth", "w") as pth:
        pth.writestr("archive/data.pkl", b"\x80\x02}q.")
    refused("tensors of torch", "net.pth", "not an array", "numpy.savez")


def turned(degrees):
    t = np.deg2rad(degrees)
    return np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1.0]])


def rig(random, slices=1):
    """Arguments of export_scene with numbers of their own; depth and features are whole numbers."""
    cameras, bins, h, w, channels = 3, 12, 5, 7, 4
    poses = np.tile(np.eye(4), (cameras, 1, 1))
    for i in range(cameras):
        poses[i, :3, :3] = turned(random.uniform(-180, 180)) @ [[0, 0, 1], [-1, 0, 0], [0, -1, 0]]
        poses[i, :3, 3] = random.uniform(-1, 1, 3) + [0, 0, 1.5]
    return dict(depth=random.integers(0, 3, (cameras, bins, h, w)).astype(np.float32),
                feat=random.integers(-4, 5, (cameras, h, w, channels)).astype(np.float32),
                intrinsics=np.tile([[60.0, 0, 40], [0, 60, 20], [0, 0, 1]], (cameras, 1, 1)), cam2ego=poses,
                image_size=(40, 80), resize=1.0, crop=(0, 0), depth_range=(1, 13, 1),
                grid=[(-9, 9, 1.5), (-9, 9, 1.5), (-2, 3, 5 / slices)])


def ranks(a, number, at=None, rounding=np.floor):
    """BEVDet's arrays of points, in cells numbered by number(x, y, z, sizes)."""
    at, kept, size = bevdet.cells(a, bevdet.points(a) if at is None else at, rounding)
    cameras, bins, h, w = a["depth"].shape
    depth = np.arange(a["depth"].size).reshape(a["depth"].shape)
    feat = np.broadcast_to(np.arange(cameras * h * w).reshape(cameras, 1, h, w), depth.shape)
    bev = number(*at[kept].T, size)
    order = np.argsort(bev, kind="stable")
    bev = bev[order]
    starts = np.flatnonzero(np.diff(bev, prepend=-1))
    return dict(ranks_depth=depth[kept][order], ranks_feat=feat[kept][order], ranks_bev=bev, interval_starts=starts,
                interval_lengths=np.diff(starts, append=len(bev)), bev_shape=[1, *size[::-1], a["feat"].shape[-1]])


def close(name, path, wanted):
    got = pooled(path)
    ok(not isinstance(got, str) and np.allclose(got.reshape(wanted.shape), wanted, atol=1e-3), name,
           got if isinstance(got, str) else f"{np.abs(got.reshape(wanted.shape) - wanted).max()}")


def test_roundings():
    """Both roundings and rows of depths, through export_scene, are the network's grid."""
    sys.path.insert(0, os.path.join(os.environ.get("SRCDIR", "."), "samples"))
    from export_scene import export_scene
    random = np.random.default_rng(8)
    for i in range(10):
        a = rig(random, slices=1 + i % 3)
        rows = {"equal": 1 + np.arange(12.0), "SID": np.geomspace(1, 13, 12), "any": np.sort(random.uniform(1, 13, 12)),
                "LID": 1 + 12 * np.arange(12) * np.arange(1, 13) / 132}
        (name, depths), rounding = list(rows.items())[i % 4], ("truncate", "floor")[i % 3 == 2]
        bins = {} if name == "equal" else dict(depth_bins=depths)
        export_scene("net.npz", **a, rounding=rounding, **bins)
        want = bevdet.pooled(a, bevdet.points(a, depths), np.floor if rounding == "floor" else np.trunc)
        close(f"rig {i}: {name}, {rounding}", "net.npz", want)
    run("export", "net.npz", "again.npz")
    close("written and read again", "again.npz", want)
    world = json.load(open(os.path.join(os.environ.get("SRCDIR", "."), "samples/toy.json")))
    world["grid"]["rounding"] = "truncate"
    world["frustum"]["depth_bins"] = list(np.geomspace(1, 20, 9))
    del world["frustum"]["depth_m"]
    json.dump(world, open("world.json", "w"))
    run("export", "world.json", "world.npz")
    b = dict(np.load("world.npz"))
    close("a world of both", "world.npz", bevdet.pooled(b, bevdet.points(b, b["depth_bins"]), np.trunc))
    made = dict(np.load("net.npz"))
    for name, row in {"falling": depths[::-1], "twice": np.repeat(depths[::2], 2), "zero": depths - 1}.items():
        np.savez("bad.npz", **(made | dict(depth_bins=row)))
        refused(f"a row of depths, {name}", "bad.npz", "depth_bins")
    for word in "round", "", "Floor":
        np.savez("bad.npz", **(made | dict(rounding=np.array(word))))
        refused(f"rounding {word!r}", "bad.npz", "must be floor or truncate")


def test_other_conventions():
    """Arrays beside a calibration that says otherwise: one line says what would explain them."""
    random = np.random.default_rng(9)
    row = lambda x, y, z, n: (z * n[1] + y) * n[0] + x
    numbers = {"": row, "x * ny + y, transposed": lambda x, y, z, n: (z * n[0] + x) * n[1] + y,
               "(x * ny + y) * nz + z": lambda x, y, z, n: (x * n[1] + y) * n[2] + z,
               "mirrored in x": lambda x, y, z, n: row(n[0] - 1 - x, y, z, n),
               "mirrored in y": lambda x, y, z, n: row(x, n[1] - 1 - y, z, n),
               "turned by 180": lambda x, y, z, n: row(n[0] - 1 - x, n[1] - 1 - y, z, n)}
    for words, number in numbers.items():
        a = rig(random, slices=3 if "nz" in words else 1)
        for rounding in np.floor, np.trunc:
            np.savez("both.npz", **a, **ranks(a, number, None, rounding))
            line = run("info", "both.npz").stderr.replace("softmax", "")
            cut = rounding is np.trunc
            good = words in line and ("rounding truncate" in line) == cut and ("agree" in line) == bool(words or cut)
            ok(good, f"{words or 'as it is'}, {rounding.__name__}", line)
    for i in range(3):
        a = rig(random)
        frame, shift = turned([-90, 90, 33][i]), np.array([[0.94, 0, 0], [1.2, -0.7, 0], [0, 0, 0]][i])
        np.savez("both.npz", **a, **ranks(a, row, bevdet.points(a) @ frame.T + shift))
        line = run("info", "both.npz").stderr
        found = re.search(r"another frame, turned by ([-\d.]+) degrees", line)
        ok(found and abs(float(found[1]) - [-90, 90, 33][i]) < 1, "another frame", line)


def test_depths():
    """Depth before its softmax is said; zeros and distributions are not."""
    random = np.random.default_rng(10)
    logits = random.normal(size=arrays["depth"].shape).astype(np.float32)
    soft = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    for name, depth, words in (("logits", logits, "logits?"), ("sigmoids", 1 / (1 + np.exp(-logits)), "sum up to"),
                               ("softmax", soft, ""), ("half", soft.astype(np.float16), ""), ("none", soft * 0, ""),
                               ("softmax over h", np.exp(logits) / np.exp(logits).sum(2, keepdims=True), "sum up to")):
        line = run("info", saved(depth=depth)).stderr
        ok(words in line if words else not line, f"depth of {name}", line)


def test_headings():
    """info says where cameras look."""
    a = rig(np.random.default_rng(11))
    for heading, tilt in (0, 0), (90, 10), (-135, -5), (60, 3):
        t = np.deg2rad(tilt)
        tilted = np.array([[np.cos(t), 0, -np.sin(t)], [0, 1, 0], [np.sin(t), 0, np.cos(t)]])
        a["cam2ego"][:, :3, :3] = turned(heading) @ tilted @ [[0, 0, 1], [-1, 0, 0], [0, -1, 0]]
        np.savez("look.npz", **a)
        camera = json.loads(run("info", "look.npz", "--format", "json").stdout)["cameras"][0]
        row = 20 + 60 * np.tan(t)
        ok(np.allclose([camera["heading_deg"], camera["tilt_deg"], camera["horizon_row"]], [heading, tilt, row]),
               f"heading {heading}, tilt {tilt}", camera)


def test_frames():
    """Poses of another frame, direction or unit are said, and those of the ego frame are not."""
    random = np.random.default_rng(12)
    for i in range(TIMES):
        a = rig(random)
        poses = np.tile(np.eye(4), (len(a["cam2ego"]), 1, 1))
        poses[:, :3, :3] = turned(random.uniform(-180, 180)) @ [[0, 0, 1], [-1, 0, 0], [0, -1, 0]]
        poses[:, :3, 3] = *random.uniform(-2, 2, 2), random.uniform(0.4, 3)
        frame = np.eye(4)
        frame[:3, :3], frame[2, 3] = turned(-90), -random.uniform(3.1, 4)
        for name, changed, words in (("the ego frame", poses, ""), ("ego2cam", np.linalg.inv(poses), "cam2ego inverted"),
                                     ("a LiDAR's frame", frame @ poses, "that of a LiDAR"),
                                     ("mm", poses * np.array([1, 1, 1, 1000])[:, None].T, "in mm")):
            changed = changed.copy()
            changed[:, 3] = 0, 0, 0, 1
            np.savez("frame.npz", **(a | dict(cam2ego=changed)))
            line = run("info", "frame.npz").stderr
            below = changed[0, 2, 3] < 0 or name != "ego2cam"
            ok((words in line if words else "the ground" not in line) or not below, f"poses {i}: {name}", line)


run("export", "toy", "toy.npz")
arrays = dict(np.load("toy.npz"))
arrays.pop("camera_names", None)
# whole numbers, so that many types hold them
arrays["depth"] = (np.arange(arrays["depth"].size) % 7).astype(np.float32).reshape(arrays["depth"].shape)
images = arrays.pop("images")
np.savez("plain.npz", **arrays)
plain = pooled("plain.npz")
ok(not isinstance(plain, str) and plain.any(), "a scene of whole numbers", plain)
test_types()
test_archives()
test_advice()
test_roundings()
test_other_conventions()
test_depths()
test_headings()
test_frames()
done()
