#!/bin/sh
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

# clean NAME: no byte of the output out/NAME does anything but show itself.
cat >clean.py <<'PY'
import re, sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8")  # broken UTF-8 fails
for character in text:
    if character in "\n\t":
        continue
    kind = unicodedata.category(character)
    assert kind not in ("Cc", "Cf", "Zl", "Zp", "Cn", "Cs"), (hex(ord(character)), text[:300])
assert sys.argv[2] == "any" or "<end>" in text or "&lt;end&gt;" in text, text[:300]
if sys.argv[1].endswith("csv"):
    import csv
    rows = list(csv.reader(open(sys.argv[1], newline="")))
    assert len({len(row) for row in rows}) == 1 and len(rows) > 1, rows
    for cell in (cell for row in rows for cell in row):
        assert cell[:1] not in "=+-@" or re.match(r"-?[0-9.]+(e[+-][0-9]+)?$|$", cell), cell
if sys.argv[1].endswith("markdown"):
    bars = 0
    for line in text.splitlines():
        found = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert not bars or not found or found == bars, line
        bars = found
PY
clean() {
    python3 clean.py "out/$1" "${2:-named}" 2>err
    ok=$?
    [ $ok = 0 ] || sed 's/^/# /' err
    tap_ok $ok "$1 shows texts from outside and obeys none"
}

clean export
BEVSCOPE_DATA=$folder/data "$BEVSCOPE" --list >out/list 2>&1
clean list
for format in table markdown csv json; do
    for command in info "bench --quick --dtype fp16 --kernel cpu_v3" \
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
    clean error
    [ "$(grep -c . out/error)" = 1 ]
    tap_ok $? "${command%% *}: one line"
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

# A picture has no bytes to look at, but the one with a clean title is the same.
shown='=2+3?31m?evil??????<end>'
"$BEVSCOPE" snapshot "$name.json" --device cpu --timing off -o evil.png &&
    "$BEVSCOPE" snapshot "$name.json" --device cpu --timing off --title "$shown" -o clean.png &&
    cmp evil.png clean.png
tap_ok $? "a PNG draws the clean title"
tap_done
