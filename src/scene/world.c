/* SPDX-License-Identifier: MIT */
#include "src/scene/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A solid fills a box or a cylinder. Vehicles, persons and crowns are a few parts inside it. */

typedef struct {
    double x_m, y_m, cos_yaw, sin_yaw;
    double share[3]; /* 1 / size_m of the solid */
} SolidPlace;

/* ---- light and paint ------------------------------------------------------------------------- */

static const float skin[3] = {0.55F, 0.33F, 0.22F}, glass[3] = {0.05F, 0.07F, 0.09F},
                   windscreen[3] = {0.16F, 0.21F, 0.26F}, rubber[3] = {0.02F, 0.02F, 0.02F},
                   floor_shade[3] = {0.03F, 0.03F, 0.035F}, rim[3] = {0.45F, 0.46F, 0.48F},
                   head_light[3] = {0.95F, 0.92F, 0.75F}, rear_light[3] = {0.75F, 0.02F, 0.02F},
                   denim[3] = {0.05F, 0.06F, 0.1F};

/* A point on a part, in shares of the solid's size, and the normal of the surface there. */
typedef struct {
    const Solid *solid;
    const double *at, *normal;
    double shade; /* a factor on the light, which a Painter may change */
} Spot;

/* Returns the colour of a spot. NULL: it has the solid's own colour. */
typedef const float *Painter(Spot *spot);

static bool is_on_side(const Spot *spot) {
    return fabs(spot->normal[1]) > fabs(spot->normal[0]) &&
           fabs(spot->normal[1]) > fabs(spot->normal[2]);
}

static bool is_on_end(const Spot *spot) {
    return fabs(spot->normal[0]) > fabs(spot->normal[2]) && !is_on_side(spot);
}

/* Returns the colour of the lower part of a vehicle: tyres, rims, and the dark below the floor.
 * `radius` is a share of the height, `axles` of the length. NULL: the spot lies higher. */
static const float *underside_color(const Spot *spot, double radius, const double axles[3]) {
    double up_m = spot->at[2] * spot->solid->size_m[2], radius_m = radius * spot->solid->size_m[2];
    if (is_on_side(spot))
        for (int i = 0; i < 3; i++) {
            double off_m =
                hypot((spot->at[0] - axles[i]) * spot->solid->size_m[0], up_m - radius_m);
            if (off_m < 1.12 * radius_m)
                return off_m < 0.55 * radius_m ? rim : rubber;
        }
    return up_m < 0.5 * radius_m ? floor_shade : NULL;
}

/* Returns the colour of the lamps at the front or the back of a vehicle. NULL: there are none. */
static const float *lamp_color(const Spot *spot, double low, double high) {
    const double across = fabs(spot->at[1]), up = spot->at[2];
    const bool in_lamp = across >= 0.28 && across <= 0.46 && up >= low && up <= high;
    if (!is_on_end(spot) || !in_lamp)
        return NULL;
    return spot->normal[0] > 0 ? head_light : rear_light;
}

static const float *body_color(Spot *spot) {
    const float *color = underside_color(spot, 0.21, (const double[]){0.31, -0.3, -0.3});
    return color ? color : lamp_color(spot, 0.38, 0.5);
}

/* A cabin has glass all round, with pillars at its corners and between the doors. */
static const float *cabin_color(Spot *spot) {
    const double up = spot->at[2], along = spot->at[0], across = fabs(spot->at[1]);
    const double inset = 0.1 * (up - 0.58) / 0.42, slope = (up - 0.58) / 0.42;
    if (up < 0.62 || up > 0.94)
        return NULL;
    if (is_on_side(spot)) {
        const bool at_front = along > 0.19 - 0.17 * slope, at_rear = along < -0.38 + 0.1 * slope;
        const bool between_doors = fabs(along + 0.1) < 0.015;
        return at_front || at_rear || between_doors ? NULL : glass; /* NULL: a pillar */
    }
    if (across > 0.38 - inset) /* a pillar at a corner */
        return NULL;
    return spot->normal[0] > 0 ? windscreen : glass;
}

static const float *cab_color(Spot *spot) {
    double up = spot->at[2];
    bool glazed = up > 0.48 && up < 0.74;
    const float *color = underside_color(spot, 0.17, (const double[]){0.36, 0.36, 0.36});
    if (color)
        return color;
    if (glazed && is_on_side(spot) && fabs(spot->at[0] - 0.39) < 0.06)
        return glass;
    if (glazed && is_on_end(spot) && spot->normal[0] > 0 && fabs(spot->at[1]) < 0.41)
        return windscreen;
    return spot->normal[0] > 0 ? lamp_color(spot, 0.2, 0.27) : NULL;
}

static const float *cargo_color(Spot *spot) {
    const float *color = underside_color(spot, 0.17, (const double[]){-0.23, -0.36, -0.36});
    if (!color && spot->at[2] < 0.24)
        color = lamp_color(spot, 0.19, 0.23) ? rear_light : denim;
    return color;
}

static double fractional_part(double x) {
    return x - floor(x);
}

/* A bus or a tram has windows with a pillar every 1.8 m. */
static const float *bus_color(Spot *spot) {
    double up = spot->at[2], along_m = spot->at[0] * spot->solid->size_m[0];
    const float *color = underside_color(spot, 0.14, (const double[]){0.3, -0.28, -0.28});
    if (color)
        return color;
    if (is_on_side(spot))
        return up > 0.42 && up < 0.78 && fractional_part(along_m / 1.8) > 0.08 ? glass : NULL;
    if (is_on_end(spot) && up > 0.36 && up < 0.8 && fabs(spot->at[1]) < 0.44)
        return windscreen;
    return lamp_color(spot, 0.2, 0.27);
}

/* Whether a spot on a plain box is a window. Buildings have rows of windows, cars a band. */
static bool is_window(const Spot *spot) {
    const Solid *solid = spot->solid;
    int along = is_on_side(spot) ? 0 : 1;
    double along_m = spot->at[along] * solid->size_m[along], up_m = spot->at[2] * solid->size_m[2];
    if (!is_on_side(spot) && !is_on_end(spot))
        return false;
    if (solid->class == CLASS_BUILDING)
        return fabs(fractional_part(along_m / 3) - 0.5) < 0.27 &&
               fabs(fractional_part(up_m / 3.2) - 0.5) < 0.22;
    return solid->class == CLASS_CAR && fabs(spot->at[2] - 0.74) < 0.13;
}

static const float *wall_color(Spot *spot) {
    spot->shade = is_window(spot) ? 0.35 : 1;
    return NULL;
}

/* Leaves are not evenly bright. */
static const float *leaves_color(Spot *spot) {
    const double *at = spot->at;
    spot->shade = 1 + 0.3 * sin(17 * at[0] + 5 * at[2]) * sin(19 * at[1] + 3) * sin(13 * at[2]);
    return NULL;
}

/* ---- rays ------------------------------------------------------------------------------------ */

/* A ray in the solid's frame, where the base has z = 0: in metres or in shares of its size. */
typedef struct {
    double origin[3], direction[3], inverse[3]; /* inverse: 1 / direction, where it is needed */
} SolidRay;

/* The part of a ray inside a convex body, and the normal where it enters. */
typedef struct {
    double enter, leave;
    double normal[3];
} Span;

enum { AHEAD, LEFT, UP }; /* the axes of a solid's frame */

/* Cuts the span by the slab low <= p <= high of an axis. False: nothing of the span is left. */
static inline bool cut_by_slab(const SolidRay *ray, int axis, double low, double high, Span *span) {
    double o = ray->origin[axis], d = ray->direction[axis];
    if (d == 0)
        return o >= low && o <= high;
    double in = ((d > 0 ? low : high) - o) * ray->inverse[axis];
    double out = ((d > 0 ? high : low) - o) * ray->inverse[axis];
    if (in > span->enter) {
        *span = (Span){in, span->leave, {0}};
        span->normal[axis] = d > 0 ? -1 : 1;
    }
    span->leave = out < span->leave ? out : span->leave;
    return span->enter <= span->leave;
}

static inline bool cut_by_box(const SolidRay *ray, const double low[3], const double high[3],
                              Span *span) {
    return cut_by_slab(ray, AHEAD, low[AHEAD], high[AHEAD], span) &&
           cut_by_slab(ray, LEFT, low[LEFT], high[LEFT], span) &&
           cut_by_slab(ray, UP, low[UP], high[UP], span);
}

/* Cuts the span by the half-space sign * p[axis] + slope * (p[2] - low) <= edge. A slope of 0 cuts
 * nothing: such a side is a side of the box, which has cut the span before. */
static inline bool cut_by_slope(const SolidRay *ray, int axis, double sign, double slope,
                                double low, double edge, Span *span) {
    const double *o = ray->origin, *d = ray->direction;
    double speed = sign * d[axis] + slope * d[2];
    double room = edge - sign * o[axis] - slope * (o[2] - low);
    if (slope == 0 || speed == 0)
        return slope == 0 || room >= 0;
    double at = room / speed;
    if (speed > 0)
        span->leave = at < span->leave ? at : span->leave;
    else if (at > span->enter) {
        *span = (Span){at, span->leave, {0, 0, slope}};
        span->normal[axis] = sign;
    }
    return span->enter <= span->leave;
}

/* A part lies between `low` and `high`, in shares of the solid's size. The solid reaches from -0.5
 * to 0.5 along x (ahead) and y (left), and from 0 to 1 in height. A block narrows upward. At its
 * top the front edge lies `front` farther back. `back` and `side` work alike. */
typedef struct Part {
    bool (*cast)(const struct Part *part, const SolidRay *ray, Span *span); /* block or ball */
    const float *color; /* NULL: `paint` chooses the colour */
    Painter *paint;     /* NULL too: the part has the solid's own colour */
    double low[3], high[3];
    double front, back, side;
} Part;

/* Cuts the span by a block: its box, and the slopes of its four sides. */
static bool cast_block(const Part *part, const SolidRay *ray, Span *span) {
    const double *low = part->low, *high = part->high, base = low[UP];
    const double height = high[UP] - base, side = part->side / height;
    const double front = part->front / height, back = part->back / height;
    return cut_by_box(ray, low, high, span) &&
           cut_by_slope(ray, AHEAD, 1, front, base, high[AHEAD], span) &&
           cut_by_slope(ray, AHEAD, -1, back, base, -low[AHEAD], span) &&
           cut_by_slope(ray, LEFT, 1, side, base, high[LEFT], span) &&
           cut_by_slope(ray, LEFT, -1, side, base, -low[LEFT], span);
}

/* Finds where the ray enters the ellipsoid that fills a part's box. A ray from inside is no hit. */
static bool cast_ball(const Part *part, const SolidRay *ray, Span *span) {
    double a = 0, b = 0, c = -1, o[3], d[3];
    for (int i = 0; i < 3; i++) {
        double scale = 2 / (part->high[i] - part->low[i]);
        o[i] = (ray->origin[i] - part->low[i]) * scale - 1;
        d[i] = ray->direction[i] * scale;
        a += d[i] * d[i];
        b += o[i] * d[i];
        c += o[i] * o[i];
    }
    double discriminant = b * b - a * c;
    if (!(discriminant > 0) || c <= 0)
        return false;
    span->enter = (-b - sqrt(discriminant)) / a;
    for (int i = 0; i < 3; i++)
        span->normal[i] = (o[i] + span->enter * d[i]) / (part->high[i] - part->low[i]);
    return span->enter <= span->leave;
}

/* Lights a surface of this colour by its normal, of any length, in the solid's frame. */
static void light_surface(WorldHit *hit, const SolidPlace *place, const float color[3],
                          const double n[3], double shade) {
    double x = n[0] * place->cos_yaw - n[1] * place->sin_yaw;
    double y = n[0] * place->sin_yaw + n[1] * place->cos_yaw;
    double length = sqrt(x * x + y * y + n[2] * n[2]);
    double light = 0.78 + (0.17 * (0.8 * x + 0.6 * y) + 0.22 * n[2]) / length;
    for (int i = 0; i < 3; i++)
        hit->color[i] = color[i] * (float)(light * shade);
}

static const Part box_parts[] = {
    {cast_block, NULL, wall_color, {-0.5, -0.5, 0}, {0.5, 0.5, 1}, 0, 0, 0}};
static const Part car_parts[] = {
    {cast_block, NULL, body_color, {-0.5, -0.5, 0}, {0.5, 0.5, 0.58}, 0.03, 0.02, 0.04},
    {cast_block, NULL, cabin_color, {-0.44, -0.44, 0.58}, {0.24, 0.44, 1}, 0.17, 0.10, 0.1},
};
static const Part truck_parts[] = {
    {cast_block, NULL, cab_color, {0.26, -0.48, 0}, {0.5, 0.48, 0.8}, 0.03, 0, 0.03},
    {cast_block, NULL, cargo_color, {-0.5, -0.5, 0}, {0.235, 0.5, 1}, 0, 0, 0},
};
static const Part bus_parts[] = {
    {cast_block, NULL, bus_color, {-0.5, -0.5, 0}, {0.5, 0.5, 0.92}, 0.01, 0.01, 0.02},
    {cast_block, rim, NULL, {-0.3, -0.3, 0.92}, {0.3, 0.3, 1}, 0, 0, 0},
};
static const Part person_parts[] = {
    {cast_block, denim, NULL, {0, 0.03, 0}, {0.34, 0.26, 0.5}, 0.2, 0, 0},
    {cast_block, denim, NULL, {-0.34, -0.26, 0}, {0, -0.03, 0.5}, 0, 0.2, 0},
    {cast_block, NULL, NULL, {-0.17, -0.32, 0.46}, {0.17, 0.32, 0.84}, 0.03, 0.03, 0.06},
    {cast_ball, NULL, NULL, {-0.2, -0.42, 0.44}, {0.2, 0.42, 0.88}, 0, 0, 0},
    {cast_ball, skin, NULL, {-0.18, -0.18, 0.85}, {0.18, 0.18, 1}, 0, 0, 0},
};
static const Part cyclist_parts[] = {
    {cast_ball, rubber, NULL, {-0.5, -0.06, 0}, {-0.12, 0.06, 0.38}, 0, 0, 0},
    {cast_ball, rubber, NULL, {0.12, -0.06, 0}, {0.5, 0.06, 0.38}, 0, 0, 0},
    {cast_block, rim, NULL, {-0.3, -0.05, 0.2}, {0.34, 0.05, 0.5}, 0.05, 0.1, 0},
    {cast_block, denim, NULL, {-0.08, -0.3, 0.15}, {0.1, 0.3, 0.56}, 0.1, 0.06, 0},
    {cast_ball, NULL, NULL, {-0.22, -0.42, 0.46}, {0.16, 0.42, 0.9}, 0, 0, 0},
    {cast_ball, skin, NULL, {0.02, -0.2, 0.83}, {0.18, 0.2, 1}, 0, 0, 0},
};
static const Part crown_parts[] = {
    {cast_ball, NULL, leaves_color, {-0.46, -0.46, 0}, {0.42, 0.42, 0.8}, 0, 0, 0},
    {cast_ball, NULL, leaves_color, {-0.3, -0.4, 0.25}, {0.5, 0.4, 0.9}, 0, 0, 0},
    {cast_ball, NULL, leaves_color, {-0.36, -0.2, 0.35}, {0.3, 0.48, 1}, 0, 0, 0},
};

static const struct {
    int count;
    const Part *parts;
} forms[SOLID_KINDS] = {
    [SOLID_BOX] = {1, box_parts},       [SOLID_CAR] = {2, car_parts},
    [SOLID_TRUCK] = {2, truck_parts},   [SOLID_BUS] = {2, bus_parts},
    [SOLID_PERSON] = {5, person_parts}, [SOLID_CYCLIST] = {6, cyclist_parts},
    [SOLID_CROWN] = {3, crown_parts},
};

/* Paints the spot where the ray, in shares of the solid's size, enters the part. */
static void paint_part(const Solid *solid, const Part *part, const SolidPlace *place,
                       const SolidRay *ray, const Span *span, WorldHit *hit) {
    double at[3], normal[3];
    for (int i = 0; i < 3; i++) {
        at[i] = ray->origin[i] + span->enter * ray->direction[i];
        normal[i] = span->normal[i] * place->share[i];
    }
    Spot spot = {solid, at, normal, 1};
    const float *color = part->paint ? part->paint(&spot) : part->color;
    light_surface(hit, place, color ? color : solid->color, normal, spot.shade);
}

/* Finds and paints the first part that the ray enters. The solid's own box is tested first. */
static bool cast_parts(const Solid *solid, const SolidPlace *place, const SolidRay *ray,
                       double far_m, WorldHit *hit) {
    static const double low[3] = {-0.5, -0.5, 0}, high[3] = {0.5, 0.5, 1};
    const int count = forms[solid->kind].count;
    SolidRay own;
    Span first = {0, far_m, {0}};
    const Part *met = NULL;
    for (int i = 0; i < 3; i++) {
        own.origin[i] = ray->origin[i] * place->share[i];
        own.direction[i] = ray->direction[i] * place->share[i];
        own.inverse[i] = 1 / own.direction[i];
    }
    if (count > 1 && !cut_by_box(&own, low, high, &first))
        return false;
    first.enter = far_m;
    for (int i = 0; i < count; i++) {
        const Part *part = &forms[solid->kind].parts[i];
        Span span = {0, first.enter, {0}};
        if (!part->cast(part, &own, &span) || span.enter <= 0)
            continue;
        first = span;
        met = part;
    }
    hit->depth_m = first.enter;
    if (met)
        paint_part(solid, met, place, &own, &first, hit);
    return met;
}

/* Finds where the ray enters the upright cylinder. The side is a quadratic equation. */
static bool cast_cylinder(const Solid *solid, const SolidPlace *place, const SolidRay *ray,
                          double far_m, WorldHit *hit) {
    const double *o = ray->origin, *d = ray->direction;
    SolidRay own = *ray;
    own.inverse[2] = 1 / d[2];
    double radius = solid->size_m[0] / 2, a = d[0] * d[0] + d[1] * d[1];
    double b = o[0] * d[0] + o[1] * d[1], c = o[0] * o[0] + o[1] * o[1] - radius * radius;
    double discriminant = b * b - a * c;
    Span span = {0, far_m, {0}};
    const bool vertical = !(a > 0); /* such a ray meets the side nowhere */
    if (vertical ? c > 0 : !(discriminant > 0))
        return false;
    if (!vertical) {
        span.enter = fmax(0, (-b - sqrt(discriminant)) / a);
        span.leave = fmin(far_m, (-b + sqrt(discriminant)) / a);
        span.normal[0] = o[0] + span.enter * d[0];
        span.normal[1] = o[1] + span.enter * d[1];
    }
    if (!cut_by_slab(&own, UP, 0, solid->size_m[2], &span) || span.enter <= 0)
        return false;
    hit->depth_m = span.enter;
    light_surface(hit, place, solid->color, span.normal, 1);
    return true;
}

/* The colours differ clearly from each other and from the white and dark background. This holds for
 * normal, protan, deutan and tritan vision; test_world checks it. */
const WorldClassInfo world_classes[CLASS_COUNT] = {
    [CLASS_ROAD] = {"road", "Road", {103, 122, 144}},
    [CLASS_LANE] = {"lane", "Lane marking", {234, 195, 33}},
    [CLASS_CROSSING] = {"crossing", "Crossing", {140, 206, 242}},
    [CLASS_SIDEWALK] = {"sidewalk", "Sidewalk", {206, 169, 150}},
    [CLASS_TERRAIN] = {"terrain", "Terrain", {150, 165, 70}},
    [CLASS_CAR] = {"car", "Car", {230, 85, 10}},
    [CLASS_TRUCK] = {"truck", "Truck", {2, 114, 229}},
    [CLASS_PEDESTRIAN] = {"pedestrian", "Pedestrian", {225, 30, 140}},
    [CLASS_BUILDING] = {"building", "Building", {130, 90, 190}},
    [CLASS_TREE] = {"tree", "Tree", {8, 106, 59}},
    [CLASS_POLE] = {"pole", "Pole", {130, 20, 30}},
};

void world_free(World *world) {
    if (!world)
        return;
    free(world->patches);
    free(world->solids);
    *world = (World){.patch_count = 0};
}

/* ---- positions ------------------------------------------------------------------------------ */

void world_solid_center(const World *world, int solid, double time_s, double center_m[2]) {
    const Solid *s = &world->solids[solid];
    double speed_mps = hypot(s->velocity_mps[0], s->velocity_mps[1]);
    center_m[0] = s->center_m[0];
    center_m[1] = s->center_m[1];
    if (speed_mps == 0)
        return;
    const double ahead[2] = {s->velocity_mps[0] / speed_mps, s->velocity_mps[1] / speed_mps};
    double distance_m = speed_mps * time_s;
    if (world->loop_s > 0) {
        /* along_m is the start on the path; it is 0 where the path is nearest to the ego. The new
         * position on the path lies between -loop_m / 2 and loop_m / 2. */
        double along_m = center_m[0] * ahead[0] + center_m[1] * ahead[1];
        double loop_m = speed_mps * world->loop_s;
        distance_m = speed_mps * fmod(time_s, world->loop_s);
        distance_m -= loop_m * floor((along_m + distance_m) / loop_m + 0.5);
    }
    center_m[0] += ahead[0] * distance_m;
    center_m[1] += ahead[1] * distance_m;
}

int world_footprint(const World *world, int solid, double time_s,
                    double corners[WORLD_CORNERS][2]) {
    static const double box[4][2] = {{0.5, 0.5}, {-0.5, 0.5}, {-0.5, -0.5}, {0.5, -0.5}};
    const Solid *s = &world->solids[solid];
    const bool round = solid_is_round(s->kind);
    int count = round ? WORLD_CORNERS : 4;
    double center_m[2], yaw = s->yaw_deg * M_PI / 180;
    world_solid_center(world, solid, time_s, center_m);
    for (int i = 0; i < count; i++) {
        double angle = 2 * M_PI * i / WORLD_CORNERS, radius_m = s->size_m[0] / 2;
        double x = round ? cos(angle) * radius_m : box[i][0] * s->size_m[0];
        double y = round ? sin(angle) * radius_m : box[i][1] * s->size_m[1];
        corners[i][0] = center_m[0] + x * cos(yaw) - y * sin(yaw);
        corners[i][1] = center_m[1] + x * sin(yaw) + y * cos(yaw);
    }
    return count;
}

/* ---- snapshots ------------------------------------------------------------------------------ */

typedef struct {
    double x_m, y_m, radius_m;
} Circle;

/* The place of a solid or patch at one moment. The circles lie around it, seen from above. */
typedef struct {
    SolidPlace frame;
    Circle around, shadow;      /* solids: shadow on the ground */
    double shadow_m[2][2];      /* solids: low and high end of the shadow, in the solid's frame */
    double low_m[2], high_m[2]; /* patches: bounding rectangle of all copies */
} Place;

struct WorldSnapshot {
    const World *world;
    Place *solids, *patches;
};

/* The direction to the sun. A solid of one metre has a shadow of 0.45 m. */
static const double sun[3] = {0.36, 0.27, 1};

static Place place_at_center(const double center_m[2], double yaw_deg, double length_m,
                             double width_m) {
    double yaw = yaw_deg * M_PI / 180, x = center_m[0], y = center_m[1];
    return (Place){.frame = {x, y, cos(yaw), sin(yaw), {0}},
                   .around = {x, y, hypot(length_m, width_m) / 2}};
}

/* Computes where a solid is at time_s: its frame, and the bounds of its shadow on the ground. */
static Place place_solid(const World *world, int i, double time_s) {
    const Solid *solid = &world->solids[i];
    double center_m[2], top_m = solid->z_m + solid->size_m[2], middle_m = top_m / 2;
    world_solid_center(world, i, time_s, center_m);
    double width_m = solid_is_round(solid->kind) ? 0 : solid->size_m[1];
    Place place = place_at_center(center_m, solid->yaw_deg, solid->size_m[0], width_m);
    for (int axis = 0; axis < 3; axis++)
        place.frame.share[axis] = 1 / solid->size_m[axis];
    place.shadow = (Circle){center_m[0] - middle_m * sun[0], center_m[1] - middle_m * sun[1],
                            place.around.radius_m + middle_m * hypot(sun[0], sun[1])};
    double c = place.frame.cos_yaw, s = place.frame.sin_yaw;
    const double long_m[2] = {top_m * (-sun[0] * c - sun[1] * s),
                              top_m * (-sun[1] * c + sun[0] * s)};
    for (int axis = 0; axis < 2; axis++) {
        double half_m = solid->size_m[solid_is_round(solid->kind) ? 0 : axis] / 2;
        place.shadow_m[axis][0] = fmin(long_m[axis], 0) - half_m;
        place.shadow_m[axis][1] = fmax(long_m[axis], 0) + half_m;
    }
    return place;
}

static Place place_patch(const Patch *patch) {
    Place place =
        place_at_center(patch->center_m, patch->yaw_deg, patch->size_m[0], patch->size_m[1]);
    for (int axis = 0; axis < 2; axis++) {
        double reach_m = patch->repeat > 1 ? (patch->repeat - 1) * patch->step_m[axis] : 0;
        place.low_m[axis] = patch->center_m[axis] + fmin(reach_m, 0) - place.around.radius_m;
        place.high_m[axis] = patch->center_m[axis] + fmax(reach_m, 0) + place.around.radius_m;
    }
    return place;
}

bool world_snapshot(const World *world, double time_s, WorldSnapshot **snapshot, Err *err) {
    size_t places = (size_t)world->solid_count + (size_t)world->patch_count;
    WorldSnapshot *made = malloc(sizeof *made + places * sizeof(Place));
    *snapshot = made;
    if (!made)
        return err_no_memory(err, "world", "");
    made->world = world;
    made->solids = (Place *)(made + 1);
    made->patches = made->solids + world->solid_count;
    for (int i = 0; i < world->solid_count; i++)
        made->solids[i] = place_solid(world, i, time_s);
    for (int i = 0; i < world->patch_count; i++)
        made->patches[i] = place_patch(&world->patches[i]);
    return true;
}

void world_snapshot_free(WorldSnapshot *snapshot) {
    free(snapshot);
}

void world_sky(const double direction[3], float color[3]) {
    static const float horizon[3] = {0.68F, 0.80F, 0.90F}, zenith[3] = {0.16F, 0.36F, 0.72F};
    double up = direction[2] / hypot(hypot(direction[0], direction[1]), direction[2]);
    float share = (float)fmin(fmax(up * 2, 0), 1);
    for (int i = 0; i < 3; i++)
        color[i] = horizon[i] + share * (zenith[i] - horizon[i]);
}

/* ---- the ground ------------------------------------------------------------------------------ */

/* Turns a vector into the frame of a solid or a patch. */
static void turn_into_frame(const SolidPlace *frame, double x, double y, double out[2]) {
    out[0] = x * frame->cos_yaw + y * frame->sin_yaw;
    out[1] = y * frame->cos_yaw - x * frame->sin_yaw;
}

/* Whether a copy of the patch, moved by k steps, contains (x, y). `at`: the point in its frame. */
static bool patch_contains(const Patch *patch, const Place *place, double x, double y,
                           double at[2]) {
    if (x < place->low_m[0] || x > place->high_m[0] || y < place->low_m[1] || y > place->high_m[1])
        return false;
    const double *step = patch->step_m;
    double from_x = x - place->frame.x_m, from_y = y - place->frame.y_m, from[2], turned_step[2];
    double first = 0, last = patch->repeat > 1 && (step[0] || step[1]) ? patch->repeat - 1 : 0;
    turn_into_frame(&place->frame, from_x, from_y, from);
    turn_into_frame(&place->frame, step[0], step[1], turned_step);
    /* The copies that are near enough, and one more on each side because of rounding errors. */
    for (int axis = 0; last > 0 && axis < 2; axis++) {
        double low = (from[axis] - patch->size_m[axis] / 2) / turned_step[axis];
        double high = (from[axis] + patch->size_m[axis] / 2) / turned_step[axis];
        first = turned_step[axis] == 0 ? first : fmax(first, floor(fmin(low, high)));
        last = turned_step[axis] == 0 ? last : fmin(last, ceil(fmax(low, high)));
    }
    for (double k = first; k <= last; k++) {
        turn_into_frame(&place->frame, from_x - k * step[0], from_y - k * step[1], at);
        double u = at[0] / patch->size_m[0], v = at[1] / patch->size_m[1];
        if (patch->kind == PATCH_DISC ? u * u + v * v <= 0.25 : fabs(u) <= 0.5 && fabs(v) <= 0.5)
            return true;
    }
    return false;
}

/* Gives `hit` the class and colour of the uppermost patch at (x, y), or of the bare ground. */
static void paint_ground(const WorldSnapshot *snapshot, double x, double y, WorldHit *hit) {
    const World *world = snapshot->world;
    hit->class = world->ground_class;
    memcpy(hit->color, world->ground_color, sizeof hit->color);
    for (int i = world->patch_count - 1; i >= 0; i--) {
        const Patch *patch = &world->patches[i];
        double at[2];
        if (!patch_contains(patch, &snapshot->patches[i], x, y, at))
            continue;
        /* square 0 of a checkerboard is at the centre of the patch */
        double squares = floor(at[0] / patch->square_m) + floor(at[1] / patch->square_m);
        bool second = patch->kind == PATCH_CHECKER && fmod(squares, 2) != 0;
        hit->class = patch->class;
        memcpy(hit->color, second ? patch->color2 : patch->color, sizeof hit->color);
        return;
    }
}

/* ---- which solids rays can hit -------------------------------------------------------------- */

/* Returns the z component of the cross product: positive if b lies anticlockwise of a. */
static double cross_product(const double a[2], const double b[2]) {
    return a[0] * b[1] - a[1] * b[0];
}

/* Finds the most clockwise edge (`right`) and the most anticlockwise edge (`left`) of the pyramid,
 * seen from above, with length 1. False: the pyramid contains the vertical, so no edge is outer. */
static bool find_outer_edges(const double edges[4][3], double right[2], double left[2]) {
    const double *most_right = edges[0], *most_left = edges[0];
    for (int i = 1; i < 4; i++) {
        if (cross_product(most_right, edges[i]) < 0)
            most_right = edges[i];
        if (cross_product(most_left, edges[i]) > 0)
            most_left = edges[i];
    }
    for (int i = 0; i < 4; i++) {
        const double along = most_right[0] * edges[i][0] + most_right[1] * edges[i][1];
        if (cross_product(most_right, edges[i]) < 0 || cross_product(most_left, edges[i]) > 0 ||
            along <= 0)
            return false;
    }
    double right_length = hypot(most_right[0], most_right[1]);
    double left_length = hypot(most_left[0], most_left[1]);
    for (int i = 0; i < 2; i++) {
        right[i] = most_right[i] / right_length;
        left[i] = most_left[i] / left_length;
    }
    return true;
}

/* Whether a circle, seen from above, reaches between two directions of length 1. */
static bool circle_is_between(const Circle *circle, const double origin_m[3], const double right[2],
                              const double left[2]) {
    const double to[2] = {circle->x_m - origin_m[0], circle->y_m - origin_m[1]};
    return cross_product(right, to) >= -circle->radius_m &&
           cross_product(left, to) <= circle->radius_m;
}

/* Inserts a solid into the list, which is sorted by distance. */
static void insert_solid(WorldSight *sight, int solid, double near_m) {
    int at = sight->count++;
    for (; at > 0 && sight->near_m[at - 1] > near_m; at--) {
        sight->near_m[at] = sight->near_m[at - 1];
        sight->solids[at] = sight->solids[at - 1];
    }
    sight->near_m[at] = near_m;
    sight->solids[at] = solid;
}

WorldSight world_sight(const WorldSnapshot *snapshot, const double origin_m[3],
                       const double edges[4][3]) {
    WorldSight sight = {.count = 0};
    double right[2], left[2];
    if (!find_outer_edges(edges, right, left))
        return (WorldSight){.count = -1};
    for (int i = 0; i < snapshot->world->solid_count; i++) {
        const Circle *around = &snapshot->solids[i].around;
        if (sight.count == WORLD_SIGHT_MAX || sight.shadow_count == WORLD_SIGHT_MAX)
            return (WorldSight){.count = -1};
        double x = around->x_m - origin_m[0], y = around->y_m - origin_m[1];
        if (circle_is_between(around, origin_m, right, left))
            insert_solid(&sight, i, sqrt(x * x + y * y) - around->radius_m);
        if (circle_is_between(&snapshot->solids[i].shadow, origin_m, right, left))
            sight.shadows[sight.shadow_count++] = i;
    }
    return sight;
}

/* ---- rays ------------------------------------------------------------------------------------ */

/* Whether the ray, seen from above, crosses the circle. */
static bool passes_circle(const Circle *circle, const double origin[3], const double direction[3]) {
    const double to[2] = {circle->x_m - origin[0], circle->y_m - origin[1]};
    double across = cross_product(to, direction);
    double length_square = direction[0] * direction[0] + direction[1] * direction[1];
    return across * across <= circle->radius_m * circle->radius_m * length_square;
}

/* Finds where a ray from outside enters the solid before `far_m`. Fills hit's depth and colour. */
static bool cast_solid(const WorldSnapshot *snapshot, int i, const double origin[3],
                       const double direction[3], double far_m, WorldHit *hit) {
    const SolidPlace *frame = &snapshot->solids[i].frame;
    const Solid *solid = &snapshot->world->solids[i];
    SolidRay ray = {{0, 0, origin[2] - solid->z_m}, {0, 0, direction[2]}, {0}};
    turn_into_frame(frame, origin[0] - frame->x_m, origin[1] - frame->y_m, ray.origin);
    turn_into_frame(frame, direction[0], direction[1], ray.direction);
    if (solid->kind == SOLID_CYLINDER)
        return cast_cylinder(solid, frame, &ray, far_m, hit);
    return cast_parts(solid, frame, &ray, far_m, hit);
}

static bool is_in_shadow(const WorldSnapshot *snapshot, const WorldSight *sight,
                         const double at_m[3]) {
    const bool all = sight->count < 0;
    const int count = all ? snapshot->world->solid_count : sight->shadow_count;
    for (int k = 0; k < count; k++) {
        const int i = all ? k : sight->shadows[k];
        const Place *place = &snapshot->solids[i];
        const double *ahead = place->shadow_m[0], *left = place->shadow_m[1];
        double at[2];
        WorldHit hit;
        turn_into_frame(&place->frame, at_m[0] - place->frame.x_m, at_m[1] - place->frame.y_m, at);
        const bool in_bounds =
            at[0] > ahead[0] && at[0] < ahead[1] && at[1] > left[0] && at[1] < left[1];
        if (in_bounds && cast_solid(snapshot, i, at_m, sun, INFINITY, &hit))
            return true;
    }
    return false;
}

/* Finds the first solid of the ray before hit->depth_m. A list of `sight` is sorted by near_m, the
 * solids' distance on the ground. `level`: metres on the ground for a metre of depth. */
static void cast_solids(const WorldSnapshot *snapshot, const WorldSight *sight,
                        const double origin_m[3], const double direction[3], WorldHit *hit) {
    bool all = sight->count < 0;
    int count = all ? snapshot->world->solid_count : sight->count;
    double level = sqrt(direction[0] * direction[0] + direction[1] * direction[1]);
    for (int k = 0; k < count; k++) {
        int i = all ? k : sight->solids[k];
        if (!all && sight->near_m[k] > hit->depth_m * level)
            return;
        if (passes_circle(&snapshot->solids[i].around, origin_m, direction) &&
            cast_solid(snapshot, i, origin_m, direction, hit->depth_m, hit))
            hit->solid = i;
    }
}

WorldHit world_cast(const WorldSnapshot *snapshot, const WorldSight *sight,
                    const double origin_m[3], const double direction[3], double far_m) {
    double ground_m = direction[2] < 0 ? -origin_m[2] / direction[2] : INFINITY;
    bool ground = snapshot->world->ground_class < CLASS_COUNT && ground_m > 0 && ground_m <= far_m;
    WorldHit hit = {.hit = ground, .depth_m = ground ? ground_m : far_m, .solid = -1};
    cast_solids(snapshot, sight, origin_m, direction, &hit);
    double at_m[3];
    point_on_ray(origin_m, direction, hit.depth_m, at_m);
    hit.height_m = at_m[2];
    if (hit.solid >= 0) {
        hit.hit = true;
        hit.class = snapshot->world->solids[hit.solid].class;
    } else if (ground) {
        paint_ground(snapshot, at_m[0], at_m[1], &hit);
        at_m[2] = 0;
        float light = is_in_shadow(snapshot, sight, at_m) ? 0.5F : 1;
        for (int i = 0; i < 3; i++)
            hit.color[i] *= light;
    }
    return hit;
}
