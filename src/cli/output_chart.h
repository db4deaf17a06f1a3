/* SPDX-License-Identifier: MIT */
/* Pictures that a command writes to a file. */
#pragma once

#include "src/cli/options.h"
#include "src/view/chart/chart.h"

/* Reads the format from the suffix of `path`, and the size from --width. Fails without a path, with
 * another suffix or with a wrong width. `command` heads the error. */
bool output_picture(const Options *options, const char *path, const char *command,
                    PictureFile *file, Err *err);

/* Writes a chart to `path` in the theme of --theme and the width of --width. */
bool output_chart(const Options *options, ChartSpec *spec, const char *path, Err *err);
