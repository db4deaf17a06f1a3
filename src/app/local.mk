# SPDX-License-Identifier: MIT
libapp_a_SOURCES = %D%/app.c %D%/lesson.c %D%/tour.c
