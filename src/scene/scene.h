/* SPDX-License-Identifier: MIT */
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
 * Tensor scene: a .npz file. scene_internal.h has the table of its arrays, which --list shows. It
 * holds depth (camera, D, h, w), feat (camera, h, w, C), and a calibration, index arrays or both.
 * With both, index arrays without weights are the map of align nearest. Index arrays with weights
 * are only checked: a file does not say whether they belong to bilinear or to BEV Align. The maps
 * of these two are built from the rig. An incomplete set is an error, and so are unknown arrays.
 *
 * Images with the shape of image_size, at any resolution, are what the network saw. Others are the
 * whole images of the cameras. Where their size is the largest of own_size, each camera's own image
 * begins in the upper left corner. Where feat is missing, features are made from the images. */
#pragma once

#include "src/scene/features.h"
#include "src/scene/geometry.h"
#include "src/scene/operator/operator.h"
#include "src/scene/photos.h"
#include "src/scene/world.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

/* Limits of scene files. RIG_MAX_CAMERAS limits the cameras. */
enum {
    SCENE_MAX_CHANNELS = 1024,
    SCENE_MAX_BINS = FRUSTUM_MAX_BINS,
    SCENE_MAX_FEATURES = 1024, /* rows or columns of the feature map */
    SCENE_MAX_CELLS = 4096,    /* cells along an axis */
    SCENE_MAX_THINGS = 4096,   /* patches of a world, and its solids */
    SCENE_FAR_M = 10000,       /* greatest coordinates and sizes, of either sign */
    SCENE_FAR_PX = 100000      /* greatest focal lengths and principal points, of either sign */
};
#define SCENE_MAX_JSON_BYTES   ((size_t)1 << 20)
#define SCENE_MAX_TENSOR_BYTES ((uint64_t)2 << 30) /* depth, features and output in FP32 */

/* How index arrays agree with a calibration. */
typedef struct {
    int64_t points; /* points with a cell by arrays or calibration; 0: not compared */
    int64_t same;   /* points that both put into the same cell */
    /* the part of `same` that lies on a cell's edge: FP32 rounding puts it in two cells */
    int64_t edges;
} MapAgreement;

typedef struct Scene {
    char name[64];   /* "intersection", a preset's name, or a file name without folder and suffix */
    char title[128]; /* caption; may be empty */
    bool has_rig;    /* false: the file has only index arrays */
    Rig rig;
    bool has_world; /* false: the data of the scene is in `tensors` */
    World world;
    int64_t channels;
    uint64_t seed;       /* seed of the feature embedding */
    double temperature;  /* of the depth distribution: < 1 sharper, > 1 smoother; default 1 */
    Features tensors;    /* !has_world: depth and feat from the file, in FP32 */
    Photos photos;       /* photographs of the file; a world has none (photos_of_world) */
    struct Clip *clip;   /* the clip of which the scene is a moment; NULL: none */
    bool photo_features; /* the features are made from the photographs */
    bool has_map;        /* `map` is used; always true without a rig */
    BevMap map;          /* has_map: the map from the file; else empty */
    bool has_operator;   /* an operator's rule makes the scene, without rig and world */
    OperatorSpec operator_spec;
    BevShape shape;         /* shape of the pooling problem */
    int64_t non_finite;     /* number of NaN and Inf in the tensors; reported, but no error */
    MapAgreement agreement; /* of the file's index arrays */
    char remark[512];       /* a line about a likely other meaning of the file; or "" */
} Scene;

/* Loads a scene by preset name ("canonical") or sample name ("highway"), or from a path. The path
 * is a .json or .npz file, recognised by its content, or a folder of .npz files. Of a folder the
 * first moment is loaded. The error is one line about the first bad field. */
bool scene_load(const char *name_or_path, Scene *scene, Err *err);

/* Whether the features are an embedding of class, colour and height, made from `channels` and
 * `seed`. This holds for worlds, and for the LiDAR sweep of a world. */
static inline bool scene_has_embedding(const Scene *scene) {
    return scene->has_world ||
           (scene->has_operator && scene->operator_spec.kind == OPERATOR_VOXELIZE);
}

/* Frees the memory of the scene and zeroes the struct. */
void scene_free(Scene *scene);

/* The groups of scenes, as lists show them: presets, samples with cameras, operators. */
typedef enum { SCENES_PRESET, SCENES_CAMERAS, SCENES_OPERATOR } SceneGroup;

/* A name that scene_load accepts. */
typedef struct {
    char name[64];
    SceneGroup group;
} SceneName;

/* Loads a sample. Of an operator it only checks the file: the data of the scene stays empty. */
bool scene_load_sample(const char *name, Scene *scene, Err *err);

/* Copies a sample's title, or a preset's sizes: "44 x 16 features, depth ...". "": not readable. */
void scene_title(const char *name, char title[128]);

/* Lists at most `max` names and sets *count: presets in table order, then the samples of each group
 * by name. False: the folder could not be read. The names before the failure are listed. */
bool scene_names(SceneName *names, size_t max, size_t *count, Err *err);

/* Reads a .json scene from memory. Errors start with `where`. `build`: makes an operator's data. */
bool scene_read_json(const char *text, size_t length, const char *where, bool build, Scene *scene,
                     Err *err);

/* Reads a .npz scene from a file, array by array, so that a bad file needs little memory. Error
 * messages start with `where`. `file` is taken over; NULL: `err` says already why. */
bool scene_read_npz(FILE *file, const char *where, Scene *scene, Err *err);

/* Copies one camera's depth, features and photograph over those in `to` and `srgb`, which have the
 * scene's shape. `srgb` NULL: no photographs are copied. */
void scene_copy_camera(const Scene *from, int camera, const Features *to, uint8_t *srgb);

/* Replaces the features of a scene from a file by PHOTO_CHANNELS channels that are made from its
 * photographs. Pooled, they show the street from above. Needs a rig and photographs. */
bool scene_use_photo_features(Scene *scene, Err *err);

/* Fails when the tensors of this shape need more than SCENE_MAX_TENSOR_BYTES. */
bool scene_check_size(const BevShape *shape, const char *where, Err *err);

/* Fails unless two grids have the same cells and channels and so can be compared. */
bool scene_check_same_grid(const BevShape *a, const char *name, const BevShape *b,
                           const char *other_name, Err *err);

/* Writes a .npz file that numpy.load and scene_load can read. It holds depth, feat, the rig's
 * calibration, the five index arrays of `map`, bev_shape, and the photos. `half`: the
 * tensors are float16. The write is atomic (data_write). The same input gives the same bytes. */
bool scene_write_npz(const char *path, const Scene *scene, const Features *features,
                     const BevMap *map, bool half, Err *err);

/* The world and rig of sample preset_world ("intersection") at other sizes. */
typedef struct {
    const char *name;
    double depth_step_m;
    int feat_w, feat_h;
    int cells; /* nx = ny; the grid covers the same metres at every size */
    int64_t channels;
    int slices; /* slices of an occupancy network's grid; 0: the grid is flat */
} Preset;
extern const Preset presets[];
extern const int preset_count; /* the six published presets, which bench runs by default */
extern const int preset_total; /* all presets: larger ones follow, and one with height */
extern const char *const preset_world;

/* Returns the preset with that name, or NULL. */
const Preset *preset_find(const char *name);

/* Changes a loaded scene of preset_world to the sizes of a preset. */
void preset_apply(const Preset *preset, Scene *scene);

/* Describes one array of a .npz scene for help texts (scene_npz.c). */
typedef struct {
    const char *name, *group, *meaning; /* meaning: "" where no text is written yet */
    const char *types;                  /* "float16 or float32" */
    char shapes[96];                    /* "(camera, D, h, w)" */
} SceneArrayHelp;

/* Describes array i, in the order of the table. False: i is past the last array. */
bool scene_array_help(int i, SceneArrayHelp *help);

/* ---- clips ----------------------------------------------------------------------------------- */

extern const double clip_period_s; /* time between two moments without timestamps */

/* A folder of .npz files of the same drive. Each is one moment, in order of their names. */
typedef struct Clip {
    char path[PATH_MAX]; /* path of the folder */
    int count;
    struct dirent **files; /* [count]: of the folder, in the order of their names */
    double period_s;       /* mean time between two moments; each lasts so long */
    const char *untimed;   /* why the timestamps are not used, static text; NULL: they are used */
} Clip;

/* Lists the folder, and reads the times of the first and the last moment. */
bool clip_open(const char *folder, Clip **clip, Err *err);
void clip_free(Clip *clip); /* accepts NULL */

/* Returns the moment at a time. After its last moment the clip begins again. */
int clip_moment_at(const Clip *clip, double time_s);

/* Loads a moment of the clip whose first moment is `first`. The scene gets the name of the clip's
 * folder, and `clip` is NULL. Features are made from photographs if the first moment's are. Other
 * arrays, shapes or grids than the first moment's are refused, but not other numbers of points. */
bool clip_load(const Scene *first, int moment, Scene *scene, Err *err);
