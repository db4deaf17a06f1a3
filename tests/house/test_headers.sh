#!/bin/sh
# SPDX-License-Identifier: MIT
# Every header compiles alone, so that none leans on what its users happen to include first.
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
tap_done
