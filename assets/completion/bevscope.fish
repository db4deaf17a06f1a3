# SPDX-License-Identifier: MIT
# fish completion for bevscope, which says itself what may stand there; files as well.
complete -c bevscope -a '(bevscope --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
