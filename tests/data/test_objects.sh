#!/bin/sh
# SPDX-License-Identifier: MIT
# Errors in metres: what `info --objects` says of each true box, beside NumPy that shares no code with
# it; faults of a camera; boxes that cannot be measured.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_numpy

cat >objects.py <<'PY'
import copy, functools, json, os, subprocess
import bevdet
import numpy as np

@functools.cache
def info(scene, *options):
    return json.loads(subprocess.check_output([os.environ["BEVSCOPE"], "info", scene, "-f", "json", *options]))

def told(scene, *options):
    return {int(row["object"].split()[-1]): row for row in info(scene, "--objects", *options)["results"]}

def rotation(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = [k for k in range(3) if k != axis]
    r = np.eye(3)
    r[i, i], r[i, j], r[j, i], r[j, j] = (c, -s, s, c) if axis != 1 else (c, s, -s, c)
    return r

class Street:
    def __init__(self, path):
        d = self.arrays = dict(np.load(path))
        self.depth, self.boxes, self.grid = d["depth"].astype(float), d["boxes"].astype(float), d["grid"]
        self.K, self.pose, self.bins = d["intrinsics"].copy(), d["cam2ego"].copy(), np.arange(*d["depth_range"])

    def wrong(self, camera, name, value):
        """The street with a fault of a camera."""
        s, shifts = copy.copy(self), ["shift-x", "shift-y", "height"]
        s.K, s.pose = self.K.copy(), self.pose.copy()
        pose = s.pose[camera]
        if name in shifts:
            pose[shifts.index(name), 3] += value
        elif name == "focal":
            s.K[camera, [0, 1], [0, 1]] *= 1 + value / 100
        elif name == "yaw":
            pose[:3, :3] = rotation(2, value) @ pose[:3, :3]
        else:
            pose[:3, :3] = pose[:3, :3] @ rotation(0 if name == "pitch" else 2, value)
        return s

    def points(self, depths=None):
        return bevdet.points(self.arrays | dict(intrinsics=self.K, cam2ego=self.pose), depths)

    def rays(self):
        for pose, at in zip(self.pose, self.points([1.0])[:, 0]):
            yield pose[:3, 3], at - pose[:3, 3]

    def pixels_of(self):
        """(camera, h, w): the first box of each ray, and the depth where it is met."""
        which, at = [], []
        for origin, rays in self.rays():
            best, box_of = np.full(rays.shape[:2], np.inf), np.full(rays.shape[:2], -1)
            for b, (x, y, z, l, w, t, yaw) in enumerate(self.boxes[:, :7]):
                r = rotation(2, np.degrees(yaw)).T
                o, d = r @ (origin - [x, y, z]), rays @ r.T
                with np.errstate(divide="ignore", invalid="ignore"):
                    near, far = np.sort(np.stack([(-np.array([l, w, t]) / 2 - o) / d,
                                                  (np.array([l, w, t]) / 2 - o) / d]), axis=0)
                enter, leave = near.max(-1), far.min(-1)
                met = (enter > 0) & (enter < leave) & (enter < best)
                best[met], box_of[met] = enter[met], b
            which.append(box_of)
            at.append(best)
        return np.array(which), np.array(at)

    def measure(self, which, surface, wrong=None, dirty=(), bilinear=False, cut=np.floor):
        """By object: share of the mass in its box, position error along and across the ray, depth behind the
        surface. The street took the pictures; `wrong` is the street with the map's rig."""
        (x0, x1, cx), (y0, y1, cy), (z0, z1, cz) = self.grid
        nx, ny, nz = round((x1 - x0) / cx), round((y1 - y0) / cy), round((z1 - z0) / cz)
        result, seen = {}, np.ones(self.depth.shape, bool)
        seen[list(dirty)] = False
        right, points = self.points(), (wrong or self).points()
        rays = np.broadcast_to(np.array([r for _, r in self.rays()])[:, None], right.shape)
        behind = self.bins[:, None, None] - surface[:, None]
        half, half_bin = max(cx, cy) / 2, (self.bins[1] - self.bins[0]) / 2
        for b, (bx, by, _, l, w, _, yaw) in enumerate(self.boxes[:, :7]):
            def in_box(x, y, margin):
                c, s = np.cos(yaw), np.sin(yaw)
                return (abs((x - bx) * c + (y - by) * s) <= l / 2 + margin) & \
                       (abs((y - by) * c - (x - bx) * s) <= w / 2 + margin)
            mine = which == b
            if not mine.any():
                continue
            mask = np.broadcast_to(mine[:, None], self.depth.shape)
            p, q, m, there, ray = points[mask], right[mask], self.depth[mask], seen[mask], rays[mask][:, :2]
            own = in_box(q[:, 0], q[:, 1], max(half, half_bin))
            level = np.hypot(ray[:, 0], ray[:, 1])
            iz = cut((p[:, 2] - z0) / cz)
            inside = (iz >= 0) & (iz < nz) & there
            gx, gy = (p[:, 0] - x0) / cx - 0.5 * bilinear, (p[:, 1] - y0) / cy - 0.5 * bilinear
            fx, fy, boxed, kept = cut(gx), cut(gy), 0, 0
            for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)) if bilinear else ((0, 0),):
                weight = 1
                if bilinear:
                    weight = (1 - abs(gx - fx - dx)) * (1 - abs(gy - fy - dy))
                ix, iy = fx + dx, fy + dy
                landed = m * weight * (inside & (ix >= 0) & (ix < nx) & (iy >= 0) & (iy < ny))
                boxed += (landed * in_box(x0 + (ix + .5) * cx, y0 + (iy + .5) * cy, half)).sum()
                kept = kept + landed * own
            off = (p - q)[:, :2]
            lost = kept.sum() < 0.1 * (m * own).sum() or not kept.any()
            along, across = (np.nan, np.nan) if lost else \
                (kept @ ((off * ray).sum(1) / level) / kept.sum(),
                 kept @ ((off[:, 1] * ray[:, 0] - off[:, 0] * ray[:, 1]) / level) / kept.sum())
            deep = (m * own) @ (level * np.broadcast_to(behind, self.depth.shape)[mask]) / (m * own).sum() if own.any() else np.nan
            result[b] = (boxed / m.sum(), along, across, deep, mine.sum())
        return result

def same(told, want, tolerance):
    return (told is None and np.isnan(want)) or (told is not None and abs(told - want) < tolerance)

def compare(rows, want, share="share"):
    count = 0
    for b, row in rows.items():
        if b not in want:
            assert row["pixels"] == 0 and row["share"] is None, row
            continue
        s, along, across, behind, pixels = want[b]
        assert row["pixels"] == pixels and same(row[share], s, 1e-4), (row, want[b])
        assert same(row["along_m"], along, 1e-3) and same(row["across_m"], across, 1e-3), (row, want[b])
        assert same(row["behind_m"], behind, 1e-3) and (row["lost"] == "lost") == np.isnan(along), (row, want[b])
        count += 1
    return count
PY
export PYTHONPATH="$PWD:$PYTHONPATH"

tap_run "a street with its boxes" tap_quiet "$BEVSCOPE" export street.json street.npz
imports='objects
from objects import *
s = Street("street.npz")
which, surface = s.pixels_of()
def moved(name, value):
    return told("street.npz", "-d", "fp32", "--camera", "front", "--" + name, str(value))'
tap_later "without a fault no object has a position error, in any format and align" '
rows = told("street.npz", "-d", "fp32")
assert compare(rows, s.measure(which, surface)) > 10 and compare(rows, s.measure(which, surface), "baseline_share") > 10
for row in [*rows.values(), *told("street.npz", "-d", "fp8").values(), *told("intersection", "-a", "bilinear").values()]:
    assert not row["error_m"] and not row["lost"], row
street = [r for r in told("intersection").values() if r["pixels"]]
assert len(street) > 15 and abs(np.mean([r["behind_m"] for r in street])) < 0.2, "depth is on the visible faces"'
tap_later "bilinear" '
assert compare(told("street.npz", "-d", "fp32", "-a", "bilinear"), s.measure(which, surface, bilinear=True)) > 10'
tap_later "cells cut toward zero, as LSS and BEVDet do" '
assert compare(told("street.npz", "-d", "fp32", "--rounding", "truncate"), s.measure(which, surface, cut=np.trunc)) > 10'
tap_later "camera dropout loses objects and moves none" '
rows = told("street.npz", "-d", "fp32", "--camera", "front", "--dropout")
assert compare(rows, s.measure(which, surface, dirty=[1])) > 10
assert sum(r["lost"] == "lost" for r in rows.values()) > 1 and not any(r["error_m"] for r in rows.values())
bands = info("street.npz", "--objects", "-d", "fp32", "--camera", "front", "--dropout")["by_range"]
assert sum(b["lost"] for b in bands) == sum(r["lost"] == "lost" for r in rows.values())'
# A fault changes the rig that the map is built with: its pixels stay those of the right rig.
tap_later "every fault of a camera moves them as NumPy says" '
for name, value in (("yaw", 3), ("pitch", 1.5), ("roll", 4), ("height", 0.5), ("shift-x", 1), ("shift-y", -1), ("focal", 5)):
    rows = moved(name, value)
    assert compare(rows, s.measure(which, surface, s.wrong(1, name, value))) > 10, name
    assert name == "height" or any(r["error_m"] for r in rows.values()), name'

# Without objects, of any fault: points on the pixels' rays, where the right rig and the wrong
# one put them.
tap_later "a fault by range, of points as NumPy moves them" '
front = 1
def table(*fault):
    return info("street.npz", "--camera", "front", "--device", "cpu", *fault)["fault_by_range"]
def cells(p):
    cell, kept, n = bevdet.cells(s.arrays, p)
    return np.where(kept, cell @ [1, n[0], n[0] * n[1]], -1)
for name, value in (("yaw", 1), ("pitch", 2), ("shift-y", -0.5)):
    rows = table("--" + name, str(value))
    assert [r["range_m"] for r in rows] == [10, 30, 50, 80] and {r["camera"] for r in rows} == {"front"}
    origin, rays = list(s.rays())[front]
    wrong_origin, wrong_rays = list(s.wrong(front, name, value).rays())[front]
    for row in rows:
        depth = row["range_m"] / np.hypot(rays[..., 0], rays[..., 1])
        at, off = origin + depth[..., None] * rays, wrong_origin + depth[..., None] * wrong_rays
        taken = (at[..., 2] >= s.grid[2, 0]) & (at[..., 2] < s.grid[2, 1])
        moved = np.hypot(*np.moveaxis((off - at)[..., :2], -1, 0))[taken]
        assert row["points"] == taken.sum() and abs(row["moved_m"] - moved.mean()) < 1e-4, (name, row, moved.mean())
        assert abs(row["largest_m"] - moved.max()) < 1e-4
        before, after = cells(at), cells(off)
        placed = taken & (before >= 0) & (depth <= s.bins[-1] + (s.bins[1] - s.bins[0]) / 2)
        assert row["in_grid"] == placed.sum(), (name, row, placed.sum())
        if placed.any():
            assert abs(row["other_cell"] - (before != after)[placed].mean()) < 1e-3, (name, row)
        if name == "yaw":
            assert abs(row["left_m"] - row["range_m"] * np.sin(np.radians(value))) < 1e-3, row
assert table() == [] and table("--dropout") == []'
# ---- a delay: what one camera sees is older --------------------------------------------------------
mkdir clip
for time in 0 1; do
    "$BEVSCOPE" export street.json clip/$time.npz --time $time --device cpu >out 2>&1
done
for scene in street.json clip; do
    tap_run "$scene, its front camera late" tap_quiet "$BEVSCOPE" export $scene late-$scene.npz --time 1 --camera front \
        --delay 1000 --device cpu
done
tap_later "tensors and photograph of that camera are those of a second ago, the others of now" '
then, now, front = np.load("clip/0.npz"), np.load("clip/1.npz"), 1
assert str(now["camera_names"][front]) == "front"
for scene in ("street.json", "clip"):
    late = np.load(f"late-{scene}.npz")
    for name in ("depth", "feat", "images"):
        for camera in range(6):
            want = then if camera == front else now
            assert np.array_equal(late[name][camera], want[name][camera]), (scene, name, camera)
        assert not np.array_equal(then[name][front], now[name][front]), name
    assert np.array_equal(late["ranks_bev"], now["ranks_bev"])'
tap_refuses "2500 ms, but the clip lasts 2000 ms" "a delay longer than the clip" info clip --camera front --delay 2500
tap_refuses "this scene has one moment" "no moment before" info street.npz --camera front --delay 100
tap_refuses "boxes of a clip do not say where" "a clip" info clip --objects --camera front --delay 100
tap_refuses "from 0 to 10000" "a delay below 0" info street.json --camera front --delay -1
tap_refuses "which camera is not said" "a delay of no camera" info street.json --delay 100

tap_run "the chart" "$BEVSCOPE" plot objects street.npz --camera front --yaw 3 -o chart.png
tap_run "as SVG" "$BEVSCOPE" plot objects street.npz -o chart.svg

# ---- what cannot be measured ---------------------------------------------------------------------
"$python" -c 'import numpy as np
d = dict(np.load("street.npz"))
del d["box_labels"], d["images"]
for name, boxes in (("bad", [[500, 0, 0, 4, 2, 2, 0], [20, 0, 1, 0, 2, 2, 0], [20, 5, 500, 4, 2, 2, 0]]),
                    ("many", [[10 + i % 40, i // 40 - 50, 1, 1, 1, 1, 0] for i in range(4000)]), ("more", [[0] * 7] * 5000)):
    np.savez(name, **d | {"boxes": np.array(boxes, np.float32)})'
"$BEVSCOPE" info bad.npz --objects --device cpu >out 2>err
tap_ok $? "boxes outside, of no size and in the sky are told of"
[ "$(wc -l <err)" = 3 ] && grep -q '1 of 3 boxes have their middle outside of the grid' err &&
    grep -q '1 of 3 boxes have a side of 0 m' err && grep -q 'boxes meet no pixel' err
tap_ok $? "in a line a kind"
"$BEVSCOPE" info many.npz --objects --device cpu -f csv >out 2>err
[ $? = 0 ] && [ "$(wc -l <out)" -gt 4000 ] && [ "$(wc -l <err)" = 1 ]
tap_ok $? "thousands of boxes"
tap_refuses "must be 0 to 4096" "too many" info more.npz --objects
"$BEVSCOPE" export --bare street.json bare.npz >out 2>&1
tap_refuses "has no true boxes" "no boxes" info bare.npz --objects
tap_refuses "which camera is not said" "a fault of no camera" info street.npz --objects --roll 2
tap_done
