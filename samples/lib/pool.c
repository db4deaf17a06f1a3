/* SPDX-License-Identifier: MIT */
/* BEV pooling on the CPU with libbevpool: one camera of 2 x 2 pixels and 2 depths, 2 x 2 cells.
 *     cc pool.c $(pkg-config --cflags --libs bevpool) -o pool && ./pool */
#include <bevpool.h>

#include <stdio.h>
#include <stdlib.h>

enum { CHANNELS = 3, ALIGNMENT = 256 };

static void need(BevpoolStatus status, const BevpoolError *error) {
    if (status != BEVPOOL_OK) {
        fprintf(stderr, "%s: %s\n", bevpool_status_name(status), error->text);
        exit(EXIT_FAILURE);
    }
}

int main(void) {
    const BevpoolShape shape = {1, 1, 2, 2, 2, 1, 2, 2};
    const int32_t depths[] = {0, 1, 4, 6, 7}, feats[] = {0, 1, 0, 2, 3}, cells[] = {0, 0, 1, 3, 3};
    const BevpoolArrays points = {5, 0, depths, feats, cells, NULL, NULL, NULL};
    const BevpoolOptions options = {.size = sizeof options, .channels = CHANNELS};
    float depth[8] = {0.5f, 1, 0, 0, 0.5f, 0, 0.25f, 1}, out[4][CHANNELS];
    float feat[4][CHANNELS] = {{1, 2, 3}, {10, 20, 30}, {4, 8, 12}, {100, 200, 300}};
    BevpoolError error;
    BevpoolMap *map;
    BevpoolPlan *plan;
    need(bevpool_map_from_arrays(&map, &shape, &points, BEVPOOL_CPU, 0, &error), &error);
    need(bevpool_plan_create(&plan, map, &options, &error), &error);

    size_t bytes = bevpool_plan_workspace_bytes(plan) / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    BevpoolCall call = {.size = sizeof call, .workspace_bytes = bytes};
    call.workspace = aligned_alloc(ALIGNMENT, bytes);
    call.tensors[BEVPOOL_DEPTH] = (BevpoolTensor){depth, sizeof depth, BEVPOOL_FP32, 1};
    call.tensors[BEVPOOL_FEAT] = (BevpoolTensor){feat, sizeof feat, BEVPOOL_FP32, 1};
    call.tensors[BEVPOOL_OUT] = (BevpoolTensor){out, sizeof out, BEVPOOL_FP32, 1};
    need(bevpool_run(plan, &call, &error), &error);

    for (int cell = 0; cell < 4; cell++)
        printf("cell %d: %g %g %g\n", cell, out[cell][0], out[cell][1], out[cell][2]);
    bevpool_plan_destroy(plan);
    bevpool_map_destroy(map);
    free(call.workspace);
}
