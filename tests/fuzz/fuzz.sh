#!/bin/sh
# Fuzzes a loader for a time, with clang's libFuzzer, both sanitizers, a dictionary and, for .npz, a
# mutator that keeps lengths and CRCs right.
#
#     tests/fuzz/fuzz.sh npz|npy|json SECONDS FOLDER [OPTIONS OF LIBFUZZER...]
#
# FOLDER gets the program and what it found: inputs of new paths in FOLDER/found-TARGET, crashes in
# FOLDER/crash-*. Exit 0: nothing crashed. BUILD (build): where this project was built with gcc and
# without CUDA: what is below the loaders is taken from there, without sanitizers.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
target=$1 seconds=$2 folder=$3 dict=$1
shift 3
[ "$target" != npy ] || dict=npz
case $target in
npz) sources="tests/fuzz/fuzz_npz.c tests/fuzz/mutate_npz.c" ;;
json) sources=tests/fuzz/fuzz_json.c ;;
npy) sources=tests/fuzz/fuzz_npy.c ;;
*) echo "fuzz.sh: npz, npy or json, not $target" >&2; exit 2 ;;
esac
mkdir -p "$folder/found-$target"
if [ ! -x "$folder/fuzz_$target" ]; then
    # shellcheck disable=SC2046,SC2086
    ${FUZZ_CC:-clang} -g -O1 -D_GNU_SOURCE -DPKGDATADIR='"."' -DSOURCEDIR='"."' -I. \
        -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined $sources \
        src/base/json_fields.c src/base/data.c $(ls src/scene/[a-z]*.c src/scene/operator/*.c | grep -vE 'problem|workload') \
        "$build/libbase.a" "$build/libkernels.a" -ljansson -lzip -lz -lm -lgomp -lpthread \
        -o "$folder/fuzz_$target"
fi
"$folder/fuzz_$target" -max_total_time="$seconds" -dict="tests/fuzz/$dict.dict" -timeout=20 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$folder/crash-" "$@" \
    "$folder/found-$target" "tests/fuzz/corpus_$target"
