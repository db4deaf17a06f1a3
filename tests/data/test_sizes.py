# SPDX-License-Identifier: MIT
"""Cameras of different sizes, in .npz and JSON: see test_sizes.sh."""
import json

import numpy as np

import bevdet
import grids
import street
from export_scene import export_scene
from grids import refused, run, same, saved
from tap import done, ok

H, W = 20, 40  # of the input
OWN = np.array([[90, 160], [160, 90], [60, 200]])  # height, width: landscape, portrait, a panorama
RESIZE = np.array([[0.25, 0.25], [0.5, 0.5], [0.2, 0.4]])  # x, y
CROP = np.array([[0, 2.0], [3, 60], [0, 4]])  # x, y


def same_with(name, wanted, **changes):
    same(name, saved(arrays | changes), wanted)


def refused_with(name, words, **changes):
    refused(name, saved(arrays | changes), *words)


def rig():
    """Three cameras that stand anyhow; depth and features are whole numbers, so that sums are exact."""
    random = np.random.default_rng(38)
    bins, h, w, channels = 12, 5, 8, 4
    poses, matrices = [], []
    for (height, width), yaw in zip(OWN, (0.1, 2.2, -1.9)):
        poses.append(street.matrix(street.turn(yaw, 0.1) @ [[0, 0, 1], [-1, 0, 0], [0, -1, 0]], [0.3, 0.2, 1.6]))
        matrices.append([[width * 0.6, 0, width / 2], [0, width * 0.6, height / 2], [0, 0, 1]])
    return dict(depth=random.integers(0, 3, (3, bins, h, w)).astype(np.float32),
                feat=random.integers(-4, 5, (3, h, w, channels)).astype(np.float32),
                intrinsics=np.array(matrices), cam2ego=np.array(poses), image_size=np.array([H, W]),
                resize=RESIZE, crop=np.concatenate([CROP, CROP + [W, H]], 1), own_size=OWN,
                depth_range=np.array([1.0, 13, 1]),
                grid=np.array([[-9, 9, 1.5], [-9, 9, 1.5], [-2, 3, 5]]), rounding=np.array("floor"))


def pooled(**changes):
    return bevdet.pooled(arrays | changes)[0].astype(np.float32)


def test_forms():
    wanted = pooled()
    ok(np.abs(wanted).sum() > 100, "the grid is not empty")
    same_with("own images, resizes in x and y, and crops", wanted)
    same_with("without the sizes of the images", wanted, own_size=None)
    same_with("crops by x and y", wanted, crop=CROP)
    same_with("the input's size by camera", wanted, image_size=np.tile([H, W], (3, 1)))
    folded = arrays["intrinsics"].copy()
    for k, r, c in zip(folded, RESIZE, CROP):
        k[:] = np.array([[r[0], 0, -c[0]], [0, r[1], -c[1]], [0, 0, 1]]) @ k
    same_with("folded into the intrinsics", wanted, intrinsics=folded, resize=1.0, crop=np.zeros(2), own_size=None)
    one = RESIZE.copy()
    one[:, 1] = one[:, 0]
    same_with("one resize a camera", pooled(resize=one), resize=one[:, 0], own_size=None)
    same_with("one crop for all", pooled(crop=np.array([1, 2])), crop=np.array([1, 2]), own_size=None)
    np.savez("three.npz", **arrays)
    made = run("export", "three.npz", "again.npz")
    again = np.load("again.npz") if made.returncode == 0 else {}
    ok(all(np.array_equal(again[k], arrays[k]) for k in ("own_size", "resize", "crop", "image_size")),
       "written again, all of it is there", made.stderr)
    ok(np.array_equal(grids.pooled("again.npz"), wanted), "and gives the same grid")


def test_photographs():
    """Images as large as the largest: each begins in the upper left corner."""
    own = [np.random.default_rng(i).integers(0, 256, (h, w, 3)).astype(np.uint8) for i, (h, w) in enumerate(OWN)]
    images = np.full((3, OWN[:, 0].max(), OWN[:, 1].max(), 3), 255, np.uint8)
    wanted = np.zeros((3, H, W, 3), int)
    for i, picture in enumerate(own):
        images[i, :picture.shape[0], :picture.shape[1]] = picture
        for y in range(H):
            for x in range(W):
                rows, columns = (slice(int(np.floor((at + c) / r + 1e-6)), int(np.ceil((at + 1 + c) / r - 1e-6)))
                                 for at, c, r in ((y, CROP[i, 1], RESIZE[i, 1]), (x, CROP[i, 0], RESIZE[i, 0])))
                part = picture[rows, columns].reshape(-1, 3).astype(int)
                wanted[i, y, x] = (part.sum(0) + len(part) // 2) // len(part)
    np.savez("seen.npz", images=images, **arrays)
    made = run("export", "seen.npz", "kept.npz")
    kept = np.load("kept.npz")["images"] if made.returncode == 0 else np.zeros(1)
    ok(np.array_equal(kept, wanted), "each photograph is cut from its own image", made.stderr)
    ok(np.array_equal(np.load("kept.npz")["own_size"], OWN), "and its size stays known")
    export_scene("listed.npz", **{k: v for k, v in arrays.items() if k not in ("own_size", "rounding")},
                 rounding="floor", images=own)
    made = run("export", "listed.npz", "listed-again.npz")
    ok(made.returncode == 0 and np.array_equal(np.load("listed-again.npz")["images"], wanted),
       "a list of images through export_scene", made.stderr)
    made = run("export", "kept.npz", "kept-again.npz")
    ok(made.returncode == 0 and np.array_equal(np.load("kept-again.npz")["images"], wanted),
       "photographs of the input stay as they are", made.stderr)
    made = run("info", saved(arrays | dict(own_size=None, images=images[:, :, :-2])))
    ok(made.returncode == 0, "images two columns narrower than what a crop takes", made.stderr)
    refused_with("six columns narrower", ("images: 160 x 194 pixels",), own_size=None, images=images[:, :, :-6])
    refused_with("images that hold no camera's own", ("images: 70 x 75 pixels", "20 x 40", "hold the 90 x 160", "camera 0"),
            images=np.zeros((3, 70, 75, 3), np.uint8))


def test_padding():
    """Crops that go beyond the image on two sides: what is beyond is black."""
    crop, own, images = [-6, -3], [14, 36], np.random.default_rng(2).integers(1, 256, (3, 14, 36, 3)).astype(np.uint8)
    beyond = dict(resize=1.0, crop=np.array(crop), own_size=np.array(own))
    wanted = np.zeros((3, H, W, 3), np.uint8)
    wanted[:, 3:17, 6:] = images[:, :, :34]
    same_with("a crop beyond the image", pooled(**beyond), **beyond)
    same_with("and with the image", pooled(**beyond), images=images, **beyond)
    made = run("export", saved(arrays | beyond | dict(images=images)), "padded.npz")
    ok(made.returncode == 0 and np.array_equal(np.load("padded.npz")["images"], wanted),
       "what is beyond the image is black", made.stderr)
    refused_with("without own_size", ("images: 14 x 36", "own_size"), images=images, **beyond | dict(own_size=None))


def test_refused():
    names = np.array(["front", "left", "rear"])
    refused_with("a crop beyond one image", ("crop", "camera 1", "columns 28 to 68", "has 45"),
            crop=np.array([[0, 2.0], [28, 60], [0, 4]]))
    refused_with("an image of another shape", ("camera 'rear'", "rows 4 to 24", "has 12"),
            own_size=np.array([[90, 160], [160, 90], [30, 200]]), camera_names=names)
    refused_with("inputs of two sizes", ("image_size", "left has 24", "front has 20", "one size", "own_size"),
            image_size=np.array([[H, W], [24, W], [H, W]]), camera_names=names)
    low = arrays["cam2ego"].copy()
    low[2, 2, 3] = -1.8
    made = run("info", saved(arrays | dict(cam2ego=low, camera_names=names)))
    ok("rear stands 1.8 m below the ground" in made.stderr, "a camera has its own name in a remark", made.stderr)
    refused_with("a resize of 0", ("resize[1, 1]", "0 is outside"), resize=np.array([[0.25, 0.25], [0.5, 0], [0.2, 0.4]]))


def test_json():
    """A portrait camera among landscape ones: the world's features and its rig as arrays."""
    scene = street.world(dict(list(street.RIG.items())[:3]), features=(44, 16))
    scene["cameras"][1].update(image_px=[450, 800], center_px=[225, 400], resize=704 / 450,
                               crop_px=[0, round(800 * 704 / 450) - 256])
    scene["cameras"][2].update(resize=[0.9, 0.88], crop_px=[10, 130])

    def put(**changes):
        made = json.loads(json.dumps(scene))
        made["cameras"][1].update(changes)
        with open("rig.json", "w", encoding="ascii") as file:
            json.dump(made, file)

    def said(name, *words):
        made = run("info", "rig.json")
        ok(made.returncode == 1 and all(word in made.stderr for word in words) and made.stderr.count("\n") == 1,
           name, made.stderr)

    put()
    made = run("export", "rig.json", "rig.npz", "--bare")
    z = dict(np.load("rig.npz")) if made.returncode == 0 else {}
    ok(z and z["own_size"].tolist() == [[450, 800], [800, 450], [450, 800]] and z["resize"].shape == (3, 2) and
       z["resize"][2].tolist() == [0.9, 0.88] and np.allclose(z["crop"][1], [0, 996, 704, 1252]),
       "a rig of three sizes as arrays", made.stderr)
    grid = grids.pooled("rig.json")
    ok(np.array_equal(grid, grids.pooled("rig.npz")), "which give the same grid")
    moved = dict(scene["cameras"][1])
    put(image_px=[800, 450], center_px=[400, 225], resize=scene["frustum"]["resize"], crop_px=[0, 140])
    ok(not np.array_equal(grid, grids.pooled("rig.json")) and moved["resize"] != scene["frustum"]["resize"],
       "another than that of one size")
    put(image_px=[450, 280])
    said("an image without the rows of its crop", "$.cameras[1]", "camera 'front'", "rows 996 to 1252")


arrays = rig()
test_forms()
test_photographs()
test_padding()
test_refused()
test_json()
done()
