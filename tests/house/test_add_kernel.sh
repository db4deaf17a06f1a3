#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipe in kernels/variants.c, followed in a copy of the tree: a kernel is its file and one row.
# A kernel on the CPU and the row of one on CUDA are added, nothing else is touched, and every place
# that names kernels has them. And what the recipe asks of a file: the heads of all kernels.
. "${SRCDIR:-.}/tests/support/tap.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build=${BUILDDIR:-.}
tree=$folder/tree

# ---- heads --------------------------------------------------------------------------------------
cd "${SRCDIR:-.}" || exit 1
for file in $(grep -lE '^(const BevKernel kernel_|CUDA_ROW\()' -r kernels | sort); do
    heads=$(sed '/SPDX/d; /\*\//q' "$file" | grep -oE '^(/\*| \*) +[A-Z]+  ' | tr -d '/* \n')
    [ "$heads" = IDEAWHOMEMORYCOSTLIMITSTRY ]
    tap_ok $? "$file begins with IDEA, WHO, MEMORY, COST, LIMITS and TRY"
done

# ---- two files, two rows ------------------------------------------------------------------------
mkdir -p "$tree"
cp -R kernels src "$tree"
sed -e 's/kernel_cpu_v3 = {/kernel_toy = {/' -e 's/\.name = "cpu_v3"/.name = "toy"/' \
    -e 's/\.title = "V3"/.title = "TOY"/' -e 's/\.counterpart = "[^"]*", //' \
    -e 's/\.idea = .*/.idea = "A kernel that a test adds.",/' \
    kernels/cpu/cpu_v3.c >"$tree/kernels/cpu/toy.c"
sed -e 's/CUDA_ROW(v2_bevdet)/CUDA_ROW(toy_gpu)/' -e 's/\.name = "v2_bevdet"/.name = "toy_gpu"/' \
    -e 's/\.title = "V2 (BEVDet)"/.title = "TOY GPU"/' kernels/cuda/v2_bevdet.cu >"$tree/kernels/cuda/toy_gpu.cu"
sed -e 's/ROW(cpu_v4)/ROW(cpu_v4) ROW(toy)/' -e 's/ROW(v2_do)/ROW(v2_do) ROW(toy_gpu)/' \
    kernels/variants.c >"$tree/kernels/variants.c"
changed=$(diff -rq kernels "$tree/kernels" | wc -l)
[ "$changed" = 3 ] && diff -rq src "$tree/src" >/dev/null
tap_ok $? 'two files and the table: nothing else of the tree is touched'

# ---- built with the flags of this build, linked with its libraries --------------------------------
link=$(tap_make CCLD AM_CFLAGS CFLAGS AM_LDFLAGS LDFLAGS | tr '\n' ' ')
tap_make COMPILE LIBS bevscope_OBJECTS bevscope_LDADD tests_checkbev_OBJECTS tests_checkbev_LDADD >"$folder/made"
made() { # LINE: of these values
    sed -n "$1p" "$folder/made"
}
compile=$(made 1)
compile_here() { # SOURCE OBJECT
    (cd "$build" && eval "$compile -I'$tree' -x c -c -o '$folder/$2' '$tree/$1'")
}
compile_here kernels/cpu/toy.c toy.o && compile_here kernels/cuda/toy_gpu.cu toy_gpu.o &&
    compile_here kernels/variants.c variants.o
tap_ok $? 'they compile, the CUDA kernel as plain C'
# The table is linked before the library that has the other one.
link_here() { # PROGRAM LINE
    (cd "$build" && eval "$link -o '$folder/$1' $(made "$2") '$folder/toy.o'" \
        "'$folder/toy_gpu.o' '$folder/variants.o' $(made $(($2 + 1))) $(made 2)")
}
env -u MAKEFLAGS -u MFLAGS make -s --no-print-directory -C "$build" bevscope tests/checkbev >"$folder/out" 2>&1 &&
    link_here bevscope 3 && link_here checkbev 5
tap_ok $? 'the programs link'

# ---- found --------------------------------------------------------------------------------------
found() { # PATTERN NAME COMMAND...
    pattern=$1 name=$2
    shift 2
    "$@" >"$folder/out" 2>&1
    grep -qE -e "$pattern" "$folder/out" || { head -n 5 "$folder/out" | sed 's/^/# /' && false; }
    tap_ok $? "$name"
}
bevscope=$folder/bevscope
found '^  toy +cpu +pool +forward +A kernel that a test adds' '--list has it' "$bevscope" --list
cp "$folder/out" "$folder/list"
found '^  toy_gpu +cuda +pool +forward ' '--list has the one on CUDA' cat "$folder/list"
found '[ ,]toy,' 'help has its name' "$bevscope" bench --help
found 'toy, race' 'the manual page has its name' "$bevscope" --man bench
found '^ok .*[ :]toy ' 'checkbev tries it' env RING=check "$folder/checkbev" --filter toy
grep -q '^not ok' "$folder/out"
[ $? = 1 ]
tap_ok $? 'and it passes the gates'
found '^toy,' 'bench times it' "$bevscope" bench toy --quick --device cpu --dtype fp16 \
    --kernel toy --cache warm --format csv
found '"toy"' 'verify judges it' "$bevscope" verify toy --device cpu --dtype fp16 --align nearest \
    --format json
found 'toy_gpu' 'regime simulates the one on CUDA' "$bevscope" regime toy --gpu h200
found 'needs a build with CUDA|does not run' 'which cannot be run here' \
    "$bevscope" bench toy --device cpu --kernel toy_gpu
printf 'all\ntick 0.1\nkernel toy\ntick 0.1\n' >"$folder/keys"
"$bevscope" live toy --script "$folder/keys" --frames "$folder/frames" --size 200x60 >"$folder/live" 2>&1
found '[0-9] +TOY ' 'the live table of all kernels shows it' cat "$folder/frames/frame-0001.txt"
found 'bevscope  TOY ' 'and it can be chosen there' cat "$folder/frames/frame-0002.txt"
tap_done
