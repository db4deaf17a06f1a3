/* A scene: either a world seen through a rig, or tensors from a network. */
#ifndef BEV_SCENE_H
#define BEV_SCENE_H

#include "src/model/features.h"
#include "src/model/geometry.h"
#include "src/model/world.h"

typedef struct {
    char name[64];   /* "intersection", a configuration's or a file's stem */
    char title[128]; /* for captions */
    bool has_rig;    /* false: tensors that came with index arrays only */
    Rig rig;
    bool has_world; /* else the tensors below */
    World world;
    int64_t channels;
    uint64_t seed;      /* of the feature embedding */
    double temperature; /* of the depth distribution: < 1 sharpens, > 1 smears; 1 by default */
    Features tensors;   /* !has_world: depth and feat as read, FP32 */
    BevMap map;         /* !has_rig: the map as read; else empty */
    BevShape shape;     /* of the problem this scene gives */
    int64_t non_finite; /* NaN and Inf counted in the tensors read (reported, not refused) */
} Scene;

/* Loads a scene by configuration name ("canonical"), by sample name ("highway") or from a file
 * (.json, .npz; by content, not by suffix). Every broken field is refused in one line. */
bool scene_load(const char *name_or_path, Scene *scene, Err *err);

/* Frees what the scene owns and zeroes it. */
void scene_free(Scene *scene);

/* Reads one kind from memory; `where` heads errors. Used by scene_load and the fuzz targets. */
bool scene_read_json(const char *text, size_t length, const char *where, Scene *scene, Err *err);
bool scene_read_npz(const void *bytes, size_t length, const char *where, Scene *scene, Err *err);

/* Writes depth, feat, calibration (where the scene has it), the five index arrays and bev_shape of
 * `map` as .npz, atomically. `half`: float16 tensors. Readable by numpy.load and scene_load. */
bool scene_write_npz(const char *path, const Scene *scene, const Features *features,
                     const BevMap *map, bool half, Err *err);

#endif
