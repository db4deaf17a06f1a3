# SPDX-License-Identifier: MIT
libcli_a_SOURCES = %D%/bench_step.c %D%/cmd_bench.c %D%/cmd_calibrate.c %D%/cmd_export.c \
	%D%/cmd_info.c %D%/cmd_live.c %D%/cmd_regime.c %D%/cmd_rig.c %D%/cmd_sensitivity.c \
	%D%/cmd_snapshot.c %D%/cmd_steps.c %D%/cmd_try.c %D%/cmd_verify.c %D%/help.c \
	%D%/object_table.c %D%/options.c %D%/plots.c %D%/records.c %D%/report.c %D%/scene_model.c \
	%D%/selection.c
