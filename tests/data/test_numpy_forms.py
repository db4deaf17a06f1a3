"""The forms of .npz and .npy files that NumPy takes for the same arrays: see test_numpy_forms.sh."""
import io
import os
import subprocess
import sys
import zipfile

import numpy as np

BEVSCOPE = os.environ["BEVSCOPE"]
count = failures = 0


def tap_ok(good, name, note=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}" + ("" if good else f"\n# {note}"))


def run(*arguments):
    return subprocess.run([BEVSCOPE, *arguments, "--device", "cpu"], capture_output=True, text=True)


def pooled(path):
    """The grid of a scene, or the line that refuses it."""
    done = run("export", path, "--pooled", "grid.npy", "--kernel", "cpu_v3", "--dtype", "fp32")
    return np.load("grid.npy") if done.returncode == 0 else done.stderr.strip()


def same(name, path, wanted):
    got = pooled(path)
    tap_ok(not isinstance(got, str) and np.array_equal(got, wanted), name,
           got if isinstance(got, str) else "another grid")


def refused(name, path, *words):
    got = pooled(path)
    tap_ok(isinstance(got, str) and all(word in got for word in words) and "\n" not in got, name,
           got if isinstance(got, str) else "accepted")


def saved(**changes):
    """A file of the arrays with these changes; None: without that one."""
    made = {name: a for name, a in (arrays | changes).items() if a is not None}
    np.savez("bad.npz", **made)
    return "bad.npz"


dropped = dict.fromkeys(["ranks_depth", "ranks_feat", "ranks_bev", "interval_starts",
                         "interval_lengths", "bev_shape"])


# ---- types and orders --------------------------------------------------------------------------

def forms_of(name, a):
    """The array in other types that hold its values, and in Fortran order."""
    kinds = {"f": "f2 f4 f8", "i": "i1 i2 i4 i8 u1 u2 u4 u8"}[a.dtype.kind].split()
    if name in ("depth_range", "grid", "crop", "resize", "image_size"):
        kinds = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split()
    with np.errstate(all="ignore"):
        for kind in kinds:
            b = a.astype(kind)
            precise = name not in ("intrinsics", "cam2ego") or kind != "f2"
            if precise and b.dtype != a.dtype and np.array_equal(b.astype(a.dtype), a):
                yield kind, b
    if a.ndim > 1:
        yield "Fortran order", np.asfortranarray(a)


def test_types():
    for name, a in arrays.items():
        if a.dtype.kind in "fi":
            for form, b in forms_of(name, a):
                same(f"{name}: {form}", saved(**{name: b}), plain)
    same("all in Fortran order", saved(**{k: np.asfortranarray(a) for k, a in arrays.items()}), plain)
    random, bins, bad = np.random.default_rng(3), len(arrays["depth"][0]), []
    for _ in range(20):
        start, step = random.uniform(0.5, 5), random.uniform(0.05, 3)
        ends = np.array([start, start + bins * step, step])
        for kind in np.float32, np.float64:
            got = pooled(saved(depth_range=ends.astype(kind), **dropped))
            bad += [f"{ends} {got}"] if isinstance(got, str) else []
    tap_ok(not bad, "40 ranges of depth, rounded", bad[:1])
    near = arrays["intrinsics"].astype(np.float64)
    near[:, 2] += 3e-7
    same("a last row near 0 0 1", saved(intrinsics=near), plain)
    near[:, 2] += 3e-6
    refused("a last row not so near", saved(intrinsics=near), "intrinsics[0, 2, 0]", "3.3e-06, must be 0")
    done = run("info", saved(images=np.asfortranarray(images)))
    tap_ok(done.returncode == 0, "images in Fortran order", done.stderr)
    snapshots = []
    for form in images, np.asfortranarray(images):
        run("snapshot", saved(images=form), "--strip", "depth", "--timing", "off", "-o", "s.png")
        snapshots.append(open("s.png", "rb").read())
    tap_ok(snapshots[0] == snapshots[1], "give the same picture")


# ---- archives ----------------------------------------------------------------------------------

class Pipe(io.RawIOBase):
    """Cannot seek: zipfile writes sizes and checksums behind the data."""
    def __init__(self):
        self.bytes = b""

    def writable(self):
        return True

    def write(self, data):
        self.bytes += bytes(data)
        return len(data)


def test_archives():
    limit = zipfile.ZIP64_LIMIT
    for save in np.savez, np.savez_compressed:
        for zip64 in False, True:
            for way in "a file", "a pipe", "a comment", "a byte behind", "1,000 bytes behind":
                zipfile.ZIP64_LIMIT = 10 if zip64 else limit
                pipe = Pipe()
                save(pipe if way == "a pipe" else "form.npz", **arrays)
                zipfile.ZIP64_LIMIT = limit
                if way == "a pipe":
                    open("form.npz", "wb").write(pipe.bytes)
                if way == "a comment":
                    with zipfile.ZipFile("form.npz", "a") as archive:
                        archive.comment = b"of a network"
                if "behind" in way:
                    open("form.npz", "ab").write(b"\n" * (1 if "a byte" in way else 1000))
                np.load("form.npz")["depth"]
                same(f"{save.__name__}{', zip64' if zip64 else ''}: {way}", "form.npz", plain)
    whole = open("form.npz", "rb").read()
    open("bad.npz", "wb").write(b"#!/bin/sh\n" + whole)
    refused("bytes before the archive", "bad.npz", "bad.npz")


# ---- advice ------------------------------------------------------------------------------------

def test_advice():
    """Every advice is followed, and what it makes is taken."""
    depth, feat = arrays["depth"], arrays["feat"]
    refused("images of 0 to 1", saved(images=images / 255), "images: dtype float64, must be uint8",
            "(255 * images).round().astype(numpy.uint8)")
    tap_ok(np.array_equal((255 * (images / 255)).round().astype(np.uint8), images),
           "the advice gives them back")
    names = np.array([f"c{i}" for i in range(len(depth))], object)
    refused("names as objects", saved(camera_names=names), "camera_names", "dtype=str")
    same("the advice for names", saved(camera_names=np.array(list(names), dtype=str)), plain)
    refused("names as numbers", saved(camera_names=np.arange(len(depth))), "save names")
    stamps = np.full(len(depth), 1533151603512404)
    refused("microseconds", saved(timestamps=stamps), "timestamps[0]", "outside 0 to 1e+12")
    same("whole seconds", saved(timestamps=stamps // 10**6), plain)
    for name in "resize", "crop", "image_size", "depth_range", "grid":
        two = {k: np.concatenate([arrays[k]] * 2) for k in ("depth", "feat", "intrinsics", "cam2ego")}
        calibration = {k: arrays[k] for k in ("resize", "crop", "image_size", "depth_range", "grid")}
        np.savez("two.npz", **(calibration | two | {name: np.stack([arrays[name]] * 2)}))
        refused(f"{name} of each camera", "two.npz", name, "one for all cameras", "A @ K")
    wide = np.zeros((len(depth), 4, 4))
    wide[:, :3, :3] = arrays["intrinsics"]
    refused("intrinsics of 4 x 4", saved(intrinsics=wide), "save intrinsics[:, :3, :3]")
    refused("poses without the last row", saved(cam2ego=arrays["cam2ego"][:, :3]), "0 0 0 1")
    refused("one camera's intrinsics", saved(intrinsics=arrays["intrinsics"][0]), "camera axis")
    refused("a batch", saved(depth=depth[None]), "save one sample, depth[0]")
    refused("a batch of features", saved(feat=feat[None]), "without a batch axis")
    refused("half a pixel", saved(image_size=arrays["image_size"] + 0.5), "whole number")


def test_split():
    """The command that makes a folder of moments of one file."""
    moments = 3
    clip = {k: np.stack([arrays[k]] * moments) for k in ("depth", "feat", "intrinsics", "cam2ego")}
    clip["depth"][1] *= 0.5
    clip["timestamps"] = np.arange(moments) / 4
    clip["images"] = np.stack([images] * moments)
    np.savez("c.npz", **(arrays | clip))
    line = pooled("c.npz")
    refused("moments in one file", "c.npz", "3 moments", "a clip is a folder", "mkdir clip; python3 -c")
    command = line[line.index("(mkdir") + 1:].rstrip(")").replace("python3", sys.executable)
    if command.count("(") > command.count(")"):
        command += ")" * (command.count("(") - command.count(")"))
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    tap_ok(done.returncode == 0 and len(os.listdir("clip")) == moments, "the command makes a folder",
           command + done.stderr)
    same("of which the first is the scene", "clip/00000.npz", plain)
    same("and the second has its depth", "clip/00001.npz", plain * np.float32(0.5))
    done = run("snapshot", "clip", "-t", "0.25", "--timing", "off", "-o", "clip.png")
    tap_ok(done.returncode == 0, "and which plays", done.stderr)


run("export", "toy", "toy.npz")
arrays = dict(np.load("toy.npz"))
arrays.pop("camera_names", None)
# whole numbers, so that many types hold them
arrays["depth"] = (np.arange(arrays["depth"].size) % 7).astype(np.float32).reshape(arrays["depth"].shape)
images = arrays.pop("images")
np.savez("plain.npz", **arrays)
plain = pooled("plain.npz")
tap_ok(not isinstance(plain, str) and plain.any(), "a scene of whole numbers", plain)
test_types()
test_archives()
test_advice()
test_split()
print(f"1..{count}")
sys.exit(failures > 0)
