#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs bevpool.py and the library into a wheel: `make wheel` calls it.

    wheel.py VERSION LIBRARY [FOLDER]

The library may need nothing but what a manylinux system has, and libgomp. The newest GLIBC symbol in
it names the platform: manylinux_2_34_x86_64.
"""
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile

ALLOWED = r"(libc|libm|libgomp|libpthread|libdl|librt|libstdc\+\+|libgcc_s|ld-linux-.*)\.so\.\d+"
HERE = os.path.dirname(os.path.abspath(__file__))


def dynamic(library):
    said = subprocess.run(["readelf", "-dV", library], check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said)
    foreign = [name for name in needed if not re.fullmatch(ALLOWED, name)]
    if foreign:
        sys.exit(f"{library} needs {', '.join(foreign)}, which a manylinux system may lack")
    return max((int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", said))


def files(version, library, tag):
    info = f"bevpool-{version}.dist-info"
    with open(os.path.join(HERE, "bevpool.py"), "rb") as module, open(library, "rb") as shared:
        yield "bevpool/__init__.py", module.read()
        yield "bevpool/libbevpool.so.1", shared.read()
    yield f"{info}/METADATA", (f"Metadata-Version: 2.1\nName: bevpool\nVersion: {version}\n"
                               "Summary: BEV pooling and view transforms for NumPy and PyTorch\n"
                               "Requires-Python: >=3.8\nRequires-Dist: numpy\n").encode()
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: bevpool\nRoot-Is-Purelib: false\n"
                            f"Tag: {tag}\n").encode()


def main():
    version, library, folder = (sys.argv[1:] + ["."])[:3]
    tag = "py3-none-manylinux_{}_{}_{}".format(*dynamic(library), platform.machine())
    path = os.path.join(folder, f"bevpool-{version}-{tag}.whl")
    record = f"bevpool-{version}.dist-info/RECORD"
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files(version, library, tag):
            wheel.writestr(name, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}")
        wheel.writestr(record, "\n".join([*lines, f"{record},,", ""]))
    print(path)


main()
