#!/bin/sh
# SPDX-License-Identifier: MIT
# A quick sample of the attacks on the live display and of its figures: hard.py says what each is; then the
# corpus of the fuzzer. tests/hard.sh has many more of each.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || tap_skip_all "no python3"
"$BEVSCOPE" --version | grep -q '^Dashboard: yes' || tap_skip_all "no dashboard in this build"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# part NAME TIMES TITLE WORDS...: a part of hard.py.
part() {
    name=$1 times=$2 title=$3
    shift 3
    case " ${PARTS:-$name} " in *" $name "*) ;; *) return ;; esac
    python3 "$SRCDIR/tests/hard/hard.py" "$name" "$BEVSCOPE" --times "$times" "$@" >"$folder/out" 2>&1
    tap_ok $? "$title"
    busy=$(sed -n 's/^busy: //p' "$folder/out" | tr '\n' ';')
    [ -z "$busy" ] || tap_skip "$title: all of it" "$busy"
    sed 's/^/# /' "$folder/out"
}

part signals 8 "signals at random moments: each is how the program ends, and the terminal is restored"
part sizes 3 "from 1 x 1 to 32,768 x 32,768: it goes on and quits in order"
part storm "${STORM_SIZES:-300}" "a new size every 10 ms: memory, files and threads stay"
part slow 2 "a terminal that reads slowly or not at all: a signal ends it soon"
part keys 60 "random keys: it goes on and quits in order"
part words 60 "random words, some before the first picture: it goes on and quits in order"
part pace "${PACE_KEYS:-40}" "at full size: the first picture, pictures a second and answers to keys come in time"
part heavy "${HEAVY_KEYS:-12}" "among heavy scenes: help and the end come at once, a slow picture says so"
part rest 1 "paused, it keeps no core busy"
part budget "${BUDGET_KEYS:-0}" "the largest grids stay within the budget of memory" \
    ${BUDGET_SCENE:+--scene "$BUDGET_SCENE"}
part soak "${SOAK_KEYS:-200}" "random keys: memory, files and threads stay" --window \
    --ms "${SOAK_MS:-10}" --rounds "${SOAK_ROUNDS:-2}"
[ -z "${PARTS:-}" ] || tap_done
if grep -qE '__(asan|tsan|msan)_init' "$BEVSCOPE"; then
    tap_skip "the fuzzer of .npz" "a build with sanitizers of its own"
elif grep -q __cudaRegisterFatBinary "$BUILDDIR/libkernels.a"; then
    tap_skip "the fuzzer of .npz" "its kernels need the CUDA runtime: build --without-cuda"
elif ! echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
    clang -fsanitize=fuzzer -x c - -o "$folder/probe" 2>"$folder/out"; then
    tap_skip "the fuzzer of .npz" "no clang with libFuzzer"
else
    BUILD=$BUILDDIR "$SRCDIR/tests/fuzz/fuzz.sh" npz 0 "$folder" >"$folder/out" 2>&1
    tap_ok $? "the fuzzer of .npz builds, and its corpus breaks no promise"
    tail -3 "$folder/out" | sed 's/^/# /'
fi
tap_done
