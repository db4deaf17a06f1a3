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
import shutil
import signal
import subprocess
import sys
import tempfile

OLD = b"the file that was there before\n"
PATIENCE_S = 30
CLASSES = ["memory", "open", "read", "write", "fsync", "rename", "linkat", "close", "thread",
           "short-read", "short-write"]
# What the program cannot contain: these libraries end the process, or crash, when their own
# allocation fails.
LIBRARIES = ("libcairo", "libpixman", "libfontconfig", "libfreetype", "libexpat", "libgomp")

# Name, words, and whether the words end in a file that is written. "{}" is the input .npz.
COMMANDS = [
    ("--list", ["--list"], None),
    ("info", ["info", "{}", "--device", "cpu", "--format", "json", "-o"], "x.json"),
    ("info, table", ["info", "{}", "--device", "cpu"], None),
    ("verify", ["verify", "{}", "--device", "cpu", "--dtype", "fp16", "--format", "json", "-o"],
     "x.json"),
    ("export", ["export", "toy"], "x.npz"),
    ("bench --recorded", ["bench", "--recorded", "small", "--format", "json", "-o"], "x.json"),
    ("regime", ["regime", "toy", "--gpu", "h200", "--device", "cpu", "--format", "json", "-o"],
     "x.json"),
    ("snapshot PNG", ["snapshot", "{}", "--device", "cpu", "--timing", "off", "--view", "norm",
                      "-o"], "x.png"),
    ("snapshot SVG", ["snapshot", "{}", "--device", "cpu", "--timing", "off", "--view", "norm",
                      "-o"], "x.svg"),
]

Result = collections.namedtuple("Result", "status out err file left log")


def run(program, library, command, npz, fail=None):
    """One run in a folder of its own."""
    name, words, output = command
    folder = tempfile.mkdtemp(prefix="inject-")
    words = [npz if word == "{}" else word for word in words]
    path = os.path.join(folder, output) if output else None
    if path:
        with open(path, "wb") as file:
            file.write(OLD)
        words = words + [path]
    log = folder + ".log"
    env = dict(os.environ, LD_PRELOAD=library, INJECT_LOG=log, OMP_NUM_THREADS="2",
               OMP_WAIT_POLICY="passive")
    if fail:
        env["INJECT"] = fail
    process = subprocess.Popen([program] + words, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # says where it was
        out, err = process.communicate()
        status = "hangs"
    data = open(path, "rb").read() if path and os.path.exists(path) else None
    left = sorted(set(os.listdir(folder)) - {output})
    counted = {}
    if os.path.exists(log):
        for line in open(log):
            key, value = line.split(None, 1)
            counted[key] = value.strip()
        os.remove(log)
    shutil.rmtree(folder)
    # The path of the folder is in some outputs; it differs from run to run.
    clean = lambda text: text.replace(folder.encode(), b"FOLDER")
    return Result(status, clean(out), clean(err), data, left, counted)


def theirs(result):
    """Whether the process crashed or hung in a library, at a failed call of that library."""
    err = result.err.decode("utf-8", "replace")
    crash = [line for line in err.splitlines() if line.startswith("inject: signal")]
    if crash:
        failed = crash[0].split("failed call from ")[1].split(";")[0]
        stack = [word for word in crash[0].split("stack:")[1].split() if "libc.so" not in word]
        return failed.startswith(LIBRARIES) and bool(stack) and stack[0].startswith(LIBRARIES)
    return False


def judge(right, result):
    """What is wrong with the result; None: nothing."""
    if result.status == "hangs":
        return None if theirs(result) else "hangs"
    if isinstance(result.status, int) and result.status < 0:
        return None if theirs(result) else "signal %d" % -result.status
    if result.left:
        return "leaves " + result.left[0]
    if result.status == 0:
        if result.file != right.file:
            return "exit 0, another file"
        return None if result.out == right.out else "exit 0, another output"
    if result.status != 1:
        return "exit %d" % result.status
    if right.file is not None and result.file not in (OLD, right.file):
        return "exit 1, the old file is lost"
    return None if result.err.strip() else "exit 1 without a line"


def numbers(calls, most):
    """Which calls fail: all, or `most` of them from the first to the last."""
    if calls <= most:
        return range(1, calls + 1)
    return sorted({1 + (calls - 1) * part // (most - 1) for part in range(most)})


def orders(right, args):
    """The failures to try on a command: single ones, and memory that never comes back."""
    for kind in CLASSES if not args.kind else [args.kind]:
        calls = int(right.log.get(kind, 0))
        for k in numbers(calls, args.most):
            yield "%s:%d" % (kind, k)
        if kind == "memory":
            for k in numbers(calls, args.most // 4 + 2):
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
    npz = os.path.join(folder, "in.npz")
    subprocess.run([args.program, "export", "toy", npz], check=True, stdout=subprocess.DEVNULL)
    print("| command | runs | right | refused | in a library | wrong |\n|---|---:|---:|---:|---:|---:|")
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for command in COMMANDS:
            if args.only and command[0] not in args.only:
                continue
            right = run(args.program, args.library, command, npz)
            if right.status != 0 or not int(right.log.get("memory", 0)):
                sys.exit("inject: %s does not run: %r" % (command[0], right))
            fails = list(orders(right, args))
            results = pool.map(lambda fail: run(args.program, args.library, command, npz, fail),
                               fails)
            good = refused = in_library = bad = 0
            for fail, result in zip(fails, results):
                why = judge(right, result)
                if why:
                    bad += 1
                    wrong.append((command[0], fail, why, result.err[-300:]))
                elif result.status == 0:
                    good += 1
                elif result.status == "hangs" or result.status < 0:
                    in_library += 1
                else:
                    refused += 1
            print("| %s | %d | %d | %d | %d | %d |" % (command[0], len(fails), good, refused,
                                                       in_library, bad), flush=True)
    shutil.rmtree(folder)
    for command, fail, why, err in wrong:
        print("wrong: %s, INJECT=%s: %s: %s" % (command, fail, why, err.decode("utf-8", "replace")))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
