#include "src/cachesim/prediction.h"

const char *const term_names[TERM_COUNT] = {"DRAM", "L2", "issue", "chain"};
