#!/bin/sh
# bevscope learn: the list, plain text, scripts, Markdown, progress, and files that are wrong.
. "${SRCDIR:-.}/tests/support/tap.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_STATE_HOME=$folder/state
export XDG_STATE_HOME
progress=$folder/state/bevscope/progress

cat >"$folder/trial.lesson" <<'LESSON'
title Trial
scene toy
say Twelve points.
ask How many points?
number 1 100 points
expect points within 0
why They are counted: {points}.
source kernels/cuda/v2.cu "for (int t = start" 2
animate temperature 1 4 3 0.1
ask Which is larger?
choose points if points > intervals
choose intervals if points <= intervals
LESSON

"$BEVSCOPE" learn >"$folder/out" 2>"$folder/err"
tap_ok $? 'the course is listed'
grep -qE '^01-from-pixel-to-cell +[0-9]+ min +new +From pixel to cell$' "$folder/out" &&
    grep -q '^Next: bevscope learn 01-from-pixel-to-cell$' "$folder/out"
tap_ok $? 'with its lessons, and the one to begin with'

# ---- plain text --------------------------------------------------------------------------------

plain() { # ANSWERS ARGUMENTS...
    answers=$1
    shift
    printf "$answers" | "$BEVSCOPE" learn "$folder/trial.lesson" "$@" >"$folder/out" 2>"$folder/err"
}
plain '12\n\n\n1\n\n'
tap_ok $? 'a lesson without a terminal'
grep -q 'Right: 12 points' "$folder/out" && grep -q 'for (int t = start; t < end; t++)' "$folder/out" &&
    grep -q '2 of 2 predictions were right' "$folder/out" && grep -q '^> 1  points$' "$folder/out"
tap_ok $? 'asks, judges, shows what was chosen, the source, counts'
grep -qx 'trial 0 3 3 2 2 1' "$progress"
tap_ok $? 'progress is kept'
plain '101\nkernel v2_do\nnonsense\n13\n\n'
grep -q 'A number from 1 to 100 points, please' "$folder/out" &&
    grep -q 'no control is called "nonsense"' "$folder/out" && grep -q 'Not yet: it is 12' "$folder/out"
tap_ok $? 'slips end nothing, controls work, wrong is wrong'
plain ''
grep -q -- '-- Trial, 3 of 3, 0 of 1 right' "$folder/out"
tap_ok $? 'a lesson goes on where it was left'
plain '' --again
grep -q -- '-- Trial, 1 of 3$' "$folder/out"
tap_ok $? 'or anew'

printf 'trial 1 3\n\001\377 nonsense\ntrial 1 3 1 1 1 0\n' >"$progress"
"$BEVSCOPE" learn >"$folder/out" && grep -q '2 damaged lines were left out' "$folder/out" &&
    plain '' && grep -q -- '-- Trial, 3 of 3, 1 of 1 right' "$folder/out"
tap_ok $? 'damaged lines of progress are left out, the others stay'
head -c 100000 /dev/zero >"$progress"
"$BEVSCOPE" learn >"$folder/out" && grep -q 'progress: ' "$folder/out"
tap_ok $? 'a file that is no progress at all is told, and nothing lost'
rm -r "$folder/state" && : >"$folder/state"
plain '12\n' && grep -q 'Right: 12' "$folder/out" && grep -q 'cannot be made' "$folder/out"
tap_ok $? 'where progress cannot be kept, the lesson goes on'
rm "$folder/state"

# ---- scripts -----------------------------------------------------------------------------------

cat >"$folder/right.keys" <<'KEYS'
tick 0
answer 12
tick 0
next
tick 0 3
key Down
key Enter
tick 0
back
tick 0
skip
tick 0
KEYS
for run in a b; do
    OMP_NUM_THREADS=$([ $run = a ] && echo 1 || echo 2) "$BEVSCOPE" learn "$folder/trial.lesson" \
        --script "$folder/right.keys" --frames "$folder/$run" --size 80x24 --color never --ascii \
        >"$folder/out" 2>"$folder/err" || break
done
[ "$(ls "$folder/a" | wc -l)" = 16 ] && diff -r "$folder/a" "$folder/b" >"$folder/out"
tap_ok $? 'a lesson in a script: the same bytes twice'
sed 's/^/# /' "$folder/err" "$folder/out" | head
! LC_ALL=C grep -q '[^ -~]' "$folder"/a/*.txt && grep -q 'Right: 12 points' "$folder/a/frame-0002.txt" &&
    grep -q 'Right: points' "$folder/a/frame-0006.txt" &&
    grep -q 'The end of this lesson. 2 of 2' "$folder/a/frame-0008.txt"
tap_ok $? 'in ASCII, with answers by words and by keys'
[ "$(cksum <"$folder/a/frame-0003.png")" != "$(cksum <"$folder/a/frame-0005.png")" ]
tap_ok $? 'an animation moves, a frame a tick'
[ ! -e "$progress" ]
tap_ok $? 'a script keeps no progress'
printf 'lesson 1\ntick 0\nnext\nlesson off\ntick 0\nanswer 1\n' >"$folder/open.keys"
"$BEVSCOPE" toy --script "$folder/open.keys" --frames "$folder/c" >"$folder/out" 2>"$folder/err"
[ $? = 1 ] && grep -q 'open.keys:6: answer: no lesson is open' "$folder/err" &&
    grep -q 'From pixel to cell' "$folder/c/frame-0001.txt" &&
    ! grep -q 'From pixel to cell' "$folder/c/frame-0002.txt"
tap_ok $? 'the live display opens and closes lessons, too'

printf 'gpu h200\nkernel v2_do\nexplain\ntick 0\nlesson off\nexplain 5\n' >"$folder/explain.keys"
"$BEVSCOPE" canonical --script "$folder/explain.keys" --frames "$folder/d" >"$folder/out" 2>"$folder/err"
[ $? = 1 ] && grep -q 'there is no finding 5' "$folder/err" &&
    grep -q 'Depth outer' "$folder/d/frame-0001.txt"
tap_ok $? 'a finding leads to its lesson'

# ---- Markdown ----------------------------------------------------------------------------------

"$BEVSCOPE" learn "$folder/trial.lesson" --export "$folder/trial.md" >"$folder/out" 2>"$folder/err"
tap_ok $? 'a lesson as Markdown'
grep -q '^# Trial$' "$folder/trial.md" && grep -q '^12 points$' "$folder/trial.md" &&
    grep -q '^```c$' "$folder/trial.md" && grep -q '(trial-01.png)' "$folder/trial.md" &&
    [ -s "$folder/trial-01.png" ]
tap_ok $? 'with title, answers, source and pictures'

# ---- what is wrong -----------------------------------------------------------------------------

# refused STATUS PATTERN LESSON: one line on standard error, nothing else.
refused() {
    "$BEVSCOPE" learn "$3" --plain </dev/null >"$folder/out" 2>"$folder/err"
    status=$?
    [ $status = "$1" ] && [ "$(wc -l <"$folder/err")" = 1 ] && grep -q "$2" "$folder/err"
    tap_ok $? "refused: $2"
    [ $status = "$1" ] || sed "s/^/# $status: /" "$folder/err"
}
printf 'title x\nsay y\npiont at kernels\n' >"$folder/bad.lesson"
refused 1 'bad.lesson:3: .*did you mean point' "$folder/bad.lesson"
head -c 5000 "$BEVSCOPE" >"$folder/binary.lesson"
refused 1 'binary.lesson:[0-9]*: a byte' "$folder/binary.lesson"
head -c 200000 /dev/zero | tr '\0' 'x' >"$folder/huge.lesson"
refused 1 'huge.lesson: ' "$folder/huge.lesson"
printf 'title x\nask q\nchoose a if true\nchoose b\nsource kernels/cuda/v2.cu "no such text" 3\n' \
    >"$folder/source.lesson"
refused 1 'source.lesson:5: no line of kernels/cuda/v2.cu' "$folder/source.lesson"
printf 'title x\nsource kernels/none.cu "x" 3\n' >"$folder/none.lesson"
refused 1 'none.lesson:2: there is no source' "$folder/none.lesson"
refused 2 'no such lesson (did you mean 01-from' from-pixel-to-sell
refused 1 "$folder" "$folder/"
tap_done
