# SPDX-License-Identifier: MIT
# The manual page bevpool(3) from the library's header: each comment a paragraph, each declaration
# as it stands, each line of dashes a section.
BEGIN {
    print ".TH BEVPOOL 3 \"\" \"bevpool " version "\" \"BEV pooling\""
    print ".SH NAME\nbevpool \\- BEV pooling of camera features, on the CPU and on NVIDIA GPUs"
    print ".SH SYNOPSIS\n.nf\n#include <bevpool.h>\n\ncc $(pkg\\-config \\-\\-cflags bevpool) FILE" \
        " $(pkg\\-config \\-\\-libs bevpool)\n.fi\n.SH DESCRIPTION"
}

function plain(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    return line ~ /^[.']/ ? "\\&" line : line
}

# Switches between running text and lines as they stand.
function mode(wanted) {
    if (wanted != now && now == "code")
        print ".fi\n.in"
    if (wanted != now && wanted == "code")
        print ".PP\n.in +4\n.nf"
    now = wanted
}

/SPDX-License-Identifier/ { next }
/^#(if|endif|pragma|include|ifndef)/ || /^#define BEVPOOL_H/ || /^extern "C"/ || /^}$/ { next }

/^\/\* ---- / {
    mode("text")
    sub(/^\/\* -+ /, "")
    sub(/ -+ \*\/$/, "")
    print ".SH " toupper($0)
    next
}

# A comment at the beginning of a line.
/^\/\*/ {
    mode("text")
    print ".PP"
    comment = 1
    sub(/^\/\* ?/, "")
}

comment {
    last = /\*\/$/
    sub(/ ?\*\/$/, "")
    sub(/^ \* ?/, "")
    if ($0 ~ /^    /)
        print ".nf\n" plain($0) "\n.fi"
    else if ($0 == "")
        print ".PP"
    else
        print plain($0)
    comment = !last
    next
}

# A blank line separates declarations.
/^$/ { gap = now == "code"; next }

{
    if (gap && now == "code")
        print ""
    mode("code")
    print plain($0)
    gap = 0
}

END {
    mode("text")
    print ".SH SEE ALSO\n.BR bevscope (1)"
}
