#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a scene for bevscope from NumPy arrays or PyTorch tensors. Needs only NumPy.

BEVDet, in LSSViewTransformer.view_transform_core. Saves the rig, so that every align can be tried:

    from export_scene import export_scene
    export_scene("net.npz", depth, feat.permute(0, 1, 3, 4, 2),      # (1, N, D, h, w), (1, N, h, w, C)
                 cam2imgs[0], sensor2egos[0],                        # (N, 3, 3), (N, 4, 4)
                 image_size=self.input_size,                         # (H, W) of the network input
                 resize=post_rots[0, 0, 0, 0], crop=-post_trans[0, 0, :2],
                 depth_range=self.grid_config["depth"],
                 grid=[self.grid_config[axis] for axis in "xyz"])

LSS, BEVDet, FlashOCC and CUDA-BEVFusion cut cell numbers toward zero, so that points up to a cell below the
grid are in cell 0: export_scene writes that, rounding="truncate". Say rounding="floor" for a network that
rounds down. Bins that are not equal steps (sid=True, LID): depth_bins=frustum[:, 0, 0, 2], a row of depths.

or, in voxel_pooling_v2. Saves the arrays that its kernel reads:

    export_ranks("net.npz", depth, feat, ranks_depth, ranks_feat, ranks_bev,
                 interval_starts, interval_lengths, bev_feat_shape)

BEVFusion numbers cells x * ny + y: export_ranks(..., x_major=True) turns them; bev_shape stays (ny, nx).

CUDA-BEVFusion: camera_intrinsics[:, :3, :3] and camera2lidar go in place of cam2imgs and
sensor2egos, xbound, ybound, zbound are the rows of `grid` and dbound is `depth_range`. Its feature
(N, h, w, C) and depth (N, D, h, w) fit as they are. The grid is then in the lidar frame, of nuScenes with x
to the right: bevscope draws x upwards, so the pictures are turned, and `bevscope info` gives the front camera a
heading of 90 degrees. The pooling is the network's. For pictures with the front up, multiply lidar2ego from
the left and turn the grid with it.

Then: bevscope snapshot net.npz -o net.png --view norm

What the car saw besides (all optional) makes the pictures look like your car: pass to both functions

    images=images,                 # (N, H, W, 3) uint8, RGB: what the network saw, or whole images;
                                   # of several sizes: a list of whole images, one a camera
    camera_names=["front", ...],
    boxes=gt_boxes,                # (n, 7 or 9): x, y, z of the centre, l, w, h, yaw in the ego frame
    box_labels=gt_names,
    lidar=points,                  # (n, 3 or more): x, y, z in the ego frame
    timestamps=[seconds]

A folder of such files, one a moment, in the order of their names, plays as a clip: bevscope folder

Cameras of different sizes have a resize and a crop each: resize (N) or (N, 2), x and y; crop (N, 2). The
network's input has one size. What an image goes through besides (a flip, a rotation) folds exactly into its
K: with A the (3, 3) matrix from pixels of the picture to
those of the network's input, save A @ K as its intrinsics, resize 1 and crop 0. An augmentation of the BEV
does not fold into K: export in test mode.
"""
import sys

import numpy as np


def to_numpy(array):
    """An array or a tensor (CPU or GPU) as a C-ordered NumPy array."""
    if hasattr(array, "detach"):  # PyTorch; bfloat16 has no NumPy type
        array = array.detach().cpu()
        if str(array.dtype) == "torch.bfloat16":
            array = array.float()
        array = array.numpy()
    return np.ascontiguousarray(array)


def cells_of(bev_shape):
    """(nz, ny, nx) of a bev_shape: (ny, nx), or BEVDet's (1, Z, Y, X, C)."""
    sizes = [int(size) for size in np.ravel(bev_shape)]
    if len(sizes) == 5 and sizes[0] == 1:
        return tuple(sizes[1:4])
    if len(sizes) == 2:
        return 1, *sizes
    raise ValueError(f"bev_shape {tuple(sizes)}, must be (ny, nx) or (1, Z, Y, X, C)")


def whole_numbers(name, array):
    """A copy as int32. What that would change is refused."""
    array = to_numpy(array)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name}: dtype {array.dtype}, must be whole numbers")
    for value in (int(array.min()), int(array.max())) if array.size else ():
        if not -2**31 <= value < 2**31:
            raise ValueError(f"{name}: {value} is beyond int32")
    return array.astype(np.int32)


def tensors(depth, feat):
    """Checks depth (camera, D, h, w) and feat (camera, h, w, C); removes a batch axis of length 1."""
    pair = []
    for name, array in ("depth", depth), ("feat", feat):
        array = to_numpy(array)
        if array.ndim == 5 and len(array) == 1:
            array = array[0]
        if array.ndim != 4:
            raise ValueError(f"{name}: shape {array.shape}, must have four axes (one sample)")
        pair.append(array if array.dtype == np.float16 else array.astype(np.float32))
    depth, feat = pair
    if depth.shape[:1] + depth.shape[2:] != feat.shape[:3]:
        raise ValueError(f"depth {depth.shape} (camera, D, h, w) and feat {feat.shape} "
                         "(camera, h, w, C) disagree: are the channels last?")
    return {"depth": depth, "feat": feat}


def pictures(images):
    """Whole images of several sizes: one array, in which each begins in the upper left corner, and their
    sizes (camera, 2)."""
    images = [to_numpy(image) for image in images]
    sizes = np.array([image.shape[:2] for image in images])
    padded = np.zeros((len(images), *sizes.max(0), 3), images[0].dtype)
    for i, image in enumerate(images):
        padded[i, :image.shape[0], :image.shape[1]] = image
    return {"images": padded, "own_size": sizes}


def seen(images=None, camera_names=None, boxes=None, box_labels=None, lidar=None, timestamps=None):
    """What the car saw besides its tensors, as arrays: see the head of this file."""
    arrays = {}
    if images is not None:
        several = isinstance(images, (list, tuple)) and len({np.shape(image) for image in images}) > 1
        arrays.update(pictures(images) if several else {"images": to_numpy(images)})
        if arrays["images"].dtype != np.uint8:
            raise ValueError(f"images: dtype {arrays['images'].dtype}, must be uint8, 0 to 255")
    for name, texts in ("camera_names", camera_names), ("box_labels", box_labels):
        if texts is not None:
            arrays[name] = np.asarray(texts, str)
    for name, values in ("boxes", boxes), ("lidar", lidar):
        if values is not None:
            arrays[name] = to_numpy(values).astype(np.float32)
    if timestamps is not None:
        arrays["timestamps"] = np.atleast_1d(np.asarray(timestamps, np.float64))
    return arrays


def export_scene(path, depth, feat, intrinsics, cam2ego, image_size, resize, crop, depth_range,
                 grid, rounding="truncate", depth_bins=None, **what_was_seen):
    """Saves tensors and the rig that they were made with.

    intrinsics (camera, 3, 3) in pixels of the camera's own image; cam2ego (camera, 4, 4) in metres;
    image_size (H, W) of the network input; resize and crop (x, y) map the camera's image to it, the same for all
    cameras or a row of each: u_in = resize * u - crop_x; depth_range (start, stop, step); grid: rows x, y, z of
    (lower, upper, cell); several cells in z are slices, as occupancy networks have them. rounding: of cell
    numbers, truncate (toward zero) or floor; depth_bins: the depths of the bins, in place of depth_range, which
    can then be None.
    what_was_seen: see seen().
    """
    if rounding not in ("truncate", "floor"):
        raise ValueError(f"rounding {rounding!r}, must be 'truncate' or 'floor'")
    resize = to_numpy(resize).astype(np.float64)
    bins = (dict(depth_range=np.asarray(depth_range, np.float64)) if depth_bins is None
            else dict(depth_bins=to_numpy(depth_bins).astype(np.float64)))
    np.savez(path, **tensors(depth, feat), **seen(**what_was_seen),
             intrinsics=to_numpy(intrinsics).astype(np.float64),
             cam2ego=to_numpy(cam2ego).astype(np.float64),
             image_size=np.asarray(image_size, np.int64),
             resize=resize[0] if resize.size == 1 else resize,
             crop=to_numpy(crop).astype(np.float64),
             **bins, grid=np.asarray(grid, np.float64), rounding=np.array(rounding))


def export_ranks(path, depth, feat, ranks_depth, ranks_feat, ranks_bev, interval_starts,
                 interval_lengths, bev_shape, weights=None, x_major=False, **what_was_seen):
    """Saves tensors and the five index arrays of BEVDet; bev_shape (ny, nx) or BEVDet's
    (1, nz, ny, nx, C), ny rows a slice. x_major: ranks_bev is (x * ny + y) * nz + z, as in BEVFusion,
    and is numbered again. what_was_seen: see seen()."""
    arrays = dict(ranks_depth=ranks_depth, ranks_feat=ranks_feat, ranks_bev=ranks_bev,
                  interval_starts=interval_starts, interval_lengths=interval_lengths)
    arrays = {name: whole_numbers(name, array) for name, array in arrays.items()}
    if x_major:
        nz, ny, nx = cells_of(bev_shape)
        x, y, z = np.unravel_index(arrays["ranks_bev"], (nx, ny, nz))
        arrays["ranks_bev"] = ((z * ny + y) * nx + x).astype(np.int32)
    if weights is not None:
        arrays["weights"] = to_numpy(weights).astype(np.float32)
    np.savez(path, **tensors(depth, feat), **seen(**what_was_seen), **arrays,
             bev_shape=whole_numbers("bev_shape", bev_shape).astype(np.int64))


def demo(path):
    """Writes a small scene: two cameras, forward and backward, that see a wall 10 m away."""
    cameras, bins, h, w, channels = 2, 40, 8, 22, 16
    depth = np.full((cameras, bins, h, w), 0.1 / bins, np.float32)
    depth[:, 18] += 0.9  # 1 + 18 * 0.5 = 10 m
    feat = np.zeros((cameras, h, w, channels), np.float32)
    feat[..., 0] = np.linspace(0, 1, w)  # from left to right
    feat[1, ..., 1] = 1
    intrinsics = np.tile(np.array([[400.0, 0, 352], [0, 400, 128], [0, 0, 1]]), (cameras, 1, 1))
    cam2ego = np.zeros((cameras, 4, 4))
    cam2ego[:, 3, 3] = 1
    for camera, yaw in enumerate((0, np.pi)):
        c, s = np.cos(yaw), np.sin(yaw)
        # columns: where the camera's right, down and forward axes point in the ego frame
        cam2ego[camera, :3, :3] = [[s, 0, c], [-c, 0, s], [0, -1, 0]]
        cam2ego[camera, :3, 3] = [1.5 * c, 1.5 * s, 1.5]
    export_scene(path, depth, feat, intrinsics, cam2ego, image_size=(256, 704), resize=1.0,
                 crop=(0, 0), depth_range=(1, 21, 0.5),
                 grid=[(-25.6, 25.6, 0.4), (-25.6, 25.6, 0.4), (-5, 5, 10)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: export_scene.py OUT.npz   (writes a small demo scene)")
    demo(sys.argv[1])
