# SPDX-License-Identifier: MIT
libscales_a_SOURCES = %D%/cuts.c %D%/histogram.c %D%/ranges.c
