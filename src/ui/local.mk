# SPDX-License-Identifier: MIT
libui_a_SOURCES = %D%/loop.c %D%/no_screens.c %D%/pace.c %D%/plain.c %D%/pointer.c \
	%D%/script.c %D%/term_pixels.c
if HAVE_NCURSES
libui_a_SOURCES += %D%/term.c %D%/term_keys.c
endif
if HAVE_SDL
libui_a_SOURCES += %D%/sdl_window.c
endif
