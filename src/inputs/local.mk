# SPDX-License-Identifier: MIT
libinputs_a_SOURCES = %D%/calibration.c %D%/inputs.c %D%/job.c %D%/moments.c
