#!/bin/sh
# SPDX-License-Identifier: MIT
# slowest.sh LOG...: the suites of a run that took longest. A script is a program of one suite.
echo "# The ten slowest suites:"
for log; do
    [ ! -f "$log" ] || awk -v program="${log%.log}" '
        $1 == "#" && $2 == "suite" && NF == 5 {
            printf "%8.2f s  %s\n", $4, program == $3 ? $3 : program ": " $3
        }' "$log"
done | sort -rn | head -n 10
