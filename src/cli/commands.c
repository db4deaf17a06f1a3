/* SPDX-License-Identifier: MIT */
/* The commands: name, arguments, help, and the function that runs each. */
#include "src/cli/options.h"

#include <limits.h>

const Subcommand commands[COMMAND_COUNT] = {
    {"live", "[SCENE]", "watch a moving scene, toggle kernels and formats",
     "The terminal becomes a dashboard, and a window shows the BEV where there is a display; keys "
     "change what is computed, '?' lists them. The word live may be left out. Where there is no "
     "terminal, control words are read from standard input, a line each, and figures are printed "
     "as plain lines. Without SCENE: intersection.",
     0, 1, cmd_live},
    {"snapshot", "SCENE -o FILE.png", "draw the BEV grid as a figure",
     "Pools SCENE with one kernel and draws the result as seen from above, x forward up, as PNG, "
     "SVG or PDF (by the name's suffix). The same scene and options give the same pixels, unless "
     "--timing measured puts this moment's clock into the caption.",
     1, 1, cmd_snapshot},
    {"verify", "[SCENE]...", "judge every kernel by three accuracy gates",
     "Gate A compares with FP64 over the quantised inputs and a bound for rounding: 1.00 of it is "
     "the most that a correct kernel's rounding takes. Gate B holds rel L2 against FP64 over the "
     "original inputs to the format's limit. Gate C demands exact equality on data that every "
     "order of summation sums exactly. Backward the same gates judge both gradients, and the "
     "adjoint identity: sum(pool(d, f) * g) = sum(d * grad_d) = sum(f * grad_f). Of several "
     "moments the table has the one with the largest rel L2, and a second table the scenes' "
     "classes; --format json has every moment. Without SCENE: canonical, asymmetric and toy. Exit "
     "status 3 when a gate fails.",
     0, INT_MAX, cmd_verify},
    {"bench", "[SCENE]...", "time every kernel, caches warm and cold",
     "Medians and percentiles of samples, the prepare step apart, effective bandwidth by the "
     "kernel's own traffic model, and the speed-up over V2 on the same device (backward over V2 "
     "(BEVDet), on the CPU over cpu_grad_owner). A warm sample is the mean of up to 256 launches "
     "in a row. Cold: caches flushed before each launch, which is then timed alone: on an H200 "
     "that adds 2.3 us. Without SCENE: the published configurations.",
     0, INT_MAX, cmd_bench},
    {"info", "[SCENE]...", "describe this machine, build and scenes",
     "Without SCENE: the machine, the devices and the kernels. With SCENE: shapes, points, "
     "intervals, the share of the frustum outside of the grid, gather traffic and footprint.",
     0, INT_MAX, cmd_info},
    {"export", "SCENE [OUT.npz]", "write a scene's tensors for NumPy",
     "Writes depth, feat, the calibration, the five index arrays and bev_shape, as numpy.load and "
     "bevscope itself read them; and what the scene's car recorded besides, which a world has "
     "rendered: images, camera_names, boxes, box_labels, lidar, timestamps. With --pooled also, "
     "or only, what a kernel computes.",
     1, 2, cmd_export},
    {"regime", "SCENE", "model a scene's memory traffic on any GPU",
     "Follows the accesses of the CUDA kernels in the order of their blocks and warps, counts "
     "them, finds the hit rate of an L2 of every size, and predicts DRAM bytes and the latency "
     "with its parts: DRAM, L2, issue and dependent loads. All of it is a model and needs no GPU; "
     "recorded and published latencies stand beside it where known. Findings of pooling end with "
     "the four steps: classify, remove traffic, map, validate.",
     1, 1, cmd_regime},
    {"plot", "KIND SCENE -o FILE.png", "draw the memory model as a chart",
     "KIND is a chart's name, as bevscope --list shows them. The name's suffix chooses PNG, SVG or "
     "PDF. Charts of one GPU show the first of --gpu. Everything modelled says so.",
     2, 2, cmd_plot},
    {"glossary", "[WORD]...", "say what the words on the screens mean",
     "Prints what each WORD means; without WORD, the whole glossary.", 0, INT_MAX, cmd_glossary},
    {"learn", "[LESSON]", "take a lesson: predict, run, see why",
     "Without LESSON lists the course and how far you are. LESSON is a number, a name or a file: "
     "the live display opens with it, asks for predictions, runs what they are about and shows "
     "why. Where there is no terminal it asks and reads lines. A lesson goes on where you left "
     "it. Progress is kept in $XDG_STATE_HOME/bevscope, else in ~/.local/state/bevscope.",
     0, 1, cmd_learn},
    {"try", "FILE [SCENE]", "judge and time a kernel of your own",
     "FILE.c holds one function in C, void pool(const Pool *p): BEV pooling in FP32, nearest. It "
     "is compiled by cc, gcc, clang or $CC, with -O2, -fopenmp where that is known, and $CFLAGS; "
     "then judged by gates A and C on the cases that this program's own kernels are judged on: out "
     "is NaN before each call, two runs must both pass, and only out may be written. Then it is "
     "timed on SCENE beside the kernels of the CPU. Without SCENE: canonical. The kernel runs in a "
     "process of its own, with limits of time and memory. That contains mistakes, not attacks: it "
     "runs with your rights. FILE.cu holds a kernel in CUDA and needs a GPU, a build with CUDA and "
     "libnvrtc. Exit status 3 when a case is wrong, 1 when the kernel does not compile, crashes or "
     "does not end, 4 without a compiler or a GPU.",
     1, 2, cmd_try},
    {"steps", "[SCENE]", "follow warps of a kernel, step by step",
     "What each instruction of the warps reads, adds and writes: points, sectors of 32 bytes, the "
     "lanes (0 to v) that ask for each word of them, what waits for what, and running counters. "
     "The steps are those that the memory model counts, for CUDA kernels, without a GPU. Without "
     "SCENE: canonical; without a cell, a block or a warp: the cell whose first points have the "
     "most depth weight.",
     0, 1, cmd_steps},
    {"demo", "", "a talk of two minutes in the live display",
     "Plays samples/demo.keys in the live display, with captions: how the grid is made, "
     "four kernels in a race, one that waits, the L2, formats, camera dropout. Esc ends it and "
     "puts everything back; any other key or click takes over. The control tour plays it, too.",
     0, 0, cmd_demo},
    {"rig", "", "say in a minute how large a problem your rig is",
     "Points, intervals, footprint and, for every GPU of the table, the regime, the fastest "
     "kernel and its latency by the model. --from names a rig that comes with the program "
     "(" RIG_NAMES
     "), or a scene in JSON; the other options change it. -o writes the changed rig, a scene that "
     "every command takes.",
     0, 0, cmd_rig},
    {"calibrate", "SCENE... [-o scales.json]", "choose scales beforehand, as a vehicle needs them",
     "Counts the magnitudes of depth, features and output over all moments of all scenes, in "
     "FP32, and shows what each method keeps and what that costs. max keeps all; percentile leaves "
     "out the largest; entropy has the least Kullback-Leibler divergence, as PyTorch Quantization "
     "and TensorRT define it; mse the least squared error. -o writes the ranges of --method, from "
     "which the scale of each format follows.",
     1, INT_MAX, cmd_calibrate},
    {"sensitivity", "SCENE...", "find the tensor that a number format harms most",
     "Depth, features and output in a format, one at a time: the tensor is encoded and decoded, "
     "all else stays FP32, and sums are FP64; all is the three together. The most harmful comes "
     "first, with its bytes and, of all, the latency of V4 as recorded (bench --recorded says "
     "where). A second table has groups of 16 channels, and their share of the error of the whole "
     "grid. Of a clip and with --moments the errors are of all moments.",
     1, INT_MAX, cmd_sensitivity},
    {"merge", "FILE...", "judge results that verify and bench have written",
     "Each FILE is the --format jsonl of one shard, or a --format json. What is printed, and the "
     "exit status, are those of one process that did all moments. A shard that is missing, or was "
     "ended before its end, is refused: the same command again does what is left. Of bench, "
     "--against OLD compares two files with each other. Nothing is computed here. Of more than 32 "
     "scenes a row stands for all of them, and shows the worst.",
     1, INT_MAX, cmd_merge},
};
