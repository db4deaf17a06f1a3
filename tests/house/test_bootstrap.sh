#!/bin/sh
# SPDX-License-Identifier: MIT
# ./bootstrap run says in one line where a GPU has no CUDA toolkit that serves, and goes on. Driver,
# compiler, packages and build are scripts here.
. "${SRCDIR:-.}/tests/support/tap.sh"
src=$(cd "${SRCDIR:-.}" && pwd) || exit 1
tap_folder
mkdir bin build
sed "s|/usr/local/cuda|$folder/none|; s|/opt/cuda|$folder/none|" "$src/bootstrap" >bootstrap
touch configure.ac Makefile.am Makefile.in configure build/config.status build/Makefile

# script NAME LINE...: a program in PATH.
script() {
    name=$1
    shift
    { echo '#!/bin/sh'; printf '%s\n' "$@"; } >"$name" && chmod +x "$name"
}
script configure
script bin/make
script bin/dpkg-query 'echo install ok installed'
script build/bevscope 'echo drawn'

# run_says NAME COUNT WORDS: a run draws its picture and has COUNT lines about the GPU, with WORDS.
run_says() {
    PATH=$folder/bin:$PATH sh ./bootstrap run </dev/null >out 2>&1 && grep -q '^drawn' out &&
        [ "$(grep -c 'GPU' out)" = "$2" ] && grep -q -e "$3" out
    status=$?
    [ $status = 0 ] || sed 's/^/# /' out
    tap_ok $status "$1"
}
nvcc() { script bin/nvcc "echo 'Cuda compilation tools, release $1, V$1.1'"; }
driver() { script bin/nvidia-smi "echo '$1'"; }

script bin/nvcc 'exit 1'
script bin/nvidia-smi 'exit 9'
run_says "a driver without a GPU" 0 drawn
driver "NVIDIA-SMI has failed because it could not talk to the driver"
run_says "a driver that fails" 0 drawn
for version in 580.159.04 590.1 1000.2; do
    driver "NVIDIA H200, $version"
    run_says "no toolkit, driver $version" 1 'NVIDIA H200 is there.*toolkit is missing.*cuda-toolkit-13-0 '
done
for version in 525.60.13 570.86 99.1; do
    driver "NVIDIA RTX A6000, $version"
    run_says "no toolkit, driver $version" 1 'A6000 is there.*toolkit is missing.*cuda-toolkit-12-9 '
done
for version in 9.2 11.8 12.4 12.6; do
    nvcc $version
    run_says "CUDA $version" 1 "toolkit is $version, older than 12.8.*cuda-toolkit-12-9 "
done
for version in 12.8 12.9 12.10 13.0 13.2; do
    nvcc $version
    run_says "CUDA $version serves" 0 drawn
done
tap_done
