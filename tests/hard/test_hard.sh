#!/bin/sh
# A quick sample of the attacks on the live display: signals at random moments, sizes, terminals that
# read slowly, random keys and words, the corpus of the fuzzer. tests/hard.sh has many
# more of each.
. "${SRCDIR:-.}/tests/support/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || tap_skip_all "no python3"
"$BEVSCOPE" --version | grep -q '^Dashboard: yes' || tap_skip_all "no dashboard in this build"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# part NAME WORDS...: a part of hard.py.
part() {
    python3 "$SRCDIR/tests/hard/hard.py" "$1" "$BEVSCOPE" --times "$2" >"$folder/out" 2>&1
    tap_ok $? "$3"
    sed 's/^/# /' "$folder/out"
}

part signals 8 "signals at random moments: each is how the program ends, and the terminal is restored"
part sizes 3 "from 1 x 1 to 32,768 x 32,768: it goes on and quits in order"
part slow 2 "a terminal that reads slowly or not at all: a signal ends it soon"
part keys 60 "random keys: it goes on and quits in order"
part words 60 "random words, some before the first picture: it goes on and quits in order"
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
