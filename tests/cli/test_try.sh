#!/bin/sh
# SPDX-License-Identifier: MIT
# bevscope try: kernels that are right, wrong, or worse. Each ends with the right exit status and one
# line that says why, and leaves nothing behind: no temporary folder, no process, no file.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
mkdir tmp
TMPDIR=$folder/tmp
OMP_NUM_THREADS=2
export TMPDIR OMP_NUM_THREADS
unset CFLAGS
[ -n "$CC" ] || unset CC
command -v "${CC%% *}" >/dev/null || tap_skip_all "there is no C compiler"
asan=no
grep -q __asan_init "$BEVSCOPE" && asan=yes

# kernel NAME CODE: a file with the sample's kernel under the name `right`, and the code behind it.
kernel() {
    sed 's/^void pool/static void right/' "$SRCDIR/samples/try/pool.c" >"$1.c"
    printf '#include <assert.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n' >>"$1.c"
    printf '#include <unistd.h>\n%s\n' "$2" >>"$1.c"
}

# judge STATUS PATTERN FILE OPTIONS...: exit status, a line of either output, and nothing left.
judge() {
    status=$1 pattern=$2
    shift 2
    timeout 300 "$BEVSCOPE" try "$@" --quiet >out 2>err
    got=$?
    says "$1" "$pattern"
}

# says FILE PATTERN: of what judge has run.
says() {
    [ $got = "$status" ] && cat out err | grep -qE -e "$2" && [ -z "$(ls -A tmp)" ] &&
        { [ "$status" = 0 ] || [ "$(grep -c '^bevscope: ' err)" = 1 ]; }
    ok=$?
    [ $ok = 0 ] || { echo "# exit $got instead of $status, in tmp: $(ls tmp)"; sed 's/^/# /' out err; }
    tap_ok $ok "$1: exit $status, $2"
}

# body STATUS PATTERN NAME STATEMENTS [LIMIT]: a kernel that is right, and then does that.
body() {
    kernel "$3" "void pool(const Pool *p) { right(p); $4 }"
    judge "$1" "$2" "$3.c" toy -q --limit "${5:-60}"
}

# ---- right ---------------------------------------------------------------------------------------

"$BEVSCOPE" try --new mine.c >out && cmp -s mine.c "$SRCDIR/samples/try/pool.c"
tap_ok $? "--new writes the sample"
judge 1 'there is such a file already' --new mine.c
judge 0 'All [0-9]+ cases are right; two runs gave the same bits' mine.c toy -q --limit 60
[ ! -s err ] || { sed 's/^/# /' err && false; }
tap_ok $? "the sample compiles without a word"
[ "$(grep -cE '^(V2|V2.DO|V3|V4|yours) +[0-9.]+ +([0-9.]+|n/a) +(yes|no)$' out)" -ge 5 ] && grep -q '^yours ' out
tap_ok $? "a row for each kernel of the ladder, and for yours"
CFLAGS=-O0 # from here on the speed of a kernel does not matter
export CFLAGS

# ---- wrong: status 3, and what is wrong ------------------------------------------------------------

# wrong NAME STATEMENTS: a kernel that is wrong in another way in each of the first cases: which(p) is 0 in
# no_points, 1 in one_point, 2 in one_cell and later, but 3 in one_per_cell. Three cases are told in a line each.
wrong() {
    kernel "$1" "static int which(const Pool *p) {
    return p->points < 2 ? (int)p->points : p->intervals < p->points ? 2 : 3;
}
void pool(const Pool *p) { $2 }"
    judge 3 '^WRONG  no_points' "$1.c" toy -q --limit 60
}
wrong places 'right(p);
    if (which(p) == 1) p->out[p->cells * p->channels] = 1;
    else if (which(p) == 2) p->out[-1] = 1;
    else p->out[p->cells * p->channels / 2] += 1;'
says places 'no_points: gate A: 1 of 11440 values wrong, .* cell 71, channel 40: 1 instead of 0'
grep -q '^ *\.*x\.*$' out && grep -qE ': [23][0-9] of [23][0-9] cases wrong' err
tap_ok $? "the wrong cell is shown on a map"
says places 'WRONG  one_point: it accessed out\[11440\], after the end of out'
says places 'WRONG  one_cell: it wrote out\[-1\], before the start of out'
wrong inputs 'right(p);
    volatile int cell = which(p) ? 0 : p->ranks_bev[p->points];
    if (which(p) == 1) ((float *)p->depth)[3] = 1 + cell;
    else if (which(p) == 2) p->out[-5000] = 1;'
says inputs 'it accessed ranks_bev\[0\], after the end of ranks_bev'
says inputs 'WRONG  one_point: it wrote to an input, depth\[3\]'
says inputs 'it accessed out\[-5000\], before the start of out'
! grep -q '^WRONG  one_per_cell' out
tap_ok $? "cases in which it does not do so are right"
wrong values 'Pool q = *p;
    q.points -= which(p) == 2;
    if (which(p)) right(&q);
    if (which(p) & 1) p->out[0] = (float)strtod("nan", NULL);'
says values 'was this element written'
says values 'one_point: gate A: 1 of 11440 .* NaN instead of 0'
says values 'WRONG  one_cell: gate C'

# ---- worse: status 1, and what happened ------------------------------------------------------------

body 1 'case [a-z_]+: it did not end within 0.3 s' loop 'for (;;) __asm__ volatile("");' 0.3
body 1 'it did not end within 0.3 s' sleeps 'for (;;) sleep(100);' 0.3
body 1 'it did not end within 0.3 s' flood 'for (;;) puts("words, words, words");' 0.3
grep -qE '\([0-9]{7,} more bytes are cut\)' out && [ "$(wc -c <out)" -lt 4000 ]
tap_ok $? "what it prints is cut"
body 1 'it crashed: .*through a NULL pointer' null '*(volatile int *)0 = 1;'
body 1 'an address outside of every array' wild '*(volatile int *)0x123456789000 = 1;'
body 1 'case no_points: it crashed: Aborted' aborts 'abort();'
body 1 "Assertion .*p->points > 5" asserts 'assert(p->points > 5);'
if [ $asan = yes ]; then
    tap_skip "exit" "AddressSanitizer looks for leaks then, in a process that is refused"
else
    body 1 'case one_cell: it ended the program itself, with exit status 0' exits \
        'if (p->points > 10) exit(0);'
fi
body 1 'it ended the program itself, with exit status 0' exits_now '_exit(0);'
body 1 'it was ended by a signal: Killed' kills_itself 'kill(getpid(), SIGKILL);'
if [ $asan = yes ]; then
    tap_skip "memory without end" "AddressSanitizer reserves more address space than a limit allows"
else
    body 1 'it crashed: Aborted' memory \
        'for (;;) { char *more = malloc(1 << 24); if (!more) abort(); more[0] = 1; }'
fi
body 1 'it crashed: Aborted' forges 'char line[256]; int *report = NULL;
    for (FILE *maps = fopen("/proc/self/maps", "r"); !report && fgets(line, sizeof line, maps);)
        if (strstr(line, "memfd:job") && strstr(line, " 00000000 ")) report = (int *)strtoul(line, 0, 16);
    report[0] = 7; report[1] = 2147483647; report[2] = 1; report[3] = 1 << 30; _exit(0);'

# ---- it does not even compile ------------------------------------------------------------------------

printf '#include "pool.h"\n\nvoid pool(const Pool *p) {\n    p->out[0] = 0\n}\n' >syntax.c
judge 1 '^bevscope: syntax.c:4: does not compile' syntax.c toy
tap_has "the compiler's own words are shown" err '^syntax.c:4:.* error:'
printf '#include "pool.h"\nvoid helper(void);\nvoid pool(const Pool *p) {\n    helper();\n}\n' >undefined.c
judge 1 '^bevscope: undefined.c:4: does not compile' undefined.c toy
printf '#include "pool.h"\nvoid pol(const Pool *p) { p->out[0] = 0; }\n' >misnamed.c
judge 1 'misnamed.c: has no function void pool' misnamed.c toy
judge 1 'No such file' none.c toy
judge 2 'name ends in .c or .cu' mine.cpp toy
judge 2 'usage: bevscope try' --limit 3
judge 2 'not a number from' mine.c toy --limit 0
(
    unset CC
    PATH=$folder/nothing
    "$BEVSCOPE" try mine.c toy 2>err >out
    echo $? >status
)
[ "$(cat status)" = 4 ] && grep -q 'there is no C compiler: .*cc' err
tap_ok $? "no compiler on PATH: exit 4"
"$BEVSCOPE" --try-runner 2>err
[ $? = 2 ] && [ "$(wc -l <err)" = 1 ]
tap_ok $? "nobody else starts the runner"

# ---- CUDA --------------------------------------------------------------------------------------------

# cuda STATUS PATTERN NAME TEXT: a file in CUDA with that kernel.
cuda() {
    printf '#include "pool.h"\n%s\n' "$4" >"$3.cu"
    judge "$1" "$2" "$3.cu" toy -q --limit 20
}
"$BEVSCOPE" try --new mine.cu >out && cmp -s mine.cu "$SRCDIR/samples/try/pool.cu"
tap_ok $? "--new writes the sample in CUDA"
if ! "$BEVSCOPE" --version | grep -q 'CUDA kernels: yes'; then
    judge 4 'this build has no CUDA kernels' mine.cu toy
    tap_skip "kernels in CUDA" "this build has no CUDA kernels"
elif ! "$BEVSCOPE" info --device cuda >/dev/null 2>&1; then
    judge 4 'no NVIDIA driver|no GPU' mine.cu toy
    tap_skip "kernels in CUDA" "there is no GPU"
else
    head='extern "C" __global__ void pool(Pool p) { long i = blockIdx.x * (long)blockDim.x + threadIdx.x;'
    judge 0 'All [0-9]+ cases are right' mine.cu toy -q --limit 60
    cuda 3 'gate A' nothing "$head }"
    cuda 3 'outside its buffers' past "$head if (i == 0) p.out[p.cells * p.channels + 1] = 1; }"
    cuda 3 'changed its inputs' inputs "$head if (i == 0) ((float *)p.depth)[0] = 3; }"
    cuda 1 'crashed on the GPU' wild "$head if (i == 0) p.out[1L << 45] = 1; }"
    cuda 1 'did not end within 20 s' endless "$head while (*(volatile float *)p.depth < 1e30f) {} }"
    cuda 1 'syntax.cu:3: does not compile' syntax "$head
    p.out[0] = 0 }"
    cuda 1 'cannot be loaded' misnamed '__global__ void pools(Pool p) { p.out[0] = 0; }'
fi

# ---- signals and the editor --------------------------------------------------------------------------

printf '#!/bin/sh\nexec sleep 60\n' >slow-cc
kernel slow 'void pool(const Pool *p) { right(p); for (;;) sleep(1); }'
cat >signals.py <<'PY'
"""A signal ends the program as it would without it, and its processes are gone."""
import os, signal, subprocess, sys, time
mark = "BEVSCOPE_MARK=%d" % os.getpid()

def marked():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read()
        except OSError:
            continue
        if mark.encode() in words:
            found.append(command)
    return found

def waited(condition):
    end = time.time() + 30
    while not condition() and time.time() < end:
        time.sleep(0.02)
    return condition()

for phase, word, cc in ("compile", b"sleep", {"CC": os.getcwd() + "/slow-cc"}), ("run", b"--try-runner", {}):
    for name in "SIGINT", "SIGTERM":
        number = getattr(signal, name)
        child = subprocess.Popen([sys.argv[1], "try", "slow.c", "toy", "--limit", "60"],
                                 env=dict(os.environ, **dict([mark.split("=")]), **cc),
                                 preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        began = waited(lambda: any(word in command for command in marked()))
        child.send_signal(number)
        child.wait()
        good = began and waited(lambda: not marked()) and child.returncode == -number and not os.listdir("tmp")
        print("" if good else "not ", "ok - ", name, " while it is in ", phase, sep="", flush=True)
        if not good:
            print("#", began, marked(), child.returncode, os.listdir("tmp"), flush=True)
PY
chmod +x slow-cc
timeout 100 python3 signals.py "$BEVSCOPE" >log 2>errors
tap_relay "" <log
sed 's/^/# /' errors
tap_run "each signal in each phase" [ "$(grep -c 'ok - SIG' log)" = 4 ]

kernel prints 'void pool(const Pool *p) { right(p); printf("points %ld \033[31m\n", p->points); }'
"$BEVSCOPE" try prints.c toy -q --limit 60 >log 2>&1
grep -qE 'points [0-9]+ \?\[31m' log
tap_ok $? "what a right kernel prints is shown, its control characters are not obeyed"

tap_done
