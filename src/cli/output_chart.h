/* Pictures that a command writes to a file. */
#pragma once

#include "src/cli/options.h"
#include "src/view/chart/chart.h"

/* Fails when --output names no file, or a file without the suffix .png or .svg. `command` heads the
 * error. */
bool output_picture(const Options *options, const char *command, Err *err);
bool output_is_svg(const char *path);

/* Writes a chart to `path` in the theme of --theme, as SVG where the suffix says so, otherwise as
 * PNG. */
bool output_chart(const Options *options, ChartSpec *spec, const char *path, Err *err);
