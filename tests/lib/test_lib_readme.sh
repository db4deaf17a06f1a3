#!/bin/sh
# SPDX-License-Identifier: MIT
# The code blocks of src/lib/README.md, against the library as installed: C is built and
# run, CUDA built where nvcc is and run where a GPU is, Python run with NumPy and with PyTorch where
# they are. What a block leaves open (arrays, sizes, main) is put round it here.
. "${SRCDIR:-.}/tests/support/tap.sh"
. "${SRCDIR:-.}/tests/lib/lib_prefix.sh"
cd "$folder" || exit 1

# block LANGUAGE NUMBER: the block of that number in that language.
block() {
    awk -v language="$1" -v wanted="$2" '
        $0 == "```" language { on = ++count == wanted; next }
        /^```/ { on = 0 }
        on' "$src/src/lib/README.md"
}

# ---- C and CUDA --------------------------------------------------------------------------------

cat >toy.h <<'END'
#include <stdio.h>
#include <stdlib.h>
enum { CHANNELS = 3 };
static const BevpoolShape shape = {1, 1, 2, 2, 2, 1, 2, 2};
static const int32_t depths[] = {0, 1, 4, 6, 7}, feats[] = {0, 1, 0, 2, 3}, cells[] = {0, 0, 1, 3, 3};
static const BevpoolArrays points = {5, 0, depths, feats, cells, NULL, NULL, NULL};
static float depth[8] = {0.5f, 1, 0, 0, 0.5f, 0, 0.25f, 1}, out[4][CHANNELS];
static float feat[4][CHANNELS] = {{1, 2, 3}, {10, 20, 30}, {4, 8, 12}, {100, 200, 300}};
static BevpoolError error;
static void say(void) {
    for (int cell = 0; cell < 4; cell++)
        printf("cell %d: %g %g %g\n", cell, out[cell][0], out[cell][1], out[cell][2]);
}
static BevpoolPlan *prepared(int32_t device) {
    BevpoolPlan *plan = prepare(&shape, &points, CHANNELS, device, &error);
    if (plan)
        return plan;
    printf("%s\n", error.text);
    exit(error.status == BEVPOOL_NO_DEVICE ? 77 : 1);
}
END
block c 1 >block.c
cat block.c toy.h - >readme.c <<'END'
int main(void) {
    BevpoolPlan *plan = prepared(BEVPOOL_CPU);
    void *workspace = aligned_alloc(256, bevpool_plan_workspace_bytes(plan) / 256 * 256 + 256);
    if (pool(plan, depth, feat[0], out[0], workspace, NULL, &error))
        return puts(error.text);
    say();
    BevpoolArrays none = points;
    none.ranks_bev = NULL;
    if (prepare(&shape, &none, CHANNELS, BEVPOOL_CPU, &error) || !error.text[0])
        return puts("a plan without cells");
    bevpool_plan_destroy(plan);
    free(workspace);
    return 0;
}
END
block cuda 1 >block.cu
cat block.c block.cu toy.h - >readme.cu <<'END'
template <typename T> T *on_gpu(const void *host, size_t bytes) {
    void *memory = NULL;
    cudaMalloc(&memory, bytes + 1);
    if (host)
        cudaMemcpy(memory, host, bytes, cudaMemcpyDefault);
    return (T *)memory;
}
int main() {
    BevpoolPlan *plan = prepared(0);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    float *result = on_gpu<float>(NULL, sizeof out);
    cudaGraphExec_t replay =
        record(plan, on_gpu<float>(depth, sizeof depth), on_gpu<float>(feat, sizeof feat), result,
               on_gpu<void>(NULL, bevpool_plan_workspace_bytes(plan)), stream, &error);
    if (!replay)
        return puts(error.text);
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(replay, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(out, result, sizeof out, cudaMemcpyDefault);
    say();
    cudaGraphExecDestroy(replay);
    bevpool_plan_destroy(plan);
    return 0;
}
END
# shellcheck disable=SC2046,SC2086
if command -v pkg-config >/dev/null; then
    ${CC:-cc} ${SANITIZED:-} -std=c11 -Wall -Wextra -Werror readme.c $(flags --cflags --libs) -o c
    tap_ok $? "the block in C is built ($(wc -l <block.c) lines)"
    LD_LIBRARY_PATH=$libdir says_expected ./c
    tap_ok $? "and pools"
    if [ -n "${NVCC:-}" ]; then
        "$NVCC" -std=c++20 readme.cu $(flags --cflags --libs) -o cuda
        tap_ok $? "the block in CUDA is built ($(wc -l <block.cu) lines)"
        on_gpu "and pools on a GPU" ./cuda
    else
        tap_skip "the block in CUDA is built" "built without CUDA"
    fi
else
    tap_skip "the blocks in C and CUDA are built" "no pkg-config"
fi

# ---- Python ------------------------------------------------------------------------------------

cat >before.py <<'END'
import numpy as np
B, N, D, H, W, Z, Y, X, C = 1, 2, 3, 2, 4, 1, 5, 6, 8
random = np.random.default_rng(1)
depth = random.integers(-3, 4, (B, N, D, H, W)).astype(np.float32)
feat = random.integers(-4, 5, (B, N, H, W, C)).astype(np.float32)
ranks_depth = np.arange(depth.size, dtype=np.int32)
ranks_feat = np.arange(N * H * W).reshape(N, 1, H, W).repeat(D, 1).ravel().astype(np.int32)
ranks_bev = np.sort(random.integers(0, Y * X, depth.size)).astype(np.int32)
interval_starts = np.flatnonzero(np.r_[True, np.diff(ranks_bev) > 0]).astype(np.int32)
interval_lengths = np.diff(np.r_[interval_starts, len(ranks_bev)]).astype(np.int32)
bev_feat_shape, bev_h, bev_w = (B, Z, Y, X, C), Y, X
volume = random.standard_normal((B, N, D, H, W, C)).astype(np.float32)
geom = random.uniform(0, 4, (B, N, D, H, W, 3)).astype(np.float32)
wanted = np.zeros((Y * X, C), np.float32)
np.add.at(wanted, ranks_bev, depth.ravel()[ranks_depth, None] * feat.reshape(-1, C)[ranks_feat])
wanted = wanted.reshape(B, Z, Y, X, C)
results = []
END
# Each line that makes `out` also keeps it.
block python 1 | awk '/^out = / { on = 1 } { print } on && /\)[ ]*(#.*)?$/ { print "results.append(out)"; on = 0 }' >block1.py
cat >after.py <<'END'
assert len(results) == 3, len(results)
assert (results[0] == wanted.transpose(0, 4, 1, 2, 3)).all(), "bev_pool_v2"
assert (results[1] == wanted).all(), "pool"
assert results[2].shape == (B, C, bev_h, bev_w), "voxel_align"
assert abs(results[2].sum() - volume.sum()) < 1e-3 * abs(volume).sum(), "voxel_align keeps sums"
print("right")
END
block python 3 >block3.py
cat >torch_before.py <<'END'
import torch
device = "cuda" if torch.cuda.is_available() and bevpool.kernels(0) else "cpu"
depth, feat = (torch.tensor(a, device=device, requires_grad=True) for a in (depth, feat))
ranks_depth, ranks_feat, ranks_bev = (torch.tensor(a, device=device)
                                      for a in (ranks_depth, ranks_feat, ranks_bev))
grid = bevpool.Map((B, N, D, H, W, Z, Y, X), ranks_depth, ranks_feat, ranks_bev)
out = bevpool.pool(depth.detach(), feat.detach(), grid)
END
cat >torch_after.py <<'END'
assert (out.detach().cpu().numpy() == wanted).all(), "pool"
leaves = [t.detach().clone().requires_grad_() for t in (depth, feat)]
rows = leaves[0].flatten()[ranks_depth.long(), None] * leaves[1].reshape(-1, C)[ranks_feat.long()]
sums = torch.zeros(Y * X, C, device=device).index_add(0, ranks_bev.long(), rows)
sums.square().sum().backward()
assert torch.equal(depth.grad, leaves[0].grad) and torch.equal(feat.grad, leaves[1].grad), "gradients"
print("right")
END
cat before.py block1.py after.py >numpy_block.py
{ cat before.py && echo "import bevpool" && cat torch_before.py block3.py torch_after.py; } >torch_block.py

# runs NAME MODULES FILE: with the first Python that has the modules.
runs() {
    for python in ${TORCH_PYTHON:-} python3 /usr/bin/python3; do
        "$python" -c "import $2" 2>/dev/null || continue
        BEVPOOL_LIBRARY=$libdir/libbevpool.so PYTHONDONTWRITEBYTECODE=1 \
            PYTHONPATH=$src/samples/torch "$python" "$3" >said 2>&1
        status=$?
        [ $status = 0 ] || sed 's/^/# /' said
        [ $status = 0 ] && [ "$(tail -n 1 said)" = right ]
        tap_ok $? "$1 ($(wc -l <"$4") lines)"
        return
    done
    tap_skip "$1" "no Python with $2"
}
if [ -z "${SANITIZED:-}" ]; then
    runs "the block in Python, with NumPy" numpy numpy_block.py block1.py
    runs "the block in PyTorch" "numpy; from torch import compile" torch_block.py block3.py
else
    tap_skip "the blocks in Python" "Python loads no library with AddressSanitizer"
fi
tap_done
