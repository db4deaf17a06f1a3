/* A small procedural street: what the cameras of a sample scene look at. */
#ifndef BEV_WORLD_H
#define BEV_WORLD_H

#include "src/scene/geometry.h"

/* What a surface is. The table world_classes[] holds names and legend colours. */
typedef enum {
    CLASS_ROAD,
    CLASS_LANE,
    CLASS_CROSSING,
    CLASS_SIDEWALK,
    CLASS_TERRAIN,
    CLASS_CAR,
    CLASS_TRUCK,
    CLASS_PEDESTRIAN,
    CLASS_BUILDING,
    CLASS_TREE,
    CLASS_POLE,
    CLASS_COUNT
} WorldClass;

typedef struct {
    const char *name;  /* in scene files: "crossing" */
    const char *title; /* in legends: "Crossing" */
    uint8_t color[3];  /* sRGB, told apart by colour-blind readers too */
} WorldClassInfo;

extern const WorldClassInfo world_classes[CLASS_COUNT];

typedef enum { PATCH_RECT, PATCH_CHECKER } PatchKind;

/* A coloured piece of the ground (z = 0). Later patches lie over earlier ones. Lanes, crossings
 * and parking bays are repeated rectangles: `repeat` copies, each `step_m` after the last. */
typedef struct {
    PatchKind kind;
    WorldClass class;
    float color[3]; /* linear 0..1 */
    double center_m[2], size_m[2];
    double yaw_deg;
    int repeat;
    double step_m[2];
    double square_m; /* checker: edge of a square */
    float color2[3]; /* checker: the other squares */
} Patch;

typedef enum { SOLID_BOX, SOLID_CYLINDER } SolidKind;

/* A box (length along its own x) or an upright cylinder (size_m[0] = diameter), standing at base
 * height z_m. It moves with a constant velocity, in the ego frame. */
typedef struct {
    SolidKind kind;
    WorldClass class;
    float color[3];
    double center_m[2], z_m;
    double size_m[3]; /* length, width, height */
    double yaw_deg;
    double velocity_mps[2];
} Solid;

typedef struct {
    WorldClass ground_class;
    float ground_color[3];
    int patch_count, solid_count;
    Patch *patches;
    Solid *solids;
    /* Seconds after which everything is back where it was; 0: never. A solid then runs on the
     * piece of its way, velocity * loop_s long, that has the point nearest to the ego in its
     * middle, and comes back in at the start: out of sight when the piece is long enough. */
    double loop_s;
} World;

void world_free(World *world);

/* The world at one moment, ready for many rays: solids in place, angles turned into sines. Borrows
 * the world. */
typedef struct WorldSnapshot WorldSnapshot;

bool world_snapshot(const World *world, double time_s, WorldSnapshot **still, Err *err);
void world_snapshot_free(WorldSnapshot *still); /* accepts NULL */

/* What one ray meets first. */
typedef struct {
    bool hit;        /* false: sky */
    double depth_m;  /* along the optical axis: the ray's parameter */
    double height_m; /* z of the point hit */
    WorldClass class;
    float color[3]; /* with the light on it: sides are darker than tops, windows darker still */
} WorldHit;

/* The solids that some rays from one point can meet, so that they need not try the others. */
enum { WORLD_SIGHT_MAX = 60 };
typedef struct {
    int count; /* -1: all of the world's */
    int solids[WORLD_SIGHT_MAX];
} WorldSight;

/* For the rays from `origin_m` within the pyramid of four edges. */
WorldSight world_sight(const WorldSnapshot *still, const double origin_m[3],
                       const double edges[4][3]);

/* First surface on origin + s * direction, s in (0, far_m]; `sight` must hold for this ray. */
WorldHit world_cast(const WorldSnapshot *still, const WorldSight *sight, const double origin_m[3],
                    const double direction[3], double far_m);

/* Colour of the sky in a direction. */
void world_sky(const double direction[3], float color[3]);

/* Footprint of a solid at time_s on the ground plane: up to WORLD_CORNERS corners, anticlockwise;
 * returns their number. For the outlines in figures. */
enum { WORLD_CORNERS = 24 };
int world_footprint(const World *world, int solid, double time_s, double corners[WORLD_CORNERS][2]);

/* Centre of a solid at time_s. */
void world_solid_center(const World *world, int solid, double time_s, double center_m[2]);

#endif
