# SPDX-License-Identifier: MIT
liblearn_a_SOURCES = %D%/course.c %D%/expression.c %D%/figures.c \
	%D%/lesson_parse.c %D%/lesson_run.c %D%/lesson_show.c
