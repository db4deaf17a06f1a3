# SPDX-License-Identifier: MIT
libbase_a_SOURCES = %D%/clock.c %D%/refuse.c %D%/units.c
if TOOL
libbase_a_SOURCES += %D%/data.c %D%/json_fields.c %D%/kernel_config.c %D%/load.c %D%/mem_pool.c \
	%D%/nearest.c %D%/omp_wait.c %D%/progress.c %D%/ref.c %D%/rescue.c %D%/srgb.c \
	%D%/worker.c
endif
