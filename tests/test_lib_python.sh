#!/bin/sh
# samples/torch/bevpool.py: NumPy always, PyTorch where it is.
. "${SRCDIR:-.}/tests/tap.sh"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SRCDIR/samples/torch"
BEVPOOL_LIBRARY=$(ls "${BUILDDIR:-.}"/lib/libbevpool.so.*.*)
export BEVPOOL_LIBRARY
[ -z "${SANITIZED:-}" ] || tap_skip_all "Python loads no library with AddressSanitizer"
# having MODULE: the first Python that has it.
having() {
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && echo "$python" && return
    done
}

# judged PYTHON PART: each of its lines is a check.
judged() {
    "$1" "$SRCDIR/tests/test_lib_python.py" "$2" >"$folder/said" 2>"$folder/errors"
    status=$?
    while read -r line; do
        case $line in
        *"# SKIP"*) name=${line#*- } && tap_skip "${name% # SKIP*}" "${line#*# SKIP }" ;;
        "ok "*) tap_ok 0 "${line#*- }" ;;
        "not ok "*) tap_ok 1 "${line#*- }" ;;
        "# "*) echo "$line" ;;
        esac
    done <"$folder/said"
    [ $status = 0 ] || sed 's/^/# /' "$folder/errors"
    tap_ok $status "$2: ended well"
}

python=$(having numpy)
[ -n "$python" ] || tap_skip_all "no Python with NumPy (python3-numpy)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
judged "$python" numpy
python=$(having numpy,torch)
if [ -n "$python" ]; then
    judged "$python" torch
else
    tap_skip "PyTorch" "no Python with torch and NumPy"
fi
tap_done
