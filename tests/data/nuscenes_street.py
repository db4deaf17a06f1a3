# SPDX-License-Identifier: MIT
"""Writes the street in nuScenes' layout: its tables, JPEG pictures and LiDAR sweeps. As a program it
writes a .npz of bevscope export, with pictures, boxes and LiDAR, so that the README's picture goes the
way of a real sample: nuscenes_street.py SCENE.npz FOLDER"""
import json
import math
import sys
from pathlib import Path

import numpy as np
from PIL import Image

import street

LIDAR2EGO = street.matrix(street.turn(-1.56, 0.02, -0.015), [0.94, 0.05, 1.84])
EGO2WORLD = street.matrix(street.turn(2.1, 0.03, -0.02), [412.3, 1180.9, 0.7])


def quaternion(rotation):
    """w, x, y, z of a rotation matrix: the eigenvector of a symmetric matrix (Bar-Itzhack)."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    k = np.array([[a - e - i, d + b, g + c, h - f], [d + b, e - a - i, h + f, c - g],
                  [g + c, h + f, i - a - e, d - b], [h - f, c - g, d - b, a + e + i]])
    x, y, z, w = np.linalg.eigh(k)[1][:, -1]
    return [w, x, y, z]


def placed(token, pose, **more):
    return {"token": token, "rotation": list(quaternion(pose[:3, :3])),
            "translation": pose[:3, 3].tolist(), **more}


def ego_at(camera):
    """The vehicle when a camera took its picture: it moves and turns between sensors, more than a
    real one, so that a reader that leaves this out is far off."""
    return EGO2WORLD @ street.matrix(street.turn(0.05 * camera - 0.1), [0.6 * camera - 1, 0.2, 0])


class DataSet:
    """A data set while it is made: files in its folder, and the rows of its tables."""

    def __init__(self, folder):
        self.folder, self.rows = folder, {name: [] for name in (
            "sample sample_data calibrated_sensor sensor ego_pose scene sample_annotation instance "
            "category log map").split()}

    def sensor(self, channel, pose, intrinsics=()):
        modality = "camera" if len(intrinsics) else "lidar"
        self.rows["sensor"].append({"token": f"sensor {channel}", "channel": channel, "modality": modality})
        self.rows["calibrated_sensor"].append(placed(f"mount {channel}", pose, sensor_token=f"sensor {channel}",
            camera_intrinsic=[list(row) for row in intrinsics]))

    def data(self, sample, channel, ego2world, path, time_us, key=True, **more):
        token = f"{sample} {channel} {time_us}"
        self.rows["ego_pose"].append(placed(f"ego {token}", ego2world, timestamp=time_us))
        self.rows["sample_data"].append({
            "token": f"data {token}", "sample_token": sample, "ego_pose_token": f"ego {token}",
            "calibrated_sensor_token": f"mount {channel}", "timestamp": time_us,
            "is_key_frame": key, "filename": path, "prev": "", "next": "", **more})

    def path(self, place, file):
        (self.folder / "samples" / place).mkdir(parents=True, exist_ok=True)
        return f"samples/{place}/{file}"

    def sweep(self, sample, ego2world, points, time_us, *more):
        """LiDAR points (n, 3) of the sensor's own frame, and two columns behind them."""
        path = self.path("LIDAR_TOP", f"{sample}.pcd.bin")
        rows = np.hstack([points, np.broadcast_to(more, (len(points), 2))])
        rows.astype("<f4").tofile(self.folder / path)
        self.data(sample, "LIDAR_TOP", ego2world, path, time_us)

    def picture(self, sample, channel, ego2world, pixels, time_us, **how):
        path = self.path(channel, f"{sample}.jpg")
        Image.fromarray(pixels).save(self.folder / path, quality=95, **how)
        self.data(sample, channel, ego2world, path, time_us, width=pixels.shape[1], height=pixels.shape[0])

    def thing(self, number, name):
        self.rows["category"].append({"token": f"category {number}", "name": f"vehicle.{name}"})
        self.rows["instance"].append({"token": f"instance {number}", "category_token": f"category {number}"})

    def annotate(self, number, samples, k, pose, size):
        """Thing `number` in sample k: its middle, not its base; width before length."""
        length, width, height = size
        near = {"prev": k - 1, "next": k + 1}
        self.rows["sample_annotation"].append(placed(
            f"note {number} {k}", EGO2WORLD @ pose, sample_token=samples[k],
            size=[width, length, height], instance_token=f"instance {number}",
            **{way: f"note {number} {i}" if 0 <= i < len(samples) else "" for way, i in near.items()}))

    def save(self, samples, times_us, version="v1.0-mini", **scene):
        for k, sample in enumerate(samples):
            self.rows["sample"].append({"token": sample, "timestamp": times_us[k], "scene_token": "scene 1",
                "prev": samples[k - 1] if k else "", "next": (samples + [""])[k + 1]})
        self.rows["scene"].append({"token": "scene 1", "nbr_samples": len(samples),
                                   "first_sample_token": samples[0], **scene})
        (self.folder / version).mkdir(parents=True)
        for name, rows in self.rows.items():
            (self.folder / version / f"{name}.json").write_text(json.dumps(rows))


def channel_of(camera):
    return f"CAM_{camera.upper().replace('-', '_')}"


def write(folder, rig, scene, times=(0.0, 0.5)):
    """Writes the data set and returns the tokens of its samples."""
    picture, scene = scene["frustum"]["image_px"], scene["world"]
    data, samples = DataSet(folder), [f"sample{k}" for k in range(len(times))]
    times_us = [1532402927647951 + round(time_s * 1e6) for time_s in times]
    data.sensor("LIDAR_TOP", LIDAR2EGO)
    for camera, (name, row) in enumerate(rig.items()):
        mount = np.linalg.inv(ego_at(camera)) @ EGO2WORLD @ street.camera_pose(row)
        data.sensor(channel_of(name), mount, street.camera_matrix(row).tolist())
    for sample, time_s, time_us in zip(samples, times, times_us):
        data.sweep(sample, EGO2WORLD, street.sweep(scene, LIDAR2EGO, time_s), time_us, 9, 0)
        data.data(sample, "LIDAR_TOP", EGO2WORLD, "sweeps/none", time_us + 50000, key=False)
        for camera, (name, row) in reversed(list(enumerate(rig.items()))):  # in no useful order
            data.picture(sample, channel_of(name), ego_at(camera),
                         street.photograph(scene, row, picture, time_s), time_us + 9000 * camera, subsampling=0)
    for number, solid in enumerate(scene["solids"]):
        data.thing(number, f"kind.{number}")
        turned = street.turn(math.radians(solid.get("yaw_deg", 0)))
        velocity = np.array(solid.get("velocity_mps", [0, 0]))
        for k, time_s in enumerate(times):
            center = np.array(solid["center_m"]) + time_s * velocity
            pose = street.matrix(turned, [*center, solid["size_m"][2] / 2])
            data.annotate(number, samples, k, pose, solid["size_m"])
    data.save(samples, times_us, name="scene-0001", description="a street")
    return samples


def write_npz(z, folder):
    """One sample of an export. The pictures show the network's input: its resize and its crop are part
    of the matrices."""
    data, sample = DataSet(folder), "sample0"
    height, width = z["images"].shape[1:3]
    fit = np.diag([float(z["resize"]), float(z["resize"]), 1])
    fit[:2, 2] = -z["crop"][:2]
    fit = np.diag([width / z["image_size"][1], height / z["image_size"][0], 1]) @ fit
    ego2lidar = np.linalg.inv(LIDAR2EGO)
    data.sensor("LIDAR_TOP", LIDAR2EGO)
    data.sweep(sample, EGO2WORLD, z["lidar"][:, :3] @ ego2lidar[:3, :3].T + ego2lidar[:3, 3], 0, 0, 0)
    for camera, name in enumerate(z["camera_names"]):
        data.sensor(channel_of(name), z["cam2ego"][camera], (fit @ z["intrinsics"][camera]).tolist())
        data.picture(sample, channel_of(name), EGO2WORLD, z["images"][camera], 0)
    for number, (box, label) in enumerate(zip(z["boxes"], z["box_labels"])):
        data.thing(number, label)
        x, y, middle, length, width_m, height_m, yaw = map(float, box[:7])
        pose = street.matrix(street.turn(yaw), [x, y, middle])
        data.annotate(number, [sample], 0, pose, (length, width_m, height_m))
    data.save([sample], [0], name="of a world")


if __name__ == "__main__":
    write_npz(np.load(sys.argv[1]), Path(sys.argv[2]))
