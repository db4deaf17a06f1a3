#!/bin/sh
# bevscope learn: the list, plain text, scripts, Markdown, progress, and files that are wrong.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
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

printf 'gpu h200\nkernel v2_do\nexplain\ntick 0\nlesson off\nexplain 10\n' >"$folder/explain.keys"
"$BEVSCOPE" toy --script "$folder/explain.keys" --frames "$folder/d" >"$folder/out" 2>"$folder/err"
[ $? = 1 ] && grep -q 'there is no finding 10' "$folder/err" &&
    grep -q 'Measuring honestly' "$folder/d/frame-0001.txt"
tap_ok $? 'a finding leads to its lesson'

# ---- Markdown ----------------------------------------------------------------------------------

"$BEVSCOPE" learn "$folder/trial.lesson" --export "$folder/trial.md" >"$folder/out" 2>"$folder/err"
tap_ok $? 'a lesson as Markdown'
grep -q '^# Trial$' "$folder/trial.md" && grep -q '^12 points$' "$folder/trial.md" &&
    grep -q '^```c$' "$folder/trial.md" && grep -q '(trial-01.png)' "$folder/trial.md" &&
    [ -s "$folder/trial-01.png" ]
tap_ok $? 'with title, answers, source and pictures'

# ---- the quiz ----------------------------------------------------------------------------------

# A course of two lessons with eight questions each: 2 is right. Each sets a control that opens a page
# elsewhere.
data=$folder/data
mkdir -p "$data/samples/lessons" && ln -s "$SRCDIR/kernels" "$SRCDIR/assets" "$data"
for of in "$SRCDIR"/samples/*; do
    [ "${of##*/}" = lessons ] || ln -s "$of" "$data/samples"
done
for topic in 01-counting 02-weighing; do
    printf 'title About %s\nscene toy\n' "${topic#0?-}"
    for i in 1 2 3 4 5 6 7 8; do
        printf 'slow A\nask Question %d?\nchoose no\nchoose yes if points = 12 and model_us(v3_large_l2) > 0\nagain channels 8\n' $i
    done
done >"$folder/both"
head -42 "$folder/both" >"$data/samples/lessons/01-counting.lesson"
tail -42 "$folder/both" >"$data/samples/lessons/02-weighing.lesson"
missed=$folder/state/bevscope/missed
quiz() { # ANSWERS ARGUMENTS...
    answers=$1
    shift
    printf "$answers" | BEVSCOPE_DATA=$data "$BEVSCOPE" quiz "$@" >"$folder/out" 2>"$folder/err"
}
ten() { # ANSWER: to all ten questions
    printf "$1\\\\n\\\\n%.0s" 1 2 3 4 5 6 7 8 9 10
}
quiz "$(ten 1)" --seed 7 && grep -q '^0 of 10 right. By topic:' "$folder/out"
tap_ok $? 'a quiz without a terminal: ten questions, all wrong'
[ "$(sort -u "$missed" | wc -l)" = 10 ] && grep -q '0 of [0-9]*  About counting: bevscope learn 1' "$folder/out"
tap_ok $? 'what was missed is remembered, the lesson is named'
! grep -q 'Now with' "$folder/out" && [ ! -e "$progress" ]
tap_ok $? 'nothing is asked again, the progress of the lessons stays'
first=$(grep '^-- Quiz\|^Question' "$folder/out")
rm "$missed"
quiz "$(ten 1)" --seed 7
[ "$(grep '^-- Quiz\|^Question' "$folder/out")" = "$first" ]
tap_ok $? 'the same seed draws the same questions'
cp "$missed" "$folder/before"
quiz "$(ten 2)" --seed 8
[ "$(wc -l <"$missed")" -lt 10 ] && [ "$(wc -l <"$missed")" -ge 4 ]
tap_ok $? 'half of a quiz at most was missed before, a right answer forgets it'
sed 's/^/# /' "$missed"
quiz 'skip\nback\nnonsense\n1\n'
grep -q '2 of 10, 0 of 1 right' "$folder/out" && grep -q 'A quiz has no way back' "$folder/out"
tap_ok $? 'a question left out counts, and nobody goes back'

cat >"$folder/quiz.keys" <<'KEYS'
lesson quiz
tick 0
tick 100
key 2
key Enter
tick 500
next
tick 139
tick 10
key 2
key Enter
tick 0
KEYS
BEVSCOPE_DATA=$data "$BEVSCOPE" toy --script "$folder/quiz.keys" --frames "$folder/q" --size 80x24 \
    --ascii >"$folder/out" 2>"$folder/err" &&
    grep -q '1 of 10, 4:00' "$folder/q/frame-0001.txt" &&
    grep -q '1 of 10, 2:20' "$folder/q/frame-0002.txt" &&
    grep -q '1 of 10, .*2:20' "$folder/q/frame-0003.txt" &&
    grep -q '2 of 10, 1 of 1 right, 0:01' "$folder/q/frame-0004.txt" &&
    grep -q 'The four minutes are over. 1 of 10 right' "$folder/q/frame-0005.txt" &&
    grep -q 'The four minutes are over. 1 of 10 right' "$folder/q/frame-0006.txt"
tap_ok $? 'the clock runs while a question is open, and its end is the end'
sed 's/^/# /' "$folder/err"

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
