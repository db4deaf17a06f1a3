#!/bin/sh
# bench --for: frames for as long as asked, an early end that loses nothing, refusals.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
export OMP_NUM_THREADS=1
run="bench toy --device cpu --kernel cpu_v2"

# json EXPRESSION: of the result in the file out.
json() {
    python3 -c "import json, sys; d = json.load(open('out')); r = d['results'][0]; m = d['minutes']
sys.exit(not ($1))"
}

tap_expect 0 '' $run --for 1s --every 20 --format json
if command -v python3 >/dev/null; then
    tap_run 'frames, quantiles in order, one minute, single launches' json "len(d['results']) == 1 \
        and 2 <= r['frames'] <= 51 and r['p50_us'] <= r['p90_us'] <= r['p99_us'] <= r['p999_us'] <= r['max_us'] \
        and d['timing'] == 'single' and d['interrupted'] is None and len(m) == 1 \
        and m[0]['frames'] == r['frames'] and r['seconds'] >= 1 and r['every_ms'] == 20 and r['dtype'] == 'fp16'"
else
    tap_skip 'frames, quantiles in order' 'no Python'
fi
tap_expect 0 '' $run --for 1s --dtype fp32
tap_run 'a table of all frames and one by minute' grep -q '^By minute:' out
tap_run 'what the machine does not tell has a reason' grep -qE '^Clock: n/a, no cpufreq|MHz' out

# The status is the program's own; one signal, not a second to the group. A shell in the background
# lets its children ignore SIGINT.
timeout --foreground --preserve-status -s INT 2 env --default-signal=INT "$BEVSCOPE" $run --for 1h >out 2>err
tap_ok $? 'Ctrl-C is no failure'
tap_run 'and the table says so' grep -qE '^SIGINT ended it after [0-9.]+ of 3600 s' out
tap_run 'with all that was measured' grep -qE '^toy +cpu_v2 +cpu +fp16 +nearest +warm +[0-9.]+ +[0-9]+ ' out
tap_run 'nothing else was said' test ! -s err

for bad in 60 0.5s 25h m soon -1s; do
    tap_expect 2 'is no time from 1s to 24h' $run --for $bad
done
tap_expect 2 'goes with --for' $run --every 33
tap_expect 2 'every: .*0\.01 to 60000|every' $run --for 1s --every 0
tap_expect 2 'it goes with --every, --cache and' $run --for 1s --quick
tap_expect 2 'one kernel, and 2 are chosen: cpu_v2, cpu_v4' bench toy --device cpu -k cpu_v2,cpu_v4 --for 1s
tap_expect 2 'one scene, not 2' bench toy canonical --device cpu --for 1s
tap_expect 2 "times one, not 'fp16,fp32'" $run --for 1s --dtype fp16,fp32
tap_expect 2 "times one, not 'warm,cold'" $run --for 1s --cache warm,cold
tap_done
