# SPDX-License-Identifier: MIT
"""samples/from_nuscenes.py on a data set that this test writes itself: the street of street.py. What
bevscope pools of the street and what it pools of the reader's .npz must agree, and must disagree for
every sign and axis that is got wrong. One line of TAP a check.
    test_from_nuscenes.py BEVSCOPE FOLDER"""
import functools
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
from PIL import Image

import from_nuscenes
import moment
import nuscenes_street
import readers
import street
from readers import cut, gone, ok, replace

bevscope, folder = sys.argv[1], Path(sys.argv[2])

# Bounds of street.off: how far the pooled colours may be from those of the world. With the world's own
# depth what is left are JPEG pictures of 8 bits and the edge of the crop; from LiDAR, its sampling.
BOUND_DEPTH, BOUND_LIDAR = 0.02, 0.15


read, outside, inside = (functools.partial(how, from_nuscenes)
                         for how in (readers.read, readers.outside, readers.inside))


def rows(name, where="", **values):
    """Damage: values of the rows of a table in which that text is."""
    return readers.table(f"v1.0-mini/{name}.json", lambda rows: [
        row.update(values) for row in rows if where in json.dumps(row)])


# ---- the street, as bevscope and as the reader see it --------------------------------------------

rig, picture_px = street.part_of(street.RIG), street.part(*street.PICTURE)
(width, height), (feat_w, feat_h) = street.part(704, 256), street.part(44, 16)
scene = street.world(rig, picture_px, (width, height), (feat_w, feat_h))
world = street.Seen(bevscope, folder, scene)
data, made = folder / "data", folder / "made.npz"
tokens = nuscenes_street.write(data, rig, scene)
GRID = ["--reach-m", street.REACH_M, "--cell-m", street.CELL_M, "--input", f"{height}x{width}",
        "--feat", f"{feat_h}x{feat_w}"]
USUAL = ["--sample", tokens[0]]
COLOURS = [data, *USUAL, "-o", made, "--channels", "3", *GRID]


def replaced(name, old, new):
    return lambda copy: replace(copy / f"v1.0-mini/{name}.json", lambda text: text.replace(old, new))


def boxes_off(z):
    """The largest difference of boxes from the world's solids, yaw as an angle."""
    solids = scene["world"]["solids"]
    wanted = np.array([[*s["center_m"], s["size_m"][2] / 2, *s["size_m"],
                        np.radians(s.get("yaw_deg", 0)), *s.get("velocity_mps", [0, 0])] for s in solids])
    difference = z["boxes"] - wanted
    difference[:, 6] = np.abs(np.exp(1j * z["boxes"][:, 6]) - np.exp(1j * wanted[:, 6]))
    return np.abs(difference).max()


def offs():
    """How far pictures, LiDAR and boxes put the street from where it is."""
    read(*COLOURS, "--depth", world.depth)
    by_depth = world.off(street.pool(made))
    read(*COLOURS)
    return by_depth, world.off(street.pool(made)), boxes_off(np.load(made))


def holds(by_depth, by_lidar, boxes):
    return by_depth <= BOUND_DEPTH and by_lidar <= BOUND_LIDAR and boxes <= 1e-4


right = offs()
print("# off: pictures with true depth {:.4f}, with LiDAR {:.4f}, boxes {:.1e}".format(*right))
z = dict(np.load(made))
read(*COLOURS, "--bare")
street.run(bevscope, "export", made, "--pooled", folder / "grid.npy")
ok(abs(world.off(np.load(folder / "grid.npy")) - right[1]) < 1e-5,
   "bevscope reads the .npz and pools the same grid")
ok(holds(*right), "the pooled street is that of the JSON world, and so are its boxes")
ok(world.calibrates(z, "image_size", "resize", "crop", "depth_range", "grid"), "so is its calibration")
ok(z["camera_names"].tolist() == list(street.RIG) and
   z["box_labels"].tolist() == [f"kind.{i}" for i in range(6)], "names of cameras and boxes")
ok(z["images"].dtype == np.uint8 and z["images"].shape == (6, height, width, 3) and
   np.allclose(np.diff(z["timestamps"]), 0.009, atol=1e-6), "pictures and times")
up = street.cast(scene["world"], 0, np.array([0.94, 0.05, 1.84]), z["lidar"][:, :3] - [0.94, 0.05, 1.84])[0]
ok(len(up) > 50000 and np.abs(up - 1).max() < 1e-3, "each LiDAR point lies on a surface of the world")


# ---- every sign and axis -------------------------------------------------------------------------

picture, points, turned, key_frames, project, box = (
    from_nuscenes.read_picture, from_nuscenes.read_points, from_nuscenes.rotation,
    from_nuscenes.NuScenes.key_frames, moment.project, from_nuscenes.NuScenes.box)


def flipped(*signs):
    return lambda path, columns: points(path, columns) * np.array([*signs, 1, 1], np.float32)


def one_ego(self, token):
    cameras, lidar = key_frames(self, token)
    return {name: (row, mount, lidar[2]) for name, (row, mount, _) in cameras.items()}, lidar


def along_the_ray(at, camera, rig):
    row, column, z_m = project(at, camera, rig)
    u = np.linspace(0, rig.width - 1, rig.columns)[column] / rig.resize - camera.intrinsics[0, 2]
    return row, column, z_m * np.hypot(1, u / camera.intrinsics[0, 0])


def yaw_mirrored(self, annotation, world2ego):
    values = box(self, annotation, world2ego)
    values[6] = -values[6]
    return values


# One defect of each kind: the check above can fail.
WRONG = [
    ("pictures mirrored", from_nuscenes, "read_picture", lambda *a: picture(*a)[:, ::-1]),
    ("LiDAR with y the other way", from_nuscenes, "read_points", flipped(1, -1, 1)),
    ("quaternions with w last", from_nuscenes, "rotation", lambda q: turned(q[[3, 0, 1, 2]])),
    ("one ego pose for all sensors", from_nuscenes.NuScenes, "key_frames", one_ego),
    ("depth along the ray", moment, "project", along_the_ray),
    ("yaw of boxes the other way", from_nuscenes.NuScenes, "box", yaw_mirrored),
]
readers.tells(WRONG, offs, holds)
with mock.patch.object(from_nuscenes, "rotation", lambda q: turned(-q)):
    ok(holds(*offs()), "a quaternion and its negative are the same rotation")


# ---- features, networks, clips, pictures ---------------------------------------------------------

FRONT, SWEEP = "samples/CAM_FRONT/sample0.jpg", "samples/LIDAR_TOP/sample0.pcd.bin"
for number in "01":
    readers.thin(data / SWEEP.replace("0", number), 5)
read(*COLOURS[:5])
full = np.load(made)
ok(full["feat"].shape == (6, 16, 44, 80) and full["feat"].std((0, 1, 2)).min() > 1e-3 and
   full["images"].shape == (6, 256, 704, 3) and full["grid"].tolist() == [[-54, 54, 0.54]] * 2 + [[-10, 10, 20]],
   "80 channels, none idle")
read(*COLOURS[:5], *GRID)
ok(np.array_equal(np.load(made)["feat"][..., :3], z["feat"]), "the first three colours")
(folder / "net.py").write_text('''import numpy as np
def network(images, moment):
    feat = images.reshape(6, %d, 8, %d, 8, 3).mean((2, 4)) / 255
    depth = np.zeros((6, 59, %d, %d)) + moment.cameras[0].cam2ego[3, 3] / 59
    return {"feat": feat, "depth": depth}
''' % (2 * (height // 8, width // 8)))
read(*COLOURS, "--network", folder / "net.py")
net = np.load(made)
ok(net["feat"].shape == (6, height // 8, width // 8, 3) and np.allclose(net["depth"], 1 / 59) and
   np.allclose(net["feat"].mean((1, 2)), net["images"].mean((1, 2)) / 255, atol=1e-5),
   "features and depth of a network, in its own shape")
read(data, "--scene", "scene-0001", "-o", folder / "clip", "--channels", "3", *GRID)
clip = [np.load(path) for path in sorted((folder / "clip").iterdir())]
shapes = [{name: a[name].shape for name in a.files if name != "lidar"} for a in clip]
ok(len(clip) == 2 and shapes[0] == shapes[1] and
   np.allclose(clip[1]["boxes"][1, :2] - clip[0]["boxes"][1, :2], [-3, 0.5], atol=1e-4),
   "a scene is a folder of moments of one shape, in their order")
told = subprocess.run([bevscope, "info", folder / "clip"], capture_output=True, text=True)
ok(told.returncode == 0 and "moments              2" in told.stdout, "that bevscope reads")
said = read(data)
ok("scene-0001" in said and tokens[0] in said and "a street" in said, "DIR alone lists scenes")

before = resource.getrusage(resource.RUSAGE_CHILDREN)
result = outside(*COLOURS[:3], "--picture", folder / "made.png", "--bevscope", bevscope)
after = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
ok(result.returncode == 0 and (folder / "made.png").read_bytes()[1:4] == b"PNG" and
   seconds < (5 if not os.environ.get("SANITIZED") else 60),  # sanitizers take many times as long
   "one command from the folder to a picture, below 5 s")


# ---- bad input: one line, status 1, nothing written ----------------------------------------------

refuses = readers.Refusals(from_nuscenes, data, folder, USUAL)
refuses("no token 'nobody'", "an unknown sample", None, "--sample", "nobody")
refuses("no */sample.json there", "no data set", gone("v1.0-mini/sample.json"))
refuses("sensor.json: no table", "a table is cut off", cut("v1.0-mini/sensor.json", 99))
refuses("no field 'filename'", "a field is missing", replaced("sample_data", b'"filename"', b'"file"'))
refuses("rotation: [1, 0], must be 4 numbers", "half a quaternion",
        rows("calibrated_sensor", "LIDAR", rotation=[1, 0]))
refuses("must have cameras", "a sample without key frames", rows("sample_data", is_key_frame=False))
refuses("the picture cannot be read", "half a picture", cut(FRONT, 9000))
refuses("%d x %d pixels, must be 1600 x %d" % (*picture_px, picture_px[1]), "a picture of another size",
        rows("sample_data", width=1600))
refuses("9999 bytes, must be points of 20 bytes", "half a sweep", cut(SWEEP, 9999))
refuses("point 2 is", "no number in a sweep", lambda copy: replace(
    copy / SWEEP, lambda content: content[:40] + b"\xff" * 8 + content[48:]))
OTHER_BINS = *GRID, "--depth", world.depth, "--depth-range", "1:60:2"
refuses(f"must be (6, 30, {feat_h}, {feat_w})", "depth of other bins", None, *USUAL, *OTHER_BINS)
refuses("must be finite", "NaN in depth", lambda copy: np.save(copy / "n.npy", world.arrays["depth"] * np.nan),
        *USUAL, *GRID, "--depth", folder / "spoilt/n.npy")
refuses("is there already", "a clip of a name that is taken", None, "--scene", "scene-0001",
        "-o", folder / "clip")
result = outside(data, *USUAL, "--picture", folder / "never.png", "--bevscope", "/nowhere/bevscope")
ok(result.returncode == 1 and "name it with --bevscope" in result.stderr.splitlines()[0] and
   not (folder / "never.png").exists(), "no such program")
half = inside(data, "--scene", "scene-0001", "-o", folder / "half", *OTHER_BINS)
ok(half.returncode == 1 and not list(folder.glob("*half*")), "nothing is left of half a clip")
readers.every_file(refuses, ["--channels", "3", *GRID])
copy = folder / "five"
shutil.copytree(data, copy)
rows("sample_data", "CAM_BACK/sample0", is_key_frame=False)(copy)
result = inside(copy, *USUAL, "-o", folder / "five.npz", *GRID)
ok(result.returncode == 0 and "has no CAM_BACK: the scene is made of 5 cameras" in result.stderr and
   len(np.load(folder / "five.npz")["images"]) == 5, "a camera that a sample lacks is named")
half = inside(copy, "--scene", "scene-0001", "-o", folder / "some", "--channels", "3", *GRID)
ok(half.returncode == 0 and "moment 1 is left out: cam2ego: (6, 4, 4), but the first moment has (5, 4, 4)" in
   half.stderr and [path.name for path in (folder / "some").iterdir()] == ["0000.npz"],
   "a moment of other cameras is left out of a clip, and the rest is usable")

# ---- other people's layouts ------------------------------------------------------------------------

read(*COLOURS)
usual = dict(np.load(made))


def layout(name, change, *arguments, same=("depth", "feat", "cam2ego")):
    """Reads a copy of the data set in another layout. `same`: arrays that must be the usual ones."""
    copy, out = folder / "layout", folder / "layout.npz"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(data, copy)
    change(copy)
    result = inside(copy, *USUAL, "-o", out, "--channels", "3", *GRID, *arguments)
    found = dict(np.load(out)) if result.returncode == 0 else {}
    ok(all(key in found and np.allclose(found[key], usual[key], atol=1e-6) for key in same), name,
       result.stderr)
    out.unlink(missing_ok=True)
    return found


def resized(copy):
    """One camera has pictures of half the width and a third of the height, and K to match."""
    path = copy / "samples/CAM_BACK/sample0.jpg"
    with Image.open(path) as image:
        width, height = image.width // 2, image.height // 3
        small = image.resize((width, height))
    small.save(path)
    rows("sample_data", "CAM_BACK/", width=width, height=height)(copy)
    rows("calibrated_sensor", '"mount CAM_BACK"', camera_intrinsic=(
        np.diag([1 / 2, 1 / 3, 1]) @ street.camera_matrix(rig["back"])).tolist())(copy)


without_lidar = rows("sample_data", "LIDAR", is_key_frame=False)
layout("Lyft: tables in train_data", lambda copy: (copy / "v1.0-mini").rename(copy / "train_data"))
layout("T4: tables in annotation", lambda copy: (copy / "v1.0-mini").rename(copy / "annotation"))
for channel in "LIDAR_CONCAT", "LIDAR_FRONT":
    layout(f"the LiDAR is {channel}", rows("sensor", "LIDAR_TOP", channel=channel))
layout("pictures without a size in the table", rows("sample_data", width=None, height=None))
layout("absolute paths of another machine", replaced("sample_data", b'"samples/', b'"/data/sets/nuscenes/samples/'))
found = layout("a camera of another size: the same rig", resized, same=("depth", "cam2ego", "intrinsics"))
ok(np.abs(found["feat"] - usual["feat"]).mean() < 0.02, "and nearly the same features")
found = layout("a test set without annotations", gone("v1.0-mini/sample_annotation.json"))
ok("boxes" not in found, "has no boxes")
found = layout("no LiDAR, and depth by --depth", without_lidar, "--depth", world.depth, same=("feat",))
ok("lidar" not in found and np.array_equal(found["depth"], world.arrays["depth"]), "which is taken as it is")
refuses("has no LiDAR, from which depth would come", "no LiDAR and no depth", without_lidar)


path = data / "v1.0-mini/sensor.json"
before = path.read_bytes()
path.write_text("[" * 100000)
result = inside(data, *USUAL, "-o", folder / "x.npz")
ok(result.returncode == 1 and "sensor.json: no table" in result.stderr and
   len(result.stderr.splitlines()) == 1, "a table of brackets")
path.write_bytes(before)

# ---- files that say nothing of their layout ------------------------------------------------------

random = np.random.default_rng(5)


def sweep(columns, points):
    """What a LiDAR writes: x, y, z, intensity and of five columns the ring."""
    rows = np.zeros((points, columns), np.float32)
    rows[:, :2] = random.uniform(-60, 60, (points, 2))
    rows[:, 2] = random.uniform(-3, 5, points)
    rows[:, 3] = random.integers(0, 256, points) if columns == 5 else random.uniform(0, 1, points)
    if columns == 5:
        rows[:, 4] = random.integers(0, 32, points)
    return rows


def taken(rows, columns):
    (folder / "sweep.bin").write_bytes(rows.tobytes())
    try:
        return np.array_equal(moment.read_points(folder / "sweep.bin", columns), rows)
    except moment.Refused as refused:
        return str(refused)


for points in 20, 100, 3000, 5000:
    for columns in 4, 5:
        ok(taken(sweep(columns, points), columns) is True, f"{points} points of {columns} columns")
        said = taken(sweep(columns, points), 9 - columns)
        ok(f"they are of {columns}: write {9 - columns} columns" in str(said),
           f"{points} points of {columns} columns where {9 - columns} are expected", said)
for title, fifth in ("-1", np.full(3000, -1)), ("a time", random.uniform(-0.5, 0, 3000)), ("NaN", np.full(3000, np.nan)):
    rows_of_five = sweep(5, 3000)
    rows_of_five[:, 4] = fifth
    said = taken(rows_of_five, 5)
    ok(said is True or title == "NaN" and said is False, f"a fifth column of {title} is not read", said)
ok("coordinates up to" in str(taken(random.uniform(-1, 1, (20, 5)).astype("<f4") * 1e4, 5)),
   "points in centimetres")
for kind, mode in ((np.uint8, "L"), (np.uint16, "I;16"), (np.int32, "I"), (np.float32, "F")):
    grey = Image.fromarray((random.uniform(0, 1, (45, 80)) * 200).astype(kind))
    name = folder / ("grey.png" if mode in ("L", "I;16") else "grey.tiff")
    grey.save(name)
    try:
        said = moment.read_picture(name, (80, 45)).shape
    except moment.Refused as refused:
        said = str(refused)
    ok(said == (45, 80, 3) if mode == "L" else "must have 8 bits a colour" in said,
       f"a picture of mode {mode}", said)
result = inside(data, *USUAL)
ok(result.returncode == 2 and "add -o" in result.stderr, "no output: status 2")
result = inside(data, *USUAL, "--picture", folder / "x.png", "--snapshot", "'")
ok(result.returncode == 2 and "--snapshot: No closing quotation" in result.stderr,
   "half a word for snapshot: status 2")
readers.done()
