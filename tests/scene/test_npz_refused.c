/* SPDX-License-Identifier: MIT */
/* Tensor scenes that cannot be read: headers of arrays, their elements, sets of arrays. */
#include "tests/scene/npz_arrays.h"

typedef struct {
    const char *title, *array;
    const char *change; /* a shape, or another type */
    int count;          /* 0: as in the base; -1: none */
    const char *words;
} Form;

static const Form forms[] = {
    {"whole features", "feat", "<i4", 0, "int32"},
    {"float ranks", "ranks_bev", "<f4", 0, "float32, must be any whole number"},
    {"text", "feat", "<U1", 0, "str, must be float16, float32 or"},
    {"text too long", "feat", "|S1025", 0, "must be at most 1024"},
    {"float images", "images", "<f4", 0, "float32, must be uint8"},
    {"images of another count", "images", "(1, 2, 3, 3)", 18, "1 cameras...has 2"},
    {"huge images", "images", "(2, 8000, 8000, 3)", 0, "shape...384000000 bytes"},
    {"boxes of eight", "boxes", "(2, 8)", 16, "shape (2, 8)...must be (box, 7) or (box, 9)"},
    {"flat lidar", "lidar", "(3, 2)", 6, "2 LiDAR columns...3 to 16"},
    {"objects", "feat", "|O", 0, "object dtype \"|O\""},
    {"big-endian", "depth", ">f4", 0, "big-endian dtype \">f4\""},
    {"bfloat16", "feat", "|V2", 0, "bfloat16"},
    {"a batch", "depth", "(1, 2, 3, 2, 3)", 0, "(1, 2, 3, 2, 3)...save one sample"},
    {"three axes", "depth", "(6, 2, 3)", 0,
     "shape (6, 2, 3)...(camera, D, h, w)"},
    {"channels first", "feat", "(2, 4, 2, 3)", 0,
     "4 feature rows...depth has 2 (depth is (camera, D, h, w), feat (camera, h, w, C))"},
    {"3 x 4 poses", "cam2ego", "(2, 3, 4)", 24, "shape (2, 3, 4)...(camera, 4, 4)"},
    {"four resizes", "resize", "(2, 2, 1)", 4,
     "shape (2, 2, 1)...must be () or (1) or (camera) or (camera, 2)"},
    {"a point less", "ranks_bev", "(4,)", 4, "4 points...ranks_depth has 5"},
    {"weights too many", "weights", "(6,)", 6, "6 points...has 5"},
    {"no cameras", "depth", "(0, 3, 2, 3)", -1, "0 cameras...1 to 32"},
    {"elements missing", "depth", "(2, 3, 2, 3)", 35,
     "shape (2, 3, 2, 3) of float32...144 bytes, but has 140"},
    {"huge", "depth", "(2, 1000000, 1000, 1000)", 0,
     "(2, 1000000, 1000, 1000)...8000000000000 bytes, but has 144"},
    {"wrapping to its size", "depth", "(4611686018427387904, 4, 1, 36)", 0,
     "product does not fit 64 bits"},
    {"negative", "depth", "(-2, 3, 2, 3)", 0, "whole numbers"},
    {"nine axes", "depth", "(1, 1, 1, 1, 1, 1, 1, 1, 36)", 0, "more than 8 axes"},
};

static void test_forms(void) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const Form *form = &forms[i];
        char words[200];
        start("");
        add_weights();
        add_car();
        Array *array = get(form->array);
        *(form->change[0] == '(' ? &array->shape : &array->descr) = form->change;
        if (form->count)
            array->count = form->count > 0 ? form->count : 0;
        snprintf(words, sizeof words, "%s...%s", form->array, form->words);
        refuses(form->title, words);
    }
}

static void test_header(void) {
    start("");
    get("depth")->header = "{'descr':'<f4','fortran_order':False,'shape':(2,3,2,3)}";
    accepts("no spaces and no last comma are the same header");
}

/* The first bytes of an .npy: magic, version, length of the header. */
static void test_prefix(void) {
    const struct {
        const char *title, *bytes;
        size_t length;
        const char *words;
    } prefixes[] = {
        {"wrong magic", "\x93NUMPX\1\0\4\0{}  ", 14, "wrong magic"},
        {"version 4", "\x93NUMPY\4\0\4\0\0\0{}  ", 16, "npy version 4"},
        {"a header beyond the data", "\x93NUMPY\1\0\5\0{}  ", 14, "truncated"},
        {"an empty member", "", 0, "truncated"},
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        ZipMaker zip = {0};
        zip_stored(&zip, "depth.npy", prefixes[i].bytes, prefixes[i].length);
        refuses_zip(&zip, prefixes[i].title, prefixes[i].words);
    }
}

static const struct {
    const char *title, *array;
    int element;
    double value;
    const char *words; /* from its index on, or from another array's name */
} elements[] = {
    {"rank of depth too large", "ranks_depth", 3, 36, "[3]:...36 is outside 0 to 35"},
    {"two cells in an interval", "ranks_bev", 1, 2, "[1]:...an interval has one cell"},
    {"NaN weight", "weights", 4, NAN, "[4]:...nan"},
    {"NaN focal length", "intrinsics", 9, NAN, "[1, 0, 0]:...nan, must be finite"},
    {"a principal point too far", "intrinsics", 2, 1e308,
     "[0, 0, 2]:...1e+308 is outside -100000 to 100000"},
    {"a pose that shears", "cam2ego", 16, 0.5, "cameras[1].rotation:...not a rotation"},
    {"a pose's last row", "cam2ego", 12, 1, "[0, 3, 0]:...1, must be 0"},
    {"a crop of another width", "crop", 2, 40, "[2]:...crop of 40 pixels, but image_size has 48"},
    {"a step of other bins", "depth_range", 2, 0.5, "[2]:...gives 6 depth bins, but depth has 3"},
    {"two layers", "grid", 8, 5,
     "bev_shape[1]:...1 x 3 x 4 cells (nz, ny, nx), but grid has 2 x 3 x 4"},
    {"a reversed z", "grid", 7, -6, "[2, 1]:...the upper end -6 is not above the lower end -5"},
    {"a cell of nothing", "grid", 5, 0, "[1, 2]:...cells of 0 m"},
    {"cells too many", "grid", 2, 0.001, "[0, 2]:...1 to 4096"},
    {"a batch", "bev_shape", 0, 2, "a batch of 2 samples, must be 1...run the network with one"},
    {"layers too many", "bev_shape", 1, 5000, "[1]:...5000 is outside 1 to 4096"},
    {"other channels", "bev_shape", 4, 8, "[4]:...8 is outside 4 to 4"},
    {"NaN in a box", "boxes", 8, NAN, "[1, 1]:...nan, must be finite"},
    {"a negative length", "boxes", 3, -4, "[0, 3]:...-4 is outside 0 to 10000"},
    {"microseconds", "timestamps", 1, 1.5e15, "[1]:...1.5e+15 is outside 0 to 1e+12"},
};

static void test_elements(void) {
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        start("");
        add_weights();
        add_car();
        get(elements[i].array)->values[elements[i].element] = elements[i].value;
        bool own = strchr("[:", elements[i].words[0]) != NULL;
        char words[200];
        snprintf(words, sizeof words, "%s%s", own ? elements[i].array : "", elements[i].words);
        refuses(elements[i].title, words);
    }
    start("");
    get("ranks_feat")->descr = "<i8";
    get("ranks_feat")->values[2] = 2147483648.0;
    refuses("int64 beyond int32", "ranks_feat[2]:...2147483648 does not fit int32");
    start("cal");
    reshape("bev_shape", "(2,)", 2);
    get("bev_shape")->values[0] = get("bev_shape")->values[1] = 4096;
    reshape("feat", "(2, 2, 3, 100)", 0);
    get("feat")->extra = (size_t)2 * 2 * 3 * 100 * 4;
    refuses("an output of 6.7 GB", "depth, features and output...1 x 4096 x 4096 x 100) take "
                                   "6.711e+09 bytes in FP32, at most 2.147e+09");
}

static void test_sets(void) {
    for (int i = 0; i < BASE; i++) {
        start("");
        drop(base[i].name);
        char words[64], title[64];
        snprintf(words, sizeof words, "%s: is missing", base[i].name);
        snprintf(title, sizeof title, "without %s", base[i].name);
        refuses(title, words);
    }
    start("");
    array_count = CALIBRATION;
    refuses("tensors only", "intrinsics: is missing...five index arrays");
    array_count = 0;
    refuses("an empty archive", "depth: is missing");
    start("idx");
    add_weights();
    refuses("weights without a map", "weights...without index arrays");
    start("");
    get("ranks_bev")->name = "rank_bev";
    refuses("a mistyped name", "rank_bev: unknown array...did you mean ranks_bev?");
    start("");
    add((Array){"labels", "|O", "(1,)", 1, {0}, NULL, 0});
    refuses("an array too many", "labels: unknown array...known: ");
}

TAP_SUITE(npz_refused) {
    read_base_once();
    long mark = memory_mark();
    test_forms();
    test_header();
    test_prefix();
    test_elements();
    test_sets();
    tap_within_1_mb(mark, "all refused");
}
