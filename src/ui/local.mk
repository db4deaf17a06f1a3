# SPDX-License-Identifier: MIT
libui_a_SOURCES = %D%/hover.c %D%/lesson_text.c %D%/loop.c %D%/loop_pictures.c %D%/loop_plain.c \
	%D%/loop_screens.c %D%/no_screens.c %D%/pace.c %D%/script.c %D%/slow.c \
	%D%/term_answers.c %D%/pointer.c %D%/term_pixels.c
if HAVE_NCURSES
libui_a_SOURCES += %D%/term_colors.c %D%/term.c %D%/term_capture.c %D%/term_direct.c %D%/term_keys.c
endif
if HAVE_SDL
libui_a_SOURCES += %D%/sdl_window.c
endif
