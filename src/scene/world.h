/* SPDX-License-Identifier: MIT */
/* The world of a sample scene: flat ground with coloured patches, boxes and cylinders. */
#pragma once

#include "src/scene/geometry.h"

/* The semantic class of a surface. world_classes[] has its names and colour. */
/* clang-format off */
typedef enum {
    CLASS_ROAD, CLASS_LANE, CLASS_CROSSING, CLASS_SIDEWALK, CLASS_TERRAIN, CLASS_CAR, CLASS_TRUCK,
    CLASS_PEDESTRIAN, CLASS_BUILDING, CLASS_TREE, CLASS_POLE, CLASS_COUNT
} WorldClass;
/* clang-format on */

typedef struct {
    const char *name;  /* name in scene files: "crossing" */
    const char *title; /* name in legends: "Crossing" */
    uint8_t color[3];  /* sRGB; colour-blind readers can tell the classes apart */
} WorldClassInfo;
extern const WorldClassInfo world_classes[CLASS_COUNT];

typedef enum { PATCH_RECT, PATCH_CHECKER, PATCH_DISC } PatchKind;

/* A coloured rectangle or ellipse on the ground (z = 0). Later patches cover earlier ones. `repeat`
 * copies follow each other at distance `step_m`: lane markings, crossings, parking bays. */
typedef struct {
    PatchKind kind;
    WorldClass class;
    float color[3]; /* linear 0..1 */
    double center_m[2], size_m[2];
    double yaw_deg;
    int repeat;
    double step_m[2];
    double square_m; /* checkerboard: side of a square */
    float color2[3]; /* checkerboard: colour of every second square */
} Patch;

/* clang-format off */
typedef enum {
    SOLID_BOX, SOLID_CYLINDER, SOLID_CAR, SOLID_TRUCK, SOLID_BUS, SOLID_PERSON, SOLID_CYCLIST,
    SOLID_CROWN, SOLID_KINDS
} SolidKind;
/* clang-format on */

/* A solid fills a box or an upright cylinder. The length of a box lies along its own x axis. The
 * diameter of a cylinder is size_m[0]. A solid moves with constant velocity in the ego frame. */
typedef struct {
    SolidKind kind;
    WorldClass class;
    float color[3];
    double center_m[2], z_m; /* z_m: height of the base */
    double size_m[3];        /* length, width, height */
    double yaw_deg;
    double velocity_mps[2];
} Solid;

typedef struct {
    WorldClass ground_class; /* CLASS_COUNT: the world has no ground */
    float ground_color[3];
    int patch_count, solid_count;
    Patch *patches;
    Solid *solids;
    /* The motion repeats after loop_s seconds; 0: never. A moving solid then stays on a piece of
     * its straight path. The piece is speed * loop_s long and centred on the point nearest to the
     * ego. At its end the solid jumps back to the start, out of sight on a long piece. */
    double loop_s;
    /* The display judges errors at this moment: of all tried, FP16's error is largest here. */
    double judged_s;
} World;

void world_free(World *world);

/* A world at one moment, prepared for many rays: sines are computed once. Borrows the world. */
typedef struct WorldSnapshot WorldSnapshot;

bool world_snapshot(const World *world, double time_s, WorldSnapshot **snapshot, Err *err);
void world_snapshot_free(WorldSnapshot *snapshot); /* accepts NULL */

/* The first surface that a ray hits. */
typedef struct {
    bool hit;        /* false: sky */
    double depth_m;  /* the ray's parameter s; for camera_ray metres along the optical axis */
    double height_m; /* z of the hit point */
    int solid;       /* index of the solid; -1: ground or sky */
    WorldClass class;
    float color[3]; /* linear 0..1 after lighting: sides darker than tops, shadows on the ground */
} WorldHit;

/* The solids that a bundle of rays from one point can hit, nearest first, and the solids whose
 * shadow the rays can hit. Other solids need no test. */
enum { WORLD_SIGHT_MAX = 60 };
typedef struct {
    int count; /* -1: all solids of the world */
    int shadow_count;
    int solids[WORLD_SIGHT_MAX], shadows[WORLD_SIGHT_MAX];
    double near_m[WORLD_SIGHT_MAX]; /* [count]: distance of the solid, seen from above */
} WorldSight;

/* Finds the solids that rays from `origin_m` can hit. All rays lie in the pyramid of `edges`. */
WorldSight world_sight(const WorldSnapshot *snapshot, const double origin_m[3],
                       const double edges[4][3]);

/* Finds the first surface on origin + s * direction, 0 < s <= far_m. The ray is in `sight`. */
WorldHit world_cast(const WorldSnapshot *snapshot, const WorldSight *sight,
                    const double origin_m[3], const double direction[3], double far_m);

void world_sky(const double direction[3], float color[3]);

/* Whether the solid lies in an upright cylinder. All others lie in a box. */
static inline bool solid_is_round(SolidKind kind) {
    return kind == SOLID_CYLINDER || kind == SOLID_PERSON || kind == SOLID_CROWN;
}

/* Computes the outline of a solid at time_s, seen from above, in metres. The outline has up to
 * WORLD_CORNERS corners, anticlockwise. Returns their number. */
enum { WORLD_CORNERS = 24 };
int world_footprint(const World *world, int solid, double time_s, double corners[WORLD_CORNERS][2]);
void world_solid_center(const World *world, int solid, double time_s, double center_m[2]);
