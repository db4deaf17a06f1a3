# SPDX-License-Identifier: MIT
libinputs_a_SOURCES = %D%/calibration.c %D%/job.c %D%/loaded.c %D%/map.c %D%/seen.c \
	%D%/workload.c
