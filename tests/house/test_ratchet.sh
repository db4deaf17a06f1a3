#!/bin/sh
# SPDX-License-Identifier: MIT
# The house does not grow: each folder of kernels, src and tests has a budget of lines in ratchet.txt.
# Lines have at most 100 columns, as .clang-format has it.
. "${SRCDIR:-.}/tests/support/tap.sh"
cd "${SRCDIR:-.}" || exit 1
table=tests/house/ratchet.txt

# Every file of kernels and src counts; of tests only programs and scripts do. A line that names the
# licence is not counted.
counted() {
    find kernels src -type f ! -path '*/.*' ! -path '*/__pycache__/*' ! -name '*.[oa]' ! -name '*.tmp'
    find tests -type f ! -path '*/.*' ! -path '*/__pycache__/*' \
        \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \)
}

# ratchet TABLE: one line for each folder that breaks its budget, for each row that says nothing.
ratchet() {
    counted | tr '\n' '\0' | xargs -0 awk '
        FNR == 1 { folder = FILENAME; sub("/[^/]*$", "", folder) }
        !/SPDX-License-Identifier/ { lines[folder]++ }
        END { for (folder in lines) print folder, lines[folder] }' |
        awk '
        FNR == NR && (/^#/ || !NF) { next }
        FNR == NR && $1 == "raised" {
            if (NF < 6) print "raised " $2 ": say what was taken out for it"
            budget[$2] += $3
            next
        }
        FNR == NR { budget[$1] += $2; rows++; next }
        { found[$1] = 1 }
        !($1 in budget) { print $1 ": " $2 " lines and no row in the table"; next }
        $2 > budget[$1] { print $1 ": " $2 " lines, the budget is " budget[$1] }
        END {
            if (!rows) print "the table has no rows"
            for (folder in budget) if (!(folder in found)) print folder ": a row and no folder"
        }' "$1" -
}

tap_none 'no folder has more lines than its budget' "$(ratchet $table)"

# The ratchet bites.
tight=$(mktemp)
sed 's/^src\/base .*/src\/base 1/; /^src\/run /d; /^raised src\/run /d' $table >"$tight"
echo 'raised src/base 5' >>"$tight"
found=$(ratchet "$tight" | sort | sed 's/[0-9][0-9]*/N/g')
rm -f "$tight"
[ "$found" = 'raised src/base: say what was taken out for it
src/base: N lines, the budget is N
src/run: N lines and no row in the table' ]
tap_ok $? 'a folder above its budget, a folder without a row and a row without a reason are found'

long=$(counted | grep -E '\.(c|h|cu|cuh|inc|cpp|hpp)$' | LC_ALL=C.UTF-8 xargs grep -nE '^.{101,}$' |
    cut -c 1-100)
tap_none 'no line of C is longer than 100 columns' "$long"

tap_done
