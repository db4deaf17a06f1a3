#!/usr/bin/env bash
# Everything that needs a GPU, in one go: every kernel checked, also under compute-sanitizer, the
# hardware counters read, then the ladder timed on the six configurations and an even map.
#
#     tests/gpu.sh [BUILD]     BUILD: a folder that holds bevscope, tests/checkbev,
#                              tests/test_device_gpu and tests/ladder; made with configure and make
#                              when it does not
#     OUT=DIR                  where gpu.log, gpu.json, gpu-bilinear.json and gpu-counters.json go;
#                              default: here
#     QUICK=1                  fewer samples, FP16 only, no sanitizers
#     SKIP="bilinear soak"     steps to leave out
set -uo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source/build-gpu}
mkdir -p "${OUT:=.}"
out=$(cd "$OUT" && pwd)
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export BEVSCOPE_DATA=${BEVSCOPE_DATA:-$source}
# A carried build may bring the libraries that its machine had.
[ -d "$build/lib" ] && export LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# Of the first GPU: 9.0 -> 90, and 12.0 -> 120f, which has the conversions that plain 120 lacks.
native_arch() {
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 |
        tr -d . | sed 's/^1[0-9]*$/&f/'
}

export CUDA_ARCH=${CUDA_ARCH:-$(native_arch)}
programs="bevscope tests/checkbev tests/test_device_gpu tests/ladder"

build_programs() {
    [ -x "$source/configure" ] || (cd "$source" && autoreconf -i) || return
    mkdir -p "$build" && cd "$build" || return
    [ -f Makefile ] || "$source/configure" --with-cuda CUDA_ARCH="$CUDA_ARCH" ||
        return
    make -j"$(nproc)" $programs
}

for program in $programs; do
    [ -x "$build/$program" ] && continue
    build_programs >"$out/gpu.log" 2>&1 && break
    echo "the build failed: see $out/gpu.log"
    exit 1
done

failed=0
: >"$out/gpu.log"
# step NAME SECONDS COMMAND...: one line says how it went, gpu.log has all of it.
step() {
    local name=$1 limit=$2 start=$SECONDS status
    shift 2
    case " ${SKIP:-} " in *" $name "*)
        echo "skip  $name: asked to"
        return
        ;;
    esac
    timeout "$limit" "$@" >"$logs/$name" 2>&1
    status=$?
    { echo "==== $name" && cat "$logs/$name"; } >>"$out/gpu.log"
    case $status in
    0) echo "pass  $name, $((SECONDS - start)) s" ;;
    77) echo "skip  $name: $(tail -n 1 "$logs/$name")" ;;
    *)
        echo "FAIL  $name, exit $status"
        grep -E '^not ok|^ladder:|^bevscope:|ERROR SUMMARY' "$logs/$name" | head -n 20
        failed=1
        ;;
    esac
    return $status
}

step checkbev 600 "$build/tests/checkbev" --where cuda
[ $? = 77 ] && exit 77
step device 300 "$build/tests/test_device_gpu"

# The sanitizers make kernels slow: small cases with ragged and long intervals, with channels that
# fit no vector and with ones that do.
if [ -z "${QUICK:-}" ] && command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do
        for filter in ragged_c83 ragged_c256 long_interval; do
            step "$tool-$filter" 300 compute-sanitizer --tool $tool --error-exitcode 9 \
                "$build/tests/checkbev" --where cuda --filter $filter
            [ ! -f "$logs/$tool-$filter" ] || grep -q '^ok.*cases' "$logs/$tool-$filter" || {
                echo "FAIL  $tool-$filter checked nothing"
                failed=1
            }
        done
    done
else
    echo "skip  compute-sanitizer"
fi

# Skipped, with the reason, where the driver shows no counters; fails where they make no sense.
step counters 300 "$build/tests/ladder" --counters --quick --only v3_large_l2 "$out/gpu-counters.json"

# What the ladder came to, in short.
print_ladder() {
    echo
    head -n 1 "$logs/ladder"
    # One line a kernel, one column a scene: FP16, nearest, warm medians.
    awk '/, fp16, nearest:/ { split($1, a, ","); scene = a[1]; scenes[++n] = scene; on = 1; next }
         /^$/ { on = 0 }
         on && NF >= 2 && $1 != "warm" {
             if (!($1 in seen)) { seen[$1] = 1; names[++m] = $1 }
             us[$1, scene] = $2
         }
         END {
             printf "%-14s", "fp16, us"
             for (i = 1; i <= n; i++) printf " %10s", scenes[i]
             print ""
             for (j = 1; j <= m; j++) {
                 printf "%-14s", names[j]
                 for (i = 1; i <= n; i++) printf " %10s", us[names[j], scenes[i]]
                 print ""
             }
         }' "$logs/ladder"
}

if [ $failed = 0 ]; then
    if [ -n "${QUICK:-}" ]; then
        step ladder 600 "$build/tests/ladder" --quick "$out/gpu.json"
    else
        step ladder 1200 "$build/tests/ladder" --dtypes fp32,fp16,bf16,fp8,nvfp4 "$out/gpu.json"
        step bilinear 600 "$build/tests/ladder" --dtypes fp16,fp8 --aligns bilinear \
            "$out/gpu-bilinear.json"
    fi
    [ -f "$logs/ladder" ] && print_ladder
else
    echo "nothing is timed: a check failed"
fi

# The live display on a terminal of 200 x 60: 60 moments a second while nobody types, and each key
# answered in time.
if command -v python3 >/dev/null; then
    live="python3 $source/tests/live_latency.py"
    step live-play 60 $live --fps 60 --every 0 --seconds 8 "$build/bevscope" canonical --no-window
    step live-keys 90 $live --key-ms 40 --seconds 30 --every 0.1 \
        --keys kKdDxXeEvVhHmMiItTcCoyYjJzZr+-fpL "$build/bevscope" canonical --no-window
    step live-align 60 $live --key-ms 40 --seconds 20 --every 0.1 --keys aAdDyY \
        "$build/bevscope" canonical --no-window
    # The same with a window, where this build has one. SDL draws as for a display, and drops it.
    if "$build/bevscope" --version | grep -q 'Window: yes'; then
        export SDL_VIDEODRIVER=dummy
        step window-play 60 $live --fps 60 --every 0 --seconds 8 "$build/bevscope" canonical
        step window-keys 90 $live --key-ms 40 --seconds 30 --every 0.1 "$build/bevscope" canonical
    else
        echo "skip  window: built without SDL"
    fi
else
    echo "skip  live: no python3"
fi

# Random keys on the terminal; each count of memory, descriptors and device memory is a row.
if [ -x "$build/tests/test_soak" ]; then
    BEVSCOPE=$build/bevscope SOAK_DEVICE=cuda SOAK_WINDOW=0 SOAK_SCENE=canonical SOAK_KEYS=600 \
        SOAK_MS=20 SOAK_ROUNDS=3 step soak 180 "$build/tests/test_soak"
    grep -s '^# ' "$logs/soak"
else
    echo "skip  soak: no tests/test_soak"
fi
exit $failed
