# SPDX-License-Identifier: MIT
librun_a_SOURCES = %D%/bench.c %D%/counters.c %D%/cuda/driver.c \
	%D%/cuda/nvrtc.c %D%/machine.c %D%/recorded.c %D%/session.c
if HAVE_CUDA
librun_a_SOURCES += %D%/cuda/device.cu %D%/cuda/probe.cu \
	%D%/cuda/scatter_cuda.cu %D%/cuda/session_cuda.cu %D%/cuda/session_graph.cu
endif
if HAVE_CUPTI
librun_a_SOURCES += %D%/cuda/counters_cupti.cu
endif
