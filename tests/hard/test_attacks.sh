#!/bin/sh
# bevscope try holds off attacks: see test_attacks.py. Each is compiled and run: half a minute.
. "${SRCDIR:-.}/tests/support/tap.sh"
src=$(cd "${SRCDIR:-.}" && pwd) || exit 1
tap_python json "Python"
command -v "${CC:-cc}" >/dev/null || tap_skip_all "there is no C compiler"
case $(uname -m)-$(grep -c '^Seccomp:' /proc/self/status) in
    x86_64-1 | aarch64-1) ;;
    *) tap_skip_all "the filter of system calls is for x86-64 and AArch64" ;;
esac
tap_folder
PYTHONPATH=$src/tests/support exec "$python" "$src/tests/hard/test_attacks.py" "$src"
