#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything that needs a GPU, in one go: checks every kernel, also under compute-sanitizer, reads the
# hardware counters, times the ladder, plays the live display, and prints a short table last.
#
#     tests/gpu.sh [BUILD]   BUILD: a folder with bevscope, tests/checkbev, tests/check_gpu,
#                            tests/check_lib and tests/recorder; configured and made if they are
#                            missing. Default: build-gpu, or build-ptx86 with GPU_PTX=86
#     OUT=DIR                where gpu.log, gpu.json, gpu-single.json, gpu-clear.json,
#                            gpu-bilinear.json and gpu-counters.json go; default: here
#     QUICK=1                fewer samples, FP16 only, no sanitizers
#     SKIP="bilinear soak"   steps to leave out
#     GPU_PTX=86             build only PTX of compute_86, which the driver translates when it loads
#                            it: the code as a GPU newer than the program gets it
#     OLD=DIR                another checkout, or a folder with its bevscope: bench both in turns on
#                            this machine, and print the ratio of their medians for each kernel
set -uo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source/build-${GPU_PTX:+ptx}${GPU_PTX:-gpu}}
build=$(mkdir -p "$build" && cd "$build" && pwd) # some steps leave this folder
out=$(mkdir -p "${OUT:-.}" && cd "${OUT:-.}" && pwd)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export BEVSCOPE_DATA=${BEVSCOPE_DATA:-$source}
export TAP_SLOW=${TAP_SLOW:-3} # more than 2^31 elements
# A build from another machine may bring the libraries that it needs.
[ -d "$build/lib" ] && export LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# Of the first GPU: 9.0 -> 90, and 12.0 -> 120f, which has the conversions that plain 120 lacks.
native_arch() {
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 |
        tr -d . | sed 's/^1[0-9]*$/&f/'
}

# build_programs SOURCE BUILD CONFIGURE-ARGUMENT PROGRAM...: builds the programs if one is missing.
build_programs() {
    local from=$1 to=$2 argument=$3
    shift 3
    (mkdir -p "$to" && cd "$to" && ls "$@") >/dev/null 2>&1 && return
    (
        { [ -x "$from/configure" ] || (cd "$from" && autoreconf -i); } && cd "$to" &&
            { [ -f Makefile ] || "$from/configure" --with-cuda "$argument"; } &&
            make -j"$(nproc)" "$@"
    ) >>"$out/gpu.log" 2>&1 && return
    echo "the build in $to failed: see $out/gpu.log"
    exit 1
}

arch=CUDA_ARCH=${CUDA_ARCH:-$(native_arch)}
ptx=${GPU_PTX:+CUDA_GENCODE=-gencode=arch=compute_$GPU_PTX,code=compute_$GPU_PTX}
: >"$out/gpu.log"
build_programs "$source" "$build" "${ptx:-$arch}" \
    bevscope tests/checkbev tests/check_gpu tests/check_lib tests/recorder lib/libbevpool.so.1
if [ -n "${OLD:-}" ] && ! [ -x "$OLD/bevscope" ]; then
    [ -f "$OLD/configure.ac" ] || { echo "OLD=$OLD is no checkout and has no bevscope" && exit 2; }
    OLD=$(cd "$OLD" && pwd)
    build_programs "$OLD" "$OLD/build-gpu" "$arch" bevscope
    OLD=$OLD/build-gpu
fi
if ! reason=$("$build/bevscope" info --device cuda 2>&1 >/dev/null); then
    echo "skip  all: no GPU to run on: ${reason##*$'\n'}"
    exit 77
fi

failed=0
# step NAME SECONDS COMMAND...: one line says how it went, gpu.log has all of it.
step() {
    local name=$1 limit=$2 start=$SECONDS status
    shift 2
    [[ " ${SKIP:-} " != *" $name "* ]] || { echo "skip  $name: asked to" && return; }
    timeout "$limit" "$@" >"$logs/$name" 2>&1
    status=$?
    { echo "==== $name" && cat "$logs/$name"; } >>"$out/gpu.log"
    case $status in
    0) echo "pass  $name, $((SECONDS - start)) s" ;;
    77) echo "skip  $name: $(tail -n 1 "$logs/$name")" ;;
    *)
        echo "FAIL  $name, exit $status"
        grep -E '^not ok|^recorder:|^bevscope:|ERROR SUMMARY' "$logs/$name" | head -n 20
        failed=1
        ;;
    esac
    return $status
}

step checkbev 600 "$build/tests/checkbev" --where cuda
step device 300 "$build/tests/check_gpu" --filter device_gpu
# A hundred runs of each row of backward, and more than 2^31 elements.
step gradients 600 "$build/tests/check_gpu" --filter gradients_gpu
step range 120 "$build/tests/check_gpu" --filter range_gpu
step library 300 "$build/tests/check_gpu" --filter lib_gpu
# Maps that are made again on the stream: random rigs, graphs, two streams.
step moving 300 "$build/tests/check_gpu" --filter moving_gpu
# The package for PyTorch, where there is one.
if [ -e "$build/lib/libbevpool.so.1" ] && python3 -c 'import torch; torch.zeros(1, device="cuda")' 2>/dev/null; then
    BEVPOOL_LIBRARY=$build/lib/libbevpool.so.1 PYTHONPATH=$source/samples/torch:$source/tests/support \
        step package 300 python3 "$source/tests/lib/test_lib_python.py" torch
fi
step training-step 60 "$build/bevscope" bench canonical --stage step --device cuda -d fp16 --quick
step library-devices 300 "$build/tests/check_gpu" --filter lib_devices
# The TensorRT plugin, where it is built and BEVPOOL_NVINFER names TensorRT's runtime library.
plugin_tests=
if "$build/tests/check_gpu" --list | grep -q trt_gpu && [ -n "${BEVPOOL_NVINFER:-}" ]; then
    plugin_tests="trt_gpu trt_streams"
fi
for test in $plugin_tests; do
    BUILDDIR=$build step "$test" 300 "$build/tests/check_gpu" --filter "$test"
done
# Each form of V4: one group of channels a block or two, depth gathered or transposed first; which of
# these scenes takes which on a GPU with 132 multiprocessors is checked by test_traffic.
step forms 300 "$build/bevscope" verify canonical large hires xlarge --device cuda -k v4 \
    -d fp32,fp16,bf16,fp8,nvfp4,int8 -a nearest --channels 128
step forms-64 300 "$build/bevscope" verify canonical hires --device cuda -k v4 \
    -d fp32,fp16,bf16,fp8,nvfp4,int8 -a nearest --channels 64
# Maps that were made more even: a cell may hold one depth twice there.
[ ! -x "$build/tests/check_kernels" ] || step even 300 "$build/tests/check_kernels" --filter even
# The instructions that the memory model assumes, counted in this build's machine code.
[ ! -x "$build/tests/check_cachesim" ] || SRCDIR=$source BUILDDIR=$build \
    step instructions 300 "$build/tests/check_cachesim" --filter sass
BEVSCOPE=$build/bevscope SRCDIR=$source step try 600 sh "$source/tests/cli/test_try.sh"

# Small cases, because the sanitizers make kernels slow: ragged and long intervals, channels that are
# a multiple of the vector width and channels that are not, and columns, which V4 takes as tiles.
sanitize() { # sanitize TOOL
    local tool=$1 filter scene test
    for filter in ragged_c83 ragged_c256 long_interval columns; do
        step "$tool-$filter" 600 compute-sanitizer --tool "$tool" --error-exitcode 9 \
            "$build/tests/checkbev" --where cuda --filter $filter
        [ ! -f "$logs/$tool-$filter" ] || grep -q '^ok.*cases' "$logs/$tool-$filter" || {
            echo "FAIL  $tool-$filter checked nothing"
            failed=1
        }
    done
    # V4 with two groups of channels a block, depth gathered (large) and transposed (xlarge).
    for scene in large xlarge; do
        step "$tool-two-groups-$scene" 600 compute-sanitizer --tool "$tool" --error-exitcode 9 \
            "$build/bevscope" export $scene --device cuda -k v4 -d fp16 -c 128 \
            --pooled "$logs/$tool-$scene.npy"
    done
    # One plan on eight streams, and all that the library checks.
    SMALL=1 step "$tool-library" 600 compute-sanitizer --tool "$tool" --error-exitcode 9 \
        --target-processes all --report-api-errors no "$build/tests/check_gpu" --filter lib_gpu
    SMALL=1 step "$tool-moving" 600 compute-sanitizer --tool "$tool" --error-exitcode 9 \
        --report-api-errors no "$build/tests/check_gpu" --filter moving_gpu
    for test in $plugin_tests; do
        SMALL=1 BUILDDIR=$build step "$tool-$test" 600 compute-sanitizer --tool "$tool" \
            --error-exitcode 9 --target-processes all --report-api-errors no \
            "$build/tests/check_gpu" --filter "$test"
    done
    return $failed
}

# The tools side by side, since each is slow and none is timed.
if [ -z "${QUICK:-}" ] && command -v compute-sanitizer >/dev/null; then
    tools="memcheck racecheck initcheck synccheck"
    declare -A running
    for tool in $tools; do
        sanitize $tool >"$logs/said-$tool" &
        running[$tool]=$!
    done
    for tool in $tools; do
        wait "${running[$tool]}" || failed=1
        cat "$logs/said-$tool"
    done
else
    echo "skip  compute-sanitizer"
fi

# Skipped with the reason if the driver shows no counters; fails if they make no sense.
step counters 300 "$build/tests/recorder" counters fp16 v3_large_l2 "$out/gpu-counters.json" \
    small canonical large xlarge

if [ $failed = 0 ]; then
    bench=("$build/bevscope" bench --device cuda --format json -o)
    if [ -n "${QUICK:-}" ]; then
        step ladder 600 "${bench[@]}" "$out/gpu.json" --dtype fp16 --quick
    else
        step ladder 1200 "${bench[@]}" "$out/gpu.json" --dtype fp32,fp16,bf16,fp8,nvfp4,int8,int8_fp16
        step single 600 "${bench[@]}" "$out/gpu-single.json" --dtype fp16 --cache warm --single
        step clear 60 "$build/tests/recorder" clear fp16 all "$out/gpu-clear.json" small canonical \
            large xlarge
        step bilinear 600 "${bench[@]}" "$out/gpu-bilinear.json" --dtype fp16,fp8,int8 --align bilinear
    fi
    for round in ${OLD:+1 2 3}; do
        for side in new old; do
            program=$build/bevscope
            [ $side = new ] || program=$OLD/bevscope
            step "$side-$round" 300 "$program" bench canonical xlarge --device cuda --dtype fp16 \
                --align nearest --cache warm --format csv
        done
    done
else
    echo "nothing is timed: a check failed"
fi

# The live display on a terminal of 200 x 60 and in a window, which SDL draws and nobody sees: 60 pictures
# a second while nobody types, and each key answered in time.
PACE_STRICT=1 PACE_FPS=60 PACE_MS=40 \
    step live 180 python3 "$source/tests/hard/hard.py" pace "$build/bevscope" --times 300 --device cuda
grep -s '^[a-z]*: ' "$logs/live"

# Random keys on the terminal; one line each for memory, descriptors and device memory.
step soak 180 python3 "$source/tests/hard/hard.py" soak "$build/bevscope" --times 600 --ms 20 --rounds 3 --device cuda \
    --scene canonical
grep -s 'keys: ' "$logs/soak"
# FP16, nearest, warm medians: one line a kernel, one column a scene. Then the same of FP8 over FP16:
# below 1 where fewer bytes pay, above where decoding costs more.
print_ladder() {
    python3 - "$out/gpu.json" <<'END'
import json, sys
us, scenes, kernels = {}, {}, {}
for row in json.load(open(sys.argv[1]))["results"]:
    if row.get("median_us") and row["cache"] == "warm" and row["align"] == "nearest":
        us[row["kernel"], row["scene"], row["dtype"]] = row["median_us"]
        scenes[row["scene"]] = kernels[row["kernel"]] = 1
def table(title, cell, names):
    print(f"\n{title:14}" + "".join(f" {scene:>10}" for scene in scenes))
    for name in names:
        print(f"{name:14}" + "".join(f" {cell(name, scene):>10}" for scene in scenes))
def ratio(name, scene):
    fp8, fp16 = us.get((name, scene, "fp8")), us.get((name, scene, "fp16"))
    return f"{fp8 / fp16:.2f}" if fp8 and fp16 else ""
table("fp16, us", lambda name, scene: f"{us.get((name, scene, 'fp16'), float('nan')):.1f}", kernels)
table("fp8/fp16", ratio, [name for name in kernels if name[:2] in ("v2", "v3", "v4")])
END
}

# New and old, one line per scene and kernel: medians of the three rounds, and their ratio.
print_ratios() {
    echo
    for side in new old; do
        awk -F, -v side=$side '
            $1 == "scene" { for (i = 1; i <= NF; i++) column[$i] = i; next }
            "median_us" in column && $column["median_us"] > 0 { print $1, $2, side, $column["median_us"] }' "$logs/$side"-?
    done | sort -k1,3 -k4,4g | awk '
        { key = sprintf("%-10s %-16s", $1, $2); us[key, $3, ++rounds[key, $3]] = $4; keys[key] = 1 }
        END {
            printf "%-10s %-16s %10s %10s %8s\n", "fp16 warm", "kernel", "old us", "new us", "new/old"
            for (key in keys) {
                old = us[key, "old", 2]; new = us[key, "new", 2]
                if (old && new) # a kernel of one side only has no ratio
                    printf "%s %10.1f %10.1f %8.3f\n", key, old, new, new / old | "sort"
            }
        }'
}

[ ! -f "$out/gpu.json" ] || print_ladder
[ ! -f "$logs/old-3" ] || print_ratios
exit $failed
