#!/bin/sh
# SPDX-License-Identifier: MIT
# Every text from outside (a title, a path, an argument) comes out of every output as one line of
# characters that show what they are: no escape, no control character of one byte or two, no mark
# that turns the writing, no line break, no formula in a spreadsheet.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
tap_folder
mkdir -p data/samples out
cp -r "$SRCDIR"/samples/*.json data/samples/
cp -r "$SRCDIR/samples/recorded" data/samples/

# Titles as JSON can hold them, and names as the file system can. Both end in "<end>".
title='=2+3\u009b31m\u202eevil\u2028\u200b\u2066\u061c\ufeff\ufffe<end>'
name=$(printf '@n\033[31m\302\233\342\200\256\n\007\302\205\377\303("|<end>')
python3 "$SRCDIR/tests/cli/outside.py" titled "$SRCDIR/samples/toy.json" data/samples/evil.json "$title"
cp data/samples/evil.json "$name.json"
"$BEVSCOPE" export toy "$name.npz" >out/export 2>&1
tap_ok $? "export takes such a name"

# clean NAME [any]: no byte of the output out/NAME does anything but show itself. Judged at the end, all
# of them at once.
outputs=0
clean() {
    outputs=$((outputs + 1))
    mv "out/$1" "out/$outputs.$1"
    echo "$outputs.$1 ${2:-named}" >>list
}
cat >clean.py <<'PY'
import csv, re, unicodedata

def judge(path, about):
    text = open(path, "rb").read().decode("utf-8")  # broken UTF-8 fails
    for character in text:
        if character in "\n\t":
            continue
        kind = unicodedata.category(character)
        assert kind not in ("Cc", "Cf", "Zl", "Zp", "Cn", "Cs"), (hex(ord(character)), text[:300])
    assert about == "any" or "<end>" in text or "&lt;end&gt;" in text, text[:300]
    if path.endswith("csv"):
        rows = list(csv.reader(open(path, newline="")))
        assert len({len(row) for row in rows}) == 1 and len(rows) > 1, rows
        for cell in (cell for row in rows for cell in row):
            assert cell[:1] not in "=+-@" or re.match(r"-?[0-9.]+(e[+-][0-9]+)?$|$", cell), cell
    if path.endswith("markdown"):
        bars = 0
        for line in text.splitlines():
            found = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            assert not bars or not found or found == bars, line
            bars = found

for line in open("list"):
    name, about = line.split()
    why = ""
    try:
        judge("out/" + name, about)
    except Exception as problem:
        why = ascii(problem)
    print("not ok" if why else "ok", "-", name.split(".", 1)[1], "shows texts from outside and obeys none")
    if why:
        print("#", why)
PY

clean export
BEVSCOPE_DATA=$folder/data "$BEVSCOPE" --list >out/list 2>&1
clean list
for format in table markdown csv json; do
    for command in info "bench --quick --dtype fp16 --kernel cpu_v3 --cache warm" \
        "verify --dtype fp16 --align nearest" "regime --gpu h200"; do
        file="${command%% *}.$format"
        # shellcheck disable=SC2086
        "$BEVSCOPE" $command "$name.json" --format $format --device cpu >"out/$file" 2>out/err
        clean "$file"
    done
done
echo '{' >"gone$name.json"
for command in info "snapshot -o x.png" verify export bench; do
    second=
    [ "$command" != export ] || second=x.npz
    # shellcheck disable=SC2086
    "$BEVSCOPE" $command "gone$name.json" $second --device cpu >out/error 2>&1 </dev/null
    tap_run "${command%% *}: one line" [ "$(grep -c . out/error)" = 1 ]
    clean error
done
"$BEVSCOPE" "$name" >out/error 2>&1 </dev/null
clean error
"$BEVSCOPE" bench toy --dtype "$name" >out/error 2>&1
clean error
"$BEVSCOPE" snapshot toy --device cpu --title x -o "none$name/x.png" >out/error 2>&1
clean error
"$BEVSCOPE" live "$name.json" --plain --no-window --device cpu </dev/null >out/plain 2>&1
clean plain
printf 'tick 0.1\n' >s.keys
"$BEVSCOPE" "$name.json" --script s.keys --frames frames --size 150x44 --device cpu >out/script 2>&1
cp frames/frame-0001.txt out/frame
clean frame any
"$BEVSCOPE" snapshot "$name.json" --device cpu --timing off -o out/figure.svg >out/snapshot 2>&1
clean figure.svg any

# A picture has no bytes to look at, but that of a scene with a clean title is the same, and that of
# one with another title is not.
titled() {
    python3 "$SRCDIR/tests/cli/outside.py" titled "$SRCDIR/samples/toy.json" \
        "data/samples/$1.json" "$2" &&
        "$BEVSCOPE" snapshot "data/samples/$1.json" --device cpu --timing off -o "$1.png"
}
titled evil "$title" && titled clean '=2+3?31m?evil??????<end>' &&
    titled other '=2+3?31m?evil?????<end>' &&
    cmp evil.png clean.png && ! cmp -s evil.png other.png
tap_ok $? "a PNG draws the clean title"
python3 clean.py >judged
tap_relay "" <judged
tap_run "all outputs were judged" [ "$(grep -c 'ok - ' judged)" = $outputs ]
tap_done
