/* The world of a sample scene: flat ground with coloured patches, boxes and cylinders. */
#pragma once

#include "src/scene/geometry.h"

/* The semantic class of a surface; world_classes[] has its names and colour. */
/* clang-format off */
typedef enum {
    CLASS_ROAD, CLASS_LANE, CLASS_CROSSING, CLASS_SIDEWALK, CLASS_TERRAIN, CLASS_CAR, CLASS_TRUCK,
    CLASS_PEDESTRIAN, CLASS_BUILDING, CLASS_TREE, CLASS_POLE, CLASS_COUNT
} WorldClass;
/* clang-format on */

typedef struct {
    const char *name;  /* in scene files: "crossing" */
    const char *title; /* in legends: "Crossing" */
    uint8_t color[3];  /* sRGB; colour-blind readers can tell them apart too */
} WorldClassInfo;

extern const WorldClassInfo world_classes[CLASS_COUNT];

typedef enum { PATCH_RECT, PATCH_CHECKER } PatchKind;

/* A coloured rectangle on the ground (z = 0). Later patches cover earlier ones. There are `repeat`
 * copies, each `step_m` from the one before: lane markings, crossings, parking bays. */
typedef struct {
    PatchKind kind;
    WorldClass class;
    float color[3]; /* linear 0..1 */
    double center_m[2], size_m[2];
    double yaw_deg;
    int repeat;
    double step_m[2];
    double square_m; /* checkerboard: side of a square */
    float color2[3]; /* checkerboard: every second square */
} Patch;

typedef enum { SOLID_BOX, SOLID_CYLINDER } SolidKind;

/* A box (its length lies along its own x axis) or an upright cylinder (size_m[0] is its diameter).
 * It moves with constant velocity in the ego frame. */
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
    WorldClass ground_class;
    float ground_color[3];
    int patch_count, solid_count;
    Patch *patches;
    Solid *solids;
    /* The motion repeats after loop_s seconds; 0: never. A moving solid then stays on a piece of
     * its straight path that is speed * loop_s long and centred on the point nearest to the ego. At
     * the end of the piece it jumps back to the start, out of sight if the piece is long enough. */
    double loop_s;
} World;

void world_free(World *world);

/* The world at one moment, prepared for many rays: positions, sines and cosines are computed once.
 * Borrows the world. */
typedef struct WorldSnapshot WorldSnapshot;

bool world_snapshot(const World *world, double time_s, WorldSnapshot **snapshot, Err *err);
void world_snapshot_free(WorldSnapshot *snapshot); /* accepts NULL */

/* The first surface that a ray hits. */
typedef struct {
    bool hit;        /* false: sky */
    double depth_m;  /* the ray's parameter s; metres along the optical axis for camera_ray */
    double height_m; /* z of the hit point */
    WorldClass class;
    float color[3]; /* linear 0..1 after lighting: sides are darker than tops, windows darker than
                       sides */
} WorldHit;

/* The solids that a bundle of rays from one point can hit. Other solids need not be tested. */
enum { WORLD_SIGHT_MAX = 60 };
typedef struct {
    int count; /* -1: all solids of the world */
    int solids[WORLD_SIGHT_MAX];
} WorldSight;

/* The solids for rays from `origin_m` inside the pyramid that `edges`, four directions, span. */
WorldSight world_sight(const WorldSnapshot *snapshot, const double origin_m[3],
                       const double edges[4][3]);

/* First surface on origin + s * direction, 0 < s <= far_m. `sight` must include this ray. */
WorldHit world_cast(const WorldSnapshot *snapshot, const WorldSight *sight,
                    const double origin_m[3], const double direction[3], double far_m);

/* Colour of the sky in a direction. */
void world_sky(const double direction[3], float color[3]);

/* Outline of a solid at time_s, seen from above, in metres: up to WORLD_CORNERS corners,
 * anticlockwise. Returns their number. */
enum { WORLD_CORNERS = 24 };
int world_footprint(const World *world, int solid, double time_s, double corners[WORLD_CORNERS][2]);

/* Centre of a solid at time_s. */
void world_solid_center(const World *world, int solid, double time_s, double center_m[2]);
