#!/bin/sh
# SPDX-License-Identifier: MIT
# The README files and the program say the same: their commands run, and the files, options and keys
# that they name are there; their numbers are those of the recorded files. The pages of samples/experiments are in `make dist`; comments cite pages that exist,
# lessons lines.
. "${SRCDIR:-.}/tests/support/tap.sh"
src=$(cd "${SRCDIR:-.}" && pwd) || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pages=$(cd "$src" && find . -name README.md -not -path './build*' | sort)
readme=$folder/readme # all of them
(cd "$src" && cat $pages) >"$readme"
XDG_STATE_HOME=$folder/state # lessons keep progress
export XDG_STATE_HOME

# absent NAME: passes when the file of that name, a list of what is missing, is empty.
absent() {
    [ ! -s "$folder/$1" ] || sed "s/^/# $1: /" "$folder/$1"
    [ ! -s "$folder/$1" ]
}

"$BEVSCOPE" --help >"$folder/help"
for command in '' $(sed -n 's/^  \([a-z]*\) .*/\1/p' "$folder/help"); do
    "$BEVSCOPE" --man $command
done >"$folder/man"
sed 's/\\-/-/g; s/\\e/\\/g' "$folder/man" >"$folder/plain"

# ---- commands ----------------------------------------------------------------------------------

# The commands of the fenced blocks, without comments.
awk '/^```/ { inside = !inside; next } inside && /^bevscope / { sub(/ *#.*/, ""); print }' "$readme" \
    >"$folder/commands"
tap_ok $((1 - ($(wc -l <"$folder/commands") >= 10))) "$(wc -l <"$folder/commands") commands in README files"

# As typed, but small: the toy scene in the place of large ones, one kernel where all take long, one
# frame in the place of the tour, which tests/cli/test_script.sh plays.
mkdir "$folder/run"
printf 'tick 0 1\nquit\n' >"$folder/run/short.keys"
ln -s "$src/samples" "$folder/run/samples"
echo toy >"$folder/run/list"
while read -r command; do
    small=$(printf '%s\n' "$command" | sed -E 's/ (intersection|canonical|xlarge|parking|highway)( |$)/ toy\2/; s/^bevscope$/& toy/
        s/ verify$/ verify toy/; s/( bench toy .*)/\1 -q --kernel cpu_v3 --cache warm/
        s/ bench --recorded toy/ bench --recorded canonical/; s/ --stride 8/ --stride 16/; s/ --quiz$/ --quiz --seed 8/
        s/ --script [^ ]*/ toy --size 80x24 --script short.keys/')
    case $command in
        *--list | *glossary* | *" calibrate "* | *" steps "* | *" try "* | *" sensitivity "*) ;;
        *" merge "*) cp "$folder/run/old.json" "$folder/run/new.json" ;;
        *" rig "*) small="$small --depth 1:9:2 --reach 16 --cell 1 --channels 8" ;;
        *) small="$small --device cpu" ;;
    esac
    (cd "$folder/run" && eval "\"\$BEVSCOPE\" ${small#bevscope }" >"$folder/out" 2>&1 </dev/null)
    status=$?
    [ $status = 0 ] || { echo "# $small: exit $status" && sed 's/^/# /' "$folder/out"; }
    tap_ok $status "$command"
done <"$folder/commands"

# Each word after `bevscope` is a command, a scene's placeholder or an option.
{ cat "$folder/commands" && grep -oE '`bevscope [a-z]+' "$readme"; } | awk '{ print $2 }' |
    grep -v '^-' | sort -u |
    while read -r word; do
        grep -q "^  $word " "$folder/help" || echo "$word"
    done >"$folder/unknown-commands"
tap_run "every command that README files name is known" absent unknown-commands

# ---- options -----------------------------------------------------------------------------------

# Those on a line of a command belong to it; others to some command, or to configure.
while read -r _ command rest; do
    case $command in -*) command=live ;; esac
    [ -s "$folder/help-$command" ] || "$BEVSCOPE" "$command" --help >"$folder/help-$command" 2>&1
    for word in $rest; do
        case $word in
            --*) grep -q -e "$word\$" -e "$word " "$folder/help-$command" || echo "$command $word" ;;
        esac
    done
done <"$folder/commands" >"$folder/unknown-options"
"$src/configure" --help >"$folder/configure"
grep -v -e pkg-config -e trtexec -e onnx_bevpool -e '^build/tests/' -e '^python3 samples/' "$readme" | grep -oE -e '--[a-z][a-z0-9-]+' | sort -u | while read -r word; do
    with=$(printf '%s\n' "$word" | sed 's/^--without/--with/')
    grep -q -e "fB$word\\\\" "$folder/plain" || grep -qE -e "^  $word( |$)" "$folder/help" ||
        grep -qE -e "$word|$with" "$folder/configure" || echo "$word"
done >>"$folder/unknown-options"
# Those of a program in samples stand in its source, or in what such programs share.
grep '^python3 samples/' "$readme" | while read -r _ script rest; do
    for word in $rest; do
        case $word in
            --*) grep -qF "\"$word\"" "$src/$script" "$src/samples/reader.py" || echo "$script $word" ;;
        esac
    done
done >>"$folder/unknown-options"
tap_run "every option that README files name is known" absent unknown-options

# ---- keys --------------------------------------------------------------------------------------

awk '/^\.SH CONTROLS/ { inside = 1; next } /^\.SH/ { inside = 0 } inside && /^\\fB/' "$folder/plain" |
    sed 's/^\\fB//; s/\\fR.*//' | tr ' ' '\n' | sort -u >"$folder/keys"
sed -n '/^## Five keys/,/^## Learn/p' "$src/README.md" | cat - "$src/src/ui/README.md" |
    grep -oE '`([^` ]|Space)`' | tr -d '`' | sort -u >"$folder/named"
while read -r key; do
    grep -qxF -e "$key" "$folder/keys" || echo "$key"
done <"$folder/named" >"$folder/unknown-keys"
[ "$(wc -l <"$folder/named")" -ge 12 ] || echo "(too few are found)" >>"$folder/unknown-keys"
tap_run "every key that README files name means something" absent unknown-keys

# ---- files -------------------------------------------------------------------------------------

# Links, and what stands in backquotes and begins with a folder of the sources.
{
    for page in $pages; do
        grep -oE '\]\([^):]+\)' "$src/$page" | sed "s/^](//; s/)\$//; s,^,$(dirname "$page")/,"
    done
    grep -oE '`(kernels|src|samples|assets|tests)/[^` ]*`' "$readme" | tr -d '`'
    grep -oE 'TESTS=tests/check_[a-z]+ FILTER=[a-z_]+' "$readme" |
        sed -E 's|.*check_([a-z]+) FILTER=(.*)|tests/\1/test_\2.c|'
    grep -oE '`[a-z_0-9]+\.(c|h|py|md)`' "$readme" | tr -d '`' | grep -v '^cuda_' | while read -r name; do
        find "$src/kernels" "$src/src" -name "$name" | grep -q . || echo "$name"
    done
} | sort -u | while read -r path; do
    [ -e "$src/$path" ] || echo "$path"
done >"$folder/missing-files"
tap_run "every file that README files name is there" absent missing-files
tap_run "the first page has at most 150 lines" [ "$(wc -l <"$src/README.md")" -le 150 ]

# ---- numbers -----------------------------------------------------------------------------------

if python=$(command -v python3); then
    tap_run "numbers of README files are those of the recorded files and the model" \
        "$python" "$src/tests/house/readme_numbers.py" "$src" "$BEVSCOPE"
else
    tap_skip "numbers of README files" "no Python"
fi

grep -rhoE 'samples/[a-z]*/[A-Za-z0-9_-]+\.(md|json|keys|py)|[A-Za-z0-9_/-]*NOTES\.[a-z]+' \
    "$src/kernels" "$src/src" "$src/Makefile.am" "$src/samples" "$readme" | sort -u |
    while read -r path; do
        [ -e "$src/$path" ] || echo "$path"
    done >"$folder/missing-pages"
tap_run "every page and sample that comments name is there" absent missing-pages

tap_make DISTFILES | tr ' ' '\n' >"$folder/dist"
for page in "$src"/samples/experiments/*.md; do
    grep -qxF "samples/experiments/${page##*/}" "$folder/dist" || echo "${page##*/}"
done >"$folder/not-in-dist"
tap_make DATA | tr ' ' '\n' >"$folder/installed"
grep -qx 'samples/toy.json' "$folder/installed" || echo "(what is installed is not found)" >>"$folder/not-in-dist"
grep experiments "$folder/installed" | sed 's/^/installed: /' >>"$folder/not-in-dist"
tap_run "the pages of experiments are in make dist, and not installed" absent not-in-dist

# ---- code in lessons ---------------------------------------------------------------------------

sed -n 's/^source  *\([^ ]*\) "\(.*\)".*/\1\t\2/p' "$src"/samples/lessons/*.lesson >"$folder/sources"
while IFS='	' read -r file text; do
    grep -qF -e "$text" "$src/$file" || echo "$file: $text"
done <"$folder/sources" >"$folder/not-in-code"
[ "$(wc -l <"$folder/sources")" -ge 10 ] || echo "(no lesson shows code)" >>"$folder/not-in-code"
tap_run "the lines of code that lessons show are there" absent not-in-code

# ---- glossary ----------------------------------------------------------------------------------

"$BEVSCOPE" glossary | grep '^[^ ]' | cut -c1-18 | sed 's/ *$//' >"$folder/words"
awk '/^\.SH GLOSSARY/ { inside = 1; next } /^\.SH/ { inside = 0 } inside && /^\\fB/' "$folder/plain" |
    sed "s/^\\\\fB//; s/\\\\fR.*//; s/\\\\(aq/'/g" >"$folder/man-words"
[ "$(wc -l <"$folder/words")" -ge 30 ] && [ -z "$(sort "$folder/words" | uniq -d)" ]
tap_ok $? "the glossary says each word once"
tap_run "so does the manual, in the same order" cmp -s "$folder/words" "$folder/man-words"
"$BEVSCOPE" glossary ridge mrc >"$folder/out" && [ "$(grep -c '^[^ ]' "$folder/out")" = 2 ]
tap_ok $? "words are found, other names of a word, too"

tap_done
