"""Writes the street in nuScenes' layout: its tables, JPEG pictures and LiDAR sweeps."""
import json
import math

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


class Tables:
    """The tables of a data set while it is made."""

    def __init__(self, scene):
        self.scene, self.rows = scene, {name: [] for name in (
            "sample sample_data calibrated_sensor sensor ego_pose scene sample_annotation instance "
            "category log map").split()}

    def sensor(self, channel, pose, intrinsics=()):
        modality = "camera" if len(intrinsics) else "lidar"
        self.rows["sensor"].append({"token": f"sensor {channel}", "channel": channel,
                                    "modality": modality})
        self.rows["calibrated_sensor"].append(placed(
            f"mount {channel}", pose, sensor_token=f"sensor {channel}",
            camera_intrinsic=[list(row) for row in intrinsics]))

    def data(self, sample, channel, ego2world, path, time_us, key=True, **more):
        token = f"{sample} {channel} {time_us}"
        self.rows["ego_pose"].append(placed(f"ego {token}", ego2world, timestamp=time_us))
        self.rows["sample_data"].append({
            "token": f"data {token}", "sample_token": sample, "ego_pose_token": f"ego {token}",
            "calibrated_sensor_token": f"mount {channel}", "timestamp": time_us,
            "is_key_frame": key, "filename": path, "prev": "", "next": "", **more})

    def annotate(self, samples, times):
        """The solids as boxes: the centre, not the base; width before length."""
        for number, solid in enumerate(self.scene["solids"]):
            self.rows["category"].append({"token": f"category {number}",
                                          "name": f"vehicle.kind.{number}"})
            self.rows["instance"].append({"token": f"instance {number}",
                                          "category_token": f"category {number}"})
            length, width, height = solid["size_m"]
            velocity = np.array(solid.get("velocity_mps", [0, 0]))
            for k, time_s in enumerate(times):
                center = np.array(solid["center_m"]) + time_s * velocity
                pose = EGO2WORLD @ street.matrix(street.turn(math.radians(solid.get("yaw_deg", 0))),
                                                 [*center, height / 2])
                near = {"prev": k - 1, "next": k + 1}
                self.rows["sample_annotation"].append(placed(
                    f"note {number} {k}", pose, sample_token=samples[k],
                    size=[width, length, height], instance_token=f"instance {number}",
                    **{way: f"note {number} {i}" if 0 <= i < len(times) else ""
                       for way, i in near.items()}))


def write(folder, rig, scene, times=(0.0, 0.5), version="v1.0-mini"):
    """Writes the data set and returns the tokens of its samples."""
    tables, samples = Tables(scene), [f"sample{k}" for k in range(len(times))]
    channels = {name: f"CAM_{name.upper().replace('-', '_')}" for name in rig}
    tables.sensor("LIDAR_TOP", LIDAR2EGO)
    for camera, (name, row) in enumerate(rig.items()):
        mount = np.linalg.inv(ego_at(camera)) @ EGO2WORLD @ street.camera_pose(row)
        tables.sensor(channels[name], mount, street.camera_matrix(row).tolist())
    for k, (sample, time_s) in enumerate(zip(samples, times)):
        time_us = 1532402927647951 + round(time_s * 1e6)
        tables.rows["sample"].append({
            "token": sample, "timestamp": time_us, "scene_token": "scene 1",
            "prev": samples[k - 1] if k else "", "next": (samples + [""])[k + 1]})
        path = f"samples/LIDAR_TOP/{sample}.pcd.bin"
        tables.data(sample, "LIDAR_TOP", EGO2WORLD, path, time_us)
        tables.data(sample, "LIDAR_TOP", EGO2WORLD, "sweeps/none", time_us + 50000, key=False)
        points = street.sweep(scene, LIDAR2EGO, time_s)
        points = np.hstack([points, np.full((len(points), 1), 9), np.zeros((len(points), 1))])
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        points.astype("<f4").tofile(folder / path)
        for camera, (name, row) in reversed(list(enumerate(rig.items()))):  # in no useful order
            path = f"samples/{channels[name]}/{sample}.jpg"
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            picture = Image.fromarray(street.photograph(scene, row, time_s))
            picture.save(folder / path, quality=95, subsampling=0)
            tables.data(sample, channels[name], ego_at(camera), path, time_us + 9000 * camera,
                        width=street.PICTURE[0], height=street.PICTURE[1])
    tables.annotate(samples, times)
    tables.rows["scene"].append({
        "token": "scene 1", "name": "scene-0001", "nbr_samples": len(times),
        "description": "a street", "first_sample_token": samples[0]})
    (folder / version).mkdir(parents=True)
    for name, rows in tables.rows.items():
        (folder / version / f"{name}.json").write_text(json.dumps(rows))
    return samples
