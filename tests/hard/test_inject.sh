#!/bin/sh
# SPDX-License-Identifier: MIT
# A quick sample of failures: of each kind of call (memory, open, read, write, ...) a few fail in
# turn under some commands. tests/hard.sh has all commands and many more calls.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
grep -qE '__(asan|tsan|msan)_init' "$BEVSCOPE" &&
    tap_skip_all "sanitizers have malloc and the other calls to themselves"
"$BEVSCOPE" --version | grep -q '^CUDA kernels: yes' &&
    tap_skip_all "the CUDA runtime, linked in, crashes without memory before main: build --without-cuda"
command -v python3 >/dev/null || tap_skip_all "no python3"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CC:-cc} -std=gnu11 -O1 -D_GNU_SOURCE -shared -fPIC -o "$folder/inject.so" \
    "$SRCDIR/tests/hard/inject.c" -ldl 2>"$folder/err"
tap_ok $? "the injector compiles"
sed 's/^/# /' "$folder/err"

python3 "$SRCDIR/tests/hard/inject.py" "$BEVSCOPE" "$folder/inject.so" --most 6 \
    --only info --only verify --only export --only "snapshot PNG" >"$folder/out" 2>&1
tap_ok $? "exit 0 only with the right file, else exit 1, a line, and the old file as it was"
sed 's/^/# /' "$folder/out"
[ "$(grep -c '^| [a-z]' "$folder/out")" = 5 ]
tap_ok $? "four commands were tried"
tap_done
