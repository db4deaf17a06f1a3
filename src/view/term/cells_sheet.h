/* SPDX-License-Identifier: MIT */
/* The back end of panels for character cells. */
#pragma once

#include "src/view/panel/sheet.h"
#include "src/view/term/cells.h"

/* Returns a sheet that covers `cells`. */
Sheet cells_sheet(Cells *cells);
