#include "src/run/published.h"

#include "kernels/regime.h"

#include <string.h>

#define ROWS(config, v2, v2_do, v3, v3_fp8)                                                        \
    {"pro6000", config, "V2", BEV_FP16, v2}, {"pro6000", config, "V2+DO", BEV_FP16, v2_do},        \
        {"pro6000", config, "V3", BEV_FP16, v3}, {                                                 \
        "pro6000", config, "V3", BEV_FP8, v3_fp8                                                   \
    }

const Published published[] = {
    ROWS("small", 137.8, 31.5, 12.7, 12.6),         ROWS("canonical", 274.0, 37.8, 17.3, 16.4),
    ROWS("large", 749.9, 48.0, 27.3, 24.9),         ROWS("xlarge", 1675.0, 61.9, 48.0, 39.8),
    ROWS("wide_c128", 457.3, 54.2, 21.4, 14.8),     ROWS("wide_c256", 880.9, 152.3, 33.4, 22.0),
    {"a6000", "canonical", "V2", BEV_FP16, 1738.0}, {"a6000", "canonical", "V3", BEV_FP16, 90.0},
};
const int published_count = sizeof published / sizeof *published;

const char published_calibrated[] = "V2+DO";

const char *published_column(const BevKernel *kernel, const BevKernel *v3_choice) {
    return v3_choice && kernel == v3_choice ? bev_v3()->published : kernel->published;
}

const Published *published_find(const char *gpu, const char *config, const char *column,
                                BevDtype dtype) {
    for (int i = 0; column && i < published_count; i++)
        if (!strcmp(published[i].gpu, gpu) && !strcmp(published[i].config, config) &&
            !strcmp(published[i].column, column) && published[i].dtype == dtype)
            return &published[i];
    return NULL;
}
