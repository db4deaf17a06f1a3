/* A small procedural street: what the cameras of a sample scene look at. */
#ifndef BEV_WORLD_H
#define BEV_WORLD_H

#include "src/model/geometry.h"

/* What a surface is. The table world_classes[] holds names and legend colours. */
typedef enum {
    CLASS_ROAD, CLASS_LANE, CLASS_CROSSING, CLASS_SIDEWALK, CLASS_TERRAIN, CLASS_CAR, CLASS_TRUCK,
    CLASS_PEDESTRIAN, CLASS_BUILDING, CLASS_TREE, CLASS_POLE, CLASS_COUNT
} WorldClass;

typedef struct {
    const char *name;   /* in scene files: "crossing" */
    const char *title;  /* in legends: "Crossing" */
    uint8_t color[3];   /* sRGB, told apart by colour-blind readers too */
} WorldClassInfo;

extern const WorldClassInfo world_classes[CLASS_COUNT];

typedef enum { PATCH_RECT, PATCH_CHECKER } PatchKind;

/* A coloured piece of the ground (z = 0). Later patches lie over earlier ones. Lanes, crossings
 * and parking bays are repeated rectangles: `repeat` copies, each `step_m` after the last. */
typedef struct {
    PatchKind kind;
    WorldClass class;
    float color[3];          /* linear 0..1 */
    double center_m[2], size_m[2];
    double yaw_deg;
    int repeat;
    double step_m[2];
    double square_m;         /* checker: edge of a square */
    float color2[3];         /* checker: the other squares */
} Patch;

typedef enum { SOLID_BOX, SOLID_CYLINDER } SolidKind;

/* A box (length along its own x) or an upright cylinder (size_m[0] = diameter), standing at base
 * height z_m; moves with a constant velocity, ego frame. */
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
    double loop_s; /* positions repeat after this many seconds; 0: never */
} World;

void world_free(World *world);

/* What one ray meets first. */
typedef struct {
    bool hit;        /* false: sky */
    double depth_m;  /* along the optical axis: the ray's parameter */
    double height_m; /* z of the point hit */
    WorldClass class;
    float color[3];
} WorldHit;

/* First surface on origin + s * direction, s in (0, far_m], at `time_s`. */
WorldHit world_cast(const World *world, const double origin_m[3], const double direction[3],
                    double far_m, double time_s);

/* Footprint of a solid at time_s on the ground plane: up to 24 corners, anticlockwise, in
 * `corners`; returns their number. For the outlines in figures. */
int world_footprint(const World *world, int solid, double time_s, double corners[24][2]);

/* Centre of a solid at time_s. */
void world_solid_center(const World *world, int solid, double time_s, double center_m[2]);

#endif
