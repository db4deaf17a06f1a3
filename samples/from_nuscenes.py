#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A moment of nuScenes as a scene for bevscope. Needs NumPy and Pillow, not nuscenes-devkit.

    from_nuscenes.py DIR                                   # what is there: scenes, first samples
    from_nuscenes.py DIR --sample TOKEN -o moment.npz
    from_nuscenes.py DIR --sample TOKEN --picture out.png  # calls bevscope snapshot
    from_nuscenes.py DIR --scene scene-0061 -o clip        # a folder: clip/0000.npz, ...

DIR is v1.0-mini as downloaded: v1.0-mini/*.json, samples/CAM_*/*.jpg, samples/LIDAR_TOP/*.pcd.bin. The
tables may lie in a folder of another name (train_data of Lyft, annotation of T4), the LiDAR may be
LIDAR_CONCAT or the only one. Without LiDAR --depth or --network gives depth. Without annotations
there are no boxes. A camera whose pictures have another size is brought to the size of the others.
moment.py, beside this file, says what depth and features are, and how to take those of a network.

Frame. Everything is in the ego frame at the time of the LiDAR sweep, without LiDAR of the first
camera's picture: x forward, y left, z up, metres. A camera's picture is some milliseconds older or newer: its pose goes from the camera to the
ego frame of its own time, to the world, and to the ego frame of the sweep. Boxes come from the
world, with length before width, and velocities over the ground.
"""
import functools
import json
import math
import sys
from pathlib import Path

import numpy as np

from moment import CHANGED, COMPLETE, Camera, Moment, Refused, read_picture, read_points
from reader import check, options_of, program, save_clip, save_moment


# ---- nuScenes ------------------------------------------------------------------------------------

ORDER = ["CAM_FRONT_LEFT", "CAM_FRONT", "CAM_FRONT_RIGHT",
         "CAM_BACK_LEFT", "CAM_BACK", "CAM_BACK_RIGHT"]


class Row(dict):
    """A row of a table; a field that is not there is refused by name."""
    table = ""

    def where(self):
        return f"{self.table}, row {self.get('token')!s:.80}"

    def __missing__(self, field):
        raise Refused(self.where(), f"no field {field!r}", COMPLETE)


def numbers(row, field, *shape):
    """A field as an array of finite numbers of that shape."""
    try:
        array = np.array(row[field], float)
    except (TypeError, ValueError, OverflowError):
        array = np.array(np.nan)
    if array.shape != shape or not np.isfinite(array).all():
        count = " x ".join(map(str, shape or (1,)))
        raise Refused(row.where(), f"{field}: {row[field]!s:.60}, must be {count} numbers", CHANGED)
    return array


def text(row, field):
    """A field that is a text."""
    if not isinstance(row[field], str) or "\0" in row[field]:
        raise Refused(row.where(), f"{field}: {row[field]!r:.60}, must be a text", CHANGED)
    return row[field]


def rotation(quaternion):
    """The rotation matrix of a quaternion w, x, y, z."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def pose(row):
    """The (4, 4) matrix from a sensor, an ego frame or a box to the frame that its row is in."""
    matrix, quaternion = np.eye(4), numbers(row, "rotation", 4)
    length = np.linalg.norm(quaternion)
    if abs(length - 1) > 0.01:
        raise Refused(row.where(), f"a quaternion of length {length:g}, must be 1", CHANGED)
    matrix[:3, :3] = rotation(quaternion)
    matrix[:3, 3] = numbers(row, "translation", 3)
    return matrix


class NuScenes:
    """The tables, each a dictionary by token, read when they are asked for."""

    def __init__(self, root, version):
        self.root, self.tables, self.by_sample = Path(root), {}, {}
        found = sorted(path.parent.name for path in self.root.glob("*/sample.json"))
        if not found:
            raise Refused(root, "no */sample.json there", "name the folder of v1.0-mini")
        if version not in found and (version or len(found) > 1):
            raise Refused(root, f"has {', '.join(found)}", "choose one with --version")
        self.version = version or found[0]

    def table(self, name):
        if name not in self.tables:
            path = self.root / self.version / f"{name}.json"
            kind = type("Row", (Row,), {"table": path})
            try:
                rows = json.loads(path.read_bytes(), object_hook=kind)
                if not isinstance(rows, list) or not all(isinstance(row, kind) for row in rows):
                    raise ValueError("not a list of rows")
                self.tables[name] = {text(row, "token"): row for row in rows}
            except RecursionError:
                raise Refused(path, "no table: nested too deep", COMPLETE) from None
            except OSError as error:
                raise Refused(path, f"cannot be read: {error.strerror}", COMPLETE) from None
            except (ValueError, TypeError) as error:
                raise Refused(path, f"no table: {error}", COMPLETE) from None
        return self.tables[name]

    def row(self, table, token):
        rows = self.table(table)
        if not isinstance(token, str) or token not in rows:
            raise Refused(self.root / self.version / f"{table}.json", f"no token {token!r:.80}",
                          "DIR alone lists tokens" if table == "sample" else COMPLETE)
        return rows[token]

    def file(self, row):
        """The path of a picture or sweep. Of an absolute name the end that is in the folder counts."""
        name = Path(text(row, "filename"))
        ends = [self.root.joinpath(*name.parts[first:]) for first in range(1, len(name.parts))]
        return next((end for end in ends if name.is_absolute() and end.exists()), self.root / name)

    def annotations(self, token):
        """Rows of boxes; none where the table is missing, as in a test set."""
        if not (self.root / self.version / "sample_annotation.json").exists():
            return []
        return self.of_sample("sample_annotation", token)

    def of_sample(self, table, token):
        """The rows of that table which belong to a sample."""
        if table not in self.by_sample:
            index = self.by_sample[table] = {}
            for row in self.table(table).values():
                index.setdefault(text(row, "sample_token"), []).append(row)
        return self.by_sample[table].get(token, [])

    def scene_samples(self, name):
        for scene in self.table("scene").values():
            if name in (text(scene, "name"), scene["token"]):
                tokens, token = [], text(scene, "first_sample_token")
                while token and token not in tokens:
                    tokens.append(token)
                    token = self.row("sample", token)["next"]
                return tokens
        raise Refused(f"{self.version}/scene.json", f"no scene {name!r:.80}", "DIR alone lists them")

    def velocity(self, annotation):
        """Of a box in the world, m/s, from its neighbours in time; 0 where they are not known."""
        ends = [self.row("sample_annotation", annotation[way]) if annotation[way] else annotation
                for way in ("prev", "next")]
        times = [numbers(self.row("sample", end["sample_token"]), "timestamp") for end in ends]
        moved = numbers(ends[1], "translation", 3) - numbers(ends[0], "translation", 3)
        seconds = (times[1] - times[0]) * 1e-6
        most = 1.5 * sum(end is not annotation for end in ends)
        return moved / seconds if 0 < seconds <= most else 0 * moved

    def box(self, annotation, world2ego):
        """x, y, z, length, width, height, yaw, and the velocity along x and y."""
        box2ego = world2ego @ pose(annotation)
        width, length, height = numbers(annotation, "size", 3)
        velocity = world2ego[:3, :3] @ self.velocity(annotation)
        yaw = math.atan2(box2ego[1, 0], box2ego[0, 0])
        return [*box2ego[:3, 3], length, width, height, yaw, *velocity[:2]]

    def label(self, annotation):
        """The name of its category without the first word: "car", "pedestrian.adult"."""
        instance = self.row("instance", annotation["instance_token"])
        return text(self.row("category", instance["category_token"]), "name").split(".", 1)[-1]

    def key_frames(self, token):
        """Of the cameras, by name, and the LiDAR, or None: row of sample_data, mount, ego2world."""
        frames = {}
        for row in self.of_sample("sample_data", token):
            if row["is_key_frame"]:
                mount = self.row("calibrated_sensor", row["calibrated_sensor_token"])
                channel = text(self.row("sensor", mount["sensor_token"]), "channel")
                frames[channel] = row, mount, pose(self.row("ego_pose", row["ego_pose_token"]))
        cameras = {name: frames[name] for name in frames if name.startswith("CAM_")}
        if not cameras:
            raise Refused(f"sample {token}", f"has {', '.join(sorted(frames)) or 'no key frames'}, "
                          "must have cameras", COMPLETE)
        lidars = [name for name in frames if name.startswith("LIDAR")]
        best = [name for name in ("LIDAR_TOP", "LIDAR_CONCAT", *lidars) if name in lidars]
        if len(lidars) > 1 and best[0] not in ("LIDAR_TOP", "LIDAR_CONCAT"):
            raise Refused(f"sample {token}", f"has {', '.join(sorted(lidars))}",
                          "LIDAR_TOP, LIDAR_CONCAT or one LiDAR is taken")
        return cameras, frames[best[0]] if best else None

    def camera(self, channel, frame, world2ego):
        row, mount, ego2world = frame
        known = row.get("width") is not None and row.get("height") is not None
        size = (int(numbers(row, "width")), int(numbers(row, "height"))) if known else None
        return Camera(channel[4:].lower().replace("_", "-"), read_picture(self.file(row), size),
                      numbers(mount, "camera_intrinsic", 3, 3),
                      world2ego @ ego2world @ pose(mount), numbers(row, "timestamp") * 1e-6)

    def sweep(self, frame):
        """LiDAR points x, y, z, intensity in the ego frame of their own time."""
        row, mount, _ = frame
        points = read_points(self.file(row), 5)
        points = points[np.abs(points[:, :2]).max(1) > 1]  # closer is the vehicle's own roof
        lidar2ego = pose(mount)
        place = points[:, :3] @ lidar2ego[:3, :3].T + lidar2ego[:3, 3]
        return np.hstack([place, points[:, 3:4]])

    def moment(self, token):
        scene = self.row("scene", self.row("sample", token)["scene_token"])
        cameras, lidar = self.key_frames(token)
        names = sorted(cameras, key=lambda name: (ORDER + [name]).index(name))
        world2ego = np.linalg.inv((lidar or cameras[names[0]])[2])
        notes = self.annotations(token)
        absent = [name for name in ORDER if name not in cameras]
        if absent:
            print(f"from_nuscenes.py: sample {token} has no {', '.join(absent)}: the scene is made "
                  f"of {len(cameras)} cameras", file=sys.stderr)
        return Moment(token, f"nuScenes {text(scene, 'name')}, sample {token}",
                      [self.camera(name, cameras[name], world2ego) for name in names],
                      self.sweep(lidar) if lidar else None, [self.box(note, world2ego) for note in notes],
                      [self.label(note) for note in notes])

    def list(self):
        for scene in self.table("scene").values():
            print(f"{text(scene, 'name')}  {scene['nbr_samples']!s:>3} samples, the first: "
                  f"{text(scene, 'first_sample_token')}  {text(scene, 'description')}")


def main():
    parser = options_of("A moment of nuScenes as a scene for bevscope.",
                        "the folder that v1.0-mini and samples lie in")
    parser.add_argument("--version", help="of several data sets in DIR the one to read")
    parser.add_argument("--sample", metavar="TOKEN", help="one moment")
    parser.add_argument("--scene", metavar="NAME", help="all moments of a scene, by name or token")
    options = parser.parse_args()
    check(parser, options)
    if options.sample and not (options.output or options.picture):
        parser.error("--sample: add -o FILE.npz or --picture FILE.png")
    if options.scene and (options.sample or options.picture or not options.output):
        parser.error("--scene: add -o FOLDER, no --sample and no --picture")
    data = NuScenes(options.folder, options.version)
    if options.sample:
        save_moment(data.moment(options.sample), options)
    elif options.scene:
        tokens = data.scene_samples(options.scene)
        save_clip(options.output, [functools.partial(data.moment, token) for token in tokens], options)
    else:
        data.list()


if __name__ == "__main__":
    program(main)
