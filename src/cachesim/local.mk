# SPDX-License-Identifier: MIT
libcachesim_a_SOURCES = %D%/findings.c %D%/gpus.c %D%/limits.c %D%/memory_model.c %D%/metrics.c \
	%D%/network.c %D%/predict.c %D%/reuse.c %D%/schedule.c %D%/steps.c %D%/timeline.c \
	%D%/trace.c %D%/trace_memory.c %D%/trace_owners.c %D%/trace_tiles.c
