#!/bin/sh
# SPDX-License-Identifier: MIT
# bevscope learn: the list, plain text, scripts, progress, and files that are wrong.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
XDG_STATE_HOME=$folder/state
export XDG_STATE_HOME
progress=$folder/state/bevscope/progress

cat >trial.lesson <<'LESSON'
title Trial
scene toy
say Twelve points.
ask How many points?
number 1 100 points
expect points within 0
why They are counted: {points}.
source kernels/cuda/v2_bevdet.cu "for (int t = start" 2
animate temperature 1 4 3 0.1
ask Which is larger?
choose points if points > intervals
choose intervals if points <= intervals
LESSON

"$BEVSCOPE" learn >out 2>err
tap_ok $? 'the course is listed'
grep -qE '^01-from-pixel-to-cell +[0-9]+ min +new +From pixel to cell$' out &&
    grep -q '^Next: bevscope learn 01-from-pixel-to-cell$' out
tap_ok $? 'with its lessons, and the one to begin with'

# ---- plain text --------------------------------------------------------------------------------

plain() { # ANSWERS ARGUMENTS...
    answers=$1
    shift
    printf "$answers" | "$BEVSCOPE" learn trial.lesson "$@" >out 2>err
}
plain '12\n\n\n1\n'
tap_ok $? 'a lesson without a terminal'
tap_has 'asks, judges, shows what was chosen, the source, counts' out 'Right: 12 points' \
    'for \(int t = start; t < end; t\+\+\)' '-- Trial, 3 of 3, 2 of 2 right' '^> 1  points$'
tap_run 'progress is kept, and who answered the last question is done' grep -qx 'trial 0 3 3 2 2 1' "$progress"
plain '101\nkernel v2_do\nnonsense\n13\n\n'
tap_has 'slips end nothing, controls work, wrong is wrong' out \
    'A number from 1 to 100 points, please' 'no control is called "nonsense"' 'No. The answer: 12'
plain ''
tap_has 'a lesson goes on where it was left' out '-- Trial, 3 of 3, 0 of 1 right'
plain '' --again
tap_has 'or anew' out '-- Trial, 1 of 3$'

printf 'trial 1 3\n\001\377 nonsense\ntrial 1 3 1 1 1 0\n' >"$progress"
plain '' && grep -q -- '-- Trial, 3 of 3, 1 of 1 right' out
tap_ok $? 'damaged lines of progress are left out, the others stay'
rm -r state && : >state
plain '12\n' && grep -q 'Right: 12' out && grep -q 'cannot be made' out
tap_ok $? 'where progress cannot be kept, the lesson goes on'
rm state

printf '18\n\n3\n\n2\n\n' | "$BEVSCOPE" learn 1 --plain >out 2>err
tap_has 'the first lesson draws its subject and sorts its table' out \
    'bin 2, 6 m oo[.] . . . . . . . oo' 'bin 1, 4 m [.] [.].2 \*\*[.].0' \
    'cell +1  1  3  3  6  6  7  7  9  9 13 13$'
printf 'title Once\nscene toy\nsay {model_us(v4)} and {model_us(v3_large_l2)}.\n' >once.lesson
"$BEVSCOPE" learn once.lesson --plain >out 2>err </dev/null
tap_run 'a source is named once a text' grep -qE '^[0-9.]+ [^ ]+ and [0-9.]+ [^ ]+ \(model\)[.]$' out
rm -rf state

# ---- scripts -----------------------------------------------------------------------------------

tap_keys right.keys 'tick 0; answer 12; tick 0; next; tick 0 3; key Down; key Enter; tick 0; back;
    tick 0; skip; tick 0'
for run in a b; do
    OMP_NUM_THREADS=$([ $run = a ] && echo 1 || echo 2) "$BEVSCOPE" learn trial.lesson \
        --script right.keys --frames "$run" --size 80x24 --color never --ascii \
        >out 2>err || break
done
[ "$(ls a | wc -l)" = 16 ] && diff -r a b >out
tap_ok $? 'a lesson in a script: the same bytes twice'
sed 's/^/# /' err out | head
! LC_ALL=C grep -q '[^ -~]' a/*.txt && grep -q 'Right: 12 points' a/frame-0002.txt &&
    grep -q 'Right: points' a/frame-0006.txt &&
    grep -q 'The end of this lesson. 2 of 2' a/frame-0008.txt
tap_ok $? 'in ASCII, with answers by words and by keys'
[ "$(cksum <a/frame-0003.png)" != "$(cksum <a/frame-0005.png)" ]
tap_ok $? 'an animation moves, a frame a tick'
tap_run 'a script keeps no progress' [ ! -e "$progress" ]
printf 'lesson 1\ntick 0\nnext\nlesson off\ntick 0\nanswer 1\n' >open.keys
"$BEVSCOPE" toy --script open.keys --frames c >out 2>err
[ $? = 1 ] && grep -q 'open.keys:6: answer: no lesson is open' err &&
    grep -q 'From pixel to cell' c/frame-0001.txt &&
    ! grep -q 'From pixel to cell' c/frame-0002.txt
tap_ok $? 'the live display opens and closes lessons, too'

printf 'gpu h200\nkernel v2_do\nexplain\ntick 0\nlesson off\nexplain 10\n' >explain.keys
"$BEVSCOPE" toy --script explain.keys --frames d >out 2>err
[ $? = 1 ] && grep -q 'there is no finding 10' err &&
    grep -q 'Measuring honestly' d/frame-0001.txt
tap_ok $? 'a finding leads to its lesson'

# Every page that a finding names is there.
lost=
for page in $(grep -ohE '"[a-z-]+:[a-z0-9]+"' "$SRCDIR"/src/cachesim/findings.c | tr -d '"'); do
    grep -q "^mark  *${page#*:}\$" "$SRCDIR"/samples/lessons/*-"${page%:*}".lesson || lost="$lost $page"
done
[ -z "$lost" ]
tap_ok $? "findings lead to pages that are there$lost"
printf 'title Two\nscene toy\nsay The first.\nmark second\nsay The second.\n' >two.lesson
"$BEVSCOPE" learn two.lesson:second --plain >out 2>err </dev/null
tap_has 'a mark opens its page' out '-- Two, 2 of 2$' '^The second.$'
tap_expect 2 'no page of this lesson is called "third"' learn two.lesson:third --plain </dev/null

# ---- Markdown ----------------------------------------------------------------------------------

"$BEVSCOPE" learn trial.lesson --export trial.md >out 2>err
tap_ok $? 'a lesson as Markdown'
grep -q '^# Trial$' trial.md && grep -q '^12 points$' trial.md &&
    grep -q '^```c$' trial.md && grep -q '(trial-01.png)' trial.md &&
    [ -s trial-01.png ]
tap_ok $? 'with title, answers, source and pictures'

# ---- the quiz ----------------------------------------------------------------------------------

# A course of two lessons with eight questions each: 2 is right.
data=$folder/data
mkdir -p "$data/samples/lessons" && ln -s "$SRCDIR/kernels" "$SRCDIR/assets" "$data"
for of in "$SRCDIR"/samples/*; do
    [ "${of##*/}" = lessons ] || ln -s "$of" "$data/samples"
done
for topic in 01-counting 02-weighing; do
    printf 'title About %s\nscene toy\n' "${topic#0?-}"
    for i in 1 2 3 4 5 6 7 8; do
        printf 'ask Question %d?\nchoose no\nchoose yes if points = 12 and model_us(v3_large_l2) > 0\nagain channels 8\n' $i
    done
done >both
head -34 both >"$data/samples/lessons/01-counting.lesson"
tail -34 both >"$data/samples/lessons/02-weighing.lesson"
missed=$folder/state/bevscope/missed
quiz() { # ANSWERS ARGUMENTS...
    answers=$1
    shift
    printf "$answers" | BEVSCOPE_DATA=$data "$BEVSCOPE" learn --quiz "$@" >out 2>err
}
ten() { # ANSWER: to all ten questions
    printf "$1\\\\n\\\\n%.0s" 1 2 3 4 5 6 7 8 9 10
}
quiz "$(ten 1)" --seed 7 && grep -q '^0 of 10 right. By topic:' out
tap_ok $? 'a quiz without a terminal: ten questions, all wrong'
[ "$(sort -u "$missed" | wc -l)" = 10 ] && grep -q '0 of [0-9]*  About counting: bevscope learn 1' out
tap_ok $? 'what was missed is remembered, the lesson is named'
! grep -q 'Now with' out && [ ! -e "$progress" ]
tap_ok $? 'nothing is asked again, the progress of the lessons stays'
first=$(grep '^-- Quiz\|^Question' out)
rm "$missed"
quiz "$(ten 1)" --seed 7
tap_run 'the same seed draws the same questions' [ "$(grep '^-- Quiz\|^Question' out)" = "$first" ]
cp "$missed" before
quiz "$(ten 2)" --seed 8
[ "$(wc -l <"$missed")" -lt 10 ] && [ "$(wc -l <"$missed")" -ge 4 ]
tap_ok $? 'half of a quiz at most was missed before, a right answer forgets it'
sed 's/^/# /' "$missed"
quiz 'skip\nback\nnonsense\n1\n'
grep -q '2 of 10, 0 of 1 right' out && grep -q 'A quiz does not go back' out
tap_ok $? 'a question left out counts, and nobody goes back'

tap_keys quiz.keys 'lesson quiz; tick 0; key 2; key Enter; tick 0; next; tick 0'
BEVSCOPE_DATA=$data "$BEVSCOPE" toy --script quiz.keys --frames q --size 80x24 --ascii >out 2>err &&
    grep -q ' 1 of 10' q/frame-0001.txt && grep -q '1 of 10, 1 of 1 right' q/frame-0002.txt &&
    grep -q '2 of 10, 1 of 1 right' q/frame-0003.txt
tap_ok $? 'the live display opens it, too'

# ---- what is wrong -----------------------------------------------------------------------------

printf 'title x\nask q\nchoose a if true\nchoose b\nsource kernels/cuda/v2_bevdet.cu "no such text" 3\n' \
    >source.lesson
tap_expect 1 'source.lesson:5: no line of kernels/cuda/v2_bevdet.cu' learn source.lesson --plain </dev/null
tap_expect 2 'no such lesson \(did you mean 01-from' learn from-pixel-to-sell --plain </dev/null
tap_expect 1 "$folder" learn "$folder/" --plain </dev/null
tap_done
