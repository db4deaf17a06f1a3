#!/bin/sh
# SPDX-License-Identifier: MIT
# libbevpool as installed: what `make install` puts into a scratch prefix is what a program of a
# user needs, exports no other names, and goes again with `make uninstall`.
. "${SRCDIR:-.}/tests/support/tap.sh"
. "${SRCDIR:-.}/tests/lib/lib_prefix.sh"

manual=$(find "$root/" -name bevpool.3)
tap_run "a manual page" test -s "$manual"
! grep -qE '^ *\*?/$' "$manual"
tap_ok $? "it has no ends of comments"
for name in $(grep -oE '^[A-Za-z].* \*?bevpool_[a-z_]+\(' "$header" | grep -oE 'bevpool_[a-z_]+'); do
    grep -qx '.so man3/bevpool.3' "${manual%/*}/$name.3" || echo "$name"
done >"$folder/unnamed"
tap_none "it is found by the name of each function" "$(cat "$folder/unnamed")"
if [ -f "$build/bevscope" ]; then
    program=$(find "$root/" -path '*/bin/bevscope')
    ! strings "$program" | grep -qF "$src/samples" && ! strings "$program" | grep -qx "$src"
    tap_ok $? "the program does not name the folder of its sources"
fi

# ---- names -------------------------------------------------------------------------------------

# foreign FILE NM-OPTION...: lists names that are defined for others and do not begin with bevpool_.
# Type u: constants of CUDA's own headers, which are made to be shared.
foreign() {
    file=$1
    shift
    nm "$@" --defined-only "$file" | awk 'NF == 3 && $2 != "u" { print $3 }' | sed 's/@.*//' |
        grep -v '^bevpool_' | grep -v '^BEVPOOL_0$'
}
count=$(nm -D --defined-only "$libdir/libbevpool.so" | grep -c ' T bevpool_')
declared=$(grep -cE '^[A-Za-z].* \*?bevpool_[a-z_]+\(' "$header")
[ "$count" = "$declared" ] && [ "$count" -gt 10 ]
tap_ok $? "the shared library exports the $declared functions of the header: $count"
for file in libbevpool.so libbevpool.a; do
    option=$([ $file = libbevpool.so ] && echo -D || echo -g)
    names=$(foreign "$libdir/$file" $option)
    [ -z "$names" ] || echo "$names" | head -n 20 | sed 's/^/# /'
    [ -z "$names" ]
    tap_ok $? "$file: no other names"
done
readelf -d "$libdir/libbevpool.so" | grep -q 'SONAME.*\[libbevpool.so.1\]'
tap_ok $? "its soname has a version"

plugin=$libdir/libbevpool_trt.so
if [ -f "$plugin" ]; then
    names=$(nm -D --defined-only "$plugin" | awk '$2 ~ /[TDBW]/ { print $3 }' | sed 's/@.*//' | sort |
        tr '\n' ' ')
    [ "$names" = "getCreators setLoggerFinder " ]
    tap_ok $? "the TensorRT plugin exports what TensorRT's loader looks for: $names"
    ldd "$plugin" | grep -q "libbevpool.so.1 => .*$(basename "$libdir")/libbevpool.so.1"
    tap_ok $? "and finds libbevpool beside itself"
else
    tap_skip "the TensorRT plugin" "built without TensorRT"
fi

# ---- programs ----------------------------------------------------------------------------------

command -v pkg-config >/dev/null || tap_skip "programs are built" "no pkg-config"
cd "$folder" || exit 1
# shellcheck disable=SC2046,SC2086
if command -v pkg-config >/dev/null; then
    ${CC:-cc} ${SANITIZED:-} -Wall -Wextra -Werror "$src/samples/lib/pool.c" $(flags --cflags --libs) -o shared
    tap_ok $? "samples/lib/pool.c is built with the shared library"
    LD_LIBRARY_PATH=$libdir says_expected ./shared
    tap_ok $? "and pools"
    mkdir static && cp "$libdir/libbevpool.a" static/
    ${CC:-cc} ${SANITIZED:-} "$src/samples/lib/pool.c" $(flags --cflags) -Lstatic \
        $(flags --static --libs | sed 's/-L[^ ]*root[^ ]*//g') -o alone
    tap_ok $? "and with the static one"
    says_expected ./alone
    tap_ok $? "which pools, too"
    tap_run "it needs no shared one" sh -c '! ldd ./alone | grep -q libbevpool'
    echo '#include <bevpool.h>
    int main() { return bevpool_version()[0] != BEVPOOL_VERSION[0]; }' >program.cc
    if command -v ${CXX:-c++} >/dev/null; then
        ${CXX:-c++} ${SANITIZED:-} -Wall -Wextra -Wpedantic -Werror program.cc \
            $(flags --cflags --libs) -o cplusplus && LD_LIBRARY_PATH=$libdir ./cplusplus
        tap_ok $? "C++ includes the header"
    else
        tap_skip "C++ includes the header" "no C++ compiler"
    fi
    if [ -n "${NVCC:-}" ]; then
        "$NVCC" "$src/samples/lib/pool.cu" $(flags --cflags --libs) -o gpu
        tap_ok $? "samples/lib/pool.cu is built"
        on_gpu "and pools on a GPU" ./gpu
    else
        tap_skip "samples/lib/pool.cu is built" "built without CUDA"
    fi
fi

# CMake finds the package, shared and static, where DESTDIR has put it.
cat >CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.13)
project(consumer C)
find_package(bevpool 0.2 REQUIRED)
foreach(kind bevpool static)
    add_executable(cmake_\${kind} "$src/samples/lib/pool.c")
    target_link_libraries(cmake_\${kind} bevpool::\${kind})
endforeach()
END
if command -v cmake >/dev/null; then
    cmake -Wno-dev -DCMAKE_C_COMPILER="${CC:-cc}" -DCMAKE_C_FLAGS="${SANITIZED:-}" -Dbevpool_DIR="$libdir/cmake/bevpool" \
        -S . -B cmake >cmake.log 2>&1 && cmake --build cmake >>cmake.log 2>&1
    tap_ok $? "find_package(bevpool): both targets are built"
    says_expected cmake/cmake_bevpool && says_expected cmake/cmake_static
    tap_ok $? "and pool"
    sed 's/bevpool 0.2/bevpool 0.1/' CMakeLists.txt >older && mkdir old && mv older old/CMakeLists.txt
    ! cmake -Wno-dev -Dbevpool_DIR="$libdir/cmake/bevpool" -S old -B old/cmake >/dev/null 2>&1
    tap_ok $? "a program for version 0.1 does not get it"
else
    tap_skip "find_package(bevpool): both targets are built" "no cmake"
fi

mkdir spaced
sed 's,^prefix=.*,prefix=/a prefix,' "$pc" >spaced/bevpool.pc
if command -v pkg-config >/dev/null; then
    eval "set -- $(PKG_CONFIG_LIBDIR=spaced pkg-config --cflags --libs bevpool)"
    [ "$1 $2" = "-I/a prefix/include -L/a prefix/lib" ]
    tap_ok $? "flags of a prefix with a space: $*"
fi

tap_run "make installcheck DESTDIR=" make_there installcheck
tap_run "make uninstall DESTDIR=" make_there uninstall
left=$(find "$root/" ! -type d)
tap_none "leaves nothing" "$left"
tap_done
