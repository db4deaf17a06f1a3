/* SPDX-License-Identifier: MIT */
/* The back end of panels for a pen: proportional text, exact bars and charts. */
#pragma once

#include "src/view/draw/pen.h"
#include "src/view/panel/sheet.h"

enum { SHEET_ROW = 18 }; /* usual height of a row; its text is two thirds as high */

/* A sheet in that box, with rows of `row_h` and columns that fill its width. */
Sheet pen_sheet(Pen *pen, Box box, double row_h, Spots *spots);
