#include "src/model/source.h"

const char *const source_names[] = {"n/a", "measured", "recorded", "model"};
