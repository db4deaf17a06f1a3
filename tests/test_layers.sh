#!/bin/sh
# A layer includes only the layers below it: the table in README.md, "Layout".
. "${SRCDIR:-.}/tests/tap.sh"
cd "${SRCDIR:-.}" || exit 1

# layer FOLDER ALLOWED...: complains about any other project header.
layer() {
    folder=$1
    shift
    allowed="$folder/"
    for other in "$@"; do allowed="$allowed|$other"; done
    found=$(grep -nE '^#include "(kernels|src|assets)/' "$folder"/*.[ch]* |
        grep -vE "#include \"($allowed)") || true
    [ -z "$found" ] || echo "$found" | sed 's/^/# /'
    [ -z "$found" ]
    tap_ok $? "$folder includes nothing above it"
    [ -n "$(ls "$folder"/*.c)" ]
    tap_ok $? "$folder has sources"
}

layer kernels
layer src/model kernels/bevpool.h kernels/codec.h kernels/err.h kernels/vector.h assets/
layer src/bench kernels/ src/model/
layer src/view src/model/ kernels/bevpool.h kernels/err.h kernels/regime.h kernels/vector.h assets/

# Toolkits stay where they belong.
only() { # PATTERN FOLDER: the pattern occurs in that folder only
    found=$(grep -lE "$1" kernels/*.[ch] src/*.c src/*/*.[ch] | grep -v "^$2") || true
    [ -z "$found" ] || echo "# $found"
    [ -z "$found" ]
    tap_ok $? "$1 only in $2"
}
only '#include <(ncurses|curses|SDL)' src/ui/
only '#include <cairo' src/view/
only '#include <zip.h>' src/model/
tap_done
