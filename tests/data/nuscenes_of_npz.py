"""Writes a .npz of bevscope export, with pictures, boxes and LiDAR, in nuScenes' layout, so that the
README's picture goes the way of a real sample: nuscenes_of_npz.py SCENE.npz FOLDER"""
import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

import nuscenes_street
import street

EGO2WORLD, LIDAR2EGO = nuscenes_street.EGO2WORLD, nuscenes_street.LIDAR2EGO


def write(z, folder):
    """One sample, "sample0". The pictures show the network's input: its resize and its crop are part
    of the matrices."""
    tables = nuscenes_street.Tables({"solids": []})
    height, width = z["images"].shape[1:3]
    fit = np.diag([float(z["resize"]), float(z["resize"]), 1])
    fit[:2, 2] = -z["crop"][:2]
    fit = np.diag([width / z["image_size"][1], height / z["image_size"][0], 1]) @ fit
    tables.sensor("LIDAR_TOP", LIDAR2EGO)
    tables.rows["sample"].append({"token": "sample0", "timestamp": 0, "prev": "", "next": "",
                                  "scene_token": "scene1"})
    tables.rows["scene"].append({"token": "scene1", "name": "of a world"})
    for place in "LIDAR_TOP", "CAMERA":
        (folder / "samples" / place).mkdir(parents=True)
    ego2lidar = np.linalg.inv(LIDAR2EGO)
    points = z["lidar"][:, :3] @ ego2lidar[:3, :3].T + ego2lidar[:3, 3]
    path = "samples/LIDAR_TOP/sample0.pcd.bin"
    np.hstack([points, np.zeros((len(points), 2))]).astype("<f4").tofile(folder / path)
    tables.data("sample0", "LIDAR_TOP", EGO2WORLD, path, 0)
    for camera, name in enumerate(z["camera_names"]):
        channel = f"CAM_{name.upper().replace('-', '_')}"
        tables.sensor(channel, z["cam2ego"][camera], (fit @ z["intrinsics"][camera]).tolist())
        path = f"samples/CAMERA/{channel}.jpg"
        Image.fromarray(z["images"][camera]).save(folder / path, quality=95)
        tables.data("sample0", channel, EGO2WORLD, path, 0, width=width, height=height)
    for number, (box, label) in enumerate(zip(z["boxes"], z["box_labels"])):
        tables.rows["category"].append({"token": f"c{number}", "name": f"vehicle.{label}"})
        tables.rows["instance"].append({"token": f"i{number}", "category_token": f"c{number}"})
        x, y, base, length, width_m, height_m, yaw = map(float, box[:7])
        tables.rows["sample_annotation"].append(nuscenes_street.placed(
            f"n{number}", EGO2WORLD @ street.matrix(street.turn(yaw), [x, y, base]),
            sample_token="sample0", size=[width_m, length, height_m], instance_token=f"i{number}",
            prev="", next=""))
    (folder / "v1.0-mini").mkdir()
    for name, rows in tables.rows.items():
        (folder / "v1.0-mini" / f"{name}.json").write_text(json.dumps(rows))


if __name__ == "__main__":
    write(np.load(sys.argv[1]), Path(sys.argv[2]))
