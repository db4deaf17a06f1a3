# SPDX-License-Identifier: MIT
libscene_a_SOURCES = %D%/geometry.c %D%/pool.c %D%/scatter.c %D%/scatter_check.c
if TOOL
libscene_a_SOURCES += %D%/agreement.c %D%/clip.c %D%/embedding.c %D%/features.c %D%/grad_out.c \
	%D%/grid_loss.c %D%/npy.c %D%/npz.c %D%/npz_texts.c %D%/npz_write.c %D%/objects.c \
	%D%/operator/operator.c %D%/operator/operator_arrays.c %D%/operator/operator_bars.c \
	%D%/operator/operator_json.c %D%/operator/operator_sweep.c %D%/photos.c %D%/photos_npz.c \
	%D%/photos_world.c %D%/problem.c %D%/scatter_change.c %D%/scene.c \
	%D%/scene_arrays.c %D%/scene_json.c %D%/scene_load.c %D%/scene_npz.c \
	%D%/slice.c %D%/solids.c %D%/world.c
endif
if HAVE_CUDA
libscene_a_SOURCES += %D%/scatter_gpu.cu
endif
