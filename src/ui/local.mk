# SPDX-License-Identifier: MIT
libui_a_SOURCES = %D%/lesson_text.c %D%/loop.c %D%/pace.c %D%/pointer.c %D%/script.c \
	%D%/sdl_window.c %D%/term.c %D%/term_keys.c %D%/term_pixels.c
