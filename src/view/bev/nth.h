/* One value of a sorted order, without sorting. */
#ifndef BEV_NTH_H
#define BEV_NTH_H

#include <stddef.h>

/* What would stand at [n], 0 <= n < count, were `values` sorted ascending. Moves the values about:
 * Hoare's FIND (CACM 4/7, 1961), linear time on average. */
float nth_smallest(float *values, size_t count, size_t n);

#endif
