# SPDX-License-Identifier: MIT
libstate_a_SOURCES = %D%/control.c %D%/control_bits.c %D%/control_lesson.c %D%/control_look.c \
	%D%/control_picture.c %D%/control_program.c %D%/control_scene.c %D%/control_select.c %D%/control_steps.c \
	%D%/glossary.c %D%/keys.c %D%/lesson_pane.c %D%/live_data.c \
	%D%/live_text.c %D%/log.c %D%/palette.c %D%/rgb.c %D%/state.c %D%/story.c %D%/values.c
