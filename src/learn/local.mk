# SPDX-License-Identifier: MIT
liblearn_a_SOURCES = %D%/course.c %D%/course_progress.c %D%/expression.c %D%/expression_parse.c \
	%D%/figures.c %D%/lesson_code.c %D%/lesson_draw.c %D%/lesson_judge.c %D%/lesson_parse.c %D%/lesson_question.c \
	%D%/lesson_reader.c %D%/lesson_run.c %D%/lesson_show.c %D%/quiz.c %D%/value.c
