#!/bin/sh
# SPDX-License-Identifier: MIT
# Every reason why a machine has no usable GPU gives a line of its own (with a fake driver library),
# and the program continues on the CPU.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
line=$BUILDDIR/tests/device_line

# says STATUS PATTERN ARGUMENTS...: the exit status and the one line of device_line.
says() {
    status=$1 pattern=$2
    shift 2
    got=$("$line" "$@")
    result=$?
    ok=0
    [ $result = "$status" ] && [ "$(echo "$got" | wc -l)" = 1 ] && echo "$got" | grep -qE "$pattern" ||
        ok=1
    [ $ok = 0 ] || echo "# exit $result: $got"
    tap_ok $ok "says: $pattern"
}

# Where a real driver is installed, its absence can only be tested by hiding it from the loader.
if "$line" | grep -q 'libcuda.so.1 was not found'; then
    says 4 'no NVIDIA driver: libcuda.so.1 was not found' 0
else
    tap_skip 'no driver' 'this machine has one'
fi

# The fake is built without sanitizers: a sanitized shared object would have to be loaded first.
${CC:-cc} -std=gnu11 -shared -fPIC -o "$folder/libcuda.so.1" "$SRCDIR/tests/run/fake_cuda.c"
tap_ok $? 'the fake driver library compiles'
LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

says 0 '^usable, CUDA 13000$' 0
FAKE_CUDA_VERSION=12040 says 4 'driver is too old: it supports CUDA 12.4, needed is 13.0' 0
FAKE_CUDA_INIT=100 says 4 'driver finds no GPU' 0
FAKE_CUDA_HANG=1 says 4 'the NVIDIA driver hangs: no answer within 1 s' 0 1000
FAKE_CUDA_CRASH=1 says 4 'the NVIDIA driver crashes as it starts' 0
says 4 'no process can be started that asks the NVIDIA driver: Too many open files' 0 1000 3
FAKE_CUDA_DEVICES=0 says 4 'driver finds no GPU' 0
FAKE_CUDA_INIT=803 says 4 'driver does not start: error 803' 0
FAKE_CUDA_DEVICES=2 says 4 'GPU 2 was asked for, the last one is 1' 2
FAKE_CUDA_CAPABILITY=75 says 4 'GPU 0, Fake GPU 0, has compute capability 7.5: the kernels need 8.0 or newer .*device cpu' 0
FAKE_CUDA_CAPABILITY=80 says 4 'no code for GPU 0, Fake GPU 0, compute capability 8.0: built for 8.6 and newer .*CUDA_ARCH=80' 0
FAKE_CUDA_CAPABILITY=86 says 0 '^usable' 0
FAKE_CUDA_CAPABILITY=110 says 0 '^usable' 0

# A driver that lacks its functions, or is no library at all, is broken, not absent.
mkdir "$folder/broken"
echo 'int nothing;' >"$folder/broken.c"
${CC:-cc} -shared -fPIC -o "$folder/broken/libcuda.so.1" "$folder/broken.c"
LD_LIBRARY_PATH=$folder/broken says 4 'the NVIDIA driver is broken: libcuda.so.1 cannot be used' 0
echo 'no library' >"$folder/broken/libcuda.so.1"
LD_LIBRARY_PATH=$folder/broken says 4 'the NVIDIA driver is broken: libcuda.so.1 cannot be used' 0

# The program itself: a GPU asked for by name is exit 4, otherwise the CPU takes over.
if [ -x "$BEVSCOPE" ] && "$BEVSCOPE" --version | grep -q 'CUDA kernels: yes'; then
    FAKE_CUDA_VERSION=11000 "$BEVSCOPE" info --device cuda >"$folder/out" 2>"$folder/err"
    status=$?
    [ $status = 4 ] && grep -q 'driver is too old' "$folder/err"
    tap_ok $? 'bevscope info --device cuda: exit 4 and the reason'
    FAKE_CUDA_VERSION=11000 "$BEVSCOPE" info >"$folder/out" 2>"$folder/err"
    tap_ok $? 'bevscope info: exit 0 on the CPU'
else
    tap_skip 'bevscope without a usable GPU' 'built without CUDA'
fi
tap_done
