libapp_a_SOURCES = %D%/app.c %D%/lesson.c %D%/page.c %D%/quiz.c %D%/tour.c %D%/undo.c
