#!/bin/sh
# SPDX-License-Identifier: MIT
# The live display without a screen: same script, same bytes; the demo runs; bad scripts are refused.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder

tap_keys short.keys '# V2, then V3, in FP8; kernel v2; tick 0.5; kernel v3;
    dtype fp8   # a smaller working set; tick 0.5 2; key Up; snapshot; size 120 40; view points;
    tick 0'

run() { # FOLDER ARGUMENTS...
    frames=$1
    shift
    "$BEVSCOPE" live toy --script short.keys --frames "$frames" "$@" \
        >out 2>err
}

# play NAME WORDS SCENE ARGUMENTS...: a script of these words; its frames are in the folder NAME.
play() {
    name=$1
    printf '%b' "$2" >"$name.keys"
    shift 2
    "$BEVSCOPE" live "$@" --script "$name.keys" --frames "$name" >out 2>err
}

run a --size 80x24
tap_ok $? 'a script runs'
[ -s err ] && sed 's/^/# /' err
[ "$(ls a/frame-*.txt | wc -l)" = 4 ] && [ "$(ls a/frame-*.png | wc -l)" = 4 ]
tap_ok $? 'a frame a tick, as text and as PNG'
OMP_NUM_THREADS=1 run b --size 80x24 && diff -r a b >out
tap_ok $? 'the same script gives the same bytes, with one thread as well'
[ "$(wc -l <a/frame-0003.txt)" = 24 ] && [ "$(wc -l <a/frame-0004.txt)" = 40 ]
tap_ok $? 'frames have the rows asked for'
play steps 'gpu h200\nkernel v4\nworkflow\ntick 0\nkernel v3\ntick 0\nworkflow off\ntick 0\n' toy --size 80x40 --ascii
steps=$folder/steps/frame-0001.txt
[ "$(grep -oE '^ (classify|remove|map|validate):' "$steps" | tr -d ' \n')" = \
    classify:remove:map:validate: ] && grep -q 'ncu .*--nvtx-include v4.toy.fp16' "$steps" &&
    grep -q 'Four steps: V3' steps/frame-0002.txt &&
    grep -q 'nvtx-include v3.toy' steps/frame-0002.txt
tap_ok $? 'workflow shows the four steps of the selection on a page of its own'
tap_has 'and closes' steps/frame-0003.txt 'V3 FP16' '!Four steps'
printf 'workflow\n' | "$BEVSCOPE" toy --plain --device cpu >out 2>err
tap_has 'in plain lines as lines that can be copied' out '^-- Four steps: V4 FP16 nearest$' \
    '^  ncu .*lts__t_sectors_lookup_miss.sum.* bevscope bench toy --kernel v4 '
tap_has 'words select, ticks move the world' a/frame-0002.txt 'bevscope  V3 FP8 nearest  toy' \
    @a/frame-0003.txt 't 1.50 s'
grep -qE 'FP8: arrays 900 to 546 B, max error 0\.[0-9]+ \(FP16\) to 0\.[0-9]+ at t 0' a/frame-0002.txt
tap_ok $? 'the log says what a control changed, at the one moment of all errors'
[ -s a/frame-0001.txt ] && ! grep -q '[^t] measured, \|[0-9] fps' a/*.txt
tap_ok $? 'no timing was measured'
# What a CPU took on canonical stands for toy.
mkdir -p data/samples/recorded && cp "$SRCDIR"/samples/*.json data/samples/ &&
    sed 's/"scene": "canonical"/"scene": "toy"/; s/"channels": 80/"channels": 16/' \
        "$SRCDIR/samples/recorded/cpu.json" >data/samples/recorded/cpu.json
BEVSCOPE_DATA=$folder/data play e 'all on\nkernel v2\ntick 0\n' toy --size 200x60
grep -q ' V3  *[0-9.]* .s  *r .* [0-9.]* .s  *[0-9.]* .s  *[0-9]' e/frame-0001.txt
tap_ok $? 'recorded figures have their percentiles and GB/s'
[ "$(head -c 4 a/toy-cpu_v3-fp8-nearest-t001.50-001.png | tail -c 3)" = PNG ]
tap_ok $? 'the snapshot is there, under its name'
run c --size 80x24 --ascii --color never && ! LC_ALL=C grep -q '[^ -~]' c/*.txt
tap_ok $? 'in ASCII when asked for'
"$BEVSCOPE" live toy --script - --frames d --dtype fp32 <short.keys \
    >out 2>&1 && grep -q 'V2 FP32 nearest' d/frame-0001.txt &&
    [ "$(wc -l <d/frame-0001.txt)" = 40 ]
tap_ok $? 'from standard input, on 120x40, beginning as the options say'

# What needs a new picture, but no other job: the errors are there, also while the world stands still.
play errors 'play off\nerror on\ntick 0\n' toy --size 120x40
tap_has 'errors against FP64 are shown while paused' errors/frame-0001.txt 'BEV, error' \
    '!no FP64 reference'

# A map of a file has the aligns that it was made with: another scene's are left, aloud.
play aligns 'align bev-align\nbaseline on\ncompare wipe\ntick 1\nscene histogram\ntick 1\n' toy --size 120x40
tap_ok $? 'a scene without the align of the selection and of the pinned baseline is shown'
sed 's/^/# /' err
tap_has 'with one that it has, and a line says so' aligns/frame-0001.txt 'FP16 bev-align' \
    @aligns/frame-0002.txt 'FP16 nearest  histogram' 'this scene has no BEV Align as published: Nearest'

# The memory model, simulated within the script: the same curve with one thread and with two.
for threads in 1 2; do
    export OMP_NUM_THREADS=$threads
    play model$threads 'kernel v2\nchart mrc\ngpu h200\nl2 2\ntick 0.5\nsnapshot\nchart dtype\ntick 0\n' toy --size 120x40
done
unset OMP_NUM_THREADS
diff -r model1 model2 >out &&
    grep -q 'DRAM moves .* for V2' model1/frame-0001.txt
tap_ok $? 'charts of the memory model are the same bytes, too'
tap_has 'they say whose prediction they are, and that it is a model' model1/frame-0001.txt \
    'V2 on H200 with 2 MiB of L2: [0-9.]+ ' 'model of the CUDA kernel' @model1/frame-0002.txt \
    'INT8 .* [0-9.]+ [^ ]+s, (limited by|issue-bound|latency-bound)'

# A world with the rig of canonical: what was recorded of that map, and published of V3's own form.
play recorded 'tick 0\ngpu h200\ntick 0\n' boulevard --size 160x50
tap_has 'figures of a GPU that were recorded on this map take the place of the model' \
    recorded/frame-0002.txt 'recorded on NVIDIA H200' 'V2 .* 228 ' 'V4 .* 5\.04 ' \
    '!not measured, model' @recorded/frame-0001.txt 'model of RTX A6000' \
    'published for the article.s own map: V2 1,738 .s' '!90\.0'

# refused SCRIPT STATUS PATTERN ARGUMENTS...: nothing but one line on standard error.
refused() {
    printf '%b' "$1" >bad.keys
    status=$2 pattern=$3
    shift 3
    "$BEVSCOPE" live toy --script bad.keys --frames bad "$@" \
        >out 2>err
    got=$?
    [ $got = "$status" ] && grep -q -e "$pattern" err &&
        [ "$(wc -l <err)" = 1 ] && [ ! -s out ]
    ok=$?
    [ $ok = 0 ] || { echo "# exit $got:"; sed 's/^/# /' err; }
    tap_ok $ok "exit $status: $pattern"
}
refused 'tick\ndtpye fp8\n' 1 'bad.keys:2: .*did you mean dtype'
refused 'dtype fp8\n' 1 'no tick in it'
refused 'tick\n' 1 'cannot be made' --frames no/such/folder

# The demo's words are all known. hard/test_script.sh plays it at its own pace.
sed 's/^tick .*/tick 0/; /^config/d' "${SRCDIR:-.}/samples/demo.keys" >demo.keys
"$BEVSCOPE" live toy --script demo.keys --frames demo --size 80x24 \
    >out 2>err
tap_ok $? 'the demo runs to its end'
tap_run 'a frame a tick' [ "$(ls demo/frame-*.txt | wc -l)" = "$(grep -c '^tick' demo.keys)" ]
tap_run 'and it leaves its snapshots behind' [ "$(ls demo | grep -vc '^frame')" -ge 8 ]
tap_done
