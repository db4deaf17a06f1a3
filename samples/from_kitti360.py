#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A moment of KITTI-360 as a scene for bevscope. Needs NumPy and Pillow.

    from_kitti360.py DIR                                  # what is there: sequences, frames
    from_kitti360.py DIR --sequence 2013_05_28_drive_0000_sync --frame 250 -o moment.npz
    from_kitti360.py DIR --sequence 2013_05_28_drive_0000_sync --frame 250 --picture out.png
    from_kitti360.py DIR --sequence 2013_05_28_drive_0000_sync --frames 250:290 -o clip

Why this data set: its tables are plain text, its pictures PNG and its sweeps float32, so that
nothing else is needed; Argoverse 2 keeps all tables in Apache Feather. DIR holds calibration/*.txt,
data_2d_raw/SEQUENCE/image_0*/data_rect/*.png, data_3d_raw/SEQUENCE/velodyne_points/data/*.bin.
moment.py, beside this file, says what depth and features are, and how to take those of a network.

Cameras: the stereo pair, image_00 and image_01, which look ahead; the two to the sides are fisheyes
and have no pinhole matrix. Frame: that of the GPS/IMU unit at this frame (x forward, y right, z
down), turned to x forward, y left, z up. Cameras and LiDAR were triggered together: no motion is
undone. Boxes are left out: the data set has them as meshes in the world.
"""
import functools
from pathlib import Path

import numpy as np

from moment import COMPLETE, Camera, Moment, Refused, read_picture, read_points
from reader import check, options_of, program, save_clip, save_moment

IMU2EGO = np.diag([1.0, -1, -1, 1])


def rigid(numbers):
    """A (4, 4) matrix of the twelve numbers of its first three rows."""
    return np.vstack([np.reshape(numbers, (3, 4)), [0, 0, 0, 1]])


class Kitti360:
    def __init__(self, root):
        self.root, self.calibration = Path(root), Path(root) / "calibration"
        if not self.calibration.is_dir():
            raise Refused(root, "no folder calibration there", "name the folder KITTI-360")

    def numbers(self, file, name, count):
        """The numbers of the line "name: ..." of a calibration file; name "": of the first line."""
        path = self.calibration / file
        try:
            lines = path.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise Refused(path, f"cannot be read: {error}", COMPLETE) from None
        for line in lines:
            key, _, rest = line.rpartition(":")
            if key.strip() == name:
                try:
                    found = np.array(rest.split(), float)
                except ValueError:
                    found = np.array([])
                if len(found) != count or not np.isfinite(found).all():
                    raise Refused(f"{path}: {name}", f"{len(found)} numbers, must be {count}",
                                  COMPLETE)
                return found
        raise Refused(path, f"no line {name or 'of numbers'}", COMPLETE)

    def camera_pose(self, name, unrectify=True):
        """cam2ego of the rectified picture, or of the camera itself."""
        cam2imu = rigid(self.numbers("calib_cam_to_pose.txt", f"image_{name}", 12))
        rectify = np.eye(4)
        if unrectify:
            rectify[:3, :3] = self.numbers("perspective.txt", f"R_rect_{name}", 9).reshape(3, 3)
        return IMU2EGO @ cam2imu @ np.linalg.inv(rectify)

    def camera(self, sequence, frame, name, title):
        width, height = self.numbers("perspective.txt", f"S_rect_{name}", 2)
        projection = self.numbers("perspective.txt", f"P_rect_{name}", 12).reshape(3, 4)
        path = self.root / "data_2d_raw" / sequence / f"image_{name}/data_rect/{frame:010}.png"
        return Camera(title, read_picture(path, (int(width), int(height))), projection[:, :3],
                      self.camera_pose(name))

    def moment(self, sequence, frame):
        cameras = [self.camera(sequence, frame, name, title)
                   for name, title in (("00", "left"), ("01", "right"))]
        path = self.root / "data_3d_raw" / sequence / f"velodyne_points/data/{frame:010}.bin"
        points = read_points(path, 4)
        cam2lidar = rigid(self.numbers("calib_cam_to_velo.txt", "", 12))
        lidar2ego = self.camera_pose("00", unrectify=False) @ np.linalg.inv(cam2lidar)
        place = points[:, :3] @ lidar2ego[:3, :3].T + lidar2ego[:3, 3]
        return Moment(f"{frame:010}", f"KITTI-360 {sequence}, frame {frame}", cameras, np.hstack([place, points[:, 3:]]))

    def list(self):
        for folder in sorted((self.root / "data_3d_raw").glob("*/velodyne_points/data")):
            frames = sorted(path.stem for path in folder.glob("*.bin"))
            if frames:
                print(f"{folder.parts[-3]}  {len(frames)} frames, {frames[0]} to {frames[-1]}")


def main():
    parser = options_of("A moment of KITTI-360 as a scene for bevscope.",
                        "the folder that calibration and data_2d_raw lie in")
    parser.set_defaults(input=(176, 704), feat=(11, 44))
    parser.add_argument("--sequence", metavar="NAME", help="such as 2013_05_28_drive_0000_sync")
    parser.add_argument("--frame", metavar="N", type=int, help="one moment")
    parser.add_argument("--frames", metavar="FROM:TO", help="a clip, TO included")
    options = parser.parse_args()
    check(parser, options)
    ends = (options.frames or "0:0").split(":")
    if len(ends) != 2 or not all(end.isdecimal() for end in ends) or int(ends[0]) > int(ends[1]):
        parser.error("--frames: such as 250:290")
    if (options.frame is not None or options.frames) and not options.sequence:
        parser.error("add --sequence; DIR alone lists them")
    if options.frame is not None and not (options.output or options.picture):
        parser.error("--frame: add -o FILE.npz or --picture FILE.png")
    if options.frames and (options.frame is not None or options.picture or not options.output):
        parser.error("--frames: add -o FOLDER, no --frame and no --picture")
    data = Kitti360(options.folder)
    if options.frame is not None:
        save_moment(data.moment(options.sequence, options.frame), options)
    elif options.frames:
        frames = range(int(ends[0]), int(ends[1]) + 1)
        save_clip(options.output, [functools.partial(data.moment, options.sequence, n) for n in frames], options)
    else:
        data.list()


if __name__ == "__main__":
    program(main)
