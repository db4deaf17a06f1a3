/* The picture of bevscope train: the grid at the start, at the end and of the true depth, with the
 * curve of the loss. */
#pragma once

#include "src/scene/workload.h"
#include "src/train/trainer.h"
#include "src/view/bev/decode.h"
#include "src/view/draw/page.h"

enum { TRAIN_START, TRAIN_END, TRAIN_TARGET, TRAIN_GRIDS };

typedef struct {
    const char *title, *subtitle;
    const Workload *workload;
    const float *grids[TRAIN_GRIDS]; /* (cell, c) */
    char captions[TRAIN_GRIDS][96];
    const TrainStep *steps;
    int step_count;
    FigureTheme theme;
} TrainPage;

/* Writes the page to `path`. */
bool train_page_write(const TrainPage *page, bool svg, const char *path, Err *err);
