#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder is a library, and a library uses only those below it: the table here, drawn in src/README.md
# under "Where things are". Includes are checked in the sources, calls in the libraries as compiled.
. "${SRCDIR:-.}/tests/support/tap.sh"
cd "${SRCDIR:-.}" || exit 1
build=${BUILDDIR:-.}

# Folder, library, and the libraries that it may use, lowest first.
floors() {
    cat <<'TABLE'
kernels             kernels
kernels/cpu         kernels
kernels/cuda        kernels
kernels/cuda/v4     kernels
kernels/cuda/grad_v4 kernels
src/base            base      kernels
src/scales          scales    kernels base
src/scene           scene     kernels base scales
src/scene/operator  scene     kernels base scales
src/inputs          inputs    kernels base scales scene
src/lib             api       kernels base scene
src/lib/tensorrt    trt       api
src/cachesim        cachesim  kernels base
src/run             run       kernels base scene inputs cachesim
src/run/cuda        run       kernels base scene inputs cachesim
src/accuracy        accuracy  kernels base scales scene inputs cachesim run
src/try             try       kernels base scene inputs cachesim run accuracy
src/state           state     kernels base scales scene inputs cachesim
src/learn           learn     kernels base scene inputs cachesim state
src/live            live      kernels base scales scene inputs cachesim run accuracy state
src/view/draw       draw      kernels base
src/view/bev        bev       kernels base scene inputs cachesim state draw
src/app             app       kernels base scene inputs cachesim run accuracy state learn live draw bev
src/view/chart      chart     kernels base scene inputs cachesim state draw
src/view/panel      panel     kernels base scales scene inputs cachesim state draw bev chart
src/view/figure     figure    kernels base scales scene inputs cachesim state draw bev chart panel
src/view/term       term      kernels base scene inputs cachesim state draw bev chart panel
src/view/window     window    kernels base scene inputs cachesim state draw bev chart panel figure
src/ui              ui        kernels base scene inputs cachesim run accuracy state learn live app draw bev chart panel figure term window
src/cli             cli       api kernels base scales scene inputs cachesim run accuracy try state learn live app draw bev chart panel figure term window ui
TABLE
}

folder_of() { floors | awk -v library="$1" '$2 == library { print $1 }'; }

sources() { ls "$1"/*.[ch] "$1"/*.[ch]pp "$1"/*.cu "$1"/*.cuh "$1"/*.inc 2>/dev/null; }

# What a folder may include: headers of its own library and of those below it, and the assets.
may_include() { # LIBRARY LIBRARIES...
    for library in "$@"; do
        folder_of "$library"
    done | sed 's|$|/[^/"]*"|' | tr '\n' '|' | sed 's/|$//'
    echo '|assets/'
}

floors >"$build/floors.tmp"
trap 'rm -f "$build"/floors.tmp "$build"/floors.defined' EXIT

while read -r folder library below; do
    # shellcheck disable=SC2046,SC2086
    found=$(grep -nE '^ *# *include *["<](\.|kernels/|src/|assets/)' $(sources "$folder") |
        grep -vE "#include \"($(may_include "$library" $below | tr -d '\n'))") || true
    tap_none "$folder includes nothing above it" "$found"
    count=$(sources "$folder" | wc -l)
    [ "$count" -gt 0 ] && [ "$count" -le 45 ]
    tap_ok $? "$folder: $count files, one screen"
    tap_run "$folder stands in the layout of src/README.md" grep -qF "\`$folder/\`" src/README.md
done <"$build/floors.tmp"

# No folder is left out of the table.
for folder in $(find kernels src -name '*.[ch]*' -not -path '*/.deps/*' | sed 's|/[^/]*$||' | sort -u); do
    [ "$folder" = src ] || awk -v folder="$folder" '$1 == folder { found = 1 } END { exit !found }' \
        "$build/floors.tmp"
    tap_ok $? "$folder has a floor"
done

# Calls: what a library lacks is defined below it, or outside of the project.
for archive in "$build"/lib*.a; do
    name=$(basename "$archive" .a)
    nm --defined-only "$archive" 2>/dev/null |
        awk -v library="${name#lib}" 'NF == 3 && $2 ~ /[A-Z]/ { print $3, library }'
done >"$build/floors.defined"
awk '{ print $2 }' "$build/floors.tmp" | sort -u | while read -r library; do
    below=$(awk -v library="$library" \
        '$2 == library { for (i = 3; i <= NF; i++) print $i; exit }' "$build/floors.tmp" | tr '\n' ' ')
    [ -f "$build/lib$library.a" ] || continue # trt: a build without TensorRT
    nm --undefined-only "$build/lib$library.a" | awk '$1 == "U" { print $2 }' | sort -u |
        awk -v allowed=" $library $below" '
            NR == FNR { where[$1] = where[$1] " " $2; next }
            $1 in where {
                count = split(where[$1], names, " ")
                fine = 0
                for (i = 1; i <= count; i++)
                    if (index(allowed, " " names[i] " "))
                        fine = 1
                if (!fine)
                    print "lib" library " calls " $1 " of lib" where[$1]
            }' library="$library" "$build/floors.defined" -
done >"$build/floors.calls"
[ ! -s "$build/floors.calls" ] || sed 's/^/# /' "$build/floors.calls"
[ -s "$build/floors.defined" ] && [ ! -s "$build/floors.calls" ]
tap_ok $? "no library calls one above it ($(wc -l <"$build/floors.defined") symbols)"
rm -f "$build/floors.calls"
# Two libraries with a function of one name: which of them is called depends on the order of linking.
twice=$(nm --defined-only "$build"/lib*.a 2>/dev/null | awk 'NF == 3 && $2 ~ /[TDBR]/ { print $3 }' |
    sort | uniq -d)
tap_none 'no name is defined by two libraries' "$twice"

# Toolkits stay where they belong.
only() { # PATTERN FOLDER: the pattern occurs in that folder only
    found=$(grep -rlE --include='*.[ch]*' "$1" kernels src | grep -v "^$2") || true
    tap_none "$1 only in $2" "$found"
}
only '#include <(ncurses|curses|SDL)' src/ui/
only '#include <cairo' src/view/
only '#include <zip.h>' src/scene/
# The threads of OpenMP do not survive a fork: kernels/threads.h says how many a team may have.
found=$(grep -rnE --include='*.[ch]' '#pragma omp parallel|omp_get_max_threads' kernels src |
    grep -vE '^kernels/threads.c:|num_threads\((bev_|.*stage(->|\.)threads)')
tap_none 'every team takes its number of threads from kernels/threads.h' "$found"
# A test that may not be run fails where nobody looks for it.
dull=$(find tests -name 'test_*.sh' ! -perm -u+x)
tap_none 'every test script may be run' "$dull"
tap_done
