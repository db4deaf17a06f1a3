#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipe at the head of src/state/controls.inc, followed in a copy of the sources: a row and a
# handler make a control that help screen, key bar, manual and scripts know. Above 10 s: it compiles
# all files that know of controls.
. "${SRCDIR:-.}/tests/support/tap.sh"
build=$(cd "${BUILDDIR:-.}" && pwd)
cd "${SRCDIR:-.}" || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cp -rp src "$folder/src"
chmod -R u+w "$folder/src"
for unchanged in kernels assets; do
    ln -s "$PWD/$unchanged" "$folder/$unchanged"
done

# 1. The row: in front of `quit`, with a place on the key bar. A control that has its key gets F13.
key='~'
sed "s/'$key'/F(13)/" src/state/controls.inc | awk -v key="$key" '/^CONTROL\(QUIT,/ {
    print "CONTROL(TOY, \"toy\", NUMBER(0, 9, 1), BAR(13, \"toy\", \047" key "\047), 0, PROGRAM,"
    print "        \"a toy of the tests\", \"plaything\", BY(control_toy, \"%d toys\", state->frames > 0))"
} { print }' >"$folder/src/state/controls.inc"
# 2. The handler and its value.
cat >>"$folder/src/state/control_program.c" <<'HANDLER'

unsigned control_toy(State *state, const Command *command) {
    SAY(state, command->action, command->step ? "the toy was pressed" : "the toy heard %s",
        command->argument);
    return STEP_REDRAW;
}
HANDLER
changed=$(diff -rq src "$folder/src" | wc -l)
tap_run "a control touches two files ($changed)" [ "$changed" = 2 ]

# The files that know of controls, as the build has noted, are compiled again, and linked before the
# libraries of the build. A compiler cache saves most of it the next time.
cd "$folder" || exit 1
for library in state learn live app bev figure panel term window ui cli; do
    for object in $(ar t "$build/lib$library.a"); do
        for of in src/$library src/view/$library; do
            noted=$build/$of/.deps/${object%.o}.Po
            [ -e "$of/${object%.o}.c" ] && { [ ! -s "$noted" ] || grep -q controls.inc "$noted"; } &&
                echo "$of/${object%.o}.c"
        done
    done
done >sources
echo src/main.c >>sources
echo "$(command -v ccache) $(tap_make CC CAIRO_CFLAGS JANSSON_CFLAGS LIBZIP_CFLAGS NCURSES_CFLAGS SDL_CFLAGS X11_CFLAGS |
    tr '\n' ' ') -std=gnu11 -O0 -w -D_GNU_SOURCE -I. -I$build -c \"\$1\" -o \"\$(echo \"\$1\" | tr / _).o\"" >compile
xargs -P 2 -n 1 sh compile <sources 2>log
tap_ok $? 'the sources compile'
sed 's/^/# /' log | head -20
objects=$(echo "$folder"/src_*.o)
(cd "$build" && eval "$(tap_make CC SANITIZE_FLAGS OPENMP_CFLAGS | tr '\n' ' ') -o '$folder/toy' $objects \
    $(tap_make program_libs)") 2>log
tap_ok $? 'and link with the other libraries'
sed 's/^/# /' log | head -20

printf 'toy 7\nsize 240 64\ntick 0\nhelp on\ntick 0\nhelp off\nkey %s\ntick 0\n' "$key" >toy.keys
./toy live toy --script toy.keys --frames frames >out 2>&1
tap_ok $? 'scripts know its word and its key'
sed 's/^/# /' out
tap_has 'its handler speaks in the log' frames/frame-0001.txt 'the toy heard 7'
tap_has 'and when its key is pressed' frames/frame-0003.txt 'the toy was pressed'
grep -q "$key  *toy  *[0-9]* toys  *a toy of the tests" frames/frame-0002.txt
tap_ok $? 'the help screen has its key, word, value and text'
tap_has 'the key bar has it' frames/frame-0001.txt " $key  toy "
./toy --man | grep -A 1 "^.fB$key.*toy\$" | grep -q 'a toy of the tests'
tap_ok $? 'so has the manual'
key=$(./toy live --help | tr -s '\n ' ' ' | grep -o "'.' lists them" | cut -c 2)
[ -n "$key" ] && ./toy --man | grep -qF "fB$key F1\\fR \\(em help"
tap_ok $? "the key that bevscope live --help names ($key) is that of the help screen"
tap_done
