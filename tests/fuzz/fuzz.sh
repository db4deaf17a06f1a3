#!/bin/sh
# SPDX-License-Identifier: MIT
# Fuzzes a loader for a time, with clang's libFuzzer, both sanitizers and a dictionary.
#
#     tests/fuzz/fuzz.sh npz|npy|json SECONDS FOLDER [OPTIONS OF LIBFUZZER...]
#
# FOLDER gets the program and what it found: inputs of new paths in FOLDER/found-TARGET, crashes in
# FOLDER/crash-*. With the same FOLDER it goes on where it was; at the end what was found is reduced
# to what adds paths to the corpus of the project. FOLDER/count-TARGET has how
# many inputs were tried in all. Exit 0: nothing crashed. SECONDS 0: the corpus only. BUILD (build):
# where this project was built with gcc and without CUDA: what is below the loaders is taken from
# there, without sanitizers.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
target=$1 seconds=$2 folder=$3 dict=$1
shift 3
[ "$target" != npy ] || dict=npz
case $target in
npz | json | npy) ;;
*) echo "fuzz.sh: npz, npy or json, not $target" >&2; exit 2 ;;
esac
found=$folder/found-$target
fuzzer=$folder/fuzz_$target
mkdir -p "$found"

compile() {
    ${FUZZ_CC:-clang} -g -O1 -D_GNU_SOURCE -DPKGDATADIR='"."' -I. \
        -fno-sanitize-recover=undefined "$@"
}

if [ ! -x "$fuzzer" ]; then
    compile -DFUZZING -fsanitize=address,undefined -c "tests/fuzz/fuzz_$target.c" -o "$fuzzer.o"
    # shellcheck disable=SC2046,SC2086
    compile -fsanitize=fuzzer,address,undefined "$fuzzer.o" src/base/json_fields.c \
        src/base/data.c $(ls src/scene/*.c src/scene/operator/*.c | grep -vE 'problem|workload') \
        "$build/libbase.a" "$build/libkernels.a" -ljansson -lzip -lz -lm -lgomp -lpthread -o "$fuzzer"
fi

# One thread: a team costs more than so small arrays. A time zone, or libzip asks a file for it for each
# member.
OMP_NUM_THREADS=1 TZ=UTC0 ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=16}
export OMP_NUM_THREADS TZ ASAN_OPTIONS
corpus=tests/fuzz/corpus_$target
if [ "$seconds" = 0 ]; then
    exec "$fuzzer" -runs=0 -timeout=20 "$corpus"
fi
status=0
"$fuzzer" -max_total_time="$seconds" -dict="tests/fuzz/$dict.dict" -timeout=20 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$folder/crash-" "$@" "$found" "$corpus" \
    2>"$folder/log" || status=$?
cat "$folder/log" >&2
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log")
total=$(cat "$folder/count-$target" 2>/dev/null || echo 0)
echo $((total + ${runs:-0})) >"$folder/count-$target"
[ $status = 0 ] || exit $status
rm -rf "$found-less"
cp -R "$corpus" "$found-less"
"$fuzzer" -merge=1 "$found-less" "$found" >/dev/null 2>&1
rm -rf "$found"
for input in "$corpus"/*; do
    rm -f "$found-less/$(basename "$input")"
done
mv "$found-less" "$found"
