# SPDX-License-Identifier: MIT
libdraw_a_SOURCES = %D%/draw/color.c %D%/draw/image.c %D%/draw/pen.c \
	%D%/draw/ticks.c
libbev_a_SOURCES = %D%/bev/bev_picture.c %D%/bev/decode.c %D%/bev/stats.c %D%/bev/strip.c
libfigure_a_SOURCES = %D%/figure/figure.c %D%/figure/overlay.c
libchart_a_SOURCES = %D%/chart/charts.c %D%/chart/plot.c
libpanel_a_SOURCES = %D%/panel/accuracy.c %D%/panel/camera.c %D%/panel/frame.c %D%/panel/headline.c %D%/panel/intervals.c \
	%D%/panel/kernels.c %D%/panel/legend.c %D%/panel/lesson.c %D%/panel/memory.c %D%/panel/model.c %D%/panel/objects.c \
	%D%/panel/palette.c %D%/panel/pen_sheet.c %D%/panel/race.c %D%/panel/right.c %D%/panel/side.c %D%/panel/sheet.c \
	%D%/panel/spots.c %D%/panel/steps_page.c %D%/panel/steps_registers.c %D%/panel/steps_strip.c %D%/panel/why.c
libterm_a_SOURCES = %D%/term/bev_cells.c %D%/term/cells.c %D%/term/cells_sheet.c %D%/term/dashboard.c
libwindow_a_SOURCES = %D%/window/window_image.c
