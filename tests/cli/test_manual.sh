#!/bin/sh
# SPDX-License-Identifier: MIT
# Manual pages, a short one for each command, and what shells complete: all from the tables of commands
# and options.
. "${SRCDIR:-.}/tests/support/tap.sh"
scripts=$(cd "${SRCDIR:-.}" && pwd)/assets/completion
tap_folder

commands=$("$BEVSCOPE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
    "$BEVSCOPE" --man $command >$command.1
    sections=$(sed -n 's/^\.SH //p' $command.1 | tr '\n' ' ')
    [ "$sections" = 'NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES SEE ALSO ' ] && [ "$(wc -l <$command.1)" -lt 400 ] ||
        echo "$command: $sections"
    # An example is right where nothing is wrong up to the word behind it.
    sed -n '/^\.SH EXAMPLES/,/^\.fi/s/^bevscope//p' $command.1 | sed 's/\\-/-/g' >examples
    [ -s examples ] || echo "$command: no examples"
    while read -r words; do
        # shellcheck disable=SC2086
        "$BEVSCOPE" $words --zzz 2>&1 </dev/null | grep -q '^bevscope: --zzz: no such option' || echo "bevscope $words"
    done <examples
done >wrong
tap_none 'each command has a page with sections and examples, whose options are known' "$(cat wrong)"
if command -v man >/dev/null && "$BEVSCOPE" --man >bevscope.1; then
    for page in *.1; do
        LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z ./$page 2>&1 >/dev/null | sed "s/^/$page: /"
    done >warnings
    tap_none 'troff has no warnings' "$(head -n 5 warnings)"
fi

says() { # NAME WANTED WORD...: --complete of these words has the word wanted
    name=$1 wanted=$2
    shift 2
    "$BEVSCOPE" --complete "$@" >said 2>&1
    cut -f 1 said | grep -qx -e "$wanted"
    tap_ok $? "$name: $wanted"
}
says 'a command' bench ''
says 'or a scene' toy ''
says 'an option of a command' --dtype bench --d
says 'a value' fp16 bench --dtype ''
says 'a value, behind a letter' cpu_v3 bench -k ''
says 'a scene' canonical bench ''
says 'a chart' roofline plot ''
says 'a command, behind --man' rig --man ''
"$BEVSCOPE" --complete bench -o '' | grep -q .
[ $? = 1 ]
tap_ok $? 'nothing where a file is wanted: shells know files'

mkdir bin && ln -s "$BEVSCOPE" bin/bevscope
cat >ask.bash <<'END'
. "$1/bevscope"
COMP_WORDS=(bevscope bench --dtype f) COMP_CWORD=3
compopt() { :; }
_bevscope && printf '%s\n' "${COMPREPLY[@]}"
END
PATH=$PWD/bin:$PATH bash ask.bash "$scripts" >bash.out && grep -qx fp16 bash.out && ! grep -qx int8 bash.out
tap_ok $? 'bash completes a value'
if command -v fish >/dev/null; then
    PATH=$PWD/bin:$PATH HOME=$PWD fish -c "source $scripts/bevscope.fish; complete -C 'bevscope bench --dty'" >fish.out 2>err
    grep -q -e '^--dtype' fish.out
    tap_ok $? 'fish completes an option'
else
    tap_skip 'fish completes an option' 'no fish'
fi
if command -v zsh >/dev/null; then
    cat >ask.zsh <<'END'
_describe() { print -l -- "${(@P)3}"; }
_files() { :; }
words=(bevscope bench --dtype f) CURRENT=4
. $1/_bevscope
END
    PATH=$PWD/bin:$PATH zsh -f ask.zsh "$scripts" >zsh.out 2>&1 && grep -q '^fp16:' zsh.out
    tap_ok $? 'zsh completes a value'
else
    tap_skip 'zsh completes a value' 'no zsh'
fi
tap_done
