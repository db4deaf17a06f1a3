#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone, so that none leans on what its users happen to include first; and so
# does each C file that a build without CUDA leaves out, in whole or in part.
. "${SRCDIR:-.}/tests/support/tap.sh"
cd "${SRCDIR:-.}" || exit 1

flags=$(pkg-config --cflags cairo jansson libzip sdl2 ncursesw 2>/dev/null ||
    pkg-config --cflags cairo jansson libzip)
for header in $(find kernels src -name "*.h" | sort); do
    # shellcheck disable=SC2086
    echo "#include \"$header\"" | ${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -I. \
        -I"${BUILDDIR:-.}" $flags -fsyntax-only -x c -
    tap_ok $? "$header"
done
for header in $(find src -name "*.hpp" | sort); do
    if [ -z "${TENSORRT_CPPFLAGS:-}" ]; then
        tap_skip "$header" "built without TensorRT"
        continue
    fi
    # shellcheck disable=SC2086
    echo "#include \"$header\"" | ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror -I. \
        $TENSORRT_CPPFLAGS -fsyntax-only -x c++ -
    tap_ok $? "$header"
done
cuda=${CUDA_HOME:-/usr/local/cuda}
for source in tests/gpu/*.c $(grep -rlE "HAVE_CU(DA|PTI)" src tests --include="*.c"); do
    if [ ! -f "$cuda/include/cuda_fp4.h" ]; then
        tap_skip "$source" "no CUDA headers here"
        continue
    fi
    # shellcheck disable=SC2086
    ${CC:-cc} -std=gnu11 -D_GNU_SOURCE -DHAVE_CUDA=1 -Wall -Werror=implicit -I. \
        -I"${BUILDDIR:-.}" -I"$cuda/include" $flags -fopenmp -fsyntax-only "$source"
    tap_ok $? "$source, as in a build with CUDA"
done
tap_done
