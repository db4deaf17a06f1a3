# SPDX-License-Identifier: MIT
"""Numbers in README files, written from recorded results and the memory model by a rule.

    readme_numbers.py SOURCES BEVSCOPE [--write]

A comment before a table says where its numbers come from:

    <!-- recorded: gpu=H200 cache=warm; columns: scene=canonical | scene=xlarge; rows: kernel=v2 | kernel=v4 -->

A cell is the number of the result that has all that the comment, its column and its row name; the words
of a table are the writer's. `recorded`: samples/recorded, the newest result. `compare`:
samples/recorded/compare. `model`: what `bevscope regime` says; value= names its column. Without --write
every cell that differs is a line of output, and the exit status is 1.
"""

import csv
import functools
import io
import json
import pathlib
import re
import subprocess
import sys

MARK = re.compile(r"<!-- (recorded|compare|model): (.*?) -->", re.S)
WHOLE = {"direction": "forward"}  # what a result is that does not say


def pairs(text):
    return dict(re.findall(r"(\S+?)=(\S+)", text))


def fits(row, query):
    return all(str(row.get(key, WHOLE.get(key))) == str(value).replace("+", " ") for key, value in query.items())


@functools.cache
def documents(folder, names):
    return [json.loads(path.read_text()) for path in sorted(folder.glob(names))]


def recorded(sources, _bevscope, query):
    found = []
    for data in documents(sources / "samples/recorded", "*.json"):
        gpu = data["machine"].get("gpu") or ""
        if query.get("gpu", "cpu") not in gpu:
            continue
        wanted = {k: v for k, v in query.items() if k != "gpu"}
        found += [(data["machine"]["date"], row["median_us"]) for row in data.get("results", []) if fits(row, wanted)]
    return max(found)[1] if found else None


def compare(sources, _bevscope, query):
    rows = [row for data in documents(sources / "samples/recorded/compare", f"{query['gpu'].lower()}*.json")
            for row in data["rows"]]
    value = query.pop("value", "graph_us")
    query.pop("gpu")
    return next((row[value] for row in rows if fits(row, query)), None)


simulated = {}


def model(_sources, bevscope, query):
    scene, gpu = query.pop("scene"), query.pop("gpu")
    value = query.pop("value", "predicted_warm_us")
    if scene not in simulated:
        command = [bevscope, "regime", scene, "--gpu", "a6000,pro6000", "-k", "v2,v2_do,v3_small_l2,v3_large_l2,v4", "--format", "csv"]
        simulated[scene] = list(csv.DictReader(io.StringIO(subprocess.run(command, capture_output=True, text=True, check=True).stdout)))
    row = next((row for row in simulated[scene] if row["gpu"].replace(" ", "+") == gpu and fits(row, query)), None)
    return float(row[value]) if row and row[value] else None


def text_of(number):
    if number is None:
        return "n/a"
    return f"{number:,.0f}" if number >= 100 else f"{number:#.3g}"


def written(table, source, sources, bevscope, rule):
    """The table's lines with the numbers that the rule gives."""
    parts = [part.strip() for part in re.split(r";|\n", rule)]
    common = pairs(parts[0])
    columns, rows = ([pairs(item) for item in part.split(":", 1)[1].split("|")] for part in parts[1:3])
    lines = table[:2]
    if len(table) != 2 + len(rows):
        raise SystemExit(f"a table of {len(table) - 2} rows where its comment names {len(rows)}")
    for line, row in zip(table[2:], rows):
        name = line.split("|")[1]
        cells = [text_of(source(sources, bevscope, {**common, **column, **row})) for column in columns]
        lines.append("|".join(["", name] + [f" {cell} " for cell in cells] + [""]))
    return lines


def renew(text, sources, bevscope):
    lines, out, i = text.split("\n"), [], 0
    while i < len(lines):
        mark = MARK.match("\n".join(lines[i:i + 8])) if lines[i].startswith("<!-- ") else None
        if not mark:
            out.append(lines[i])
            i += 1
            continue
        length = mark.group(0).count("\n") + 1
        end = start = i + length
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        source = {"recorded": recorded, "compare": compare, "model": model}[mark.group(1)]
        out += lines[i:start] + written(lines[start:end], source, sources, bevscope, mark.group(2))
        i = end
    return "\n".join(out)


def main():
    sources, bevscope = pathlib.Path(sys.argv[1]), sys.argv[2]
    wrong = 0
    for path in sorted(p for p in sources.glob("**/README.md") if "build" not in p.relative_to(sources).parts[0]):
        old = path.read_text()
        new = renew(old, sources, bevscope)
        if "--write" in sys.argv:
            path.write_text(new)
            continue
        for was, now in zip(old.split("\n"), new.split("\n")):
            if was != now:
                wrong += 1
                print(f"{path.relative_to(sources)}: {was}\n  by its rule: {now}")
    if wrong:
        raise SystemExit(1)


main()
