"""Which lines and branches of the loader its tests take, as a table in Markdown (gcov).

    loader_coverage.py BUILD [--missing] [--keep]

BUILD: a folder configured with --without-cuda --disable-hardening CFLAGS="-O0 -g --coverage", where
the tests below run. A branch is one of gcov's: each way out of each condition that the compiler
makes, so that `a && b` has four. --missing: also the lines where some are not taken. --keep: counts
what has run in BUILD already, and runs nothing."""
import argparse
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(__file__ + "/../../..")
# What reads a scene, an operator or a gradient, and the writer that the tests of .npz read back.
FILES = ["src/base/json_fields.c"] + ["src/scene/%s.c" % name for name in (
    "scene", "scene_json", "scene_arrays", "scene_npz", "npy", "npz",
    "npz_texts", "npz_write", "photos_npz", "clip", "scatter_check", "grad_out",
    "operator/operator", "operator/operator_arrays", "operator/operator_json",
    "operator/operator_sweep")]
TESTS = ["tests/check_base", "tests/check_fuzz", "tests/check_scene",
         "tests/data/test_operator_arrays.sh", "tests/data/test_grad_out.sh"]

Count = collections.namedtuple("Count", "lines lines_taken branches branches_taken")


def forget(build):
    """Removes the counts of earlier runs."""
    for path in glob.glob(build + "/**/*.gcda", recursive=True):
        os.remove(path)


def run_tests(build, tests):
    """Runs the tests; those that fail are named, for what they take counts less."""
    with tempfile.TemporaryFile() as out:
        status = subprocess.call(["make", "check-TESTS", "TESTS=" + " ".join(tests)], cwd=build,
                                 stdout=out, stderr=subprocess.STDOUT)
        out.seek(0)
        failed = [line for line in out.read().decode().splitlines()
                  if line.startswith(("FAIL:", "ERROR:"))]
    print("\n".join(failed), file=sys.stderr, end="\n" if failed else "")
    return status


def merge_versions(lines):
    """Functions that are compiled several times (CPU_CLONES), of which one runs: counted once."""
    merged = {}
    for line in lines:
        key = line["line_number"], len(line["branches"])
        if key not in merged:
            merged[key] = line
            continue
        seen = merged[key]
        seen["count"] = max(seen["count"], line["count"])
        for a, b in zip(seen["branches"], line["branches"]):
            a["count"] = max(a["count"], b["count"])
    return list(merged.values())


def lines_of(build, file):
    """gcov's lines of a source file."""
    folder, name = os.path.split(file)
    data = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities",
                           "-o", folder or ".", os.path.join(folder, name[:-2] + ".gcda")],
                          cwd=build, capture_output=True, check=True).stdout
    for part in json.loads(data)["files"]:
        if part["file"].endswith(file):
            return merge_versions(part["lines"])
    raise SystemExit("loader_coverage.py: gcov knows no %s" % file)


def count(lines):
    branches = [branch for line in lines for branch in line["branches"]]
    return Count(len(lines), sum(line["count"] > 0 for line in lines), len(branches),
                 sum(branch["count"] > 0 for branch in branches))


def row(name, c):
    return "| %s | %.0f | %d | %d | %.1f |" % (
        name, 100 * c.lines_taken / c.lines, c.branches_taken, c.branches,
        100 * c.branches_taken / c.branches)


def tell_missing(file, lines):
    text = open(os.path.join(SOURCE, file)).read().splitlines()
    for line in lines:
        missed = sum(branch["count"] == 0 for branch in line["branches"])
        if missed:
            print("    %s:%d: %d of %d: %s" % (file, line["line_number"], missed,
                                              len(line["branches"]),
                                              text[line["line_number"] - 1].strip()))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if not options.keep:
        forget(options.build)
        run_tests(options.build, TESTS)
    total = Count(0, 0, 0, 0)
    print("| file | lines % | branches taken | of | % |\n|---|---:|---:|---:|---:|")
    details = []
    for file in FILES:
        lines = lines_of(options.build, file)
        c = count(lines)
        total = Count(*(a + b for a, b in zip(total, c)))
        print(row(os.path.basename(file), c))
        details.append((file, lines))
    print(row("together", total))
    if options.missing:
        for file, lines in details:
            tell_missing(file, lines)


if __name__ == "__main__":
    main()
