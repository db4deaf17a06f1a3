# SPDX-License-Identifier: MIT
"""What the tests of samples/from_*.py share: running a reader, damaging its data."""
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np

from tap import done, ok  # done: for the tests


def read(reader, *arguments):
    """Runs a reader, a module, in this process, so that parts of it can be replaced."""
    said = io.StringIO()
    with mock.patch("sys.argv", [reader.__file__, *map(str, arguments)]), contextlib.redirect_stdout(said):
        reader.main()
    return said.getvalue()


def outside(reader, *arguments):
    """Runs it as a program."""
    return subprocess.run([sys.executable, reader.__file__, *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def inside(reader, *arguments):
    """The same in this process, which has NumPy loaded: the status, and what it says of an error."""
    said = io.StringIO()
    with mock.patch("sys.argv", [reader.__file__, *map(str, arguments)]), \
            contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            reader.program(reader.main)
        except SystemExit as end:
            if not isinstance(end.code, str):
                return SimpleNamespace(returncode=end.code or 0, stderr=said.getvalue())
            return SimpleNamespace(returncode=1, stderr=said.getvalue() + end.code + "\n")
    return SimpleNamespace(returncode=0, stderr=said.getvalue())


def thin(path, columns):
    """Leaves every 16th point of a LiDAR sweep: enough for what is no matter of places."""
    np.fromfile(path, "<f4").reshape(-1, columns)[::16].tofile(path)


def some_of(ways):
    """Of many ways to spoil a file some; with WHOLE=1 (tests/hard/test_whole.sh) all."""
    return ways if os.environ.get("WHOLE") else ways[::4]


def tells(wrong, offs, holds):
    """Each planted defect, (name, owner, part, replacement), makes an error that offs() measures."""
    for name, owner, part, replacement in wrong:
        with mock.patch.object(owner, part, replacement):
            found = offs()
        ok(not holds(*found), f"told: {name} (off {', '.join(f'{value:.3g}' for value in found)})")


class Refusals:
    """Bad input: one line, status 1, nothing written."""

    def __init__(self, reader, data, folder, usual):
        self.reader, self.data, self.folder, self.usual = reader, data, folder, usual

    def spoilt(self, spoil, *arguments):
        """Reads a copy of the data set (its files are links) that `spoil` damages; None: not at all."""
        copy = self.folder / "spoilt"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.data, copy, copy_function=lambda a, b: Path(b).symlink_to(a))
        if spoil:
            spoil(copy)
        return inside(self.reader, copy, *arguments)

    def __call__(self, words, name, spoil=None, *arguments):
        out = self.folder / "out"
        out.mkdir(exist_ok=True)
        result = self.spoilt(spoil, "-o", out / "never.npz", *(arguments or self.usual))
        lines = result.stderr.splitlines()
        passed = (result.returncode == 1 and len(lines) == 1 and words in lines[0] and not list(out.iterdir()))
        if not passed:
            print(f"# status {result.returncode}: {result.stderr}")
        ok(passed, f"{name}: {lines[-1].replace(str(self.folder), '...') if lines else ''}")


def every_file(refusals, more):
    """Each single file of the data set missing, empty and cut in half (behind an odd byte: half of a sweep
    can be a sweep), in the first ring every fourth: one line, or the same arrays, but for boxes."""
    files = sorted(str(path.relative_to(refusals.data)) for path in refusals.data.rglob("*") if path.is_file())
    ways = [(file, how, spoil) for file in files for how, spoil in (
        ("missing", gone(file)), ("empty", cut(file, 0)),
        ("half", cut(file, (refusals.data / file).stat().st_size // 2 | 1)))]
    out, wanted, wrong = refusals.folder / "every.npz", None, []
    for file, how, spoil in [(None, "whole", None), *some_of(ways)]:
        result = refusals.spoilt(spoil, "-o", out, *more, *refusals.usual)
        arrays = dict(np.load(out)) if result.returncode == 0 else {}
        out.unlink(missing_ok=True)
        wanted = wanted or arrays
        same = all(np.array_equal(arrays.get(key), value) for key, value in wanted.items()
                   if not key.startswith("box"))
        if not same and not (result.returncode == 1 and len(result.stderr.splitlines()) == 1):
            wrong.append(f"{file} {how}: status {result.returncode}, {result.stderr:.200}")
    ok(len(ways) > 9 and wanted and not wrong, f"{len(ways)} ways to spoil a file of {len(files)}",
       "; ".join(wrong))


def replace(path, change):
    """Puts a file in place of a link: change(bytes)."""
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(change(content))


def table(path, change):
    """Damage to the rows of a JSON table."""
    def rewrite(content):
        rows = json.loads(content)
        change(rows)
        return json.dumps(rows).encode()
    return lambda copy: replace(copy / path, rewrite)


def cut(place, keep):
    return lambda copy: replace(copy / place, lambda content: content[:keep])


def gone(place):
    return lambda copy: (copy / place).unlink()
