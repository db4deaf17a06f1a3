/* A scene is the input of BEV pooling: a world seen by cameras, or tensors from a network.
 *
 * World scene: a .json file. scene_json.c has the table of its fields. A missing optional field
 * gets its default value; unknown and duplicate keys are errors.
 *
 * Operator scene: a .json file with the key "operator" (operator.h).
 *
 * Operator of one's own: a folder of NumPy arrays, of points in any order.
 *   ranks_depth.npy, ranks_feat.npy, ranks_bev.npy   (points), whole numbers
 *   depth.npy (n) and feat.npy (rows, C)             n is a multiple of rows; depth i belongs to
 *                                                    row i % rows
 *   weights.npy (points), bev_shape.npy (ny, nx)     may be missing: 1, and as many as needed
 *
 * Tensor scene: a .npz file. scene_internal.h has the table of its arrays. It holds
 *   depth (camera, D, h, w) and feat (camera, h, w, C),
 * and a calibration, or index arrays, or both:
 *   Calibration: the rig, from which bevscope builds the scatter map of every align.
 *     intrinsics (camera, 3, 3)  in pixels of the camera's own image
 *     cam2ego (camera, 4, 4)     camera to ego
 *     image_size (H, W)          of the network input, one size for all cameras
 *     resize; crop               crop is x, y or x, y, x2, y2; both also by camera, (camera) or
 *                                (camera, 2) and (camera, 2 or 4), resize then x, y
 *     own_size (camera, 2)       H, W of each camera's own image; may be missing. The crop must
 *                                then lie in the image
 *     depth_range                start, stop, step
 *     grid (3, 3)                rows x, y, z of lower end, upper end, cell size; several cells
 *                                in z are slices
 *   Index arrays: a finished scatter map for one align.
 *     ranks_depth, ranks_feat, ranks_bev, interval_starts, interval_lengths
 *     bev_shape                  (ny, nx) or BEVDet's (1, nz, ny, nx, C); ny: rows of a slice
 *     weights                    only when the map has weights
 * With both, index arrays without weights are the map of align nearest. Index arrays with weights
 * are checked and then ignored, because a file does not say whether they belong to bilinear or to
 * lattice: the maps of these two are built from the rig. An incomplete set is an error, and so are
 * unknown arrays.
 *
 * What the car saw besides; the pictures show it (photos.h):
 *   images (camera, H, W, 3)     uint8, RGB. With the shape of image_size, at any resolution, what
 *                                the network saw; else the whole image of the camera. Where H, W
 *                                are the largest of own_size, each camera's own image begins in the
 *                                upper left corner. Where feat is missing, features are made from
 *                                them
 *   camera_names (camera)        str
 *   boxes (n, 7 or 9)            x, y, z of the centre, length, width, height in metres, yaw in
 *                                radians, in the ego frame; a velocity is not read
 *   box_labels (n)               str
 *   lidar (n, 3 or more)         x, y, z in metres, in the ego frame; NaN: no echo
 *   timestamps (camera) or (1)   seconds */
#pragma once

#include "src/scene/features.h"
#include "src/scene/agreement.h"
#include "src/scene/geometry.h"
#include "src/scene/operator/operator.h"
#include "src/scene/photos.h"
#include "src/scene/world.h"

/* Limits for scene files. The limit for cameras is RIG_MAX_CAMERAS. */
enum {
    SCENE_MAX_CHANNELS = 1024,
    SCENE_MAX_BINS = FRUSTUM_MAX_BINS,
    SCENE_MAX_FEATURES = 1024, /* feature map, per axis */
    SCENE_MAX_CELLS = 4096,    /* per axis */
    SCENE_MAX_THINGS = 4096,   /* patches of a world, and solids */
    SCENE_FAR_M = 10000,       /* coordinates and sizes, either sign */
    SCENE_FAR_PX = 100000,     /* focal lengths and principal points, either sign */
    SCENE_MAX_TESTS = 1000000000 /* rays of all feature pixels times things they may hit */
};
#define SCENE_MAX_JSON_BYTES   ((size_t)1 << 20)
#define SCENE_MAX_FILE_BYTES   ((uint64_t)4 << 30)
#define SCENE_MAX_TENSOR_BYTES ((uint64_t)2 << 30) /* depth, features and output in FP32 */

typedef struct Scene {
    char name[64];   /* "intersection", a preset's name, or a file name without folder and suffix */
    char title[128]; /* for captions; may be empty */
    bool has_rig;    /* false: the file has index arrays only */
    Rig rig;
    bool has_world; /* false: the scene has `tensors` */
    World world;
    int64_t channels;
    uint64_t seed;      /* of the feature embedding */
    double temperature; /* of the depth distribution: < 1 sharper, > 1 smoother; default 1 */
    Features tensors;   /* !has_world: depth and feat from the file, in FP32 */
    Photos photos;      /* from the file; a world has none (photos_of_world) */
    struct Clip *clip;   /* this is one of its moments (clip.h); NULL: none */
    bool photo_features; /* the features are made from the photographs */
    bool has_map;       /* the map from the file is used: always without a rig; see above */
    BevMap map;         /* has_map: the map from the file; else empty */
    /* made by a rule: neither rig nor world; its tensors and map as from a file */
    bool has_operator;
    OperatorSpec operator_spec;
    BevShape shape;     /* of the pooling problem */
    int64_t non_finite; /* number of NaN and Inf in the tensors; reported, no error */
    /* of the file's index arrays with its calibration; points 0: not compared */
    MapAgreement agreement;
    char remark[512];    /* a likely other meaning of the file, in a line; or "" */
} Scene;

/* Loads a scene by preset name ("canonical"), by sample name ("highway"), from a .json or .npz
 * file, recognised by its content, or from a folder of .npz files. Of several moments: the first.
 * The first bad field is reported in one line. */
bool scene_load(const char *name_or_path, Scene *scene, Err *err);

/* Whether its features are an embedding of class, colour and height, by `channels` and `seed`:
 * those of worlds, and of a LiDAR's sweep of one. */
bool scene_has_embedding(const Scene *scene);

/* Frees what the scene owns and zeroes it. */
void scene_free(Scene *scene);

/* A name that scene_load knows. */
typedef struct {
    char name[64];
    bool is_preset; /* true: a preset; false: a sample */
} SceneName;

/* Whether the file of a sample is a scene; receives its title. Builds no data of an operator. */
bool scene_check_sample(const char *name, char title[128], Err *err);

/* The title of a sample, or the sizes of a preset: "44 x 16 features, depth step 1 m, ..."; ""
 * where the file cannot be read. */
void scene_title(const char *name, char title[128]);

/* Lists at most `max` names, *count of them: presets in table order, then samples by name. False:
 * the folder of samples could not be read, and what was found until then is listed. */
bool scene_names(SceneName *names, size_t max, size_t *count, Err *err);

/* Reads a file of one kind from memory. Error messages start with `where`. */
bool scene_read_json(const char *text, size_t length, const char *where, Scene *scene, Err *err);
bool scene_read_npz(const void *bytes, size_t length, const char *where, Scene *scene, Err *err);

/* The same from a file, read array by array: a bad file needs little memory. */
bool scene_load_npz(const char *path, Scene *scene, Err *err);

/* Copies one camera's depth, features and photograph over those in `to` and `srgb`, which have the
 * scene's shape. `srgb` NULL: no photographs. */
void scene_copy_camera(const Scene *from, int camera, const Features *to, uint8_t *srgb);

/* Replaces the features of a scene from a file by features of its photographs, of PHOTO_CHANNELS
 * channels. Pooled, they are the street as seen from above. Needs a rig and photographs. */
bool scene_use_photo_features(Scene *scene, Err *err);

/* Error when the tensors of this shape need more than SCENE_MAX_TENSOR_BYTES. */
bool scene_check_size(const BevShape *shape, const char *where, Err *err);

/* Error unless two grids have the same cells and channels, so that they can be compared. */
bool scene_check_same_grid(const BevShape *a, const char *name, const BevShape *b,
                           const char *other_name, Err *err);

/* Writes a .npz file that numpy.load and scene_load can read: depth, feat, the calibration when the
 * scene has one, the five index arrays of `map` and bev_shape, and its photos. `half`: tensors in
 * float16. The write is atomic (data_write), and the same input gives the same bytes. */
bool scene_write_npz(const char *path, const Scene *scene, const Features *features,
                     const BevMap *map, bool half, Err *err);

/* The world and the rig of sample preset_world ("intersection") at other sizes. */
typedef struct {
    const char *name;
    double depth_step_m;
    int feat_w, feat_h;
    int cells; /* nx = ny; the grid covers the same metres */
    int64_t channels;
    int slices; /* in height, of an occupancy network's grid; 0: flat */
} Preset;

extern const Preset presets[];
extern const int preset_count; /* the six that were published; bench runs these by default */
extern const int preset_total; /* all: larger ones follow, and one with height */
extern const char *const preset_world;

/* The preset with that name, or NULL. */
const Preset *preset_find(const char *name);

/* Changes a loaded scene of preset_world to the sizes of a preset. */
void preset_apply(const Preset *preset, Scene *scene);

/* One array of a .npz scene, for help texts (scene_arrays_help.c). */
typedef struct {
    const char *name, *group, *meaning; /* meaning: "" where none is written yet */
    char types[64], shapes[96];         /* "float16 or float32", "(camera, D, h, w)" */
} SceneArrayHelp;

/* Describes array i, in the order of the table; false past the last. */
bool scene_array_help(int i, SceneArrayHelp *help);
