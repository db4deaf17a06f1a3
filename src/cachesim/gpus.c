#include "src/cachesim/gpus.h"

#include <math.h>
#include <string.h>

#define MB(n) ((n)*1024.0 * 1024.0)

/* Makers' data sheets; partitions of the L2 after NVIDIA's "A100 Tensor Core GPU Architecture" and
 * "H100 Tensor Core GPU Architecture", 1 where nothing is published. What the L2 of an RTX PRO 6000
 * gives was measured by Chips and Cheese ("Blackwell: Nvidia's Massive GPU", 2025; the 600 W card),
 * an H200's by this program. The two of the article come first, then by size of the L2. */
const Gpu gpus[] = {
    {"a6000", "RTX A6000", 8, 6, 84, MB(6), 1, 768, NAN, 38.7, false},
    {"pro6000", "RTX PRO 6000", 12, 0, 188, MB(128), 1, 1792, 8700, 110, true},
    {"orin", "AGX Orin", 8, 7, 16, MB(4), 1, 204.8, NAN, 5.3, false},
    {"thor", "Thor T5000", 11, 0, 20, MB(32), 1, 273, NAN, NAN, true},
    {"a100", "A100", 8, 0, 108, MB(40), 2, 1555, NAN, 19.5, false},
    {"h100", "H100", 9, 0, 132, MB(50), 2, 3350, NAN, 67, true},
    {"h200", "H200", 9, 0, 132, MB(60), 2, 4800, 9250, 67, true},
    {"rtx4090", "RTX 4090", 8, 9, 128, MB(72), 1, 1008, NAN, 82.6, true},
};
const int gpu_count = sizeof gpus / sizeof *gpus;

const Gpu *gpu_find(const char *name) {
    for (int i = 0; i < gpu_count; i++)
        if (!strcmp(gpus[i].name, name))
            return &gpus[i];
    return NULL;
}

const Gpu *gpu_of_device(const char *device_name) {
    for (int i = 0; i < gpu_count; i++)
        if (strstr(device_name, gpus[i].title))
            return &gpus[i];
    return NULL;
}
