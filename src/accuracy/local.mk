# SPDX-License-Identifier: MIT
libaccuracy_a_SOURCES = %D%/cases.c %D%/fp64.c %D%/gate_exact.c %D%/gates.c %D%/sensitivity.c %D%/verify.c
