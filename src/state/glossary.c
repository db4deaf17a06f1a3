/* SPDX-License-Identifier: MIT */
#include "src/state/keys.h"

#include "src/base/nearest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* clang-format off */
const GlossaryRow glossary[] = {
    {"accumulated weight", "depth weight, brightness", "The sum of depth times weight over a "
     "cell's points. As brightness, read back from the pooled features: full from the median on. "
     "Cells without depth weight are empty or interpolated."},
    {"align", "nearest, bilinear, bev-align", "How points meet cells. Nearest: the cell that holds "
     "the point. Bilinear: the four nearest cells, weighted. bev-align: BEV Align as published, "
     "bilinear, half a cell aside."},
    {"atomic", "atomicAdd", "An addition to memory (atomicAdd) that no other thread can interrupt. "
     "Threads that add to the same address wait for each other."},
    {"bank conflict", "shared memory", "Shared memory of a block has 32 banks of 4 bytes. Lanes "
     "that want different words of one bank wait in turn. Transpositions leave a word free at the "
     "end of each row."},
    {"baseline", "", "Of speed-ups: V2 in the same format and device (backward: V2 (BEVDet), on "
     "the CPU OWNER), or what is pinned."},
    {"BEV grid", "bird's-eye view, cell", "The output, a bird's-eye view: nx * ny cells, x "
     "forward, y left. Cell y * nx + x holds one sum for each channel."},
    {"block scale", "scale, ideal", "The E4M3 scale that 16 neighbouring channels of NVFP4 share. "
     "A value is code times block scale times the tensor's scale, ideal if fitted to the frame."},
    {"calibration", "extrinsics, intrinsics", "Extrinsics: position and angles of a camera on the "
     "vehicle. Intrinsics: its focal length and principal point in pixels. Both together turn a "
     "pixel and a depth into a place."},
    {"camera features", "feat", "The tensor feat: the C numbers (channels) that the image network "
     "gives for each feature pixel. Shape (camera, h, w, c), channels last."},
    {"ceiling", "", "The highest rate that a device was measured to reach, in GB/s: of its L2 "
     "where the footprint fits into it, else of its memory."},
    {"channel tile", "tile", "The neighbouring channels that one thread sums, for example 8. "
     "Smaller ones give more threads, but each reads the indices again. A tile of V4 is another "
     "thing: 16 cells."},
    {"coalescing", "divergence", "Lanes of a warp ask for neighbouring bytes, so that few sectors "
     "serve all of them. Divergence: lanes take different ways, one after the other; in steps idle "
     "lanes are dots."},
    {"CUDA graph", "graph, launch", "A recorded series of launches (starts of a kernel) that one "
     "call starts. Timing a graph leaves out most of what single launches cost."},
    {"dependent loads", "", "Loads that wait for each other: first an index, then what it points "
     "to. Those of the longest interval take their time whatever the bandwidth: more where fewer "
     "points are loaded ahead."},
    {"depth bin", "", "One of the distances, along the camera's axis, at which the content of a "
     "feature pixel may be. The tensor depth has a probability for each; shape (camera, depth, h, "
     "w)."},
    {"DO", "depth outer", "Depth outer: one pass over the points of a cell sums all channels. "
     "Otherwise each channel tile needs a pass of its own and reads the indices again."},
    {"first estimate", "estimate", "The model's estimate of a GPU at once: a sample of the blocks "
     "is replayed, without the L2. The whole replay follows, and then the figures are its own."},
    {"footprint", "", "The arrays of a problem as they lie in memory, each whole and once: also "
     "depth that no point reads, unlike gather traffic. Where it fits half a cache, DRAM need "
     "not be read again."},
    {"FP8", "E4M3", "E4M3, numbers of 8 bits: sign, 4 bits of exponent, 3 of fraction; the largest "
     "is 448. A tensor has one scale."},
    {"frustum", "", "The part of space that a camera sees. Its points are all pairs of a feature "
     "pixel and a depth bin, placed around the vehicle by the calibration."},
    {"gates", "gate, gate A, gate B, gate C, 1e-2", "Gate A: against FP64 over the quantised "
     "inputs, a bound for rounding. Gate B: against FP64 over the original inputs. Gate C: "
     "equality on exact sums. Published, no gate: above or within 1e-2."},
    {"gather", "scatter", "To gather is to read from addresses that an index array gives; to "
     "scatter is to write or add to such addresses."},
    {"gather traffic", "", "Bytes counted as published: each point reads features, depth and 12 "
     "bytes of indices (bilinear: 16); the output, here in its own format (published: FP32), is "
     "written once. No cache: all kernels alike."},
    {"ground truth", "position error, in box", "The objects known to be there. Mass in box: the "
     "share of an object's weight in its box. Position error: how far a fault moves it, along the "
     "ray and across, in m. Lost: under a tenth is in the grid."},
    {"hit rate", "", "The share of the sectors looked up in L2 that are found there. The rest "
     "comes from DRAM or, in A100, H100 and H200, from the L2's other half."},
    {"injected bug", "bug", "A bug put into a correct pooling, for the reader to find: one point "
     "dropped, the grid transposed, sums in FP16 and others. No gate catches all of them."},
    {"INT8", "UINT8, INT8/FP16", "Whole numbers of 8 bits: features, -127 to 127; depth (UINT8), 0 "
     "to 255. INT8/FP16: INT8, FP16 output."},
    {"interval", "", "All points of one cell: interval_lengths[i] neighbouring points of the "
     "scatter map, from number interval_starts[i] on."},
    {"issue", "", "The start of warp instructions. The model takes the busiest multiprocessor: its "
     "instructions or the L1 lines that they touch, whichever takes longer."},
    {"kernel traffic", "GB/s, requests", "Bytes of a kernel's requests: what its threads ask for, "
     "additions too; an owner's equal addresses in a warp count once, caches not at all. GB/s: "
     "these over the median."},
    {"L2", "L1, DRAM", "The cache that all multiprocessors of a GPU share, between the L1 of each "
     "multiprocessor and DRAM, the memory of the GPU."},
    {"ladder", "", "V2, V2+DO, V3 (the article's) and V4: each has one idea more."},
    {"limited by", "latency-bound, issue-bound, term, finding", "The longest term of the predicted "
     "latency: DRAM, L2, issue (issue-bound) or dependent loads (latency-bound). Finding: the gain "
     "if a term were free."},
    {"load balance", "balance", "Of the intervals: how far their lengths are moved from the rig's "
     "(0) to their mean (1). Points, cells and footprint stay; only the balance of the work "
     "changes."},
    {"max abs", "rel L2, of channels", "Max abs: the largest error of a value. Rel L2: the norm "
     "of all errors over that of the correct values; of channels: the same, each by itself."},
    {"median", "p99, noise", "Half of the samples (in a CUDA graph means of many launches) are "
     "below the median, 99 of 100 below p99. The width of the middle half over the median is the "
     "noise."},
    {"miss-ratio curve", "MRC", "MRC: the L2 miss rate of reads, for an L2 of each size. Where "
     "it drops, something that is read again begins to fit."},
    {"model", "predicted", "Predicted by cache simulation, a GPU's data sheet and rates "
     "probed on an H200: not measured there; tables say m. Of a CPU kernel: the CUDA kernel of the "
     "same idea."},
    {"NVFP4", "E2M1", "E2M1, numbers of 4 bits: sign, 2 bits of exponent, 1 of fraction, with "
     "block scales and a scale of the tensor. Depth and output are then FP8."},
    {"occupancy", "", "The warps that a multiprocessor holds, as a share of the most it can hold. "
     "While some warps wait for memory, others can work."},
    {"point", "dropped point", "A feature pixel at one depth bin, inside the grid; outside: a "
     "dropped point. It adds depth times features to its cell. Bilinear align makes four points of "
     "it."},
    {"pooling", "", "For every point t and channel c: out[ranks_bev[t], c] += "
     "depth[ranks_depth[t]] * feat[ranks_feat[t], c]; in a bilinear map also times the weight of "
     "the point."},
    {"prepare", "", "What a kernel builds once for a scatter map, before its first launch. It is "
     "timed apart."},
    {"prune", "", "Leaves out points of small depth. The map then changes with each frame."},
    {"rank", "ranks_depth, ranks_feat, ranks_bev", "An index that a point has: ranks_depth finds "
     "its value in depth, ranks_feat its row of features, ranks_bev its cell. The names are "
     "BEVDet's."},
    {"regime", "fits, contested, streaming", "Where the footprint is kept. Fits: it fits "
     "half the L2. Contested: it fits the L2, which may keep a line twice. Streaming: it is "
     "larger; what a kernel reads of it may still fit."},
    {"roofline", "ridge", "The most FLOP/s that a GPU can reach for each number of FLOP a byte. Up "
     "to the ridge (peak FLOP/s over bandwidth) memory is the limit, beyond it arithmetic."},
    {"scatter map", "map", "Five index arrays sorted by cell: ranks_depth, ranks_feat, ranks_bev, "
     "interval_starts, interval_lengths. Bilinear maps have a weight for each point, too."},
    {"sector", "line, lane strip", "32 bytes, the least that a GPU's caches fetch. A line is four, "
     "128 bytes, kept or evicted together. In steps a lane strip names the lane (0-9, a-v) that "
     "asks for 4 bytes: * several, . none."},
    {"settled", "unsettled, stale, marks, source, measured, recorded, published", "Samples stopped "
     "drifting, on free cores. Marks of a source: none measured, m model, r recorded elsewhere, p "
     "published, ? unsettled, b while rendering: noisy, s single launches, ! stale."},
    {"slice", "height, nz", "One layer of cells of a grid with height, as occupancy networks have: "
     "nz slices one behind the other, cell (z * ny + y) * nx + x. Intervals are shorter, the "
     "output nz times as large."},
    {"speed-up", "pairs", "The baseline's latency over the kernel's. Headline: of pairs timed in "
     "turns, or recorded. Table: of the medians."},
    {"stand-in", "", "The kernel that pools the picture while the selected one is too slow for a "
     "live picture."},
    {"step", "", "Of V4: 16 rows of one image column, multiplied for up to 16 cells; bevscope "
     "steps numbers all turns of its warps. Of other kernels: each owner's next point."},
    {"tensor core", "", "A part of a multiprocessor that multiplies small matrices. V4 uses it: "
     "the sums of 16 cells that see the same image columns are such a product."},
    {"true pixels", "", "The BEV in the terminal's pixels: --pixels kitty, iterm, sixel or off."},
    {"V2", "article, BEVDet", "Article (v2): a thread a point and 8 channels; it adds by "
     "atomics, and each 8 channels read the indices again. BEVDet (v2_bevdet): a thread a channel "
     "of a cell, no atomics. V2 CHW: channels first."},
    {"warm", "cold", "Warm: caches are as the launch before left them. Cold: they are flushed "
     "before each launch; it is timed alone, on an H200 2.3 us more."},
    {"warp", "", "32 threads of a GPU that execute the same instruction together. Where their "
     "addresses are neighbours, they share sectors."},
    {"working set", "", "The bytes of the arrays that a kernel touches (reads or writes), each "
     "once, with its own FP32 sums. The footprint has all arrays whole. What is read again may be "
     "less: V4 hits in an L2 of 2 MiB."},
    {"zero point", "saturation", "The code that stands for 0: value = scale x (code - zero point). "
     "Here always 0, as depths have no sign. Saturation: a value above the range becomes the "
     "largest code."},
};
/* clang-format on */

const int glossary_count = sizeof glossary / sizeof *glossary;

enum { NAME_BYTES = 64 };

/* Copies one name of a row: 0 is the row's word, higher numbers are the names in `also`. Returns
 * false where the row has no name with that number. */
static bool copy_name(const GlossaryRow *row, int number, char name[NAME_BYTES]) {
    const char *from = number ? row->also : row->word;
    for (int skipped = 1; skipped < number && *from; skipped++) {
        from += strcspn(from, ",");
        from += strspn(from, ", ");
    }
    const size_t length = number ? strcspn(from, ",") : strlen(from);
    snprintf(name, NAME_BYTES, "%.*s", (int)length, from);
    return length > 0;
}

const GlossaryRow *glossary_find(const char *word) {
    char name[NAME_BYTES];
    for (int row = 0; row < glossary_count; row++)
        for (int i = 0; copy_name(&glossary[row], i, name); i++)
            if (!strcasecmp(name, word))
                return &glossary[row];
    return NULL;
}

/* Whether the name stands in the text as a whole word, in any case. */
static bool text_has_word(const char *text, const char *name) {
    const size_t length = strlen(name);
    const char *found = strcasestr(text, name);
    for (; found; found = strcasestr(found + 1, name)) {
        const bool begins_word = found == text || !isalnum((unsigned char)found[-1]);
        if (begins_word && !isalnum((unsigned char)found[length]))
            return true;
    }
    return false;
}

const GlossaryRow *glossary_mentioned(const char *text) {
    const GlossaryRow *found = NULL;
    size_t longest = 0;
    char name[NAME_BYTES];
    for (int row = 0; row < glossary_count; row++)
        for (int i = 0; copy_name(&glossary[row], i, name); i++)
            if (strlen(name) > longest && text_has_word(text, name)) {
                found = &glossary[row];
                longest = strlen(name);
            }
    return found;
}

void glossary_hint(const char *word, const char *otherwise, char *hint, size_t size) {
    enum { MOST_TYPOS = 2 };
    char name[NAME_BYTES];
    int least = MOST_TYPOS + 1;
    snprintf(hint, size, "%s", otherwise);
    for (int row = 0; row < glossary_count; row++)
        for (int i = 0; copy_name(&glossary[row], i, name); i++) {
            int distance = edit_distance(name, word);
            if (distance >= least)
                continue;
            least = distance;
            snprintf(hint, size, "did you mean %s?", name);
        }
}

void glossary_print(const GlossaryRow *row, FILE *out) {
    enum { WIDTH = 80 };
    fprintf(out, "%-*s", GLOSSARY_INDENT, row->word);
    text_wrap(row->text, strlen(row->text), GLOSSARY_INDENT, GLOSSARY_INDENT, WIDTH, out);
}
