#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes wheels and source distributions of the package bevpool: what pip calls (PEP 517), and `make wheel`.

    pip install samples/torch                   # of the sources of bevscope: configure, make, pack
    pip install -C configure=CUDA_ARCH=90 samples/torch
    BEVPOOL_LIBRARY=FILE pip install samples/torch              # packs that library
    BEVPOOL_LIBRARY=installed pip install samples/torch         # packs none: the installed one is loaded
    python3 -m build samples/torch              # sdist and wheel
    build_backend.py BUILD [FOLDER]             # a wheel of the library of a build folder

A wheel's library may need nothing but what a manylinux system has, and libgomp. The newest GLIBC symbol
in it names the platform, manylinux_2_28_x86_64; manylinux.c takes old symbols where it can. A library
that needs more makes a wheel for this system, linux_x86_64.
"""
import base64
import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ALLOWED = r"(libc|libm|libgomp|libpthread|libdl|librt|libstdc\+\+|libgcc_s|ld-linux-.*)\.so\.\d+"
OLDEST_GLIBC = 2, 28
HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))  # of bevscope, also in an unpacked sdist

# What the library and its build need of the tree; all of the package.
SOURCES = r"(COPYING|configure\.ac|Makefile\.am|bevscope.*\.in|kernels/.*|src/.*|tests/.*\.mk|samples/.*\.mk|" \
    r"samples/torch/.*|configure|Makefile\.in|aclocal\.m4|config\.h\.in|build-aux/.*|m4/.*|[^/]*\.mk)"


def run(*command, folder=None):
    """Runs a command; what it says is shown if it fails."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-20:])
        sys.exit(f"{tail}\nbevpool: {' '.join(command)} failed; BEVPOOL_LIBRARY=FILE packs a library that "
                 "exists, BEVPOOL_LIBRARY=installed packs none")
    return done.stdout


def version():
    with open(os.path.join(TREE, "configure.ac"), encoding="utf-8") as file:
        return re.search(r"AC_INIT\(\[bevscope\], \[(.*?)\]", file.read()).group(1)


def metadata():
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        return f"""Metadata-Version: 2.1
Name: bevpool
Version: {version()}
Summary: BEV pooling and view transforms for NumPy and PyTorch, on NVIDIA GPUs and CPUs
License: MIT
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Requires-Python: >=3.8
Requires-Dist: numpy
Provides-Extra: torch
Requires-Dist: torch>=1.10; extra == "torch"
Provides-Extra: onnx
Requires-Dist: onnx>=1.13; extra == "onnx"
Description-Content-Type: text/markdown

{file.read()}"""


# ---- the library ---------------------------------------------------------------------------------


def sources(folder):
    """Copies what the library is built of into a folder, with a configure script."""
    if not os.path.exists(os.path.join(TREE, "configure.ac")):
        sys.exit("bevpool: the sources of bevscope are not around samples/torch (pip before 21.3 copies it "
                 "away from them): update pip, or name a library: BEVPOOL_LIBRARY=FILE")
    if os.path.isdir(os.path.join(TREE, ".git")):
        names = run("git", "ls-files", folder=TREE).splitlines()
    else:
        names = [os.path.relpath(os.path.join(at, name), TREE) for at, folders, files in os.walk(TREE)
                 for name in files if not re.search(r"/(build(-(?!aux)[^/]*)?|\.[^/]*|__pycache__)(/|$)", at[len(TREE):])]
    for name in names:
        if re.fullmatch(SOURCES, name):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            shutil.copy2(os.path.join(TREE, name), os.path.join(folder, name))
    if not os.path.exists(os.path.join(folder, "configure")):
        run("autoreconf", "-i", folder=folder)
        shutil.rmtree(os.path.join(folder, "autom4te.cache"))


def linked(build):
    """Links the library of a configured build folder anew, with old symbols of glibc: its path."""
    name, compat = "libbevpool-wheel.so", os.path.join(os.path.abspath(build), "lib", "manylinux.o")
    os.makedirs(os.path.dirname(compat), exist_ok=True)
    run(*shlex.split(os.environ.get("CC", "cc")), "-c", "-O2", "-fPIC", os.path.join(HERE, "manylinux.c"),
        "-o", compat)
    flags = f"{compat} -Wl,--no-as-needed -l:libdl.so.2 -Wl,--as-needed {os.environ.get('LDFLAGS', '')}"
    run("make", "-C", build, f"-j{os.cpu_count()}", f"lib/{name}", f"bevpool_shared={name}", f"LDFLAGS={flags}")
    return os.path.join(build, "lib", name)


def library(settings, folder):
    """The file to pack, or None. settings: of the command line of pip."""
    named = settings.get("library") or os.environ.get("BEVPOOL_LIBRARY")
    if named:
        return None if named == "installed" else named
    tree, build = os.path.join(folder, "tree"), os.path.join(folder, "build")
    os.mkdir(build)
    sources(tree)
    run("../tree/configure", "--disable-tool", *shlex.split(settings.get("configure", "")), folder=build)
    return linked(build)


def platform_of(shared):
    """The tag of a wheel with that library."""
    machine = platform.machine()
    if shared is None:
        return "any"
    said = subprocess.run(["readelf", "-dV", shared], check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout
    foreign = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said) if not re.fullmatch(ALLOWED, name)]
    if foreign:
        print(f"bevpool: the wheel is for this system alone, its library needs {', '.join(foreign)}", file=sys.stderr)
        return f"linux_{machine}"
    newest = max((int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", said))
    return "manylinux_{}_{}_{}".format(*max(newest, OLDEST_GLIBC), machine)


# ---- the files -----------------------------------------------------------------------------------


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def contents(shared, tag):
    info = f"bevpool-{version()}.dist-info"
    for name in sorted(os.listdir(os.path.join(HERE, "bevpool"))):
        if name.endswith((".py", ".typed")):
            yield f"bevpool/{name}", read(HERE, "bevpool", name)
    if shared:
        yield "bevpool/libbevpool.so.1", read(shared)
    yield f"{info}/licenses/COPYING", read(TREE, "COPYING")
    yield f"{info}/licenses/NOTICE", read(HERE, "NOTICE")
    yield f"{info}/METADATA", metadata().encode()
    pure = "true" if shared is None else "false"
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: bevpool\nRoot-Is-Purelib: {pure}\n"
                            f"Tag: {tag}\n").encode()


def pack(shared, folder):
    """Writes the wheel into a folder: its name. The same library makes the same bytes."""
    tag = f"py3-none-{platform_of(shared)}"
    record, lines = f"bevpool-{version()}.dist-info/RECORD", []
    name = f"bevpool-{version()}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        def write(path, data):
            info = zipfile.ZipInfo(path)
            info.external_attr, info.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(info, data)
        for path, data in contents(shared, tag):
            write(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{path},sha256={digest},{len(data)}")
        write(record, "\n".join([*lines, f"{record},,", ""]))
    return name


# ---- PEP 517 -------------------------------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        return pack(library(config_settings or {}, folder), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    name = f"bevpool-{version()}"
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, name)
        sources(root)
        with open(os.path.join(root, "PKG-INFO"), "w", encoding="utf-8") as file:
            file.write(metadata())
        with open(os.path.join(root, "pyproject.toml"), "wb") as file:
            file.write(read(HERE, "pyproject.toml").replace(b'["."]', b'["samples/torch"]'))
        with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as tar:
            tar.add(root, name)
    return name + ".tar.gz"


def main():
    build, folder = (sys.argv[1:] + ["."])[:2]
    print(os.path.join(folder, pack(linked(build), folder)))


if __name__ == "__main__":
    main()
