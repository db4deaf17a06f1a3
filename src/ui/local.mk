# SPDX-License-Identifier: MIT
libui_a_SOURCES = %D%/hover.c %D%/lesson_text.c %D%/loop.c %D%/loop_pictures.c %D%/loop_plain.c \
	%D%/loop_screens.c %D%/pace.c %D%/pointer.c %D%/script.c %D%/sdl_window.c %D%/slow.c \
	%D%/term.c %D%/term_answers.c %D%/term_capture.c %D%/term_colors.c %D%/term_direct.c \
	%D%/term_keys.c %D%/term_pixels.c
