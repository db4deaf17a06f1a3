#!/bin/sh
# SPDX-License-Identifier: MIT
# Texts that a user reads say what the field says: the old words below are in no frame of tests/golden,
# no lesson, script or README file and no output of the command line.
. "${SRCDIR:-.}/tests/support/tap.sh"
src=$(cd "${SRCDIR:-.}" && pwd) || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_STATE_HOME=$folder/state # lessons keep progress
export XDG_STATE_HOME

# A line each: a pattern, a tab, an example. "dirty" sectors of a cache, resident blocks and the
# lattice of a splat in kernels are other things, and none of them stands in these texts.
cat >"$folder/words" <<'WORDS'
\<(binds|bound by)\>	chain binds, 89.0 us
\<chains?\>	the chain of the longest interval
without it [0-9]	latency 108 us, without it 57.2 us
\<resident: 	resident: 3 % of the L3
does not fit$	RTX A6000: does not fit
[Rr]eads that miss	Reads that miss, by L2 size
\<(gathered|requested) +[0-9]	gathered   49.2 MB
beside pictures	measured beside pictures
machine busy	waits: machine busy
[0-9] medians	longest 352 at cell 103, 102: 29 medians
[Tt]rue objects	True objects
[Ss]tored inputs	FP64 over the stored inputs
\<evenness\>	evenness 0.50
\<dirty\>	switched off (dirty lens)
\<wedges?\>	its wedge goes dark
\<[Tt]wins?\>	model of the CUDA twin
\<[Ll]attice\>	this scene has no Lattice: Nearest
depth mass	brightness: depth mass
\<[Dd]efects?\>	defect 3 planted
V2 as (shipped|published)	V2 as shipped
V3 (LARGE|SMALL)	V3 LARGE
I8/16	I8/16 is INT8
prepared once	prepared once: 5.4 us
gaps filled	gaps filled
[Ww]ay back	The way back
\<right (kernel|pooling|gradient)s?\>	9 right kernels
[0-9] others  	6 others  not in this kernel
another moment	max error 0.053 (another moment)
WORDS

# old_words FILE...: the lines with an old word; fails where there is one.
cut -f1 "$folder/words" >"$folder/patterns"
old_words() {
    ! grep -nE -f "$folder/patterns" "$@" | cut -c1-160 | sed 's/^/# /' | grep .
}

cut -f2 "$folder/words" >"$folder/examples"
old_words "$folder/examples" >"$folder/found"
[ "$(wc -l <"$folder/found")" = "$(wc -l <"$folder/examples")" ]
tap_ok $? "each of $(wc -l <"$folder/examples") old words is found where it stands"

for command in '' $("$BEVSCOPE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    "$BEVSCOPE" --man $command || exit
done >"$folder/man" && "$BEVSCOPE" glossary >"$folder/glossary" && "$BEVSCOPE" learn >"$folder/learn" &&
    "$BEVSCOPE" info toy --device cpu >"$folder/info" && "$BEVSCOPE" --list >"$folder/list" &&
    "$BEVSCOPE" regime toy --gpu a6000,h200 >"$folder/regime" &&
    for command in '' $("$BEVSCOPE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        "$BEVSCOPE" $command --help || exit
    done >"$folder/help"
tap_ok $? 'man page, help, glossary, lists, info and regime are printed'
for text in man help glossary learn list info regime; do
    tap_run "no old word in $text" old_words "$folder/$text"
done
tap_run 'nor in a frame of tests/golden' old_words "$src"/tests/golden/*.txt
sed 's/#.*//' "$src"/samples/lessons/*.lesson >"$folder/lessons"
tap_run 'nor in a lesson' old_words "$folder/lessons"
tap_run 'nor in a script or a README file' old_words "$src"/samples/*.keys "$src"/README.md "$src"/samples/README.md \
    "$src"/samples/*/README.md "$src"/src/*/README.md
tap_done
