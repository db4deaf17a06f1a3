# SPDX-License-Identifier: MIT
# Test Anything Protocol for shell tests; source it. The counterpart of tap.h.
tap_count=0
tap_begun=$(date +%s%N)
tap_failures=0
tap_laters=0

# tap_ok STATUS NAME
tap_ok() {
    tap_count=$((tap_count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $tap_count - $2"
    else
        tap_failures=$((tap_failures + 1))
        echo "not ok $tap_count - $2"
    fi
}

# tap_run NAME COMMAND...: passes when the command does.
tap_run() {
    tap_name=$1
    shift
    "$@"
    tap_ok $? "$tap_name"
}

# tap_has NAME FILE PATTERN...: the file has each extended pattern, and none that stands behind a "!"; @FILE
# goes on in another file.
tap_has() {
    tap_name=$1 tap_file=$2 tap_status=0
    shift 2
    for tap_words; do
        case $tap_words in
        @*) tap_file=${tap_words#@} ;;
        !*) ! grep -qE -e "${tap_words#!}" "$tap_file" ;;
        *) grep -qE -e "$tap_words" "$tap_file" ;;
        esac || { tap_status=1 && echo "# $tap_file: $tap_words"; }
    done
    tap_ok $tap_status "$tap_name"
}

# tap_none NAME TEXT: passes where there is no text, which says what is wrong.
tap_none() {
    [ -z "$2" ] || echo "$2" | sed 's/^/# /'
    [ -z "$2" ]
    tap_ok $? "$1"
}

tap_skip() { # NAME REASON
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

tap_skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# tap_python MODULES PACKAGES: sets python to one that has the modules ("numpy, PIL"); without any, all is
# skipped, with PACKAGES as the reason.
tap_python() {
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && return
    done
    tap_skip_all "no Python with $2"
}

# tap_relay PREFIX: the checks on standard input, as checks of this test; skipped ones stay so.
tap_relay() {
    while read -r tap_line; do
        case $tap_line in
        "ok "*) tap_ok 0 "$1${tap_line#* - }" ;;
        "not ok "*) tap_ok 1 "$1${tap_line#* - }" ;;
        "#"*) echo "$tap_line" ;;
        esac
    done
}

# tap_library: what Python tests of libbevpool need: its file, and a Python that can load it.
tap_library() {
    export PYTHONDONTWRITEBYTECODE=1
    BEVPOOL_LIBRARY=$(ls "${BUILDDIR:-.}"/lib/libbevpool.so.*.*)
    export BEVPOOL_LIBRARY
    [ -z "${SANITIZED:-}" ] || tap_skip_all "Python loads no library with AddressSanitizer"
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
}

# tap_having MODULES: prints the first Python that has them. ONNX_PYTHON and TORCH_PYTHON name more to try.
tap_having() {
    for python in ${ONNX_PYTHON:-} ${TORCH_PYTHON:-} python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && echo "$python" && return
    done
}

# tap_torches: prints the Pythons that have PyTorch and NumPy, each PyTorch once. One thread each: the pools of
# threads of PyTorch and of libbevpool wait for each other on two cores.
tap_torches() {
    tap_found=
    for python in ${TORCH_PYTHON:-} ${ONNX_PYTHON:-} python3 /usr/bin/python3; do
        tap_torch=$("$python" -c 'import numpy, torch; print(torch.__file__)' 2>/dev/null) || continue
        case "$tap_found" in *"$tap_torch"*) continue ;; esac
        tap_found="$tap_found $tap_torch"
        echo "$python"
    done
}

# tap_judged PYTHON SCRIPT PART ARGUMENT...: each line that tests/lib/SCRIPT prints is a check.
tap_judged() {
    tap_python=$1 tap_file=$SRCDIR/tests/lib/$2 tap_name=$3
    shift 2
    "$tap_python" "$tap_file" "$@" >"$folder/said" 2>"$folder/errors"
    tap_status=$?
    tap_relay "" <"$folder/said"
    [ $tap_status = 0 ] || sed 's/^/# /' "$folder/errors"
    tap_ok $tap_status "$tap_name: ended well"
}

# tap_folder: makes a folder that goes when the test ends, and enters it.
tap_folder() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    cd "$folder" || exit 1
}

# tap_wait COMMAND...: waits until the command passes, at most a minute.
tap_wait() {
    tap_tries=0
    until "$@" || [ $tap_tries = 1200 ]; do
        tap_tries=$((tap_tries + 1))
        sleep 0.05
    done
    "$@"
}

# tap_street NAME [4]: writes NAME.json, the intersection with a quarter of its pixels, cells and depths
# on each side: the same world, quickly cast and pooled; its images are $image_w x $image_h. With
# WHOLE=1 (tests/hard/test_whole.sh) it is the intersection as it is.
tap_street() {
    tap_part=${2:-4}
    [ -z "$WHOLE" ] || tap_part=1
    image_w=$((704 / tap_part)) image_h=$((256 / tap_part))
    sed -e "s/\"resize\": 0.44/\"resize\": 0.$((44 / tap_part))/; s/\[704, 256\]/[$image_w, $image_h]/
        s/\"crop_px\": \[0, 140\]/\"crop_px\": [0, $((140 / tap_part))]/; s/\[1, 60, 1\]/[1, 60, $tap_part]/
        s/\"features\": \[44, 16\]/\"features\": [$((44 / tap_part)), $((16 / tap_part))]/
        s/\"cells\": \[200, 200\]/\"cells\": [$((200 / tap_part)), $((200 / tap_part))]/" \
        "$SRCDIR/samples/intersection.json" >"$1.json"
    [ "$tap_part" = 1 ] || sed -i 's/"channels": 80/"channels": 16/' "$1.json"
}

# tap_numpy [PIL]: what tests beside NumPy begin with: $python has it and the modules of tests/data and samples,
# in a folder with a street.json.
tap_numpy() {
    export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/samples:$SRCDIR/tests/data:$SRCDIR/tests/support"
    tap_python "numpy${1:+, $1}" "NumPy${1:+ and Pillow} (python3-numpy${1:+ python3-pil})"
    tap_folder
    tap_street street
}

# tap_include NAME COMMAND...: the checks of another test, as checks of this one.
tap_include() {
    tap_name=$1
    shift
    "$@" >included 2>&1
    tap_status=$?
    tap_relay "$tap_name: " <included
    tap_ok $tap_status "$tap_name: to its end"
}

# tap_keys FILE "LINE; LINE...": writes a script of the display.
tap_keys() {
    echo "$2" | sed 's/^ *//; s/;$//; s/; */\n/g' >"$1"
}

# tap_quiet COMMAND...: its output goes into the file out.
tap_quiet() {
    "$@" >out
}

# tap_one_line FILE: it has one line, beside those of work that took longer than 5 s here.
tap_one_line() {
    [ "$(grep -vc '^bevscope: .* s \(so far\|left\)$' "$1")" = 1 ]
}

# tap_expect STATUS PATTERN ARGUMENT...: exit status, and the one line on standard error.
tap_expect() {
    tap_wanted=$1 tap_words=$2
    shift 2
    "$BEVSCOPE" "$@" >"$folder/out" 2>"$folder/err"
    tap_got=$?
    [ $tap_got = "$tap_wanted" ] && { [ -z "$tap_words" ] ||
        { tap_one_line "$folder/err" && grep -qE -e "$tap_words" "$folder/err"; }; }
    tap_status=$?
    [ $tap_status = 0 ] || { echo "# exit $tap_got:"; sed 's/^/# /' "$folder/err"; }
    tap_ok $tap_status "bevscope $*: exit $tap_wanted $tap_words"
}

# tap_refuses WORDS NAME ARGUMENT...: the program fails with one line that contains WORDS, and writes no
# file never.*. On the CPU: a build for GPUs has a line about a missing driver.
tap_refuses() {
    tap_words=$1 tap_name=$2
    shift 2
    case $1 in
        calibrate | sensitivity) ;;
        *) set -- "$@" --device cpu ;;
    esac
    ! "$BEVSCOPE" "$@" >out 2>err && tap_one_line err && grep -qF -e "$tap_words" err &&
        [ -z "$(ls never.* 2>/dev/null)" ]
    tap_status=$?
    [ $tap_status = 0 ] || sed 's/^/# /' err
    tap_ok $tap_status "$tap_name"
}

# tap_script NAME SCRIPT: passes when the Python script does. "$imports" is put before it.
tap_script() {
    { echo "import $imports"; echo "$2"; } >script.py
    "$python" script.py >out 2>&1
    tap_status=$?
    [ $tap_status = 0 ] || sed 's/^/# /' out
    tap_ok $tap_status "$1"
}

# tap_later NAME SCRIPT: as tap_script, before the end of the test and in one Python with others.
tap_later() {
    tap_laters=$((tap_laters + 1))
    printf '%s\n' "$1" "import $imports" "$2" >later$tap_laters.py
}

# tap_spoilt SCRIPT ARGUMENT... <<TABLE: each line of the table, "WORDS | NAME | CODE", is a tap_refuses in a
# folder of its own, in which Python has run the script with CODE in place of its word CODE.
tap_spoilt() {
    tap_script=$1 tap_number=0
    shift
    cat >table
    "$python" "$SRCDIR/tests/support/tap.py" spoilt "$tap_script" <table || tap_ok 1 "the files of a table"
    while read -r tap_line <&3; do
        tap_number=$((tap_number + 1)) tap_name=${tap_line#* | }
        cd spoilt$tap_number || return
        tap_refuses "${tap_line%% | *}" "${tap_name%% | *}" "$@"
        cd ..
    done 3<table
    rm -rf spoilt*
}

# tap_in_python FILE: the checks are those of a Python script of tests/data, which prints
# them itself.
tap_in_python() {
    "$python" "$SRCDIR/tests/data/$1" "$BEVSCOPE" "$folder" 2>errors
    tap_status=$?
    [ $tap_status = 0 ] || sed 's/^/# /' errors
    tap_time
    exit $tap_status
}

# tap_make VARIABLE...: their values in the Makefile of this build, a line each.
tap_make() {
    { printf 'include Makefile\nshow-it: ; @:' && printf '$(info $(%s))' "$@" && echo; } |
        env -u MAKEFLAGS -u MFLAGS make -s --no-print-directory -C "${BUILDDIR:-.}" -f - show-it
}

tap_done() {
    if [ "$tap_laters" -gt 0 ]; then
        # shellcheck disable=SC2046
        "$python" "$SRCDIR/tests/support/tap.py" later $(seq -f later%g.py "$tap_laters") >out 2>&1 ||
            tap_ok 1 "the scripts ran"
        tap_relay "" <out
    fi
    [ "$tap_count" -gt 0 ] || tap_ok 1 "no check ran"
    echo "1..$tap_count"
    tap_time
    [ "$tap_failures" = 0 ]
    exit
}

# tap_time: says how long the test took; before an exit of its own. A test of the first ring fails beyond
# two minutes; TAP_SLOW is a whole factor for slow machines.
tap_time() {
    tap_ms=$((($(date +%s%N) - tap_begun) / 1000000))
    tap_name=${0##*/}
    printf '# suite %s %d.%02d s\n' "${tap_name%.sh}" $((tap_ms / 1000)) $((tap_ms % 1000 / 10))
    [ "${RING:-}" = hard ] || [ $tap_ms -lt $((120000 * ${TAP_SLOW:-1})) ] ||
        { echo "Bail out! took longer than two minutes" && exit 1; }
}
