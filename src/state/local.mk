# SPDX-License-Identifier: MIT
libstate_a_SOURCES = %D%/control_bits.c %D%/control_look.c %D%/control_picture.c \
	%D%/control_program.c %D%/control_scene.c %D%/control_select.c \
	%D%/glossary.c %D%/keys.c %D%/live_data.c %D%/log.c %D%/palette.c %D%/state.c
