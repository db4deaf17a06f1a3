#include "src/cachesim/prediction.h"

const char *const part_names[PART_COUNT] = {"DRAM", "L2", "issue", "chain"};
