# SPDX-License-Identifier: MIT
# The contract, the table, the kernels. Without CUDA a kernel of the GPU is compiled as plain C: its
# row alone (cuda/row.h).
libkernels_a_SOURCES = %D%/bevpool.c %D%/clean.c %D%/cpu/cpu.c %D%/cpu/cpu_atomic.c \
	%D%/cpu/cpu_grad.c %D%/cpu/cpu_grad_owner.c %D%/cpu/cpu_grad_v4.c %D%/cpu/cpu_race.c \
	%D%/cpu/cpu_v2.c %D%/cpu/cpu_v2_bevdet.c %D%/cpu/cpu_v2_do.c %D%/cpu/cpu_v3.c %D%/cpu/cpu_v4.c \
	%D%/cpu/cpu_view.c %D%/cpu/cpu_view_parts.c %D%/cpu/grad_reference.c \
	%D%/cpu/reference.c %D%/injected_bugs.c %D%/err.c %D%/injected_grad_bugs.c %D%/regime.c %D%/threads.c \
	%D%/tiles.c %D%/traffic.c %D%/variants.c
libkernels_a_SOURCES += %D%/cuda/atomic.cu %D%/cuda/bev_align.cu %D%/cuda/block_atomic.cu \
	%D%/cuda/grad_atomic.cu %D%/cuda/grad_block.cu %D%/cuda/grad_owner.cu %D%/cuda/grad_sort.cu \
	%D%/cuda/grad_v2_bevdet.cu %D%/cuda/grad_v4/grad_v4.cu %D%/cuda/race.cu %D%/cuda/transpose.cu \
	%D%/cuda/v2.cu %D%/cuda/v2_bevdet.cu %D%/cuda/v2_chw.cu %D%/cuda/v2_do.cu %D%/cuda/v3.cu \
	%D%/cuda/v3_compact.cu %D%/cuda/v3_large_l2.cu %D%/cuda/v3_small_l2.cu %D%/cuda/v4/v4.cu \
	%D%/cuda/view_parts.cu
