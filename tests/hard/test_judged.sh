#!/bin/sh
# SPDX-License-Identifier: MIT
# The moment at which the display judges errors is the one of a scene where FP16 errs most, of all that are
# half a second apart.
. "${SRCDIR:-.}/tests/support/tap.sh"
for file in "$SRCDIR"/samples/*.json; do
    judged=$(sed -n 's/.*"judged_s": \([0-9.]*\),.*/\1/p' "$file")
    [ -n "$judged" ] || continue
    loop=$(sed -n 's/.*"loop_s": \([0-9]*\),.*/\1/p' "$file")
    worst=$("$BEVSCOPE" verify "$file" -k cpu_v4 -d fp16 -a nearest --moments $((2 * loop)) -f csv |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i } NR == 2 { print $column["max_abs_at_s"] }')
    awk "BEGIN { exit !($judged == ${worst:-(-1)}) }"
    tap_ok $? "$(basename "$file"): judged at $judged s, the worst of $((2 * loop)) is at ${worst:-none} s"
done
tap_done
