# SPDX-License-Identifier: MIT
libtry_a_SOURCES = %D%/child.c %D%/compile.c %D%/job.c %D%/judge.c %D%/runner.c
