#!/usr/bin/env python3
"""How fast the live display is: runs it in a pseudo-terminal and types random keys.

    tests/gpu/live_latency.py [options] BEVSCOPE [ARGUMENTS...]

The program measures itself: the time from a key to the picture that shows its effect, and how many
pictures of the moving world it shows. This script reads its last line and compares it with --fps
and --key-ms. Exit 0: reached; 1: missed; 77: the program could not run.
"""
import argparse
import fcntl
import os
import pty
import random
import re
import select
import signal
import struct
import sys
import termios
import time

# Keys that change the picture of one scene, but none that quits, writes files, loads another scene
# or pauses.
KEYS = "kKdDaAxXeEvVhHmMiItTcCoyYjJzZr+-fpL"


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="200x60", help="columns x rows of the terminal")
    parser.add_argument("--seconds", type=float, default=20, help="how long keys are typed")
    parser.add_argument("--warm", type=float, default=3, help="seconds before the first key")
    parser.add_argument("--every", type=float, default=0.3, help="seconds between keys")
    parser.add_argument("--keys", default=KEYS, help="what is typed, in random order")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fps", type=float, help="at least so many pictures a second")
    parser.add_argument("--key-ms", type=float, help="at most so many ms from key to picture, p99")
    parser.add_argument("--save", help="file for all that the program wrote")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("which program?")
    return chosen


def start(command, size):
    """Starts the program on its own terminal; returns its process and the terminal's other end."""
    columns, rows = map(int, size.split("x"))
    process, end = pty.fork()
    if process == 0:
        os.environ.setdefault("TERM", "xterm-256color")
        os.environ.setdefault("LC_ALL", "C.UTF-8")
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        try:
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    return process, end


def drain(end, output, until):
    """Reads output until a time; False: the program has ended."""
    while (left := until - time.monotonic()) > 0:
        if not select.select([end], [], [], left)[0]:
            return True
        try:
            block = os.read(end, 1 << 16)
        except OSError:
            return False
        if not block:
            return False
        output += block
    return True


def play(chosen):
    """Everything that the program wrote, from the first picture to its last line."""
    random.seed(chosen.seed)
    process, end = start(chosen.command, chosen.size)
    output = bytearray()
    now = time.monotonic()
    alive = drain(end, output, now + chosen.warm)
    until = time.monotonic() + chosen.seconds
    while alive and chosen.every > 0 and time.monotonic() < until:
        os.write(end, random.choice(chosen.keys).encode())
        alive = drain(end, output, time.monotonic() + chosen.every)
    if alive:
        alive = drain(end, output, until)
        os.write(end, b"q")
        if drain(end, output, time.monotonic() + 10):
            os.kill(process, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return status, bytes(output)


UNITS = {"us": 1e-3, "ms": 1, "s": 1e3}


def milliseconds(text, label):
    found = re.search(label + r" ([0-9.,]+) ?(us|ms|s)\b", text)
    return float(found[1].replace(",", "")) * UNITS[found[2]] if found else None


def main():
    chosen = options()
    status, output = play(chosen)
    if chosen.save:
        with open(chosen.save, "wb") as file:
            file.write(output)
    text = output.decode(errors="replace")
    lines = [line for line in text.replace("\r", "").split("\n") if "bevscope: " in line]
    last = lines[-1][lines[-1].index("bevscope: "):] if lines else "(nothing)"
    print(last)
    if status != 0:
        print(f"the program ended with {status}")
        return 77 if status == 4 else 1
    found = re.search(r"([0-9.]+) moments a second", last)
    fps = float(found[1]) if found else None
    p99 = milliseconds(last, "p99")
    if chosen.fps and not (fps and fps >= chosen.fps):
        print(f"not ok: {fps} moments a second, at least {chosen.fps} wanted")
        return 1
    if chosen.key_ms and not (p99 and p99 <= chosen.key_ms):
        print(f"not ok: p99 {p99} ms from key to picture, at most {chosen.key_ms} wanted")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
