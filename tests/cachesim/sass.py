#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the warp instructions of V4, V3 and the gradients in the machine code of a build.

    sass.py OBJECTS tiles    the rows of src/cachesim/tile_instructions.inc
    sass.py OBJECTS loops    V3: kernel, format, instructions a point. grad_v4: products of tensor
                             cores for the dots and for grad_feat, a chunk and 16 channels

OBJECTS: the build's folder kernels/cuda. Its code for compute capability 9.0 is disassembled by
cuobjdump. Exits with 77 and a reason where there is no cuobjdump or no such code. An instruction
counts once for the warp, predicated or not. Paths that a launch with finite features never takes
are left out.
"""
import os, re, shutil, subprocess, sys

DTYPES = ["FP32", "FP16", "BF16", "FP8", "NVFP4", "INT8", "INT8_FP16"]
OUT_BYTES = [4, 2, 2, 1, 1, 1, 2]
LINE = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\S+\s+)?(\S+)\s*(.*?)\s*;")


def disassemble(path):
    """Returns {mangled name: Code} of the code for 9.0 in an object file."""
    tool = os.environ.get("CUOBJDUMP") or shutil.which("cuobjdump") or "/usr/local/cuda/bin/cuobjdump"
    try:
        text = subprocess.run([tool, "-sass", "-arch", "sm_90", path], capture_output=True,
                              text=True).stdout
    except OSError:
        print("cuobjdump is not installed")
        sys.exit(77)
    functions, lines = {}, []
    for line in text.splitlines():
        if "Function : " in line:
            lines = functions.setdefault(line.split("Function : ")[1].strip(), [])
        elif match := LINE.match(line):
            lines.append((int(match[1], 16), match[2], match[3]))
    if not functions:
        print(f"{path}: has no code for 9.0")
        sys.exit(77)
    return {name: Code(lines) for name, lines in functions.items()}


class Code:
    """A function's instructions; a region is a pair of indices, the second one behind its end."""

    def __init__(self, lines):
        self.ops = [op for _, op, _ in lines]
        at = {address: i for i, (address, _, _) in enumerate(lines)}
        found = [(i, re.search(r"0x([0-9a-f]+)$", args)) for i, (_, op, args) in enumerate(lines)
                 if op.split(".")[0] == "BRA"]
        self.jumps = [(i, at[int(to[1], 16)]) for i, to in found if to and int(to[1], 16) in at]
        self.loops = sorted(((to, i + 1) for i, to in self.jumps if to < i),
                            key=lambda loop: loop[1] - loop[0])

    def where(self, ops, low=0, high=None):
        high = len(self.ops) if high is None else high
        return [i for i in range(low, high) if self.ops[i].startswith(ops)]

    def loop_with(self, ops):
        """The shortest loop with one of these instructions."""
        return next((loop for loop in self.loops if self.where(ops, *loop)), None)

    def skipped(self, ops, low, high):
        """The regions in [low, high] that a jump leaves out and that have one of these."""
        regions = [(i + 1, to) for i, to in self.jumps if low <= i < to <= high]
        return sorted((r for r in regions if self.where(ops, *r)), key=lambda r: r[1] - r[0])


def size(region):
    return region[1] - region[0] if region else 0


MMA = ("HMMA", "IMMA")


def count_tiles(code, dtype, groups, tails):
    """The warp instructions of a worker's turns: see the head of the table."""
    loop, join = code.loop_with(MMA), code.loop_with("BAR.SYNC")
    # Where two steps are under way, the loop has two, and behind it stand two ends with one addition.
    steps = 1 + any(loop[0] <= i < loop[1] - 1 and to > loop[1] for i, to in code.jumps)
    step = size(loop) / steps
    a_step = len(code.where(MMA, *loop)) / steps
    peeled = len(code.where(MMA, 0, loop[0])) / a_step # steps in front of the loop
    clear_end = code.where("EXIT")[0] + 1
    clear = (max(i for i, to in code.jumps if i < clear_end <= to) + 1, clear_end)
    round_ = next(l for l in code.loops if clear[0] <= l[0] < l[1] <= clear[1])
    group = 32 if dtype == 0 else 64
    words = (group * groups + group // 4 * tails) * OUT_BYTES[dtype] // 16
    behind = join[0] - loop[1]
    behind = behind / 2 - step if steps == 2 else behind
    votes = code.where("VOTE", join[1])
    end = votes[0] + 2 if dtype < 5 else code.where("EXIT", join[1])[-1] + 1
    meets = [r for r in code.skipped("ATOMG", join[1], end) if not code.where(("VOTE", "STG.E.EF"), *r)]
    meet = meets[-1] if meets else None
    put, add = code.skipped("STS", *join)[0], code.skipped("LDS", *join)[0]
    wait = size(join) - size(put) - size(add)
    counts = {"find": loop[0] - size(clear) - peeled * step + behind, "step": step,
              "put": wait + size(put), "add": wait + size(add), "wait": wait, "meet": size(meet),
              "store": end - join[1] - size(meet),
              "clear": clear[1] + (words - 1) * size(round_)}
    return {name: round(count) for name, count in counts.items()}


def tile_table(code):
    rows = []
    for name in code:
        match = re.match(r"_Z15v4_tiles_kernelIL8BevDtype(\d)ELi(\d)ELi(\d)ELb(\d)ELb(\d)E", name)
        if match:
            form = [int(number) for number in match.groups()]
            rows.append((form, count_tiles(code[name], *form[:3])))
    return [f"{{BEV_{DTYPES[form[0]]}, {', '.join(map(str, form[1:]))}, "
            f"{{{', '.join(map(str, counts.values()))}}}}}," for form, counts in sorted(rows)]


def points_of(code, loop, channels):
    """The points of a turn of V3's loop, by its multiply-adds: dp4a takes four points."""
    return (len(code.where("FFMA", *loop)) + 2 * len(code.where("HFMA2", *loop)) +
            4 * len(code.where("IDP", *loop))) / channels


def print_v3(folder, kernel, form, channels):
    """The loop with most instructions: that of many points. Of NVFP4 half2 also applies scales."""
    for name, code in disassemble(os.path.join(folder, kernel + ".o")).items():
        match = re.search(kernel + "_kernelIL8BevDtype(\\d)E" + form, name)
        if match and DTYPES[int(match[1])] != "NVFP4":
            loops = [l for l in code.loops if not any(l[0] <= m[0] and m[1] <= l[1] and m != l
                                                      for m in code.loops)]
            loop = max(loops, key=size)
            print(kernel, DTYPES[int(match[1])].lower(),
                  round(size(loop) / points_of(code, loop, channels), 1))


def print_gradients(folder):
    """FP32 has no products. The first loop has the dots of 16 channels, the second grad_feat's."""
    for name, code in disassemble(os.path.join(folder, "grad_v4", "grad_v4.o")).items():
        match = re.search(r"grad_v4_kernelIL8BevDtype([12])ELb0ELi64ELi8E", name)
        if match:
            inner = [l for l in code.loops if code.where("HMMA", *l) and
                     not any(l[0] <= m[0] and m[1] <= l[1] and m != l and code.where("HMMA", *m)
                             for m in code.loops)]
            print("grad_v4", DTYPES[int(match[1])].lower(),
                  *[len(code.where("HMMA", *l)) for l in sorted(inner)])


if __name__ == "__main__":
    if sys.argv[2] == "tiles":
        print("\n".join(tile_table(disassemble(os.path.join(sys.argv[1], "v4", "v4.o")))))
    else:
        print_v3(sys.argv[1], "v3_large_l2", "Lb0ELb1ELi80E", 8)
        print_v3(sys.argv[1], "v3_small_l2", "Lb0ELb1E", 16)
        print_gradients(sys.argv[1])
