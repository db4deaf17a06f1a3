# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034
# The library as installed in a scratch prefix, for tests that build programs with it. Sourced after
# tap.sh; sets src, build, folder, root, header, pc and libdir, and defines what is below.
src=$(cd "${SRCDIR:-.}" && pwd) || exit 1
build=$(cd "${BUILDDIR:-.}" && pwd) || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/root
unset MAKEFLAGS MFLAGS MAKELEVEL

# The folder has a space in its name; `root` is a link, which pkg-config's output may name unquoted.
make_there() {
    make -C "$build" "$@" DESTDIR="$folder/a root" >"$folder/log" 2>&1 || { sed 's/^/# /' "$folder/log" && false; }
}
tap_run "make install DESTDIR=" make_there install
ln -s "a root" "$root"

header=$(find "$root/" -name bevpool.h -path '*/include/bevpool.h')
pc=$(find "$root/" -name bevpool.pc)
libdir=$(dirname "$(dirname "$pc")")
[ -n "$header" ] && [ -n "$pc" ]
tap_ok $? "there are a header and bevpool.pc"

# flags OPTION...: what pkg-config says, with the scratch prefix before its paths.
flags() {
    PKG_CONFIG_LIBDIR="$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" \
        PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 pkg-config "$@" bevpool
}

# What the samples pool.c and pool.cu say.
cat >"$folder/expected" <<'END'
cell 0: 10.5 21 31.5
cell 1: 0.5 1 1.5
cell 2: 0 0 0
cell 3: 101 202 303
END
says_expected() { # COMMAND...: its output is that of the sample
    "$@" >"$folder/said" 2>&1
    status=$?
    cmp -s "$folder/said" "$folder/expected" || sed 's/^/# /' "$folder/said"
    [ $status = 0 ] && cmp -s "$folder/said" "$folder/expected"
}

# on_gpu NAME PROGRAM: it says what is expected, or exits with 77 where there is no GPU.
on_gpu() {
    LD_LIBRARY_PATH=$libdir "$2" >"$folder/said" 2>&1
    if [ $? = 77 ]; then
        tap_skip "$1" "$(head -n 1 "$folder/said")"
    else
        LD_LIBRARY_PATH=$libdir says_expected "$2"
        tap_ok $? "$1"
    fi
}
