/* SPDX-License-Identifier: MIT */
// The same on a GPU: the launch goes to a stream, and is captured into a CUDA graph and replayed.
//     nvcc pool.cu $(pkg-config --cflags --libs bevpool) -o pool && ./pool
#include <bevpool.h>

#include <stdio.h>
#include <stdlib.h>

enum { CHANNELS = 3, GPU = 0 };

static void need(BevpoolStatus status, const BevpoolError *error) {
    if (status != BEVPOOL_OK) {
        fprintf(stderr, "%s: %s\n", bevpool_status_name(status), error->text);
        exit(status == BEVPOOL_NO_DEVICE ? 77 : EXIT_FAILURE);
    }
}

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));                        \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

int main() {
    const BevpoolShape shape = {1, 1, 2, 2, 2, 1, 2, 2};
    const int32_t depths[] = {0, 1, 4, 6, 7}, feats[] = {0, 1, 0, 2, 3}, cells[] = {0, 0, 1, 3, 3};
    const BevpoolArrays points = {5, 0, depths, feats, cells, NULL, NULL, NULL};
    BevpoolOptions options = {};
    options.size = sizeof options;
    options.channels = CHANNELS;
    float depth[8] = {0.5f, 1, 0, 0, 0.5f, 0, 0.25f, 1}, out[4][CHANNELS];
    float feat[4][CHANNELS] = {{1, 2, 3}, {10, 20, 30}, {4, 8, 12}, {100, 200, 300}};
    BevpoolError error;
    BevpoolMap *map;
    BevpoolPlan *plan;
    need(bevpool_map_from_arrays(&map, &shape, &points, GPU, 0, &error), &error);
    need(bevpool_plan_create(&plan, map, &options, &error), &error);

    BevpoolCall call = {};
    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    call.size = sizeof call;
    call.stream = stream;
    call.workspace_bytes = bevpool_plan_workspace_bytes(plan);
    CUDA(cudaMalloc(&call.workspace, call.workspace_bytes + 1));
    const size_t sizes[] = {sizeof depth, sizeof feat, 0, sizeof out};
    for (int role = BEVPOOL_DEPTH; role <= BEVPOOL_OUT; role++) {
        call.tensors[role].bytes = sizes[role];
        CUDA(cudaMalloc(&call.tensors[role].data, sizes[role] + 1));
    }
    CUDA(cudaMemcpy(call.tensors[BEVPOOL_DEPTH].data, depth, sizeof depth, cudaMemcpyDefault));
    CUDA(cudaMemcpy(call.tensors[BEVPOOL_FEAT].data, feat, sizeof feat, cudaMemcpyDefault));

    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    need(bevpool_run(plan, &call, &error), &error);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&replay, graph, 0));
    for (int i = 0; i < 100; i++)
        CUDA(cudaGraphLaunch(replay, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(out, call.tensors[BEVPOOL_OUT].data, sizeof out, cudaMemcpyDefault));

    for (int cell = 0; cell < 4; cell++)
        printf("cell %d: %g %g %g\n", cell, out[cell][0], out[cell][1], out[cell][2]);
    CUDA(cudaGraphExecDestroy(replay));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    for (int role = BEVPOOL_DEPTH; role <= BEVPOOL_OUT; role++)
        CUDA(cudaFree(call.tensors[role].data));
    CUDA(cudaFree(call.workspace));
    bevpool_plan_destroy(plan);
    bevpool_map_destroy(map);
}
