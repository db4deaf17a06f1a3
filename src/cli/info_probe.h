/* info --probe: what a GPU reaches at best, beside its data sheet. */
#ifndef BEV_INFO_PROBE_H
#define BEV_INFO_PROBE_H

#include "src/cli/options.h"

/* Measured on the open device; where there is none, as recorded of other machines. */
bool info_probe(const Options *options, Err *err);

#endif
