#!/bin/sh
# SPDX-License-Identifier: MIT
# The program as linked has the protections that configure found: read from its ELF file.
. "${SRCDIR:-.}/tests/support/tap.sh"

program=${BEVSCOPE:-build/bevscope}
[ -n "$(echo "${HARDENED:-}" | tr -d ' ')" ] || tap_skip_all "built without hardening"
command -v readelf >/dev/null || tap_skip_all "no readelf"

# has FLAG NAME COMMAND...: where configure chose the flag, the command finds its trace.
has() {
    flag=$1 name=$2
    shift 2
    case $HARDENED in
    *"$flag"*) "$@" && tap_ok 0 "$name" || tap_ok 1 "$name" ;;
    *) tap_skip "$name" "the compiler has no $flag" ;;
    esac
}

headers() { readelf -Wl "$program" 2>/dev/null | grep -q "$1"; }
dynamic() { readelf -Wd "$program" 2>/dev/null | grep -Eq "$1"; }
imports() { readelf -W --dyn-syms "$program" 2>/dev/null | grep -q "$1"; }
is_pie() { readelf -Wh "$program" | grep -q 'Type:.*DYN'; }
stack_not_executable() { readelf -Wl "$program" | grep 'GNU_STACK' | grep -qv 'RWE'; }
shadow_stack() { readelf -Wn "$program" 2>/dev/null | grep -q 'IBT, SHSTK\|SHSTK'; }

has -pie "the program is position-independent" is_pie
has -z,relro "relocations are read-only after start" headers GNU_RELRO
has -z,now "functions are bound at start" dynamic 'BIND_NOW|FLAGS_1.*NOW'
has -fstack-protector "the stack has canaries" imports __stack_chk_fail
has _FORTIFY_SOURCE "string functions check their bounds" imports '__.*_chk'
tap_run "the stack is not executable" stack_not_executable
# Objects of nvcc and static libraries may lack the mark, and one is enough to lose it: not judged.
shadow_stack && tap_ok 0 "control flow is marked" || tap_skip "control flow is marked" "some object lacks it"
tap_done
