# SPDX-License-Identifier: MIT
"""The counterpart of tap.h in Python; and for tap.sh many scripts in one process: a start costs as much as ten
checks.
    tap.py later FILE...      each FILE, the name of a check on its first line, is a check that passes as it does
    tap.py spoilt SCRIPT      a folder spoilt1, ... for each line "WORDS | NAME | CODE" of standard input, in which
                              SCRIPT ran with CODE in the place of its word CODE"""
import contextlib
import io
import os
import sys
import traceback


count = failures = 0


def ok(passed, name, note=""):
    global count, failures
    count, failures = count + 1, failures + (not passed)
    if not passed and note:
        print(f"# {note}")
    print(f"{'' if passed else 'not '}ok {count} - {name}", flush=True)


def done():
    print(f"1..{count}")
    sys.exit(failures > 0)


def later(files):
    for path in files:
        with open(path, encoding="utf-8") as file:
            name, script = file.read().split("\n", 1)
        said, passed = io.StringIO(), True
        with contextlib.redirect_stdout(said):
            try:
                exec(compile(script, path, "exec"), {"__name__": "later"})
            except BaseException:
                passed = False
                said.write(traceback.format_exc())
        ok(passed, name, said.getvalue().rstrip().replace("\n", "\n# "))


def spoilt(script):
    for number, line in enumerate(sys.stdin, 1):
        os.mkdir(f"spoilt{number}")
        os.chdir(f"spoilt{number}")
        exec(script.replace("CODE", line.rstrip("\n").split(" | ", 2)[2]), {})
        os.chdir("..")


if __name__ == "__main__":
    {"later": later, "spoilt": lambda scripts: spoilt(*scripts)}[sys.argv[1]](sys.argv[2:])
