# SPDX-License-Identifier: MIT
liblive_a_SOURCES = %D%/background_job.c %D%/engine.c %D%/engine_idle.c \
	%D%/engine_verdicts.c %D%/grid_facts.c %D%/inputs_gradients.c %D%/inputs_steps.c \
	%D%/live_gpu.c %D%/live_model.c %D%/measure.c %D%/pipeline.c %D%/timed_kernel.c
