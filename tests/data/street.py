# SPDX-License-Identifier: MIT
"""A street for tests of samples/from_*.py: a bevscope world, and pictures and LiDAR sweeps of it by a
ray caster of its own, so that what a reader makes of them can be compared with what bevscope makes
of the world. Shares no code with bevscope."""
import json
import math
import os
import subprocess

import numpy as np

import bevdet

# The nuScenes vehicle's rig at half its picture size: yaw, pitch, roll, f, cx, cy, position.
RIG = {
    "front-left": (55.2, 0.1, 0.1, 636.5, 413.5, 240, 1.52, 0.49, 1.51),
    "front": (0.3, -0.3, 0, 633, 408, 246, 1.70, 0.02, 1.51),
    "front-right": (-56.4, -0.8, 0.5, 630.5, 404, 247.5, 1.55, -0.49, 1.50),
    "back-left": (108.6, -0.9, -0.2, 628.5, 396, 246.5, 1.04, 0.48, 1.59),
    "back": (179.9, 1.0, 0.2, 404.5, 414.5, 241, 0.03, 0.00, 1.58),
    "back-right": (-110.8, -0.9, 0.6, 630, 403.5, 250.5, 1.01, -0.48, 1.56),
}
PICTURE = 800, 450  # width, height
REACH_M, CELL_M = 40, 0.8  # the last depth bin, 59 m, lies outside
# Half the edges of pictures and inputs are quick; with WHOLE=1 (tests/hard/test_whole.sh) all of it.
PART = 1 if os.environ.get("WHOLE") else 2


def part(*edges):
    return tuple(edge // PART for edge in edges)


def part_of(rig):
    """The rig with the intrinsics of smaller pictures."""
    return {name: (*row[:3], *(value / PART for value in row[3:6]), *row[6:]) for name, row in rig.items()}


def thing(kind, name, color, center, size, **more):
    return {"kind": kind, "class": name, "color": color, "center_m": center, "size_m": size, **more}


def world(rig, picture=PICTURE, input_px=(704, 256), features=(44, 16)):
    """No two sides of it are alike. Trucks only: cars and buildings have windows in bevscope. The
    lower part of the pictures is kept."""
    resize = input_px[0] / picture[0]
    crop_y = round(picture[1] * resize) - input_px[1]
    names = "yaw_deg pitch_deg roll_deg focal_px".split()
    return {
        "bevscope": 1, "title": "A street for readers", "channels": 32, "seed": 5,
        "frustum": {"image_px": picture, "resize": resize, "crop_px": [0, crop_y],
                    "input_px": input_px, "features": features, "depth_m": [1, 60, 1]},
        "grid": {"x_m": [-REACH_M, REACH_M], "y_m": [-REACH_M, REACH_M], "z_m": [-10, 10],
                 "cells": [round(2 * REACH_M / CELL_M)] * 2},
        "cameras": [{"name": name, **dict(zip(names, row)), "center_px": row[4:6],
                     "position_m": row[6:]} for name, row in rig.items()],
        "world": {
            "ground": {"class": "terrain", "color": [0.10, 0.30, 0.10]},
            "patches": [
                thing("rect", "road", [0.35, 0.35, 0.38], [0, -1], [120, 9]),
                thing("rect", "lane", [0.90, 0.88, 0.80], [0, -1], [120, 0.6]),
                thing("rect", "sidewalk", [0.75, 0.45, 0.20], [9, 10], [10, 6], yaw_deg=25),
                thing("rect", "crossing", [0.95, 0.95, 0.90], [-12, -1], [3, 9]),
            ],
            "solids": [
                thing("box", "truck", [0.85, 0.10, 0.10], [14, 2.5], [8, 2.6, 3.2], yaw_deg=8),
                thing("box", "truck", [0.15, 0.25, 0.90], [-16, -4], [6, 2.4, 2.8], yaw_deg=170,
                      velocity_mps=[-6, 1]),
                thing("box", "truck", [0.80, 0.70, 0.20], [4, -16], [9, 5, 4], yaw_deg=-20),
                thing("box", "truck", [0.70, 0.20, 0.75], [-7, 14], [5, 2.2, 2.5], yaw_deg=100),
                thing("cylinder", "pedestrian", [0.95, 0.55, 0.10], [8, -5], [0.8, 0.8, 1.8]),
                thing("cylinder", "tree", [0.10, 0.60, 0.55], [22, -9], [2.4, 2.4, 5]),
            ],
        },
    }


# ---- poses ---------------------------------------------------------------------------------------


def turn(yaw, pitch=0.0, roll=0.0):
    """Rotation by angles in radians about z, then y, then x of the body (x forward, z up)."""
    (a, b), (c, d), (e, f) = ((math.cos(t), math.sin(t)) for t in (yaw, pitch, roll))
    about_z = np.array([[a, -b, 0], [b, a, 0], [0, 0, 1]])
    about_y = np.array([[c, 0, d], [0, 1, 0], [-d, 0, c]])
    about_x = np.array([[1, 0, 0], [0, e, -f], [0, f, e]])
    return about_z @ about_y @ about_x


def matrix(rotation, position):
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = rotation, position
    return made


def camera_pose(row):
    """cam2ego (4, 4) of a row of a rig; camera axes right, down, forward; positive pitch looks up,
    positive roll turns the right axis down."""
    yaw, pitch, roll = (math.radians(angle) for angle in row[:3])
    body = turn(yaw, -pitch, 0) @ turn(0, 0, roll)
    return matrix(np.stack([-body[:, 1], -body[:, 2], body[:, 0]], 1), row[6:])


def camera_matrix(row):
    return np.array([[row[3], 0, row[4]], [0, row[3], row[5]], [0, 0, 1.0]])


# ---- rays ----------------------------------------------------------------------------------------


def light(nx, ny):
    """Brightness of a wall with that normal; tops and ground have 1."""
    return 0.78 + 0.17 * (0.8 * nx + 0.6 * ny)


def cast_solid(solid, time_s, origin, rays, near, color):
    """Takes over what rays (n, 3) from `origin` hit of the solid, where it is nearer than `near`."""
    yaw = math.radians(solid.get("yaw_deg", 0))
    to_solid = turn(yaw).T
    center = np.array(solid["center_m"]) + time_s * np.array(solid.get("velocity_mps", [0, 0]))
    length, width, height = solid["size_m"]
    base = np.array([*center, solid.get("z_m", 0)])
    # Rays that miss the sphere around it are left out: most.
    to = base + [0, 0, height / 2] - origin
    along, clear = rays @ to, to @ to - (length ** 2 + width ** 2 + height ** 2) / 4
    close = np.flatnonzero((along > 0) & (along ** 2 >= clear * (rays ** 2).sum(1))) if clear > 0 else \
        np.arange(len(rays))
    o, d = to_solid @ (origin - base), rays[close] @ to_solid.T
    with np.errstate(divide="ignore", invalid="ignore"):
        flat = (np.array([0, height]) - o[2])[:, None] / d[:, 2]
        if solid["kind"] == "box":
            x, y = ((np.array([-s, s]) / 2 - o[i])[:, None] / d[:, i]
                    for i, s in enumerate((length, width)))
            pairs = [x, y, flat]
        else:
            a, b = (d[:, :2] ** 2).sum(1), d[:, :2] @ o[:2]
            root = np.sqrt(b * b - a * (o[0] ** 2 + o[1] ** 2 - length ** 2 / 4))
            pairs = [np.stack([-b - root, -b + root]) / a, flat]
        enters = np.stack([pair.min(0) for pair in pairs])
        leaves = np.stack([pair.max(0) for pair in pairs])
    enter, face = enters.max(0), enters.argmax(0)
    hit = (enter > 0) & (enter <= leaves.min(0)) & (enter < near[close])
    at = (o + enter[hit, None] * d[hit])[:, :2]
    if solid["kind"] == "box":
        normal = np.where(face[hit, None] == [0, 1], -np.sign(d[hit, :2]), 0)
    else:
        normal = at / (length / 2)
    normal = normal @ turn(yaw)[:2, :2].T
    top = face[hit] == len(pairs) - 1
    near[close[hit]] = enter[hit]
    color[close[hit]] = np.where(top, 1, light(normal[:, 0], normal[:, 1]))[:, None] * solid["color"]


SUN = np.array([0.36, 0.27, 1])  # the direction to bevscope's sun; a shadow halves the light


def is_shaded(solid, time_s, at):
    """Whether the line to the sun meets the solid, for ground points (n, 2)."""
    to_own = turn(math.radians(solid.get("yaw_deg", 0)))[:2, :2]
    center = np.array(solid["center_m"]) + time_s * np.array(solid.get("velocity_mps", [0, 0]))
    o, d = (at - center) @ to_own, SUN[:2] @ to_own
    half, low_m = np.array(solid["size_m"][:2]) / 2, solid.get("z_m", 0)
    high_m = low_m + solid["size_m"][2]
    if solid["kind"] == "cylinder":
        nearest = np.clip(-(o @ d) / (d @ d), low_m, high_m)
        return np.hypot(*(o + nearest[:, None] * d).T) <= half[0]
    ends = np.stack([(-half - o) / d, (half - o) / d])
    return np.maximum(ends.min(0).max(1), low_m) <= np.minimum(ends.max(0).min(1), high_m)


def paint_ground(scene, time_s, at):
    """Colours of ground points (n, 2)."""
    color = np.tile(np.array(scene["ground"]["color"], float), (len(at), 1))
    for patch in scene["patches"]:
        own = (at - patch["center_m"]) @ turn(math.radians(patch.get("yaw_deg", 0)))[:2, :2]
        color[(np.abs(own) <= np.array(patch["size_m"]) / 2).all(1)] = patch["color"]
    shaded = np.any([is_shaded(solid, time_s, at) for solid in scene["solids"]], 0)
    return color * np.where(shaded, 0.5, 1)[:, None]


def cast(scene, time_s, origin, rays, far=400.0):
    """What rays (n, 3) from a point hit: the length of each in units of its vector, inf for sky, and
    its colour (n, 3), black for sky."""
    color, near = np.zeros((len(rays), 3)), np.full(len(rays), np.inf)
    down = rays[:, 2] < -1e-9
    near[down] = -origin[2] / rays[down, 2]
    near[near > far] = np.inf
    ground = np.isfinite(near)
    color[ground] = paint_ground(scene, time_s, (origin + near[ground, None] * rays[ground])[:, :2])
    for solid in scene["solids"]:
        cast_solid(solid, time_s, np.asarray(origin, float), rays, near, color)
    return near, color


def photograph(scene, row, picture, time_s=0.0):
    """The picture (height, width, 3) uint8 of a camera of a rig."""
    v, u = np.mgrid[:picture[1], :picture[0]]
    pose, unproject = camera_pose(row), np.linalg.inv(camera_matrix(row))
    rays = np.stack([u, v, np.ones_like(u)], -1).reshape(-1, 3) @ unproject.T
    _, color = cast(scene, time_s, pose[:3, 3], rays @ pose[:3, :3].T)
    return np.rint(color * 255).astype(np.uint8).reshape(*picture[::-1], 3)


def sweep(scene, lidar2ego, time_s=0.0, beams=64, steps=1800):
    """LiDAR points (n, 3) in the sensor's own frame."""
    up = np.radians(np.linspace(-30, 10, beams))[:, None]
    round_ = np.linspace(0, 2 * np.pi, steps, endpoint=False)
    own = np.stack(np.broadcast_arrays(np.cos(up) * np.cos(round_), np.cos(up) * np.sin(round_),
                                       np.sin(up)), -1).reshape(-1, 3)
    length, _ = cast(scene, time_s, lidar2ego[:3, 3], own @ lidar2ego[:3, :3].T, 100.0)
    hit = np.isfinite(length) & (length < 100)
    return own[hit] * length[hit, None]


# ---- pooling, and bevscope's own view of the street ----------------------------------------------


def pool(npz):
    return bevdet.pooled(np.load(npz))[0]


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def colour_rows(bevscope, folder):
    """The rows (3, C) of bevscope's embedding that carry red, green and blue: the difference that the
    ground's colour makes to a pixel which sees only ground."""
    feats = []
    for color in [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]:
        scene = world(dict(list(RIG.items())[:1]))
        scene["world"].update(ground={"class": "terrain", "color": color}, patches=[], solids=[])
        feats.append(exported(bevscope, folder, scene)["feat"][0, -1, 0].astype(float))
    return np.stack(feats[1:]) - feats[0]


def exported(bevscope, folder, scene):
    (folder / "world.json").write_text(json.dumps(scene))
    run(bevscope, "export", folder / "world.json", folder / "world.npz")
    return np.load(folder / "world.npz")


class Seen:
    """A scene as bevscope sees it: its arrays, their depth in a file, and its colours as a grid."""

    def __init__(self, bevscope, folder, scene):
        rows = colour_rows(bevscope, folder)
        self.arrays, self.depth = exported(bevscope, folder, scene), folder / "depth.npy"
        self.grid = pool(folder / "world.npz") @ rows.T
        np.save(self.depth, self.arrays["depth"])

    def off(self, grid):
        """Relative difference of a grid: sum |grid - own| / sum |own|."""
        return np.abs(grid - self.grid).sum() / np.abs(self.grid).sum()

    def calibrates(self, made, *names):
        """Whether the cameras of a reader's arrays are its own, and other arrays."""
        return all(np.abs(made[name] - self.arrays[name]).max() < 1e-9 for name in ("cam2ego", "intrinsics")) and \
            all(np.allclose(made[name].ravel(), self.arrays[name].ravel()[:made[name].size]) for name in names)
