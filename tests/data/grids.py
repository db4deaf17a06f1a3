# SPDX-License-Identifier: MIT
"""Grids that bevscope pools of .npz files, for tests beside NumPy."""
import os
import subprocess

import numpy as np

from tap import ok


def run(*arguments):
    return subprocess.run([os.environ["BEVSCOPE"], *arguments, "--device", "cpu"], capture_output=True, text=True,
                          check=False)


def saved(arrays):
    """A file of the arrays that are not None."""
    np.savez("saved.npz", **{name: a for name, a in arrays.items() if a is not None})
    return "saved.npz"


def pooled(path):
    """The grid of a scene, or the line that refuses it."""
    done = run("export", path, "--pooled", "grid.npy", "--kernel", "cpu_v3", "--dtype", "fp32")
    return np.load("grid.npy") if done.returncode == 0 else done.stderr.strip()


def same(name, path, wanted):
    got = pooled(path)
    ok(not isinstance(got, str) and np.array_equal(got, wanted), name, got if isinstance(got, str) else "another grid")


def refused(name, path, *words):
    got = pooled(path)
    ok(isinstance(got, str) and all(word in got for word in words) and "\n" not in got, name,
       got if isinstance(got, str) else "accepted")
