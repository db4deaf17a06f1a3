#!/bin/sh
# The hard tests, which take too long for `make check`: failures of every kind of call under every
# command. Prints a table in Markdown, to be kept in samples/experiments/hard.md.
#
#     BEVSCOPE=build/bevscope tests/hard.sh [CALLS]
#
# CALLS (default 200): how many calls of each kind fail in turn under each command.
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
echo "## One call fails"
echo
echo "Of each kind of call (memory, open, read, write, fsync, rename, linkat, close, thread, short"
echo "reads and writes) up to ${1:-200} fail in turn, and memory also for good. Right: exit 0 and the"
echo "same result to the byte. Refused: exit 1, a line, the old file as it was, nothing left beside"
echo "it. In a library: fontconfig, cairo or OpenMP ended the process at their own failed call."
echo
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -shared -fPIC -o "$folder/inject.so" \
    tests/inject/inject.c -ldl || exit 1
python3 tests/inject/inject.py "$BEVSCOPE" "$folder/inject.so" --most "${1:-200}" ||
    failures=$((failures + 1))
exit $((failures > 0))
