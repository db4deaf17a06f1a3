/* Where the ceilings of a chart come from. */
#ifndef BEV_CEILINGS_H
#define BEV_CEILINGS_H

#include "src/cli/laboratory.h"
#include "src/base/units.h"

/* The limits of a GPU: measured, where such a GPU is here and --device allows it; else recorded;
 * else unknown. */
Limits ceilings_of(const Options *options, const LabGpus *known, const Gpu *gpu,
                   FigureSource *source);

#endif
