#!/bin/sh
# SPDX-License-Identifier: MIT
# The wheel: installed by pip, without the source tree, it passes what NumPy's users see, and the story of a
# stranger who brings a network of PyTorch. Above 10 s: each PyTorch is started in six processes.
. "${SRCDIR:-.}/tests/support/tap.sh"
TAP_SLOW=$((5 * ${TAP_SLOW:-1}))
tap_library
python=$(tap_having numpy)
[ -n "$python" ] || tap_skip_all "no Python with NumPy (python3-numpy)"
env -u MAKEFLAGS -u MFLAGS "$python" "$SRCDIR/samples/torch/build_backend.py" "${BUILDDIR:-.}" "$folder" \
    >"$folder/said" 2>&1
tap_ok $? "a wheel is made: $(tail -n 1 "$folder/said")"
wheel=$(echo "$folder"/bevpool-*-py3-none-*.whl)
# CUDA's runtime, which is linked in, calls what the glibc of this system has.
case $wheel in
*-manylinux_2_28_x86_64.whl) ;;
*-manylinux_2_*_x86_64.whl) "$BEVSCOPE" --version | grep -q 'CUDA kernels: yes' ;;
*) [ "$(uname -m)" != x86_64 ] ;;
esac
tap_ok $? "for systems from glibc 2.28 on; with CUDA, from this one's: ${wheel##*/}"
mkdir "$folder/again"
env -u MAKEFLAGS -u MFLAGS "$python" "$SRCDIR/samples/torch/build_backend.py" "${BUILDDIR:-.}" "$folder/again" \
    >"$folder/said" 2>&1 && cmp "$wheel" "$folder/again/$(basename "$wheel")"
tap_ok $? "made again it has the same bytes"
unset BEVPOOL_LIBRARY
export PYTHONPATH="$folder/site:$SRCDIR/tests/support"
if ! "$python" -m pip install -q --no-index --no-deps --target "$folder/site" "$wheel" >"$folder/said" 2>&1; then
    echo "# no pip: unpacked"
    "$python" -m zipfile -e "$wheel" "$folder/site" >"$folder/said" 2>&1
fi
ls "$folder"/site/bevpool/py.typed "$folder"/site/bevpool-*.dist-info/licenses/COPYING \
    "$folder"/site/bevpool-*.dist-info/licenses/NOTICE >/dev/null
tap_ok $? "installed, with its hints and its licences: $(tail -n 1 "$folder/said")"
cd "$folder" || exit 1
tap_judged "$python" test_lib_python.py numpy
export OMP_NUM_THREADS=1
torches=$(tap_torches)
for python in $torches; do
    rm -rf "$folder/story" && mkdir "$folder/story"
    tap_judged "$python" test_stranger.py "$folder/story"
done
[ -n "$torches" ] || tap_skip "the stranger's story" "no Python with torch and NumPy"
tap_done
