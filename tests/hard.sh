#!/bin/sh
# SPDX-License-Identifier: MIT
# The hard tests, which take too long for `make check`: attacks on the live display, the memory
# budget, fuzzing by time, and failures of every kind of call under every command. Prints tables in
# Markdown, to be kept in samples/experiments/hard.md. Exit 1: something was wrong.
#
#     BEVSCOPE=build/bevscope tests/hard.sh [CALLS]
#
# CALLS (default 200): how many calls of each kind fail in turn under each command; 0: none.
# From the environment, 0 leaves a part out:
#     HARD_SIGNALS (100)  signals at random moments    HARD_SIZES (40)  sizes of the terminal
#     HARD_SLOW (20)  terminals that hardly read       HARD_KEYS (3000)  random keys, HARD_MS (20)
#     HARD_WORDS (500)  random words on plain lines
#     HARD_BUDGET (300)  keys on large scenes     HARD_FUZZ (60)  seconds of each fuzz target
# An hour of keys, on a terminal and then with a window on an X server of its own (xvfb-run):
# HARD_KEYS=36000 HARD_MS=100. Fuzzing that goes on where the last run ended: HARD_CORPUS=FOLDER keeps
# the inputs that it finds. Needs a build with its tests (`make check TESTS=`).
set -u
cd "$(dirname "$0")/.." || exit 1
SRCDIR=$PWD
BEVSCOPE=${BEVSCOPE:-$SRCDIR/build/bevscope}
BEVSCOPE_DATA=${BEVSCOPE_DATA:-$SRCDIR}
export BEVSCOPE_DATA
[ -x "$BEVSCOPE" ] || { echo "hard.sh: $BEVSCOPE: build it first" >&2; exit 1; }
if grep -qE '__(asan|tsan|msan)_init' "$BEVSCOPE"; then
    echo "hard.sh: $BEVSCOPE has sanitizers, which have malloc and the other calls to themselves" >&2
    exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

echo "# Hard tests"
echo
echo "$("$BEVSCOPE" --version | head -1), $(uname -srm), $(date -u +%Y-%m-%d)"
echo
BUILD=$(dirname "$BEVSCOPE")
export PYTHONDONTWRITEBYTECODE=1

python=python3
# part NAME TIMES [WORDS...]: a row of hard.py.
part() {
    name=$1 times=$2
    shift 2
    [ "$times" = 0 ] && return
    # shellcheck disable=SC2086
    $python tests/hard/hard.py "$name" "$BEVSCOPE" --times "$times" "$@" || failures=$((failures + 1))
}

# row NAME CASES STATUS NOTE: of a part with a program of its own.
row() {
    echo "| $1 | $2 | $(($3 != 0)) | $4 |"
    failures=$((failures + ($3 != 0)))
}

echo "## The live display and the loader"
echo
echo "| part | cases | wrong | |"
echo "|---|---:|---:|---|"
part signals "${HARD_SIGNALS:-100}"
part sizes "${HARD_SIZES:-40}"
part slow "${HARD_SLOW:-20}"
part keys "${HARD_KEYS:-3000}" --ms "${HARD_MS:-20}"
part words "${HARD_WORDS:-500}"
if command -v xvfb-run >/dev/null; then
    python="xvfb-run -a python3"
    part keys "${HARD_KEYS:-3000}" --ms "${HARD_MS:-20}" --window
    python=python3
else
    echo "| keys, window | 0 | 0 | not run: there is no xvfb-run |"
fi
part budget "${HARD_BUDGET:-300}"
corpus=${HARD_CORPUS:-$folder}
for target in npz json npy; do
    [ "${HARD_FUZZ:-60}" = 0 ] && break
    BUILD=$BUILD tests/fuzz/fuzz.sh "$target" "${HARD_FUZZ:-60}" "$corpus" >"$folder/out" 2>&1
    status=$?
    row "fuzzing .$target" "$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/out")" $status \
        "${HARD_FUZZ:-60} s, $(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$folder/out" | tail -1) edges, \
$(cat "$corpus/count-$target") in all"
done
[ "${1:-200}" = 0 ] && exit $((failures > 0))
echo
echo "## One call fails"
echo
echo "Of each kind of call (memory, open, read, write, fsync, rename, linkat, close, thread, short"
echo "reads and writes) up to ${1:-200} fail in turn, and memory also for good. Right: exit 0 and the"
echo "same result to the byte. Refused: exit 1, a line, the old file as it was, nothing left beside"
echo "it. In a library: fontconfig, cairo or OpenMP ended the process at their own failed call."
echo
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -shared -fPIC -o "$folder/inject.so" \
    tests/hard/inject.c -ldl || exit 1
python3 tests/hard/inject.py "$BEVSCOPE" "$folder/inject.so" --most "${1:-200}" ||
    failures=$((failures + 1))
exit $((failures > 0))
