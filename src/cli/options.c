#include "src/cli/options.h"

#include "src/base/nearest.h"
#include "src/scene/scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum {
    KIND_FLAG,
    KIND_TEXT,
    KIND_CHOICE,
    KIND_LIST,
    KIND_REAL,
    KIND_INT,
    KIND_PRUNE
} OptionKind;

typedef struct {
    const char *name;
    char letter; /* 0: none */
    const char *argument;
    OptionKind kind;
    unsigned commands; /* bit mask of CommandId */
    size_t offset;     /* of the field of Options */
    const char *help;
    ChoiceSet choices; /* KIND_CHOICE, KIND_LIST */
    double min, max;   /* KIND_REAL, KIND_INT */
} OptionRow;

#define ON(command)  (1u << COMMAND_##command)
#define ALL          ((1u << COMMAND_COUNT) - 1)
#define RUNS         (ON(LIVE) | ON(SNAPSHOT) | ON(VERIFY) | ON(BENCH))
#define SCREENS      (ON(LIVE) | ON(LEARN) | ON(QUIZ))
#define MODELS       (ON(REGIME) | ON(PLOT) | ON(REPORT))
#define ANY_GPU      (MODELS | ON(RIG))
#define SCENES       (RUNS | MODELS | ON(INFO) | ON(EXPORT) | ON(STEPS) | ON(SENSITIVITY))
#define CALIBRATES   (SCENES | ON(CALIBRATE))
#define SCALED                                                                                     \
    (ON(LIVE) | ON(SNAPSHOT) | ON(VERIFY) | ON(BENCH) | ON(INFO) | ON(EXPORT) | ON(PLOT) |         \
     ON(SENSITIVITY))
#define FAULTY       (ON(LIVE) | ON(SNAPSHOT) | ON(EXPORT) | ON(INFO) | ON(PLOT))
#define FIELD(field) .offset = offsetof(Options, field)

static const OptionRow rows[] = {
    {"kernel", 'k', "NAME", KIND_CHOICE, ON(LIVE), FIELD(kernel),
     "kernel to begin with, by name or title (default: v2, from which k climbs the ladder)",
     CHOICE_KERNEL},
    {"kernel", 'k', "NAME", KIND_CHOICE, ON(SNAPSHOT), FIELD(kernel),
     "kernel by name or title (default: the best of the device)", CHOICE_KERNEL},
    {"kernel", 'k', "LIST", KIND_LIST, ON(STEPS), FIELD(kernel),
     "one kernel, or two to stand side by side (default: v2)", CHOICE_KERNEL},
    {"cell", 0, "X,Y", KIND_TEXT, ON(STEPS), FIELD(cell), "the warps that work on this cell"},
    {"cell", 0, "X,Y", KIND_TEXT, ON(SNAPSHOT), FIELD(cell),
     "with --backward, the cell of the loss (default: the one about 15 m away with the strongest "
     "features, which the figure names)"},
    {"block", 0, "B", KIND_INT, ON(STEPS), FIELD(block), "the warps of this block", CHOICE_NONE, 0,
     2e9},
    {"warp", 0, "W", KIND_INT, ON(STEPS), FIELD(warp), "the warp of this number in its block",
     CHOICE_NONE, 0, 31},
    {"lane", 0, "L", KIND_INT, ON(STEPS), FIELD(lane),
     "look at this thread of each warp: its point, sum and queue", CHOICE_NONE, 0, 31},
    {"from", 0, "N", KIND_INT, ON(STEPS), FIELD(from), "the first step (default: 1)", CHOICE_NONE,
     1, 2e9},
    {"count", 0, "N", KIND_INT, ON(STEPS), FIELD(count), "so many steps (default: 8)", CHOICE_NONE,
     1, 1e6},
    {"png", 0, "FILE", KIND_TEXT, ON(STEPS), FIELD(png), "draw them instead, as PNG"},
    {"kernel", 'k', "LIST", KIND_LIST, ON(VERIFY) | ON(BENCH) | ON(REGIME), FIELD(kernel),
     "kernels by name or title (default: all)", CHOICE_KERNEL},
    {"kernel", 'k', "NAME", KIND_CHOICE, ON(TRAIN) | ON(EXPORT), FIELD(kernel),
     "forward kernel by name or title; backward goes the row of the same title (default: the best "
     "of the device)",
     CHOICE_KERNEL},
    {"steps", 'n', "N", KIND_INT, ON(TRAIN), FIELD(steps), "so many steps (default: 200)",
     CHOICE_NONE, 1, 100000},
    {"direction", 0, "WHICH", KIND_CHOICE, ON(VERIFY) | ON(BENCH) | ON(REGIME) | ON(EXPORT),
     FIELD(direction),
     "forward (pooling), backward (its gradients, in fp32, fp16 and bf16) or both (default: "
     "forward, or that of the kernels named)",
     CHOICE_DIRECTION},
    {"direction", 0, "WHICH", KIND_CHOICE, ON(PLOT) | ON(REPORT), FIELD(direction),
     "forward, backward (the kernels of the gradients) or, of a report, both (default: forward)",
     CHOICE_DIRECTION},
    {"stage", 0, "WHICH", KIND_CHOICE, ON(VERIFY) | ON(BENCH), FIELD(stage),
     "pool (depths and features to cells) or view (the whole view transform, whose logits are the "
     "scene's depths; in fp32, fp16 and bf16) (default: pool, or that of the kernels named)",
     CHOICE_STAGE},
    {"grad-out", 0, "FILE", KIND_TEXT, ON(VERIFY) | ON(BENCH) | ON(SNAPSHOT), FIELD(grad_out),
     "backward: the gradient of the output, a .npy of the shape (ny, nx, channels), instead of a "
     "random one (snapshot --backward: instead of a loss); NaN and infinite values are counted"},
    {"dtype", 'd', "LIST", KIND_LIST, RUNS | MODELS | ON(INFO) | ON(STEPS) | ON(SENSITIVITY),
     FIELD(dtype), "number formats (bench: fp32,fp16; verify, sensitivity: all; else fp16)",
     CHOICE_DTYPE},
    {"mixed", 0, "D,F,O", KIND_TEXT, ON(SENSITIVITY), FIELD(mixed),
     "a row besides, of depth, features and output each as this format has it: int8,fp8,fp16"},
    {"dtype", 'd', "NAME", KIND_CHOICE, ON(CALIBRATE), FIELD(dtype),
     "the format that entropy, mse and the table are of, one with a scale a tensor (default: fp8)",
     CHOICE_DTYPE},
    {"dtype", 'd', "NAME", KIND_CHOICE, ON(RIG), FIELD(dtype), "number format (default: fp16)",
     CHOICE_DTYPE},
    {"dtype", 'd', "NAME", KIND_CHOICE, ON(TRAIN) | ON(EXPORT), FIELD(dtype),
     "number format (default: fp32)", CHOICE_DTYPE},
    {"method", 0, "METHOD", KIND_CHOICE, ON(CALIBRATE), FIELD(method),
     "how the magnitude that is kept is chosen for the file (default: max)", CHOICE_METHOD},
    {"method", 0, "METHOD", KIND_CHOICE, ON(PLOT), FIELD(method),
     "plot calibration: whose cut parts the colours (default: max)", CHOICE_METHOD},
    {"tensor", 0, "WHICH", KIND_CHOICE, ON(PLOT), FIELD(tensor),
     "plot calibration: depth, feat or out (default: feat)", CHOICE_TENSOR},
    {"percentile", 0, "P", KIND_REAL, ON(CALIBRATE) | ON(PLOT), FIELD(percentile),
     "of --method percentile: so many percent of the values, zeros too, are kept (default: 99.99)",
     CHOICE_NONE, 50, 100},
    {"per-channel", 0, NULL, KIND_FLAG, ON(CALIBRATE) | ON(PLOT), FIELD(per_channel),
     "a range of its own for each channel of the features"},
    {"align", 'a', "LIST", KIND_LIST, CALIBRATES | ON(TRAIN), FIELD(align),
     "how points meet cells (verify: all; else nearest)", CHOICE_ALIGN},
    {"device", 0, "WHICH", KIND_TEXT,
     ALL & ~(ON(GLOSSARY) | ON(TRY) | ON(STEPS) | ON(RIG) | ON(CALIBRATE) | ON(SENSITIVITY)),
     FIELD(device), "auto, cpu, cuda or a GPU's number (default: auto)"},
    {"time", 't', "SECONDS", KIND_REAL, CALIBRATES | ON(TRY) | ON(TRAIN), FIELD(time_s),
     "moment of a moving world or a clip (default: 0)", CHOICE_NONE, 0, 1e6},
    {"moments", 0, "N", KIND_INT, ON(VERIFY) | ON(SENSITIVITY), FIELD(moments),
     "so many moments from --time on, half a second apart, of a clip spread evenly over it "
     "(default: "
     "one; of a clip all): a line shows the worst moment, and the worst line comes first",
     CHOICE_NONE, 1, 10000},
    {"moments", 0, "N", KIND_INT, ON(CALIBRATE) | ON(PLOT), FIELD(moments),
     "so many moments from --time on, half a second apart (default: of a clip all, of a world 12)",
     CHOICE_NONE, 1, 10000},
    {"cosine", 0, "C", KIND_REAL, ON(VERIFY), FIELD(cosine),
     "a line besides the gates: the cosine of each moment's output, and of its cells of each "
     "class, "
     "must be at least C, such as 0.999",
     CHOICE_NONE, 0, 1},
    {"max-abs", 0, "E", KIND_REAL, ON(VERIFY), FIELD(max_abs),
     "the same: the largest error of each moment must be at most E, such as the published 1e-2",
     CHOICE_NONE, 0, 1e9},
    {"temperature", 0, "T", KIND_REAL, CALIBRATES | ON(TRY), FIELD(temperature),
     "of the depth distribution: below 1 sharpens, above 1 smears", CHOICE_NONE, 0.01, 100},
    {"temperature", 0, "T", KIND_REAL, ON(TRAIN), FIELD(temperature),
     "of the depth to start from (default: 10)", CHOICE_NONE, 0.01, 100},
    {"from", 0, "RIG", KIND_TEXT, ON(RIG), FIELD(from_rig),
     "the rig to begin with (default: nuscenes)"},
    {"input", 0, "WxH", KIND_TEXT, ON(RIG), FIELD(input),
     "the network's input: images are resized to this width, and the lower rows kept"},
    {"stride", 0, "N", KIND_INT, ON(RIG), FIELD(stride),
     "pixels of the input from one feature to the next", CHOICE_NONE, 1, 256},
    {"depth", 0, "START:STOP:STEP", KIND_TEXT, ON(RIG), FIELD(depth), "depth bins in metres"},
    {"reach", 0, "M", KIND_REAL, ON(RIG), FIELD(reach_m), "the grid goes from -M to M metres",
     CHOICE_NONE, 0.1, 10000},
    {"cell", 0, "M", KIND_REAL, ON(RIG), FIELD(cell_m), "side of a cell in metres", CHOICE_NONE,
     0.01, 1000},
    {"channels", 'c', "N", KIND_INT, CALIBRATES | ON(RIG) | ON(TRY) | ON(TRAIN), FIELD(channels),
     "feature channels instead of the scene's own", CHOICE_NONE, 1, 1024},
    {"prune", 0, "DEPTH|topK", KIND_PRUNE, SCENES, FIELD(prune),
     "leave out points whose depth is below this, or outside of the K strongest bins of their "
     "pixel"},
    {"scales", 0, "FILE", KIND_TEXT, SCALED, FIELD(scales),
     "ranges that calibrate wrote, from which FP8, NVFP4 and INT8 are scaled; channel: ideal ones, "
     "of INT8 features one a channel (default: ideal, the largest values of the very frame)"},
    {"outlier", 0, "FACTOR", KIND_REAL, SCENES, FIELD(outlier),
     "multiply feature channel 0 by this, as trained networks have channels: one scale for all "
     "channels then serves one of them",
     CHOICE_NONE, 1, FEATURES_MAX_OUTLIER},
    {"evenness", 0, "E", KIND_REAL, SCENES, FIELD(evenness),
     "what if its intervals were more even: 0 as they are, 1 all of the mean length; points, cells "
     "and distinct bytes stay",
     CHOICE_NONE, 0, 1},
    {"skew", 0, "S", KIND_REAL, SCENES, FIELD(skew),
     "of an operator scene: 0 even, 1 Zipf's law, as its file explains (default: the scene's own)",
     CHOICE_NONE, 0, OPERATOR_MAX_SKEW},
    {"points", 0, "N", KIND_INT, SCENES, FIELD(points),
     "of an operator scene (default: the scene's own)", CHOICE_NONE, 1, OPERATOR_MAX_POINTS},
    {"rounding", 0, "WHICH", KIND_CHOICE, FAULTY, FIELD(rounding),
     "how points get their cells; truncate: toward zero, as LSS, BEVDet and CUDA-BEVFusion do",
     CHOICE_ROUNDING},
    {"camera", 0, "NAME", KIND_TEXT, FAULTY, FIELD(camera),
     "the camera, by name or number, that the next options change: the map, not what the camera "
     "sees"},
    {"yaw", 0, "DEGREES", KIND_REAL, FAULTY, FIELD(fault.yaw_deg), "an error of its calibration",
     CHOICE_NONE, -15, 15},
    {"pitch", 0, "DEGREES", KIND_REAL, FAULTY, FIELD(fault.pitch_deg), "the same, up", CHOICE_NONE,
     -15, 15},
    {"roll", 0, "DEGREES", KIND_REAL, FAULTY, FIELD(fault.roll_deg), "the same, clockwise",
     CHOICE_NONE, -15, 15},
    {"height", 0, "METRES", KIND_REAL, FAULTY, FIELD(fault.height_m), "the same, of its place",
     CHOICE_NONE, -2, 2},
    {"shift-x", 0, "METRES", KIND_REAL, FAULTY, FIELD(fault.x_m), "the same, ahead", CHOICE_NONE,
     -2, 2},
    {"shift-y", 0, "METRES", KIND_REAL, FAULTY, FIELD(fault.y_m), "the same, to the left",
     CHOICE_NONE, -2, 2},
    {"focal", 0, "PERCENT", KIND_REAL, FAULTY, FIELD(fault.focal_percent),
     "the same, of its focal length", CHOICE_NONE, -20, 20},
    {"delay", 0, "MS", KIND_REAL, FAULTY, FIELD(fault.delay_ms),
     "what the camera sees is so many milliseconds old", CHOICE_NONE, 0, 10000},
    {"dirty", 0, NULL, KIND_FLAG, FAULTY, FIELD(dirty), "a dirty lens switches it off"},
    {"output", 'o', "FILE", KIND_TEXT,
     ON(SNAPSHOT) | ON(SENSITIVITY) | ON(VERIFY) | ON(BENCH) | ON(INFO) | ON(AGREEMENT) | ON(TRY) |
         ON(TRAIN) | ANY_GPU,
     FIELD(output),
     "write here instead of to standard output, atomically (try, train: the chart, as PNG or SVG)"},
    {"output", 'o', "FILE", KIND_TEXT, ON(CALIBRATE), FIELD(output),
     "write the ranges here, as JSON, for --scales of other commands"},
    {"format", 'f', "FORMAT", KIND_CHOICE,
     ON(CALIBRATE) | ON(SENSITIVITY) | ON(VERIFY) | ON(BENCH) | ON(INFO) | ON(REGIME) |
         ON(AGREEMENT) | ON(TRAIN) | ON(RIG),
     FIELD(format), "table, markdown, csv or json (default: table)", CHOICE_FORMAT},
    {"cache", 0, "LIST", KIND_LIST, ON(BENCH), FIELD(cache), "cache states to time (default: both)",
     CHOICE_CACHE},
    {"quick", 'q', NULL, KIND_FLAG, ON(BENCH) | ON(REPORT) | ON(TRY), FIELD(quick),
     "bench, try: fewer samples, noisier figures; report: compare on canonical only"},
    {"single", 0, NULL, KIND_FLAG, ON(BENCH), FIELD(single),
     "time single launches, waited for one by one, instead of CUDA graphs: the difference is what "
     "a launch costs"},
    {"timeline", 0, NULL, KIND_FLAG, ON(BENCH), FIELD(timeline),
     "when a few launches begin and end, one by one, in a row, in a CUDA graph and with copies; as "
     "JSON in samples/recorded/ plot timeline draws them"},
    {"once", 0, NULL, KIND_FLAG, ON(BENCH), FIELD(once),
     "times nothing: a warm-up and one launch, in an NVTX range, for ncu --nvtx and nsys profile"},
    {"l2-carveout", 0, "LIST", KIND_TEXT, ON(BENCH), FIELD(l2_carveout),
     "as if the GPU's L2 were smaller: sets so many MiB of it aside, fills them with "
     "lines that nobody uses, and says what was left; several one after the other, such as "
     "0,16,32"},
    {"against", 0, "OLD.json", KIND_TEXT, ON(BENCH), FIELD(against),
     "hold the latencies against those of an earlier bench --format json of this machine: ratios "
     "with "
     "their noise"},
    {"fail", 0, "PERCENT", KIND_TEXT, ON(BENCH), FIELD(fail),
     "with --against: exit status 3 where a kernel is slower by more than that, such as 5%, and by "
     "more than the noise of either file"},
    {"png", 0, "FILE", KIND_TEXT, ON(BENCH), FIELD(png),
     "with --against: draw the ratios, as PNG, or as SVG where FILE ends so"},
    {"recorded", 'r', NULL, KIND_FLAG, ON(BENCH), FIELD(recorded),
     "show the results recorded on named machines instead of measuring"},
    {"counters", 0, NULL, KIND_FLAG, ON(REGIME), FIELD(counters),
     "beside the model what this GPU's hardware counters say; without a GPU or the permission, "
     "what they said on named machines (csv: that table alone)"},
    {"pooled", 0, "FILE.npy", KIND_TEXT, ON(EXPORT), FIELD(pooled),
     "write the grid that --kernel pools, through libbevpool: float32 (ny, nx, C), with slices "
     "(nz, ny, nx, C), as --dtype stores it; backward also "
     "FILE-grad_out.npy (random), FILE-grad_depth.npy and FILE-grad_feat.npy"},
    {"half", 0, NULL, KIND_FLAG, ON(EXPORT), FIELD(half), "write float16 tensors"},
    {"photo-features", 0, NULL, KIND_FLAG, ON(SNAPSHOT) | ON(EXPORT), FIELD(photo_features),
     "features made from the photographs in place of a network's: mean colour, differences of "
     "brightness. Pooled, they are the street from above; where a file has images but no feat they "
     "are made anyway"},
    {"bare", 0, NULL, KIND_FLAG, ON(EXPORT), FIELD(bare),
     "leave out what a world's car would record besides: images, boxes, lidar, timestamps"},
    {"objects", 0, NULL, KIND_FLAG, ON(INFO), FIELD(objects),
     "for each true box of a world or a file: the share of its mass that lies in it, and how many "
     "metres the centroid is off, beside the rig without fault in fp32 and nearest"},
    {"kernels", 0, NULL, KIND_FLAG, ON(INFO), FIELD(kernels),
     "registers, shared memory and occupancy of every CUDA kernel"},
    {"probe", 0, NULL, KIND_FLAG, ON(INFO), FIELD(probe),
     "what a GPU reaches at best: bandwidths, rates and latencies by small kernels that do nothing "
     "else, beside the data sheet; without a GPU, what was recorded of others"},
    {"view", 'v', "VIEW", KIND_CHOICE, ON(LIVE) | ON(SNAPSHOT), FIELD(view),
     "what the cells show (default: color; a network's features and operators: norm; features of "
     "photographs: rgb)",
     CHOICE_VIEW},
    {"slice", 0, "K", KIND_TEXT, ON(LIVE) | ON(SNAPSHOT), FIELD(slice),
     "what is shown of a grid with height: slice K from 0, max (the strongest cell of each "
     "column), "
     "or side, as seen from the left (default: max)"},
    {"channel", 0, "N", KIND_INT, ON(SNAPSHOT), FIELD(channel),
     "which channel --view channel shows (default: 0)", CHOICE_NONE, 0, 1023},
    {"rgb", 0, "CHANNELS", KIND_TEXT, ON(LIVE) | ON(SNAPSHOT), FIELD(rgb),
     "which three channels --view rgb shows as red, green and blue, such as 0,1,2; each may have a "
     "range: 0:0:1,1:0:1,2:0:1 (default: 0,1,2, ranges by their values)"},
    {"colormap", 'm', "MAP", KIND_CHOICE, ON(LIVE) | ON(SNAPSHOT), FIELD(colormap),
     "colours of scalar views (default: viridis; errors: the diverging map)", CHOICE_COLORMAP},
    {"range", 0, "LOW:HIGH", KIND_TEXT, ON(SNAPSHOT), FIELD(range),
     "lock the colour range instead of fitting it"},
    {"compare", 0, "SELECTION", KIND_TEXT, ON(SNAPSHOT), FIELD(compare),
     "a second selection beside the first, with the difference: kernel, dtype and align in any "
     "combination, such as fp8 or v2,bilinear; or a second file, another checkpoint or calibration "
     "of the same grid, such as other.npz"},
    {"compare", 0, "SCENE", KIND_TEXT, ON(LIVE), FIELD(compare),
     "a second scene or file beside the first, such as another checkpoint or calibration of the "
     "same "
     "grid"},
    {"backward", 0, NULL, KIND_FLAG, ON(SNAPSHOT), FIELD(backward),
     "the way back: which pixels feed a loss, half the squared norm of what is pooled into the "
     "cells of --cell and --loss; they are lit in the camera views, and bars show grad_depth of "
     "the "
     "brightest; in fp32, fp16 and bf16. --kernel names either direction"},
    {"pixel", 0, "CAMERA,X,Y", KIND_TEXT, ON(SNAPSHOT), FIELD(pixel),
     "with --backward: show grad_depth of this pixel of the feature map instead of the brightest; "
     "a "
     "camera by name or number"},
    {"loss", 0, "CELLS", KIND_CHOICE, ON(SNAPSHOT), FIELD(loss),
     "with --backward: the cell alone, box (the cells of the object that covers it) or class (all "
     "cells of its class) (default: cell)",
     CHOICE_LOSS},
    {"cameras", 0, NULL, KIND_FLAG, ON(SNAPSHOT), FIELD(cameras), "add the strip of camera views"},
    {"strip", 0, "WHAT", KIND_CHOICE, ON(SNAPSHOT), FIELD(strip),
     "add it with this over the photographs: image (nothing), norm (of the features) or depth "
     "(mean of the distribution) (default: image)",
     CHOICE_STRIP},
    {"lidar", 0, NULL, KIND_FLAG, ON(LIVE) | ON(SNAPSHOT), FIELD(lidar),
     "LiDAR points over the camera views, coloured by depth; of a world they are ray-cast"},
    {"truth", 0, "WHAT", KIND_CHOICE, ON(SNAPSHOT), FIELD(truth),
     "what to draw of a file's true objects and LiDAR: boxes, lidar, both or off (default: boxes)",
     CHOICE_TRUTH},
    {"table", 0, NULL, KIND_FLAG, ON(SNAPSHOT), FIELD(table),
     "add a table of every kernel's latency and accuracy, also printed"},
    {"timing", 0, "SOURCE", KIND_CHOICE, ON(SNAPSHOT), FIELD(timing),
     "latencies shown: recorded (same pixels every time; n/a for scenes of your own), measured "
     "now, "
     "or off (default: recorded)",
     CHOICE_TIMING},
    {"no-fill", 0, NULL, KIND_FLAG, ON(SNAPSHOT), FIELD(no_fill),
     "leave empty cells between filled ones empty; else they are drawn as the mean of their "
     "neighbours, dimmer (in the picture only)"},
    {"no-outlines", 0, NULL, KIND_FLAG, ON(SNAPSHOT), FIELD(no_outlines),
     "leave out the true outlines of the world's objects"},
    {"theme", 0, "THEME", KIND_CHOICE, ON(SNAPSHOT) | ON(PLOT) | ON(REPORT) | ON(TRY) | ON(TRAIN),
     FIELD(theme), "light or dark page (default: light)", CHOICE_THEME},
    {"width", 'w', "PIXELS", KIND_INT, ON(SNAPSHOT), FIELD(width),
     "width of the figure (default: by its contents)", CHOICE_NONE, 600, 8000},
    {"title", 0, "TEXT", KIND_TEXT, ON(SNAPSHOT), FIELD(title), "instead of the scene's title"},
    {"no-window", 0, NULL, KIND_FLAG, SCREENS | ON(DEMO), FIELD(no_window),
     "stay in the terminal, which then shows the BEV too"},
    {"no-mouse", 0, NULL, KIND_FLAG, SCREENS | ON(DEMO), FIELD(no_mouse),
     "leave the mouse to the terminal, which then selects text without Shift"},
    {"large", 0, NULL, KIND_FLAG, SCREENS | ON(DEMO), FIELD(large),
     "for a projector: fewer panels, larger figures and text"},
    {"plain", 0, NULL, KIND_FLAG, SCREENS, FIELD(plain),
     "plain lines instead of a dashboard, as where there is no terminal"},
    {"ascii", 0, NULL, KIND_FLAG, SCREENS | ON(DEMO), FIELD(ascii),
     "no characters beyond ASCII on the dashboard"},
    {"color", 0, "WHEN", KIND_CHOICE, SCREENS | ON(DEMO), FIELD(color),
     "auto, always or never: colours on the dashboard (default: auto, not if NO_COLOR is set)",
     CHOICE_COLOR},
    {"script", 0, "FILE", KIND_TEXT, SCREENS, FIELD(script),
     "no terminal, no window: read words and ticks from FILE, write a frame a tick; "
     "say TEXT puts a line on the frames"},
    {"quiet", 0, NULL, KIND_FLAG,
     ON(LIVE) | ON(AGREEMENT) | ON(SNAPSHOT) | ON(VERIFY) | ON(TRAIN) | ON(CALIBRATE) | ANY_GPU,
     FIELD(quiet),
     "no line on the terminal that says how far long work has come (live: of a script)"},
    {"frames", 0, "FOLDER", KIND_TEXT, SCREENS, FIELD(frames),
     "where the frames of a script go, as text and PNG (default: frames)"},
    {"size", 0, "CxR", KIND_TEXT, SCREENS, FIELD(size),
     "columns and rows of a script's terminal (default: 120x40)"},
    {"export", 0, "FILE", KIND_TEXT, ON(LEARN), FIELD(export),
     "write the lesson as Markdown, for a wiki, with its pictures beside it"},
    {"again", 0, NULL, KIND_FLAG, ON(LEARN), FIELD(again),
     "begin the lesson anew instead of going on where you left it"},
    {"seed", 0, "N", KIND_INT, ON(QUIZ), FIELD(seed),
     "draws the same questions for the same number (default: others each time)", CHOICE_NONE, 1,
     2e9},
    {"gpu", 'g', "LIST", KIND_LIST, ANY_GPU, FIELD(gpu),
     "GPUs to model (default: the article's two and the one that results were recorded on; rig: "
     "all)",
     CHOICE_GPU},
    {"gpu-file", 0, "FILE", KIND_TEXT, ANY_GPU, FIELD(gpu_file),
     "a GPU of your own: JSON with name, compute_capability, multiprocessors, l2_mb (MiB), "
     "dram_gbps "
     "and, if known, l2_gbps, l2_partitions, fp32_tflops and converts_fp8; begin with a copy of "
     "samples/gpus/l40.json"},
    {"network", 0, "FILE", KIND_TEXT, ON(PLOT), FIELD(network),
     "plot network: a network of your own, its stages in ms; begin with a copy of "
     "samples/networks/bevdet.json"},
    {"over", 0, "WHAT", KIND_CHOICE, ON(PLOT), FIELD(over), "what a sweep varies (default: grid)",
     CHOICE_SWEEP},
    {"l2-mb", 0, "MIB", KIND_REAL, ANY_GPU, FIELD(l2_mb), "what if their L2 had this size in MiB",
     CHOICE_NONE, 0.01, 100000},
    {"new", 'n', NULL, KIND_FLAG, ON(TRY), FIELD(create),
     "write a right and slow kernel to FILE, which must not exist yet; with --edit go on from it"},
    {"edit", 'e', NULL, KIND_FLAG, ON(TRY), FIELD(edit),
     "open FILE in $VISUAL or $EDITOR first, and again after each verdict"},
    {"limit", 0, "SECONDS", KIND_REAL, ON(TRY), FIELD(limit_s),
     "how long a run of the kernel may take (default: 10)", CHOICE_NONE, 0.1, 3600},
    {"dram-gbps", 0, "GB/S", KIND_REAL, ANY_GPU, FIELD(dram_gbps),
     "what if their DRAM gave so many GB/s", CHOICE_NONE, 1, 1e6},
    {"sms", 0, "N", KIND_INT, ANY_GPU, FIELD(sms), "what if they had so many multiprocessors",
     CHOICE_NONE, 1, 10000},
    {"clock-ghz", 0, "GHZ", KIND_REAL, ANY_GPU, FIELD(clock_ghz),
     "what if their multiprocessors ran at so many GHz", CHOICE_NONE, 0.1, 10},
    {"help", 'h', NULL, KIND_FLAG, ALL, FIELD(help), "show this text"},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

/* ---- parsing -------------------------------------------------------------------------------- */

static bool applies(const OptionRow *row, CommandId command) {
    return row->commands & 1u << command;
}

static bool usage(Err *err, CommandId command, const char *where, const char *suggestion,
                  const char *what) {
    char hint[128];
    if (suggestion)
        snprintf(hint, sizeof hint, "did you mean %s?", suggestion);
    else
        snprintf(hint, sizeof hint, "see bevscope %s --help", commands[command].name);
    return err_set(err, ERR_USAGE, where, hint, "%s", what);
}

static bool store_number(Options *options, const OptionRow *row, const char *value, Err *err) {
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    bool whole = number == floor(number);
    if (end == value || *end || errno || !(number >= row->min && number <= row->max) ||
        (row->kind == KIND_INT && !whole))
        return err_set(err, ERR_USAGE, row->name, "", "'%s' is not %s from %g to %g", value,
                       row->kind == KIND_INT ? "a whole number" : "a number", row->min, row->max);
    void *field = (char *)options + row->offset;
    if (row->kind == KIND_INT)
        *(int64_t *)field = (int64_t)number;
    else
        *(double *)field = number;
    return true;
}

/* A list where one name is wanted. */
static bool refuse_list(CommandId command, const OptionRow *row, const char *value, Err *err) {
    char where[64], hint[96];
    const char *name = commands[command].name;
    bool compares = command == COMMAND_SNAPSHOT && row->choices == CHOICE_KERNEL;
    snprintf(where, sizeof where, "--%s", row->name);
    snprintf(hint, sizeof hint,
             compares ? "%s draws one; --compare draws a second beside it" : "%s takes one", name);
    return err_set(err, ERR_USAGE, where, hint, "'%s' names several", value);
}

/* Choices are checked here, so that a typo costs no computation. */
static bool store(Options *options, const OptionRow *row, const char *value, Err *err) {
    void *field = (char *)options + row->offset;
    switch (row->kind) {
    case KIND_FLAG:
        *(bool *)field = true;
        return true;
    case KIND_REAL:
    case KIND_INT:
        return store_number(options, row, value, err);
    case KIND_CHOICE:
    case KIND_LIST:
        if (row->kind == KIND_CHOICE && strchr(value, ','))
            return refuse_list(options->command, row, value, err);
        if (!choices_check(row->choices, value, row->kind == KIND_LIST, row->name, err))
            return false;
        break;
    case KIND_PRUNE:
        return prune_parse(value, field) ||
               err_set(err, ERR_USAGE, row->name, "",
                       "'%s' is not a number from 0 to 1, nor top1, top2 ...", value);
    case KIND_TEXT:
        break;
    }
    *(const char **)field = value;
    return true;
}

/* The row of a long name (`length` characters of it) or, when that is NULL, of a letter. */
static const OptionRow *find_row(const char *name, size_t length, char letter, CommandId command) {
    for (int i = 0; i < ROW_COUNT; i++) {
        bool fits = name ? strlen(rows[i].name) == length && !strncmp(rows[i].name, name, length)
                         : rows[i].letter == letter;
        if (fits && applies(&rows[i], command))
            return &rows[i];
    }
    return NULL;
}

static bool no_such_option(const char *word, const char *name, CommandId command, Err *err) {
    char suggestion[64];
    const char *names[ROW_COUNT];
    size_t count = 0;
    for (int i = 0; i < ROW_COUNT; i++)
        if (applies(&rows[i], command))
            names[count++] = rows[i].name;
    const char *nearest = nearest_name(name, names, count);
    snprintf(suggestion, sizeof suggestion, "--%s", nearest ? nearest : "");
    return usage(err, command, word, nearest ? suggestion : NULL, "no such option");
}

/* Stores `value`, or the next word when it is NULL; advances *i over that word. */
static bool store_value(Options *options, const OptionRow *row, const char *value, int argc,
                        char **argv, int *i, Err *err) {
    if (!value && *i + 1 == argc)
        return usage(err, options->command, argv[*i], NULL, "needs a value");
    return store(options, row, value ? value : argv[++*i], err);
}

/* "--name", "--name=value", "--name value" */
static bool parse_long(Options *options, int argc, char **argv, int *i, Err *err) {
    char name[64];
    const char *text = argv[*i] + 2;
    size_t length = strcspn(text, "=");
    const OptionRow *row = find_row(text, length, 0, options->command);
    const char *value = text[length] ? text + length + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    if (!row)
        return no_such_option(argv[*i], name, options->command, err);
    if (row->kind != KIND_FLAG)
        return store_value(options, row, value, argc, argv, i, err);
    return value ? usage(err, options->command, argv[*i], NULL, "takes no value")
                 : store(options, row, NULL, err);
}

/* "-k", "-kvalue", "-k value", and flags in one word: "-qr" */
static bool parse_short(Options *options, int argc, char **argv, int *i, Err *err) {
    for (const char *letter = argv[*i] + 1; *letter; letter++) {
        const OptionRow *row = find_row(NULL, 0, *letter, options->command);
        if (!row)
            return usage(err, options->command, argv[*i], NULL, "no such option");
        if (row->kind != KIND_FLAG)
            return store_value(options, row, letter[1] ? letter + 1 : NULL, argc, argv, i, err);
        store(options, row, NULL, err);
    }
    return true;
}

/* Whether a word in the place of a command is a scene: a known name, or a likely file name. */
static bool means_scene(const char *word, const SceneName *scenes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!strcmp(scenes[i].name, word))
            return true;
    return word[0] == '-' || strpbrk(word, "./") || access(word, F_OK) == 0;
}

/* Sets the command; *first is where its options and arguments begin. */
static bool find_command(Options *options, int argc, char **argv, int *first, Err *err) {
    enum { MAX_SCENES = 64 };
    SceneName scenes[MAX_SCENES];
    const char *names[COMMAND_COUNT + MAX_SCENES];
    options->command = COMMAND_LIVE;
    *first = 1;
    if (argc < 2)
        return true;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i].name, argv[1])) {
            options->command = (CommandId)i;
            *first = 2;
            return true;
        }
    size_t count;
    bool listed = scene_names(scenes, MAX_SCENES, &count, err);
    if (means_scene(argv[1], scenes, count))
        return true;
    if (!listed)
        return false;
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    for (size_t i = 0; i < count; i++)
        names[COMMAND_COUNT + i] = scenes[i].name;
    char hint[96];
    nearest_hint(argv[1], names, COMMAND_COUNT + count,
                 "bevscope --help shows the commands, --list the scenes", hint, sizeof hint);
    return err_set(err, ERR_USAGE, argv[1], hint, "no such command or scene");
}

bool options_parse(Options *options, int argc, char **argv, Err *err) {
    *options = (Options){.device = "auto",
                         .format = "table",
                         .timing = "recorded",
                         .theme = "light",
                         .color = "auto",
                         .block = -1,
                         .warp = -1,
                         .lane = -1,
                         .skew = -1,
                         .from = 1,
                         .steps = 200};
    int first;
    if (!find_command(options, argc, argv, &first, err))
        return false;
    bool only_arguments = false;
    for (int i = first; i < argc; i++) {
        const char *word = argv[i];
        bool ok = true;
        if (only_arguments || word[0] != '-' || !word[1]) {
            if (options->argument_count == OPTIONS_MAX_ARGUMENTS)
                return usage(err, options->command, word, NULL, "too many arguments");
            options->arguments[options->argument_count++] = word;
        } else if (!strcmp(word, "--"))
            only_arguments = true;
        else
            ok = word[1] == '-' ? parse_long(options, argc, argv, &i, err)
                                : parse_short(options, argc, argv, &i, err);
        if (!ok)
            return false;
    }
    const Subcommand *command = &commands[options->command];
    if (!options->help && (options->argument_count < command->min_arguments ||
                           options->argument_count > command->max_arguments)) {
        char what[128];
        snprintf(what, sizeof what, "usage: bevscope %s %s", command->name, command->synopsis);
        return usage(err, options->command, command->name, NULL, what);
    }
    return true;
}

bool options_describe(CommandId command, int i, OptionHelp *help) {
    for (int row = 0; row < ROW_COUNT; row++)
        if (applies(&rows[row], command) && i-- == 0) {
            *help = (OptionHelp){rows[row].name, rows[row].letter, rows[row].argument, ""};
            int n = snprintf(help->help, sizeof help->help, "%s", rows[row].help);
            if (rows[row].choices != CHOICE_NONE)
                choices_list(rows[row].choices, help->help + n, (int)sizeof help->help - n);
            return true;
        }
    return false;
}
