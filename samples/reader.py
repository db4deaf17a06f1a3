# SPDX-License-Identifier: MIT
"""The command line that readers of data sets share: their options, a .npz or a folder of them, and a
picture of it by bevscope snapshot."""
import argparse
import math
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from moment import Refused, arrays


# ---- files: whole or not at all ------------------------------------------------------------------


def cannot_write(path, error):
    return Refused(path, f"cannot be written: {error.strerror}", "choose another place")


def written(path, write):
    """Calls write(file) on a temporary file beside `path` and then moves it there."""
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="." + path.name)
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        Path(temporary).unlink(missing_ok=True)


# ---- the command line ----------------------------------------------------------------------------


def sizes(separator, kind, count):
    """Parses count numbers with a separator between them, for argparse."""
    def size(text):
        values = tuple(kind(word) for word in text.split(separator))
        if len(values) != count or not all(map(math.isfinite, values)):
            raise ValueError
        return values
    return size


def find_bevscope():
    """The program: $BEVSCOPE, on the PATH, or where this folder's own build or installation is."""
    here = Path(__file__).resolve().parent
    places = [here.parent / "build/bevscope", here.parents[2] / "bin/bevscope"]
    return (os.environ.get("BEVSCOPE") or shutil.which("bevscope")
            or next((str(place) for place in places if place.exists()), "bevscope"))


def options_of(description, what):
    """A parser with the options that all data sets share."""
    parser = argparse.ArgumentParser(description=description, epilog="The heads of this file and "
                                     "of moment.py say what is written.")
    add = parser.add_argument
    add("folder", metavar="DIR", help=what)
    add("-o", "--output", metavar="OUT",
        help="the .npz file; of a clip the folder, which must not exist yet")
    add("--picture", metavar="FILE", help="draw it with bevscope snapshot, as PNG or SVG")
    add("--snapshot", metavar="OPTIONS", default="",
        help="more for bevscope snapshot, in one word: --snapshot='--view norm --truth both'")
    add("--bevscope", metavar="PATH", default=find_bevscope(), help="the program (%(default)s)")
    add("--input", metavar="HxW", type=sizes("x", int, 2), default=(256, 704),
        help="network input (default: 256x704)")
    add("--feat", metavar="HxW", type=sizes("x", int, 2), default=(16, 44),
        help="feature map (default: 16x44)")
    add("--depth-range", metavar="START:STOP:STEP", type=sizes(":", float, 3), default=(1, 60, 1),
        help="depth bins in metres (default: 1:60:1)")
    add("--reach-m", metavar="M", type=float, default=54,
        help="the grid goes from -M to M (default: 54)")
    add("--cell-m", metavar="M", type=float, default=0.54, help="side of a cell (default: 0.54)")
    add("--channels", metavar="C", type=int, default=80,
        help="of the picture's features (default: 80)")
    add("--fill", metavar="N", type=int, default=2,
        help="fill holes in depth from so many pixels away (default: 2)")
    add("--depth", metavar="PATH",
        help="depth from a .npy file, or a folder of TOKEN.npy, instead of LiDAR")
    add("--network", metavar="FILE.py",
        help="features, and depth if it gives one, from network() in that file")
    add("--bare", action="store_true",
        help="leave out pictures, names, times, boxes and LiDAR")
    return parser


def check(parser, options):
    """Ends with status 2 where options make no sense."""
    height, width, rows, columns = *options.input, *options.feat
    start, stop, step = options.depth_range
    cells = 2 * options.reach_m / options.cell_m if options.cell_m > 0 else 0
    if not (2 <= rows <= height and 2 <= columns <= width <= 65536):
        parser.error("--feat: from 2x2 to --input")
    if not (0 < start < stop and step > 0 and (stop - start) / step <= 1024):
        parser.error("--depth-range: 0 < START < STOP, at most 1024 bins")
    if not (1 <= cells <= 4096 and abs(cells - round(cells)) < 1e-3):
        parser.error(f"--cell-m: {cells:g} cells, must be a whole number, 1 to 4096")
    try:
        shlex.split(options.snapshot)
    except ValueError as error:
        parser.error(f"--snapshot: {error}")
    if options.channels < 3 and options.picture and "--view" not in options.snapshot:
        parser.error("--channels: a picture in colours needs 3")
    if not (1 <= options.channels <= 1024 and 0 <= options.fill <= 1024):
        parser.error("--channels: 1 to 1024; --fill: 0 to 1024")


def same_as(wanted, made):
    """Refuses the arrays of a moment that a clip with the first one's cannot hold; keeps the first's."""
    if not wanted:
        wanted.update({key: value.shape for key, value in made.items()})
    free = {"boxes", "box_labels"}
    for key in sorted((set(wanted) | set(made)) - free):
        there, first = (made[key].shape if key in made else None), wanted.get(key)
        if there != first and not (key == "lidar" and there and first):
            raise Refused(key, f"{there or 'none'}, but the first moment has {first or 'none'}",
                          "moments of a clip have the same arrays and shapes")


def save(path, moment, options, name=None, wanted=None):
    """Writes one moment and says what is in it, under its path or another name. wanted: the shapes of a
    clip's first moment, which the others must have."""
    made = arrays(moment, options)
    if wanted is not None:
        same_as(wanted, made)
    seen = (made["depth"].sum(1) > 0).mean()
    print(f"{name or path}: {len(moment.cameras)} cameras, depth {made['depth'].shape} in {seen:.0%} of "
          f"the pixels, feat {made['feat'].shape}, "
          f"{'no' if moment.lidar is None else len(moment.lidar)} LiDAR points, "
          f"{len(moment.boxes)} boxes", flush=True)
    written(path, lambda file: np.savez(file, **made))


def save_clip(folder, moments, options):
    """Writes a folder of moments, each made by a call; one that cannot be made, or is not like the
    first, is left out with its reason."""
    folder = Path(folder)
    if folder.suffix == ".npz":
        raise Refused(folder, "a clip is a folder of files", "leave the .npz of its name out")
    if folder.exists():
        raise Refused(folder, "is there already", "choose another name for the clip, or remove it")
    try:
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix="." + folder.name))
    except OSError as error:
        raise cannot_write(folder, error) from None
    try:
        count, wanted = 0, {}
        for number, moment in enumerate(moments):
            file = f"{count:04}.npz"
            try:
                save(temporary / file, moment(), options, folder / file, wanted)
                count += 1
            except Refused as refused:
                if isinstance(refused.__cause__ or refused.__context__, OSError) and \
                        str(temporary) in str(refused):
                    raise
                left_out = refused
                print(f"{Path(sys.argv[0]).stem}: moment {number} is left out: {refused}",
                      file=sys.stderr)
        if not count:
            raise left_out
        temporary.chmod(0o755)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    print(f"{folder}: {count} moments")


def draw(scene, title, options):
    """The usual picture has the colours of the photographs, or the norm of a network's features."""
    view = "--view norm" if options.network else "--view rgb --rgb 0:0:1,1:0:1,2:0:1"
    usual = f"{view} --align bilinear {'' if options.bare else '--cameras'}".split()
    command = [options.bevscope, "snapshot", str(scene), "-o", options.picture, *usual,
               "--title", title, *shlex.split(options.snapshot)]
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise Refused(options.bevscope, error.strerror, "name it with --bevscope PATH") from None
    if status:
        raise Refused(options.picture, f"bevscope snapshot ended with status {status}",
                      "its line says why")


def save_moment(moment, options):
    """Writes the .npz, or one that is removed again, and draws it if that is asked for."""
    with tempfile.TemporaryDirectory() as folder:
        path = options.output or Path(folder) / "moment.npz"
        save(path, moment, options)
        if options.picture:
            draw(path, moment.title, options)


def program(main):
    """Runs a reader's main(): bad input ends it with one line and status 1."""
    try:
        main()
    except Refused as refused:
        sys.exit(f"{Path(sys.argv[0]).stem}: {refused}")
    except KeyboardInterrupt:
        sys.exit(130)
