#!/bin/sh
# What the GPU reports about itself, read from fake management libraries that are present, absent,
# incomplete, failing or hanging.
. "${SRCDIR:-.}/tests/support/tap.sh"
tap_folder
line=$BUILDDIR/tests/nvml_line
nothing="SM nan MHz, memory nan MHz, nan C, nan of nan W, throttle ''"

# says WHAT WANTED [PCI]: the facts, and that closing did not take long.
says() {
    got=$("$line" ${3+"$3"})
    [ "$got" = "$2
closed" ]
    ok=$?
    [ $ok = 0 ] || echo "$got" | sed 's/^/# /'
    tap_ok $ok "$1"
}

# build FOLDER FLAGS...: without sanitizers; a sanitized shared object would have to be loaded first.
build() {
    mkdir "$folder/$1"
    into=$folder/$1/libnvidia-ml.so.1
    shift
    ${CC:-cc} -std=gnu11 -shared -fPIC "$@" -o "$into" "$SRCDIR/tests/run/fake_nvml.c"
}

# with LIBRARY and what says() takes
with() {
    library=$1
    shift
    LD_LIBRARY_PATH=$folder/$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} says "$@"
}

# Where the real library is installed, its absence can only be tested by hiding it from the loader.
if ldconfig -p 2>/dev/null | grep -q libnvidia-ml.so.1; then
    tap_skip 'no library' 'this machine has one'
else
    says 'no library: nothing is known' "$nothing"
fi

build full && build old -DOLD && build poor -DPOOR
tap_ok $? 'the fake libraries compile'
clocks='SM 1980 MHz, memory 2619 MHz'
rest='41 C, 131.5 of 700 W'
with full 'all of it, of the first GPU' "$clocks, $rest, throttle 'none'"
with full 'and by its PCI address' "$clocks, $rest, throttle 'none'" 0000:1b:00.0
with full 'another address is no GPU' "$nothing" 0000:99:00.0
FAKE_NVML_REASONS=0x1 with full 'idle' "$clocks, $rest, throttle 'idle'"
FAKE_NVML_REASONS=0x44 with full 'two reasons at once' "$clocks, $rest, throttle 'power cap, thermal'"
FAKE_NVML_REASONS=0x4000 with full 'a reason of later drivers' "$clocks, $rest, throttle 'reason 0x4000'"
FAKE_NVML_REASONS=0x20 with old 'the older name of the reasons' "$clocks, $rest, throttle 'thermal'"
with poor 'missing symbols' "$clocks, nan C, nan of nan W, throttle 'none'"
FAKE_NVML_INIT=9 with full 'it does not start' "$nothing"
FAKE_NVML_HANDLE=6 with full 'no such GPU' "$nothing"
FAKE_NVML_STATUS=3 with full 'nothing is supported' "$nothing"
FAKE_NVML_HANG=60 with full 'it hangs: nobody waits' "$nothing"
tap_done
