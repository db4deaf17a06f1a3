# SPDX-License-Identifier: MIT
"""samples/from_kitti360.py on a data set that this test writes itself, as test_from_nuscenes.py does.
    test_from_kitti360.py BEVSCOPE FOLDER"""
import sys
from pathlib import Path
from unittest import mock

import numpy as np
from PIL import Image

import from_kitti360
import readers
import street
from readers import cut, gone, ok, replace

bevscope, folder = sys.argv[1], Path(sys.argv[2])
PICTURE, INPUT, FEATURES = street.part(1408, 376), street.part(704, 176), (44, 11)
RIG = street.part_of({"left": (1.2, -0.8, 0.6, 552.6, 682.1, 238.8, 1.6, 0.35, 1.6),
                      "right": (-0.7, 0.3, -0.4, 552.6, 682.1, 238.8, 1.58, -0.25, 1.61)})
LIDAR2EGO = street.matrix(street.turn(0.03, -0.01, 0.02), [0.75, 0.2, 1.75])
RECTIFY = [street.turn(0.05, -0.04, 0.03), street.turn(-0.03, 0.06, -0.05)]  # large ones
# The unit's axes are forward, right, down.
IMU2EGO = street.matrix(street.turn(0, 0, np.pi), [0, 0, 0])
SEQUENCE, FRAME = "2013_05_28_drive_0000_sync", 250
# Wider than those of test_from_nuscenes.py: of fewer rows of pixels more lie at the horizon.
BOUND_DEPTH, BOUND_LIDAR = 0.03, 0.28


def line(name, values):
    return " ".join([name, *(f"{value:.17g}" for value in np.ravel(values))]).strip() + "\n"


def write(root, world):
    (root / "calibration").mkdir(parents=True)
    perspective, poses = "", ""
    cam2imu = [np.linalg.inv(IMU2EGO) @ street.camera_pose(row) @ street.matrix(turn, [0, 0, 0])
               for row, turn in zip(RIG.values(), RECTIFY)]
    for number, row in enumerate(RIG.values()):
        projection = np.hstack([street.camera_matrix(row), [[-300.0 * number], [0], [0]]])
        perspective += line(f"S_rect_0{number}:", PICTURE) + line(
            f"R_rect_0{number}:", RECTIFY[number]) + line(f"P_rect_0{number}:", projection)
        poses += line(f"image_0{number}:", cam2imu[number][:3])
        pictures = root / f"data_2d_raw/{SEQUENCE}/image_0{number}/data_rect"
        pictures.mkdir(parents=True)
        Image.fromarray(street.photograph(world, row, PICTURE)).save(pictures / f"{FRAME:010}.png")
    (root / "calibration/perspective.txt").write_text(perspective)
    (root / "calibration/calib_cam_to_pose.txt").write_text(poses)
    cam2lidar = np.linalg.inv(LIDAR2EGO) @ IMU2EGO @ cam2imu[0]
    (root / "calibration/calib_cam_to_velo.txt").write_text(line("", cam2lidar[:3]))
    sweeps = root / f"data_3d_raw/{SEQUENCE}/velodyne_points/data"
    sweeps.mkdir(parents=True)
    points = street.sweep(world, LIDAR2EGO)
    points = np.hstack([points, np.ones((len(points), 1))]).astype("<f4")
    points.tofile(sweeps / f"{FRAME:010}.bin")


scene = street.world(RIG, PICTURE, INPUT, FEATURES)
world = street.Seen(bevscope, folder, scene)
data, made = folder / "data", folder / "made.npz"
write(data, scene["world"])
USUAL = ["--sequence", SEQUENCE, "--frame", FRAME]
GRID = ["--reach-m", street.REACH_M, "--cell-m", street.CELL_M, "--input", f"{INPUT[1]}x{INPUT[0]}"]


def offs():
    """How far pictures, and pictures with LiDAR, put the street from where it is."""
    found = []
    for more in ["--depth", world.depth], []:
        readers.read(from_kitti360, data, *USUAL, "-o", made, "--channels", "3", *GRID, *more)
        found.append(world.off(street.pool(made)))
    return found


def holds(by_depth, by_lidar):
    return by_depth <= BOUND_DEPTH and by_lidar <= BOUND_LIDAR


right = offs()
print("# off: pictures with true depth {:.4f}, with LiDAR {:.4f}".format(*right))
ok(holds(*right), "the pooled street is that of the JSON world")
z = np.load(made)
ok(world.calibrates(z) and z["camera_names"].tolist() == ["left", "right"] and "timestamps" not in z.files and
   "boxes" not in z.files, "so is its calibration; nothing is made up")

# ---- every sign and axis -------------------------------------------------------------------------

picture, points, numbers = (from_kitti360.read_picture, from_kitti360.read_points,
                            from_kitti360.Kitti360.numbers)


def turned(name, change):
    """Changes the numbers of lines whose name starts like that."""
    def wrong(self, file, key, count):
        found = numbers(self, file, key, count)
        return change(found) if key.startswith(name) and (name or count == 12 and not key) else found
    return from_kitti360.Kitti360, "numbers", wrong


def other_way(values):
    return np.linalg.inv(from_kitti360.rigid(values))[:3].ravel()


WRONG = [
    ("pictures mirrored", from_kitti360, "read_picture", lambda *a: picture(*a)[:, ::-1]),
    ("LiDAR with y the other way", from_kitti360, "read_points",
     lambda *a: points(*a) * np.float32([1, -1, 1, 1])),
    ("the unit's axes as they are", from_kitti360, "IMU2EGO", np.eye(4)),
    ("camera poses the other way", *turned("image", other_way)),
]
readers.tells(WRONG, offs, holds)

# ---- clips, pictures, bad input ------------------------------------------------------------------

SWEEP = f"data_3d_raw/{SEQUENCE}/velodyne_points/data/{FRAME:010}.bin"
readers.thin(data / SWEEP, 4)
said = readers.read(from_kitti360, data)
ok(SEQUENCE in said and "1 frames" in said, "DIR alone lists sequences")
readers.read(from_kitti360, data, "--sequence", SEQUENCE, "--frames", "250:250", "-o", folder / "clip")
ok([path.name for path in (folder / "clip").iterdir()] == ["0000.npz"], "a clip")
result = readers.outside(from_kitti360, data, *USUAL, "--picture", folder / "made.png", "--bevscope", bevscope)
ok(result.returncode == 0 and (folder / "made.png").exists(), "a picture")

refuses = readers.Refusals(from_kitti360, data, folder, USUAL)
refuses("the picture is missing", "an unknown frame", None, *USUAL[:3], "7")
refuses("no line P_rect_01", "half a calibration", lambda copy: replace(
    copy / "calibration/perspective.txt", lambda content: content[:content.index(b"R_rect_01")]))
refuses("numbers, must be 12", "half a pose", cut("calibration/calib_cam_to_pose.txt", 60))
readers.every_file(refuses, ["--channels", "3", *GRID])
result = readers.inside(from_kitti360, folder / "out", *USUAL, "-o", folder / "x.npz")
ok(result.returncode == 1 and "no folder calibration" in result.stderr, "no data set")
readers.done()
