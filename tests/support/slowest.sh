#!/bin/sh
# SPDX-License-Identifier: MIT
# slowest.sh LOG...: how long the programs of a run took, and which of their suites took longest. A
# script is a program of one suite.
lines() { # SECONDS NAME, of all suites, or of all programs
    for log; do
        [ ! -f "$log" ] || awk -v program="${log%.log}" -v all="$of" '
            $1 == "#" && $2 == "suite" && NF == 5 {
                total += $4
                if (all == "suites") printf "%8.2f s  %s\n", $4, program == $3 ? $3 : program ": " $3
            }
            END { if (all == "programs" && total) printf "%8.2f s  %s\n", total, program }' "$log"
    done | sort -rn | head -n 10
}
of=programs
echo "# The ten slowest programs of tests:"
lines "$@"
of=suites
echo "# The ten slowest suites:"
lines "$@"
