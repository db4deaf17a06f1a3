/* A scene: either a world seen through a rig, or tensors from a network.
 *
 * A world scene is JSON; scene_json.c holds the table of its fields. Missing optional fields take
 * their default; unknown and duplicate keys are refused.
 *
 * A tensor scene is .npz; scene_arrays.c holds the table of its arrays. depth (camera, D, h, w) and
 * feat (camera, h, w, C) come with
 *   calibration: the rig, from which the map of every align is built. intrinsics (camera, 3, 3) in
 *     pixels of the camera's image; cam2ego (camera, 4, 4); image_size (H, W) of the network input;
 *     resize; crop x, y or x, y, x2, y2; depth_range start, stop, step; grid (3, 3), rows x, y, z
 * of lower, upper, cell; or index arrays: the map, and no choice of align. ranks_depth, ranks_feat,
 * ranks_bev, interval_starts, interval_lengths; bev_shape (ny, nx) or BEVDet's (1, 1, ny, nx, C);
 * weights where the map has them; or both: calibration gives the rig, and index arrays without
 * weights are the map of nearest pooling, as the exporter computed it. Arrays with weights are
 * checked and then left to the rig, since a file does not say whether they are bilinear's or
 * lattice's. Half a set of either is refused, and so are unknown arrays. */
#ifndef BEV_SCENE_H
#define BEV_SCENE_H

#include "src/scene/features.h"
#include "src/scene/geometry.h"
#include "src/scene/world.h"

/* Bounds of what a file may ask for; cameras: RIG_MAX_CAMERAS. */
enum {
    SCENE_MAX_CHANNELS = 1024,
    SCENE_MAX_BINS = 1024,
    SCENE_MAX_FEATURES = 1024, /* feature map, per axis */
    SCENE_MAX_CELLS = 4096,    /* per axis */
    SCENE_MAX_THINGS = 4096    /* patches, and solids, of a world */
};
#define SCENE_MAX_JSON_BYTES   ((size_t)1 << 20)
#define SCENE_MAX_FILE_BYTES   ((uint64_t)4 << 30)
#define SCENE_MAX_TENSOR_BYTES ((uint64_t)2 << 30) /* depth, features and output in FP32 */

typedef struct {
    char name[64];   /* "intersection", a configuration's or a file's stem */
    char title[128]; /* for captions; may be empty */
    bool has_rig;    /* false: tensors that came with index arrays only */
    Rig rig;
    bool has_world; /* else the tensors below */
    World world;
    int64_t channels;
    uint64_t seed;      /* of the feature embedding */
    double temperature; /* of the depth distribution: < 1 sharpens, > 1 smears; 1 by default */
    Features tensors;   /* !has_world: depth and feat as read, FP32 */
    bool has_map;       /* the file's own map counts: always without a rig, see above with one */
    BevMap map;         /* has_map: the map as read; else empty */
    BevShape shape;     /* of the problem this scene gives */
    int64_t non_finite; /* NaN and Inf counted in the tensors read (reported, not refused) */
} Scene;

/* Loads a scene by configuration name ("canonical"), by sample name ("highway") or from a file
 * (.json, .npz; by content, not by suffix). Every broken field is refused in one line. */
bool scene_load(const char *name_or_path, Scene *scene, Err *err);

/* Frees what the scene owns and zeroes it. */
void scene_free(Scene *scene);

/* A name that scene_load knows. */
typedef struct {
    char name[64];
    bool is_config; /* else a sample */
} SceneName;

/* The configurations in their order, then the samples by name; at most `max`. Returns how many. */
size_t scene_names(SceneName *names, size_t max);

/* Reads one kind from memory; `where` heads errors. Used by scene_load and the fuzz targets. */
bool scene_read_json(const char *text, size_t length, const char *where, Scene *scene, Err *err);
bool scene_read_npz(const void *bytes, size_t length, const char *where, Scene *scene, Err *err);

/* The same from a file, which is not read whole: a refused one costs little memory. */
bool scene_load_npz(const char *path, Scene *scene, Err *err);

/* Refuses shapes whose tensors would not fit SCENE_MAX_TENSOR_BYTES. */
bool scene_check_size(const BevShape *shape, const char *where, Err *err);

/* Writes depth, feat, calibration (where the scene has it), the five index arrays and bev_shape of
 * `map` as .npz, atomically; the same input gives the same bytes. `half`: float16 tensors. Readable
 * by numpy.load and scene_load. */
bool scene_write_npz(const char *path, const Scene *scene, const Features *features,
                     const BevMap *map, bool half, Err *err);

#endif
