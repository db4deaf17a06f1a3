/* What the driver library says, asked without linking it and without the CUDA runtime: the five
 * ways in which a machine may not have a usable GPU, told apart. */
#ifndef BEV_DRIVER_H
#define BEV_DRIVER_H

#include "kernels/err.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int needed_version; /* CUDA version, 1000 * major + 10 * minor, that the driver must support */
    const int *capabilities; /* of the compiled code, 10 * major + minor, ascending, ends with 0 */
} DriverNeeds;

/* True when GPU `index` is there and code for it was compiled; fills *version with the driver's
 * CUDA version. Else ERR_DEVICE and one line. */
bool driver_probe(int index, const DriverNeeds *needs, int *version, Err *err);

/* The installed driver's own version, "580.159.03", into `text`; "" where it cannot be asked. */
void driver_version(char *text, unsigned size);

#ifdef __cplusplus
}
#endif
#endif
