# SPDX-License-Identifier: MIT
"""Lets every k-th call of a kind fail under every command, and judges what comes of it.

    inject.py BEVSCOPE INJECT.so [--most N] [--only COMMAND]... [--class CLASS]

Of each class at most N calls fail in turn, from the first to the last, always the same. What must
hold: exit 0 only with the complete and right result; otherwise exit 1, a line on standard error,
the old file as it was and nothing left beside it. A crash counts unless library code crashed on its
own failed call. Prints a table in Markdown and, for what was wrong, how to do it again."""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

OLD = b"the file that was there before\n"
PATIENCE_S = 60
CLASSES = ["memory", "open", "read", "write", "fsync", "rename", "linkat", "close", "thread",
           "short-read", "short-write"]
# What the program cannot contain: these libraries end the process, or crash, when their own
# allocation fails.
LIBRARIES = ("libcairo", "libpixman", "libfontconfig", "libfreetype", "libexpat", "libgomp")

# What differs from run to run in the outputs of a command, and may: dates, the machine (whose name
# is n/a where it cannot be read), times; or the whole output.
DATES = rb'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|"cpu": "[^"]*"|, on [^;<]*;'
TIMES = DATES + rb'|"[a-z0-9_]*(_us|noise|settled|gb_s|samples|over_v2)": [^,\n]*'
ANY = rb"(?s).*"

# Name, words, the file that is written, what may differ, and how many times fewer calls are tried.
# In the words "{npz}" is a scene, "{keys}" a script and "{}" the file or folder of the output; the
# program reads "quit" on standard input.
Command = collections.namedtuple("Command", "name words output differs slower")


def command(name, words, output=None, differs=DATES, slower=1):
    return Command(name, words.split(), output, differs, slower)


COMMANDS = [
    command("--list", "--list"),
    command("--man", "--man"),
    command("glossary", "glossary"),
    command("info", "info {npz} --device cpu --format json -o {}", "x.json"),
    command("info, table", "info {npz} --device cpu"),
    command("info, machine", "info --device cpu --format json -o {}", "x.json"),
    command("verify", "verify {npz} --device cpu --dtype fp16 --format json -o {}", "x.json"),
    command("export", "export toy {}", "x.npz"),
    command("export --pooled", "export toy --pooled {} --device cpu --dtype fp16", "x.npy"),
    command("bench", "bench {npz} --device cpu --quick --kernel cpu_v3 --dtype fp16 "
            "--cache warm --format json -o {}", "x.json", TIMES, 4),
    command("bench --recorded", "bench --recorded small --format json -o {}", "x.json"),
    command("regime", "regime {npz} --gpu h200 --device cpu --format json -o {}", "x.json"),
    command("regime, table", "regime {npz} --gpu h200 --device cpu --counters -o {}", "x.txt"),
    command("plot", "plot mrc {npz} --gpu h200 --device cpu -o {}", "x.png", DATES, 2),
    command("snapshot PNG", "snapshot {npz} --device cpu --timing off --view norm -o {}", "x.png"),
    command("snapshot SVG", "snapshot {npz} --device cpu --timing off --view norm -o {}", "x.svg"),
    command("script", "{npz} --script {keys} --frames {} --size 100x30 --device cpu", None, DATES,
            4),
    command("live", "live {npz} --plain --no-window --device cpu", None, ANY, 4),
]

Result = collections.namedtuple("Result", "status out err files log")


def files_of(folder):
    """Every file below the folder, by its relative path."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            full = os.path.join(path, name)
            found[os.path.relpath(full, folder)] = open(full, "rb").read()
    return found


def run(program, library, command, inputs, fail=None):
    """One run in a folder of its own."""
    folder = tempfile.mkdtemp(prefix="inject-")
    path = os.path.join(folder, command.output or "out")
    if command.output:
        with open(path, "wb") as file:
            file.write(OLD)
    words = [word.replace("{npz}", inputs["npz"]).replace("{keys}", inputs["keys"])
             .replace("{}", path) for word in command.words]
    log = folder + ".log"
    env = dict(os.environ, LD_PRELOAD=library, INJECT_LOG=log, OMP_NUM_THREADS="2",
               OMP_WAIT_POLICY="passive")
    if fail:
        env["INJECT"] = fail
    process = subprocess.Popen([program] + words, env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(b"quit\n", timeout=PATIENCE_S)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # says where it was
        out, err = process.communicate()
        status = "hangs"
    counted = {}
    if os.path.exists(log):
        for line in open(log):
            key, value = line.split(None, 1)
            counted[key] = value.strip()
        os.remove(log)

    def same(data):
        """Without what may differ; the folder's name is in some outputs."""
        return re.sub(command.differs, b"", data.replace(folder.encode(), b"FOLDER"))

    files = {name: data if data == OLD else same(data) for name, data in files_of(folder).items()}
    shutil.rmtree(folder)
    return Result(status, same(out), err, files, counted)


def theirs(result):
    """Whether the process crashed or hung in a library, at a failed call of that library."""
    err = result.err.decode("utf-8", "replace")
    crash = [line for line in err.splitlines() if line.startswith("inject: signal")]
    if crash:
        failed = crash[0].split("failed call from ")[1].split(";")[0]
        stack = [word for word in crash[0].split("stack:")[1].split()
                 if not word.startswith(("libc.so", "inject.so"))]
        return failed.startswith(LIBRARIES) and bool(stack) and stack[0].startswith(LIBRARIES)
    return False


def other_font(result):
    """Whether the picture may be in another font: fontconfig failed to allocate, and said nothing."""
    return result.status == 0 and result.log.get("failed", "").startswith("libfontconfig")


def judge(command, right, result):
    """What is wrong with the result; None: nothing."""
    if result.status == "hangs":
        return None if theirs(result) else "hangs"
    if isinstance(result.status, int) and result.status < 0:
        return None if theirs(result) else "signal %d" % -result.status
    for name, data in result.files.items():
        if name not in right.files:
            return "leaves " + name
        if data != right.files[name] and (result.status == 0 or data != OLD):
            return None if other_font(result) else "exit %d, %s is another file" % (result.status,
                                                                                    name)
    if result.status == 0:
        if len(result.files) < len(right.files):
            return "exit 0, a file is missing"
        return None if result.out == right.out else "exit 0, another output"
    if result.status != 1:
        return "exit %d" % result.status
    if command.output and command.output not in result.files:
        return "exit 1, the old file is lost"
    return None if result.err.strip() else "exit 1 without a line"


def numbers(calls, most):
    """Which calls fail: all, or `most` of them from the first to the last."""
    if calls <= most:
        return range(1, calls + 1)
    return sorted({1 + (calls - 1) * part // (most - 1) for part in range(most)})


def orders(command, right, args):
    """The failures to try on a command: single ones, and memory that never comes back."""
    most = max(args.most // command.slower, 2)
    for kind in CLASSES if not args.kind else [args.kind]:
        calls = int(right.log.get(kind, 0))
        for k in numbers(calls, most):
            yield "%s:%d" % (kind, k)
        if kind == "memory":
            for k in numbers(calls, most // 4 + 2):
                yield "memory:%d+" % k


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--most", type=int, default=20, help="calls of a class that fail in turn")
    parser.add_argument("--only", action="append", help="a command's name; may be repeated")
    parser.add_argument("--class", dest="kind", choices=CLASSES)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="inject-in-")
    inputs = {"npz": os.path.join(folder, "in.npz"), "keys": os.path.join(folder, "s.keys")}
    subprocess.run([args.program, "export", "toy", inputs["npz"]], check=True,
                   stdout=subprocess.DEVNULL)
    with open(inputs["keys"], "w") as keys:
        keys.write("tick 0.1\nkernel\ntick 0.1\nsnapshot\n")
    print("| command | runs | right | refused | in a library | wrong |\n|---|---:|---:|---:|---:|---:|")
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for command in COMMANDS:
            if args.only and command.name not in args.only:
                continue
            right = run(args.program, args.library, command, inputs)
            if right.status != 0 or not int(right.log.get("memory", 0)):
                sys.exit("inject: %s does not run: %r" % (command.name, right))
            fails = list(orders(command, right, args))
            results = pool.map(lambda fail: run(args.program, args.library, command, inputs, fail),
                               fails)
            good = refused = in_library = bad = 0
            for fail, result in zip(fails, results):
                why = judge(command, right, result)
                if why:
                    bad += 1
                    wrong.append((command.name, fail, why, result.err[-300:]))
                elif result.status == 0 and result.files == right.files:
                    good += 1
                elif result.status in (0, "hangs") or result.status < 0:
                    in_library += 1
                else:
                    refused += 1
            print("| %s | %d | %d | %d | %d | %d |" % (command.name, len(fails), good, refused,
                                                       in_library, bad), flush=True)
    shutil.rmtree(folder)
    for command, fail, why, err in wrong:
        print("wrong: %s, INJECT=%s: %s: %s" % (command, fail, why, err.decode("utf-8", "replace")))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
