# SPDX-License-Identifier: MIT
"""What every data set's reader shares: from cameras, LiDAR and boxes of one moment to a .npz for
bevscope. Needs NumPy and Pillow. from_nuscenes.py and from_kitti360.py use it; for a data set of
your own write such a file: it makes Cameras and a Moment, all in one ego frame, and calls
reader.save_moment.

Depth. A feature pixel stands for the part of the picture that is nearer to it than to other feature
pixels. Each LiDAR point in it adds a Gaussian around its depth, with a standard deviation of
0.08 m * (depth / 10 m)^2, at least a quarter bin; the pixel has their mean. What lies beyond the
last bin is left out. A pixel without points takes the mean of the nearest pixels with points above
and below it, left and right of it, at most --fill pixels away: of such a pair both must be there, but
for the lower edge of the picture. Other pixels without points, such as sky, have no depth and add
nothing to the grid. --depth takes a network's distribution instead: depth (camera, D, h, w) in a
.npy file, or a folder of TOKEN.npy.

Features, of the same parts of the picture: channels 0 to 2 mean red, green and blue, 0 to 1; 3 and
4 mean steepness of the grey picture across and down; the others a fixed random projection of 4 x 4
means of each colour. --channels 3 has only the colours: pooled, they are the picture as seen from
above.

--network FILE.py takes features, and depth if it gives one, from a network:

    import torch, mynet
    net = mynet.load("weights.pth").eval()

    def network(images, moment):           # images: uint8 (camera, H, W, 3), the network's input
        x = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 255
        with torch.no_grad():
            depth, feat = net(x)           # (camera, D, h, w), (camera, C, h, w)
        return {"depth": depth.softmax(1), "feat": feat.permute(0, 2, 3, 1)}

moment.cameras has intrinsics and cam2ego of each camera, should the network ask for them.
"""
import functools
import math
import runpy
import sys
import traceback
from pathlib import Path

import numpy as np


class Refused(Exception):
    """Bad input: where, what, what to do; the program ends with this line and status 1."""

    def __init__(self, where, what, advice):
        super().__init__(f"{where}: {what} ({advice})")


class Camera:
    """A picture, (H, W, 3) uint8; K (3, 3) in its pixels; cam2ego (4, 4); seconds, if known."""

    def __init__(self, name, picture, intrinsics, cam2ego, time_s=None):
        self.name, self.picture, self.time_s = name, picture, time_s
        self.intrinsics, self.cam2ego = intrinsics, cam2ego


    def scale_to(self, height, width):
        """Resizes the picture, and K with it, as the network's resize does: u' = u * width / columns."""
        rows, columns = self.picture.shape[:2]
        if (rows, columns) == (height, width):
            return
        from PIL import Image
        print(f"camera {self.name}: pictures of {columns} x {rows} are brought to {width} x {height}",
              file=sys.stderr)
        self.intrinsics = np.diag([width / columns, height / rows, 1]) @ self.intrinsics
        self.picture = np.asarray(Image.fromarray(self.picture).resize((width, height),
                                                                       Image.BILINEAR))


class Moment:
    """Cameras, LiDAR (n, 3 or more) or None, and boxes (n, 9) with labels, all in one ego frame; the
    name that --depth asks for, and a title for pictures."""

    def __init__(self, token, title, cameras, lidar, boxes=(), labels=()):
        self.token, self.title, self.cameras, self.lidar = token, title, cameras, lidar
        self.boxes = np.array(boxes, float).reshape(len(boxes), 9)
        self.labels = list(labels)


# ---- files ---------------------------------------------------------------------------------------

COMPLETE = "download or unpack that part again"
CHANGED = "mend it, or unpack the file again"


def read_picture(path, size):
    """The picture as (H, W, 3) uint8; size: the (W, H) that it must have; None: any."""
    try:
        from PIL import Image
    except ImportError:
        raise Refused("Pillow", "is missing", "apt install python3-pil") from None
    try:
        with Image.open(path) as image:
            found, mode = image.size, image.mode
            pixels = np.asarray(image.convert("RGB")) if size in (None, found) else None
    except FileNotFoundError:
        raise Refused(path, "the picture is missing", COMPLETE) from None
    except (OSError, SyntaxError, ValueError) as error:
        raise Refused(path, f"the picture cannot be read: {error}", COMPLETE) from None
    if mode[0] in "IF":  # more than 8 bits a value: a conversion would cut them off at white
        raise Refused(path, f"a picture of mode {mode}, must have 8 bits a colour",
                      "scale its values to 0 to 255 and save it again")
    if pixels is None:
        raise Refused(path, f"{found[0]} x {found[1]} pixels, must be {size[0]} x {size[1]}",
                      "its table and the picture are not of one data set")
    return pixels


def implausible(points):
    """What shows that points do not begin with x, y, z, intensity. What a fifth column holds, a ring, a
    time or -1, is not read."""
    far, intensity = np.abs(points[:, :3]).max(0), points[:, 3]
    if far[:2].max() > 1000 or far[2] > 200:
        return f"coordinates up to {far.max():.4g} m"
    if intensity.min() < 0 or intensity.max() > 65535:
        return f"an intensity of {intensity[np.abs(intensity).argmax()]:.4g}"
    return None


def read_points(path, columns):
    """LiDAR points (n, columns) of a file of float32: x, y, z, intensity, of 5 columns the ring."""
    try:
        values = path.read_bytes()
    except OSError as error:
        raise Refused(path, f"the LiDAR sweep cannot be read: {error.strerror}", COMPLETE) from None
    if not values or len(values) % (4 * columns):
        raise Refused(path, f"{len(values)} bytes, must be points of {4 * columns} bytes",
                      COMPLETE)
    points = np.frombuffer(values, "<f4").reshape(-1, columns)
    bad = np.flatnonzero(~np.isfinite(points[:, :3]).all(1))
    if len(bad):
        raise Refused(path, f"point {bad[0]} is {points[bad[0], :3]}, must be finite", CHANGED)
    why = implausible(np.nan_to_num(points))
    if why:
        other = 9 - columns
        fits = len(values) % (4 * other) == 0 and not implausible(
            np.nan_to_num(np.frombuffer(values, "<f4").reshape(-1, other)))
        raise Refused(path, f"points of {columns} float32 have {why}", f"they are of {other}: write "
                      f"{columns} columns" if fits else "the file has another layout")
    return points


# ---- from a moment to arrays ---------------------------------------------------------------------


class Rig:
    """What all cameras share: network input, feature map, depth bins, grid, from the options."""

    def __init__(self, options):
        self.height, self.width = options.input
        self.rows, self.columns = options.feat
        self.start, self.stop, self.step = options.depth_range
        self.bins = len(np.arange(self.start, self.stop, self.step))
        x, cell = options.reach_m, options.cell_m
        self.grid = [(-x, x, cell), (-x, x, cell), (-10, 10, 20)]
        self.resize = self.crop_y = None

    def fit(self, cameras):
        """The resize to the input's width; of the height the lower part is kept. Cameras of a rarer
        size are brought to the commonest one first: a scaling folds into K."""
        sizes = [camera.picture.shape[:2] for camera in cameras]
        height, width = max(sizes, key=sizes.count)
        for camera in cameras:
            camera.scale_to(height, width)
        self.resize = self.width / width
        self.crop_y = round(height * self.resize) - self.height
        if self.crop_y < 0:
            raise Refused("--input", f"{self.height} rows, but pictures have "
                          f"{self.height + self.crop_y} after the resize", "take fewer rows")

    def input_picture(self, picture):
        from PIL import Image
        height = self.crop_y + self.height
        image = Image.fromarray(picture).resize((self.width, height), Image.BILINEAR)
        return np.asarray(image)[self.crop_y:]


def nearest_feature(at, size, count):
    """The number of the feature row or column nearest to input pixel `at`; they are at
    linspace(0, size - 1, count)."""
    return np.rint(np.asarray(at) / (size - 1) * (count - 1)).astype(int)


def feature_means(picture, rig):
    """(rows, columns, k): the mean of picture (H, W, k) over what each feature pixel stands for."""
    sums, counts = picture.astype(float), []
    for axis, count in enumerate((rig.rows, rig.columns)):
        owner = nearest_feature(np.arange(picture.shape[axis]), picture.shape[axis], count)
        starts = np.searchsorted(owner, np.arange(count))
        sums = np.add.reduceat(sums, starts, axis)
        counts.append(np.diff(starts, append=len(owner)))
    return sums / (counts[0][:, None] * counts[1])[..., None]


@functools.lru_cache(maxsize=None)
def projection():
    return np.random.RandomState(16).standard_normal((1024, 48)) / 7


def picture_features(picture, rig, channels):
    """(rows, columns, channels) of an input picture, as the head of this file says."""
    from PIL import Image
    grey = picture.mean(2) / 255
    down, across = (np.abs(step) for step in np.gradient(grey))
    plain = np.concatenate([picture / 255, across[..., None], down[..., None]], 2)
    small = Image.fromarray(picture).resize((4 * rig.columns, 4 * rig.rows), Image.BOX)
    patches = np.asarray(small).reshape(rig.rows, 4, rig.columns, 4, 3) / 255
    patches = patches.transpose(0, 2, 1, 3, 4).reshape(rig.rows, rig.columns, 48)
    projected = patches @ projection()[:max(channels - 5, 0)].T
    return np.concatenate([feature_means(plain, rig), projected], 2)[..., :channels]


# The cumulative normal distribution, to be interpolated.
NORMAL_X = np.linspace(-6, 6, 4801)
NORMAL = np.array([0.5 + 0.5 * math.erf(x / math.sqrt(2)) for x in NORMAL_X])


def project(points, camera, rig):
    """Feature row, column and depth of points (n, 3) of the ego frame that the camera sees."""
    rotation, position = camera.cam2ego[:3, :3], camera.cam2ego[:3, 3]
    seen = (points - position) @ rotation  # the rows are rotation^T (p - position)
    seen = seen[seen[:, 2] > 0.1]
    pixel = seen @ camera.intrinsics.T
    u = rig.resize * pixel[:, 0] / pixel[:, 2]
    v = rig.resize * pixel[:, 1] / pixel[:, 2] - rig.crop_y
    inside = (np.abs(u) < 1e6) & (np.abs(v) < 1e6)
    row = nearest_feature(v[inside], rig.height, rig.rows)
    column = nearest_feature(u[inside], rig.width, rig.columns)
    kept = (row >= 0) & (row < rig.rows) & (column >= 0) & (column < rig.columns)
    return row[kept], column[kept], seen[inside][kept, 2]


def shifted(array, axis, step):
    """The array moved by one row or column; zeros come in."""
    moved = np.roll(array, step, axis)
    edge = [slice(None)] * 2
    edge[axis] = 0 if step > 0 else -1
    moved[tuple(edge)] = 0
    return moved


def nearest_known(depth, known, rings, axis, step):
    """Of each pixel the nearest known one in one direction, at most `rings` away, and if there is."""
    found, there = np.zeros_like(depth), np.zeros_like(known)
    for _ in range(rings):
        depth, known = shifted(depth, axis, step), shifted(known, axis, step)
        take = known & ~there
        found[take] = depth[take]
        there |= take
    return found, there


def fill_holes(depth, known, rings):
    """Fills unknown pixels of depth (rows, columns, bins) that lie between known ones."""
    total, count = np.zeros_like(depth), np.zeros(known.shape)
    lowest = ~np.logical_or.accumulate(known[::-1])[::-1]  # nothing known there and below
    for axis in 0, 1:
        before, there = nearest_known(depth, known, rings, axis, 1)
        after, too = nearest_known(depth, known, rings, axis, -1)
        between, edge = there & too, there & lowest & (axis == 0)
        total += between[..., None] * (before + after) + edge[..., None] * before
        count += 2 * between + edge
    new = ~known & (count > 0)
    depth[new] = total[new] / count[new][:, None]


def lidar_depth(points, camera, rig, rings):
    """Depth (bins, rows, columns) of one camera from LiDAR, as the head of this file says."""
    row, column, z = project(points, camera, rig)
    pixel = row * rig.columns + column
    order = np.argsort(pixel, kind="stable")
    pixel, z = pixel[order], z[order]
    sigma = np.maximum(0.08 * (z / 10) ** 2, rig.step / 4)
    edges = rig.start + rig.step * (np.arange(rig.bins + 1) - 0.5)
    edges[0] = -1e9  # the first bin takes all that is nearer
    below = np.interp((edges - z[:, None]) / sigma[:, None], NORMAL_X, NORMAL)
    depth = np.zeros((rig.rows * rig.columns, rig.bins))
    owner, first, count = np.unique(pixel, return_index=True, return_counts=True)
    if len(owner):
        depth[owner] = np.add.reduceat(np.diff(below, axis=1), first) / count[:, None]
    known = np.zeros(len(depth), bool)
    known[owner] = True
    depth, known = (a.reshape(rig.rows, rig.columns, *a.shape[1:]) for a in (depth, known))
    fill_holes(depth, known, rings)
    return depth.transpose(2, 0, 1)


def tensor(name, value, shape, advice):
    """A user's tensor as float32 of that shape; 0 in `shape` stands for any length."""
    value = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value, np.float32)
    if value.ndim != len(shape) or any(a and a != b for a, b in zip(shape, value.shape)):
        text = ", ".join(str(n) if n else "any" for n in shape)
        raise Refused(name, f"shape {value.shape}, must be ({text})", advice)
    if not np.isfinite(value).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(value))[0])
        raise Refused(name, f"element {place} is {value[place]}, must be finite", advice)
    return np.ascontiguousarray(value)


def user_depth(path, token):
    path = Path(path)
    path = path / f"{token}.npy" if path.is_dir() else path
    try:
        return path, np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise Refused(path, f"no depth there: {error}",
                      "a .npy file, or a folder of TOKEN.npy") from None


def run_network(path, images, moment):
    try:
        return dict(runpy.run_path(str(path))["network"](images, moment))
    except Exception as error:
        traceback.print_exc()
        raise Refused(path, f"{type(error).__name__}: {error}",
                      "network(images, moment) returns a dictionary with feat, depth") from None


def arrays(moment, options):
    """The arrays of the .npz."""
    rig, cameras, count = Rig(options), moment.cameras, len(moment.cameras)
    rig.fit(cameras)
    images = np.stack([rig.input_picture(camera.picture) for camera in cameras])
    said = run_network(options.network, images, moment) if options.network else {}
    if "feat" in said:
        feat = tensor("feat", said["feat"], (count, 0, 0, 0), "(camera, h, w, C)")
        rig.rows, rig.columns = feat.shape[1:3]
    else:
        feat = np.stack([picture_features(image, rig, options.channels) for image in images])
    shape = (count, rig.bins, rig.rows, rig.columns)
    advice = f"--feat and --depth-range say (camera, {shape[1]}, {shape[2]}, {shape[3]})"
    if options.depth:
        depth = tensor(*user_depth(options.depth, moment.token), shape, advice)
    elif "depth" in said:
        depth = tensor("depth", said["depth"], shape, advice)
    elif moment.lidar is None:
        raise Refused(moment.title, "has no LiDAR, from which depth would come",
                      "give it by --depth, or by a --network that returns depth")
    else:
        depth = np.stack([lidar_depth(moment.lidar[:, :3], camera, rig, options.fill)
                          for camera in cameras])
    made = dict(depth=np.ascontiguousarray(depth, np.float32), feat=feat.astype(np.float32),
                intrinsics=np.stack([camera.intrinsics for camera in cameras]),
                cam2ego=np.stack([camera.cam2ego for camera in cameras]),
                image_size=np.array([rig.height, rig.width]), resize=np.float64(rig.resize),
                crop=np.array([0.0, rig.crop_y]),
                depth_range=np.array([rig.start, rig.stop, rig.step]), grid=np.array(rig.grid))
    if not options.bare:
        made.update(images=images, camera_names=np.array([camera.name for camera in cameras]))
        if moment.lidar is not None:
            made["lidar"] = np.ascontiguousarray(moment.lidar[:, :4], np.float32)
        if all(camera.time_s is not None for camera in cameras):
            made["timestamps"] = np.array([camera.time_s for camera in cameras])
        if len(moment.boxes):
            made.update(boxes=moment.boxes, box_labels=np.array(moment.labels))
    return made
