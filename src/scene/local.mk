# SPDX-License-Identifier: MIT
libscene_a_SOURCES = %D%/geometry.c %D%/pool.c %D%/scatter.c %D%/scatter_check.c
if TOOL
libscene_a_SOURCES += %D%/agreement.c %D%/features.c %D%/grid_loss.c %D%/npz.c \
	%D%/objects.c %D%/operator/operator.c %D%/photos.c %D%/problem.c \
	%D%/scatter_change.c %D%/scene.c %D%/scene_json.c %D%/scene_load.c \
	%D%/scene_npz.c %D%/scene_recorded.c %D%/scene_write.c %D%/slice.c %D%/world.c
endif
if HAVE_CUDA
libscene_a_SOURCES += %D%/scatter_gpu.cu
endif
