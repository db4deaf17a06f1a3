#!/bin/sh
# SPDX-License-Identifier: MIT
# The command line as users and scripts meet it: exit status, one-line errors, formats.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder

tap_expect 0 '' --help
tap_expect 0 '' --version
tap_expect 0 '' --list
cp out list
"$BEVSCOPE" --man >manual
"$BEVSCOPE" export toy arrays.npz --device cpu >/dev/null
missing=
names=$(LC_ALL=C grep -ao '[a-z0-9_]*\.npy' arrays.npz | sed 's/\.npy$//' | sort -u)
for name in $names; do
    grep -q "^  $name  *(" list && grep -q "^.fB$name.fR (" manual ||
        missing="$missing $name"
done
[ -n "$names" ] && [ -z "$missing" ]
tap_ok $? "--list and the manual have every array that export writes:$missing"
tap_expect 0 '' --man
for command in snapshot verify bench info export; do
    tap_expect 0 '' $command --help
done
# Each line of the script is refused with this status and one line on standard error; the golden file has the
# status, what is named, and the word that is proposed, but no sentence.
while read -r arguments; do
    echo "$arguments"
    case $arguments in '' | '#'*) continue ;; esac
    # shellcheck disable=SC2086
    "$BEVSCOPE" $arguments >out 2>err </dev/null || echo "    exit $?, $(wc -l <err) line: $(sed -E \
        's/^bevscope: ([^:]*): .*/\1/' err) $(grep -oE 'did you mean [^ ?)]*' err)"
done <"$SRCDIR/tests/cli/scripts/refused.words" | sed 's/ *$//' >refused
golden=$SRCDIR/tests/golden/cli-refused.txt
[ -z "$BEVSCOPE_UPDATE_GOLDEN" ] || cp refused "$golden"
tap_run 'what is refused, and what the line names' diff "$golden" refused
[ -z "$BEVSCOPE_UPDATE_GOLDEN" ] || tap_done
tap_expect 4 'cuda|CUDA|driver|device' info --device 7
tap_none 'nothing is written then' "$(ls x.* 2>/dev/null)"
tap_expect 0 '' snapshot toy --device cpu --kernel v4 -o "$folder/v4.png"

tap_expect 0 '' info histogram --skew 2 --device cpu
tap_has 'info says what an operator scene is' out '^operator  *Histogram.*1,024 bins, skew 2$'
tap_expect 0 '' info toy --device cpu
tap_has 'and nothing of it where there are cameras' out '!^operator'
tap_expect 0 '' verify toy --format json --device cpu
tap_run 'verify --format json: every gate passes' python3 - out "$SRCDIR" <<'PY'
import json, re, sys
report = json.load(open(sys.argv[1]))
rows = report["results"]
told = open(sys.argv[2] + "/src/accuracy/README.md").read().split("**B, format.**")[1].split("**C")[0]
told = {name: float(limit) for name, limit in re.findall(r"`(\w+)` ([0-9.]+e-[0-9])", told)}
assert told == {row["dtype"]: row["rel_l2_limit"] for row in rows}, told
assert all(row["rel_l2"] <= row["rel_l2_limit"] for row in rows)
assert report["failed"] == 0 and report["passed"] == len(rows) - report["skipped"] > 0, report
for row in rows:
    assert row["gate_a"] == row["gate_b"] == row["gate_c"] == "pass", row
PY

# A kernel that is wrong on purpose is judged where it is named, and not among all.
tap_expect 3 '' verify toy -k cpu_v2,cpu_race -d fp16 -a nearest --device cpu
tap_has 'verify: a kernel that is wrong on purpose fails all gates, as expected' out \
    '^toy *cpu_race .* fail *fail *fail .* to fail' '^toy *cpu_v2 .* pass *pass *pass .* to pass' \
    @err '^1 passed, 1 failed, 0 skipped' '1 of 2 selections fail a gate, 1 as expected'
grep -q "atol 1e-2 is NVIDIA's tolerance, an absolute bound" out
tap_ok $? 'verify: what atol 1e-2 is, and what gate B is'
tap_expect 0 '' verify toy -k all -d fp16 -a nearest --device cpu
tap_has 'verify: all kernels are those that must pass' out '!race|expected'

# Moments: a clip is judged whole, its worst moment is that moment alone, and the line is a gate.
mkdir clip
for time in 0 0.5 1; do
    "$BEVSCOPE" export highway "$folder/clip/$time.npz" -c 16 --time $time --bare >/dev/null
done
one="-k cpu_v4 -d fp8 -a nearest --device cpu --format json"
tap_expect 0 '' verify highway -c 16 --time 0.5 $one
cp out alone
tap_expect 0 '' verify clip $one
cp out whole
cp clip/0.npz clip/2.npz
tap_expect 0 '' verify clip --moments 2 $one
cp out spread
"$BEVSCOPE" export highway clip/3.npz -c 8 --bare >/dev/null
tap_expect 1 'clip/3.npz: another kind of moment than 0' verify clip $one
tap_expect 3 '' verify highway -c 16 --moments 3 --cosine 0.99999 $one
cp out line
tap_has 'verify --cosine says what is below the line' err 'cosine .* is below the line' \
    '3 of 3 moments of selections fail a gate or a line'
tap_expect 3 '' verify highway -c 16 --moments 3 --max-abs 0.7 $one
grep -q 'max abs 0.859653 is above the line 0.7' err &&
    grep -q '1 of 3 moments of selections fail a gate or a line' err &&
    [ "$(grep -c '"within_lines": false' out)" = 1 ]
tap_ok $? 'verify --max-abs says what is above the line, and the class'
tap_expect 0 '' verify highway -c 16 --moments 3 --max-abs 0.9 --cosine 0.99 $one
tap_run 'verify: all moments, the worst by rel L2 with its class; each as it is alone' \
    python3 - out alone whole line spread <<'PY'
import json, sys
toy, alone, clip, line, spread = (json.load(open(name)) for name in sys.argv[1:])
assert len(toy["results"]) == 1 and len(toy["moments"]) == 3 and len(clip["moments"]) == 3
worst, errors = toy["results"][0], [moment["max_abs"] for moment in toy["moments"]]
judged = [moment["rel_l2"] for moment in toy["moments"]]
shown = toy["moments"][judged.index(max(judged))]
assert errors[1] == alone["results"][0]["max_abs"] and len(set(judged)) > 1, errors
assert errors.index(max(errors)) != judged.index(max(judged)), "max abs is of another moment"
most = toy["moments"][errors.index(max(errors))]
for key in "time_s", "rel_l2", "cosine":
    assert worst[key] == shown[key], (worst, shown)
for key in "max_abs", "within_atol_1e2", "cell", "class":
    assert worst[key] == most[key], (worst, most)
assert worst["max_abs_at_s"] == most["time_s"] != worst["time_s"], worst
cell_x, cell_y = map(int, worst["cell"].split(","))
for key, cell in ("x_m", cell_x), ("y_m", cell_y):
    assert abs(worst[key] - (-54 + (cell + 0.5) * 0.54)) < 1e-6, worst
largest = max(toy["classes"], key=lambda row: row["max_abs"])
assert largest["max_abs"] == max(errors) and worst["class"], largest
assert largest["class"] == toy["moments"][errors.index(max(errors))]["class"], largest
assert clip["results"][0]["class"] is None and clip["results"][0]["moments"] == 3
assert [moment["max_abs"] for moment in clip["moments"]] == errors, clip["moments"]
assert [moment["max_abs"] for moment in spread["moments"]] == [errors[0], errors[2]], spread
assert line["failed"] == 3 and line["results"][0]["moments_failed"] == 3
PY

# An outlier: block scales of 16 channels lose their block, E4M3 stands; the plain rel L2 hides both.
tap_expect 0 '' verify toy -c 32 -k cpu_v4 -d fp8,nvfp4 -a nearest --device cpu --format json
cp out plain
tap_expect 0 '' verify toy -c 32 -k cpu_v4 -d fp8,nvfp4 -a nearest --device cpu --format json --outlier 1000
tap_run 'verify --outlier: E4M3 stands, a block of NVFP4 does not, and rel L2 does not say so' \
    python3 - plain out <<'PY'
import json, sys
plain, large = ({row["dtype"]: row for row in json.load(open(name))["results"]} for name in sys.argv[1:])
assert large["fp8"]["scene"] == "toy, outlier 1000"
assert large["fp8"]["channels_l2"] < 1.5 * plain["fp8"]["channels_l2"], large["fp8"]
assert large["nvfp4"]["channels_l2"] > 2 * plain["nvfp4"]["channels_l2"], large["nvfp4"]
assert large["nvfp4"]["rel_l2"] < plain["nvfp4"]["rel_l2"], large["nvfp4"]
PY

# All kernels in one format, one kernel in all.
tap_expect 0 '' bench toy --quick --format json --device cpu --dtype fp16 --cache warm
cp out kernels
tap_expect 0 '' bench toy --quick --format json --device cpu --dtype all --align nearest,bilinear -k cpu_v4 \
    --cache warm
tap_run 'bench --format json: percentiles in order, every selection there' python3 - kernels out <<'PY'
import json, sys
kernels, formats = (json.load(open(name)) for name in sys.argv[1:])
assert kernels["machine"]["threads"] >= 1
rows = kernels["results"]
assert {row["kernel"] for row in rows} >= {"reference", "cpu_v2", "cpu_v2_do", "cpu_v3", "cpu_v4"}
assert {row["cache"] for row in rows} == {"warm"}
rows = formats["results"]
assert {row["kernel"] for row in rows} == {"cpu_v4"} and len(rows) == 7 * 2
assert {row["align"] for row in rows} == {"nearest", "bilinear"}
assert len({row["dtype"] for row in rows}) == 7
for row in kernels["results"] + formats["results"]:
    assert row["p99_us"] >= row["p95_us"] >= row["median_us"] > 0, row
    assert row["points"] > 0 and row["intervals"] > 0 and row["channels"] > 0, row
    assert row["prepare_us"] >= 0 and row["baseline_us"] > 0, row
    certain = row["settled"] and row["baseline_settled"]
    assert row["speedup_over_v2"] > 0 if certain else row["speedup_over_v2"] is None, row
PY

# Against an earlier file: its latencies a millionth, or of any noise, or of another machine.
cat >older.py <<'PY'
import json, sys
for name, factor, noise, cpu, settled in (
        ("fast", 1e-6, 0, None, True), ("noisy", 1, 1e9, None, True), ("slow", 1e6, 0, None, True),
        ("other", 1, 0, "Z80", True), ("drifted", 1e-6, 0, None, False)):
    old = json.load(open(sys.argv[1]))
    old["machine"]["cpu"] = cpu or old["machine"]["cpu"]
    for row in old["results"]:
        row["median_us"], row["noise"], row["settled"] = row["median_us"] * factor, noise, settled
    json.dump(old, open(f"{sys.argv[2]}/{name}.json", "w"))
PY
python3 older.py kernels "$folder"
again="bench toy --quick --device cpu --dtype fp16 -k cpu_v3,cpu_v4 --cache warm"
"$BEVSCOPE" $again --against fast.json --fail 5% --png ratios.png --format json >out 2>err
status=$?
tap_run 'bench --against: a ratio of figures that settled, and the gate' python3 - $status out err <<'PY'
import json, sys
rows, said = json.load(open(sys.argv[2]))["results"], open(sys.argv[3]).read()
slower = sum(row["settled"] for row in rows) # other programs may run
for row in rows:
    told = row["against"], row["against_passed"], row["ratio"] is None
    assert told == (("slower", False, False) if row["settled"] else ("not settled", None, True)), row
assert len(rows) == 2 and sys.argv[1] == ("3" if slower else "0"), sys.argv
assert not slower or f"{slower} of {slower} rows are slower by more than 5% and noise, the worst toy" in said
PY
tap_expect 0 '2 of 2 rows did not settle, here or in the old file' $again \
    --against drifted.json --fail 5% --png ratios.png --format json
[ "$(grep -c '"against": "not settled"' out)" = 2 ] && ! grep -E '"ratio": [0-9]' out
tap_ok $? 'bench --against: nothing is said of figures that did not settle'
tap_expect 0 '' $again --against noisy.json --fail 5% --png ratios.svg
grep -q '<svg' ratios.svg && head -c 8 ratios.png | grep -q PNG
tap_ok $? 'bench --against: the figure is PNG, or SVG by its suffix'
tap_expect 0 '' $again --against slow.json --fail 0%
tap_expect 0 '' $again --against fast.json
tap_expect 2 'measured on Z80, but this is .* .figures of two machines' $again --against other.json
tap_expect 2 'no latency that bench measured' $again --against whole
tap_expect 2 'launches in a row .leave --single out' $again --against fast.json --single
tap_expect 2 'there is nothing to compare with .add --against' $again --fail 5%

for format in table markdown csv; do
    tap_expect 0 '' bench toy --quick --format $format --device cpu --dtype fp16 -k cpu_v3
    [ "$(grep cpu_v3 out | grep -oE 'warm|cold' | tr '\n' ' ')" = 'warm cold ' ]
    tap_ok $? "bench --format $format shows both cache states"
done

# The ladder of views: kernel by kernel, then fused, each beside the first.
"$BEVSCOPE" bench toy --quick --stage view --device cpu --cache warm -f csv >out &&
    [ "$(cut -d, -f2 out | sort -u | grep -c "cpu_view")" = 3 ]
tap_ok $? "bench --stage view times the ladder of the view"
"$BEVSCOPE" bench toy --quick --stage step -f csv >out && awk -F, 'NR > 1 { us[$6] = $7 }
    END { parts = us["map"] + us["forward"] + us["backward"]
          exit !(NR == 5 && us["map"] > 0 && parts > us["step"] / 2 && parts < us["step"] * 2) }' out
tap_ok $? "bench --stage step: map, forward and backward are the step"
tap_expect 0 '' bench --stage step --recorded
grep -q 'canonical *1 *moving *fp16 *graph *204.7' out
tap_ok $? 'bench --stage step --recorded shows the recorded steps'

tap_expect 0 '' bench --recorded canonical --dtype fp16 --align nearest
[ "$(grep -c 'v3_small_l2 .* warm' out)" = 2 ]
tap_ok $? 'bench --recorded shows what named machines measured'
tap_expect 0 '' bench --recorded histogram --skew 2 --dtype fp16
grep -q 'histogram, skew 2  *v4 ' out && ! grep -q 'histogram  ' out
tap_ok $? 'bench --recorded --skew shows that skew only'
tap_expect 0 '' bench --recorded histogram --skew 1 --dtype fp16
tap_has "bench --recorded: the scene's own skew is no other scene" out 'histogram  *v4 ' '!skew'
tap_expect 0 '' bench --recorded canonical --balance 1
tap_has 'bench --recorded --balance shows that balance only' out 'canonical, load balance 1  *v4 ' \
    '!canonical  ' '!balance 0.5'
tap_expect 0 '' regime canonical --balance 1 --gpu h200 -k v4 --format json
tap_has 'regime: what was recorded of the same map stands beside the model' out '"recorded_us": [0-9]'
tap_expect 0 '' regime canonical --channels 40 --gpu pro6000,h200 -k v2_do,v4 --format json
tap_has 'regime: with other channels nothing is recorded or published' out '"recorded_us": null' \
    '!"(recorded|published)_us": [0-9]'
tap_expect 0 '' info --probe --device cpu
grep -q 'L2 read .*GB/s' out && grep -q recorded out
tap_ok $? 'info --probe without a GPU: what was recorded, and it says so'

# Pictures: same scene, same options, same bytes; nothing but the picture is left behind.
for name in a.png b.png a.svg b.svg; do
    tap_expect 0 '' snapshot toy -o "$name" --device cpu
done
tap_run 'same options, same PNG' cmp a.png b.png
tap_run 'same options, same SVG' cmp a.svg b.svg
tap_run 'which a parser of XML reads' python3 -c 'import xml.dom.minidom as d; d.parse("a.svg")'
for name in c.png d.png c.svg d.svg; do
    tap_expect 0 '' snapshot toy --backward -o "$name" --device cpu
done
tap_has 'snapshot --backward says what it chose and found' out \
    '^pixels .* feed it; the brightest: front, column 2' 'chosen: the strongest features of all'
tap_run 'backward: same options, same PNG' cmp c.png d.png
tap_run 'backward: same options, same SVG' cmp c.svg d.svg
! cmp -s a.png c.png
tap_ok $? 'and another one than forward'
for kernel in cpu_grad_owner grad_reference; do
    tap_expect 0 '' snapshot toy --backward -k $kernel --timing measured -d fp32 -a bilinear \
        --loss class -o c.png --device cpu
    tap_has "--kernel names backward: $kernel" out "back by $kernel"
done
tap_expect 0 '' snapshot toy --compare bilinear,fp8 --view norm -o a.png --device cpu
tap_expect 0 '' snapshot toy --view error --dtype nvfp4 --theme dark -o a.png --device cpu
! cmp -s a.png b.png
tap_ok $? 'another view gives another picture'

# A scene exported to NumPy's format and read back gives the same picture.
tap_expect 0 '' export toy toy.npz
tap_expect 0 '' snapshot toy.npz --view norm --dtype fp32 --title same -o npz.png \
    --device cpu --timing off --no-outlines
tap_expect 0 '' snapshot toy --view norm --dtype fp32 --title same -o json.png \
    --device cpu --timing off --no-outlines
tap_expect 0 '' snapshot toy.npz --backward -o back.png --device cpu
tap_expect 2 'no objects' snapshot toy.npz --backward --loss box -o back.png \
    --device cpu

# Every failed write is reported.
if [ -w /dev/full ]; then
    for words in --list --help --man --version 'bench --help' 'info toy' info 'glossary' \
        'bench --recorded canonical' 'regime toy --gpu h200' 'toy --plain --device cpu'; do
        # shellcheck disable=SC2086
        echo help | "$BEVSCOPE" $words >/dev/full 2>said
        [ $? = 1 ] && [ "$(grep -c '^bevscope: standard output: ' said)" = 1 ]
        tap_ok $? "a full disk is not silent: $words" || sed 's/^/# /' said
    done
fi

# Closed standard files: nothing that is opened later takes their place, and output that goes
# nowhere is an error.
for closed in '<&-' '2>&-' '<&- 2>&-'; do
    eval "\"\$BEVSCOPE\" info toy $closed" >out
    [ $? = 0 ] && grep -q points out
    tap_ok $? "info toy $closed"
done
"$BEVSCOPE" --version >&- 2>/dev/null
[ $? = 1 ]
tap_ok $? 'closed standard output is an error'
# A list of kernels, by name or title; findings say what limits them.
"$BEVSCOPE" bench toy --quick --dtype fp16 --cache warm --device cpu \
    -k REF,cpu_v4 --format csv >out
[ "$(cut -d, -f2 out | tr '\n' ' ')" = 'kernel reference cpu_v4 ' ]
tap_ok $? 'bench takes a list of kernels'
"$BEVSCOPE" regime toy --gpu a6000 -k v2,V4 >out &&
    grep -q "^Findings (model" out &&
    grep -qE '^V2 FP16 on RTX A6000, [0-9.]+ .?.s:' out && ! grep -q 'V3 large-L2 FP16 on' out
tap_ok $? 'and so does regime, with what limits each'
grep -qE '^  .* \(learn [a-z0-9:-]*\)$' out
tap_ok $? 'a finding names its lesson'
grep -q '^Workflow on RTX A6000, with V' out &&
    [ "$(grep -oE '^  (classify|remove|map|validate):' out | tr -d ' \n')" = \
        classify:remove:map:validate: ] &&
    grep -qE '^  remove: V[0-9+A-Z ]+ asks for [0-9.]+ .?B, [0-9.]+ times' out
tap_ok $? 'and with the four steps of the workflow, of pooling too'
grep -qE '^        ncu .*--nvtx-include v[a-z0-9_]+[.]toy[.]fp16[.]nearest/ --metrics dram__bytes_read.sum,[^ ]*,smsp__warps_eligible[^ ]*,l1tex__[^ ]*[.]ratio bevscope bench toy --kernel v[a-z0-9_]+ --dtype fp16 --align nearest --once$' out &&
    grep -qE '^        nsys profile .* bevscope bench toy .*--once && nsys stats' out
tap_ok $? 'the last of which says what to type in Nsight Compute and Nsight Systems'
name="\$(touch run) it's one.npz"
"$BEVSCOPE" export toy "$name" && "$BEVSCOPE" regime "$name" --gpu a6000 -k v2,V4 >out
grep -E '^        (ncu|nsys) ' out >pasted
(ncu() { printf '<%s>' "$@"; } && nsys() { ncu "$@"; } && . ./pasted) >said
[ ! -e run ] && [ "$(grep -oF "<bench><$name><--kernel>" said | wc -l)" = 2 ]
tap_ok $? 'what it says to type can be pasted, whatever the name of the file'
latin=$(printf 'm\374ller.npz')
cp "$name" "$latin" && "$BEVSCOPE" calibrate "$latin" -o scales.json >out && grep -qF '"scenes": "m?ller.npz"' scales.json
tap_ok $? 'a name that is not UTF-8 stands cleaned in a file of scales'
"$BEVSCOPE" calibrate "$latin" -f json >out && grep -qF '"scenes": "m?ller.npz"' out
tap_ok $? 'and in JSON'
"$BEVSCOPE" bench toy --once --device cpu -k cpu_v4,cpu_race -d fp16,nvfp4 --format csv >out &&
    head -1 out | grep -q '^scene,kernel,where,dtype,align,direction,range,skipped' &&
    ! head -1 out | grep -q '_us' && [ "$(wc -l <out)" = 5 ]
tap_ok $? 'bench --once launches each kernel and times nothing'
"$BEVSCOPE" regime toy --gpu a6000 -k v2 --format json >out &&
    grep -q evidence out
tap_ok $? 'findings are in the JSON, too'
"$BEVSCOPE" export --help >out
tap_has 'the help of --kernel names all kernels, the last one whole' out ', grad_view$'
# Without a terminal: at once what it is; help and the glossary answer.
rm -f err
{ tap_wait [ -s err ] && printf 'help\nglossary ridge\nglossary xyzzy\nquit\n'; } |
    "$BEVSCOPE" toy --plain --device cpu --no-window >out 2>err
tap_run 'plain: says at once what it is' [ "$(head -n 1 err | grep -c 'help lists them')" = 1 ]
grep -qE '^  kernel NAME +' out && grep -qE '^  wipe ' out &&
    [ "$(awk 'length > 80' out | grep -c '^  ')" = 0 ]
tap_ok $? 'plain: help lists the words'
grep -q '^roofline  *The most' out && grep -q '^xyzzy: not in the glossary' out
tap_ok $? 'plain: glossary tells what they mean'
# Microseconds: with their sign where the locale has it, in ASCII elsewhere; keys stay.
for locale in C.UTF-8:µs C:us; do
    LC_ALL=${locale%:*} "$BEVSCOPE" bench --recorded canonical --cache cold >out
    LC_ALL=${locale%:*} "$BEVSCOPE" regime toy --gpu h200 -k v2 >>out
    LC_ALL=${locale%:*} "$BEVSCOPE" bench --recorded canonical --format csv >csv
    LC_ALL=${locale%:*} OMP_NUM_THREADS=1 "$BEVSCOPE" toy --plain --device cpu --no-window </dev/null \
        2>/dev/null >>out
    wrong=$([ "${locale#*:}" = us ] && echo µs || echo us)
    grep -q "median ${locale#*:}" out && grep -q "latency [0-9.]* ${locale#*:}" out &&
        ! grep -qE "(^|[ 0-9])$wrong( |\$)" out && grep -q ',median_us,' csv
    tap_ok $? "times are in ${locale#*:} in the locale ${locale%:*}" ||
        grep -nE "latency|(^|[ 0-9])$wrong( |\$)" out | sed 's/^/# /'
done
# Without a terminal every word has its answer, however soon the next one comes.
printf 'wipe 30\ntheme light\nxyzzy\nxyzzy\nq\n' |
    "$BEVSCOPE" toy --device cpu --no-window >out 2>/dev/null
grep -q '^wipe at 30 %' out && grep -q '^theme light' out &&
    [ "$(grep -c 'no control is called "xyzzy"' out)" = 2 ]
tap_ok $? 'plain: quick words lose no answer'
tap_has 'plain: a key is told its word' out '^"q" is a key; its word here is "quit"$'

"$BEVSCOPE" snapshot small --camera back --dropout -o dirty.svg &&
    ! "$BEVSCOPE" snapshot small -o clean.svg --camera back | grep -q . &&
    ! cmp -s dirty.svg clean.svg
tap_ok $? 'camera dropout changes the figure'

for title in T ''; do
    for outlier in 1 8; do
        "$BEVSCOPE" snapshot toy -d fp32 -k cpu_v4 -o "$outlier$title.svg" --outlier $outlier \
            ${title:+--title $title}
    done
done
cmp -s 1T.svg 8T.svg && ! cmp -s 1.svg 8.svg
tap_ok $? 'an outlier leaves the decoded picture, and the title says it'

# What surrounds the program: a small stack, more threads than OpenMP's library survives.
(ulimit -S -s 500 && "$BEVSCOPE" regime toy --device cpu) >out 2>err &&
    grep -q 'V4' out
tap_ok $? 'a small stack is raised'
(ulimit -s 500 && "$BEVSCOPE" regime toy --device cpu) >out 2>err
[ $? = 1 ] && grep -q 'stack: 500 kB, needs 1024 (ulimit -s 8192)' err
tap_ok $? 'one that cannot be raised is named'
export OMP_NUM_THREADS=99999999
tap_expect 2 '^bevscope: OMP_NUM_THREADS: 99999999 threads, must be at most 1024 ' info toy --device cpu
unset OMP_NUM_THREADS

# Plain lines show the tables of the screen, one by one.
printf 'show accuracy\nshow kernels\nshow nothing\nquit\n' |
    "$BEVSCOPE" toy --plain --no-window --device cpu >shown 2>/dev/null
tap_has "plain lines show tables" shown '^Accuracy of V4' 'gate A' '^Kernels on a CPU, FP16' \
    'no panel is called "nothing"'
"$BEVSCOPE" glossary V3 | grep -q '^V3 ' && "$BEVSCOPE" glossary depth outer | grep -q '^DO ' &&
    ! "$BEVSCOPE" glossary depth inner >/dev/null 2>&1
tap_ok $? "the glossary knows kernels and words of several"
tap_run 'snapshot knows --quiet' "$BEVSCOPE" snapshot toy --quiet -o quiet.png

tap_done
