/* SPDX-License-Identifier: MIT */
#include "src/scene/world.h"

#include <math.h>

bool solid_is_round(SolidKind kind) {
    return kind == SOLID_CYLINDER || kind == SOLID_PERSON || kind == SOLID_CROWN;
}

/* ---- parts ----------------------------------------------------------------------------------- */

typedef enum { BLOCK, BALL } PartShape;

/* The surface of a part: a colour of its own, the solid's colour, or a painted one. */
typedef enum {
    PAINT_SOLID,
    PAINT_WALL,
    PAINT_SKIN,
    PAINT_TROUSERS,
    PAINT_RUBBER,
    PAINT_SHADED,
    PAINT_BODY,
    PAINT_CABIN,
    PAINT_CAB,
    PAINT_CARGO,
    PAINT_BUS,
    PAINT_LEAVES
} Paint;

/* A part lies between `low` and `high`, in shares of the solid's size. The solid reaches from -0.5
 * to 0.5 along x (ahead) and y (left), and from 0 to 1 in height. A block narrows upward. At its
 * top the front edge lies `front` farther back. `back` and `side` work alike. */
typedef struct {
    PartShape shape;
    Paint paint;
    double low[3], high[3];
    double front, back, side;
} Part;

enum { MAX_PARTS = 6 };
typedef struct {
    int count;
    Part parts[MAX_PARTS];
} Form;

static const Form forms[SOLID_KINDS] = {
    [SOLID_BOX] = {1, {{BLOCK, PAINT_WALL, {-0.5, -0.5, 0}, {0.5, 0.5, 1}, 0, 0, 0}}},
    [SOLID_CAR] = {2,
                   {{BLOCK, PAINT_BODY, {-0.5, -0.5, 0}, {0.5, 0.5, 0.58}, 0.03, 0.02, 0.04},
                    {BLOCK, PAINT_CABIN, {-0.44, -0.44, 0.58}, {0.24, 0.44, 1}, 0.17, 0.10, 0.1}}},
    [SOLID_TRUCK] = {2,
                     {{BLOCK, PAINT_CAB, {0.26, -0.48, 0}, {0.5, 0.48, 0.8}, 0.03, 0, 0.03},
                      {BLOCK, PAINT_CARGO, {-0.5, -0.5, 0}, {0.235, 0.5, 1}, 0, 0, 0}}},
    [SOLID_BUS] = {2,
                   {{BLOCK, PAINT_BUS, {-0.5, -0.5, 0}, {0.5, 0.5, 0.92}, 0.01, 0.01, 0.02},
                    {BLOCK, PAINT_SHADED, {-0.3, -0.3, 0.92}, {0.3, 0.3, 1}, 0, 0, 0}}},
    [SOLID_PERSON] =
        {5,
         {{BLOCK, PAINT_TROUSERS, {0, 0.03, 0}, {0.34, 0.26, 0.5}, 0.2, 0, 0},
          {BLOCK, PAINT_TROUSERS, {-0.34, -0.26, 0}, {0, -0.03, 0.5}, 0, 0.2, 0},
          {BLOCK, PAINT_SOLID, {-0.17, -0.32, 0.46}, {0.17, 0.32, 0.84}, 0.03, 0.03, 0.06},
          {BALL, PAINT_SOLID, {-0.2, -0.42, 0.44}, {0.2, 0.42, 0.88}, 0, 0, 0},
          {BALL, PAINT_SKIN, {-0.18, -0.18, 0.85}, {0.18, 0.18, 1}, 0, 0, 0}}},
    [SOLID_CYCLIST] =
        {6,
         {{BALL, PAINT_RUBBER, {-0.5, -0.06, 0}, {-0.12, 0.06, 0.38}, 0, 0, 0},
          {BALL, PAINT_RUBBER, {0.12, -0.06, 0}, {0.5, 0.06, 0.38}, 0, 0, 0},
          {BLOCK, PAINT_SHADED, {-0.3, -0.05, 0.2}, {0.34, 0.05, 0.5}, 0.05, 0.1, 0},
          {BLOCK, PAINT_TROUSERS, {-0.08, -0.3, 0.15}, {0.1, 0.3, 0.56}, 0.1, 0.06, 0},
          {BALL, PAINT_SOLID, {-0.22, -0.42, 0.46}, {0.16, 0.42, 0.9}, 0, 0, 0},
          {BALL, PAINT_SKIN, {0.02, -0.2, 0.83}, {0.18, 0.2, 1}, 0, 0, 0}}},
    [SOLID_CROWN] = {3,
                     {{BALL, PAINT_LEAVES, {-0.46, -0.46, 0}, {0.42, 0.42, 0.8}, 0, 0, 0},
                      {BALL, PAINT_LEAVES, {-0.3, -0.4, 0.25}, {0.5, 0.4, 0.9}, 0, 0, 0},
                      {BALL, PAINT_LEAVES, {-0.36, -0.2, 0.35}, {0.3, 0.48, 1}, 0, 0, 0}}},
};

/* ---- light and paint ------------------------------------------------------------------------- */

static const float skin[3] = {0.55F, 0.33F, 0.22F}, glass[3] = {0.05F, 0.07F, 0.09F},
                   windscreen[3] = {0.16F, 0.21F, 0.26F}, rubber[3] = {0.02F, 0.02F, 0.02F},
                   floor_shade[3] = {0.03F, 0.03F, 0.035F}, rim[3] = {0.45F, 0.46F, 0.48F},
                   head_light[3] = {0.95F, 0.92F, 0.75F}, rear_light[3] = {0.75F, 0.02F, 0.02F},
                   denim[3] = {0.05F, 0.06F, 0.1F};

/* A point on a part: in shares of the solid's size, and the side that it lies on. */
typedef struct {
    const Solid *solid;
    const double *at, *normal;
} Spot;

static bool is_on_side(const Spot *spot) {
    return fabs(spot->normal[1]) > fabs(spot->normal[0]) &&
           fabs(spot->normal[1]) > fabs(spot->normal[2]);
}

static bool is_on_end(const Spot *spot) {
    return fabs(spot->normal[0]) > fabs(spot->normal[2]) && !is_on_side(spot);
}

/* Returns the colour of what is low on a vehicle: tyres, rims, and the dark below the floor.
 * `axles` are shares of the length. NULL: the vehicle's own colour. */
static const float *underside(const Spot *spot, double radius_m, const double axles[3]) {
    double up_m = spot->at[2] * spot->solid->size_m[2];
    if (is_on_side(spot))
        for (int i = 0; i < 3; i++) {
            double off_m =
                hypot((spot->at[0] - axles[i]) * spot->solid->size_m[0], up_m - radius_m);
            if (off_m < 1.12 * radius_m)
                return off_m < 0.55 * radius_m ? rim : rubber;
        }
    return up_m < 0.5 * radius_m ? floor_shade : NULL;
}

/* Returns the colour of lamps at the front or the back of a vehicle. NULL: there are none. */
static const float *lamps(const Spot *spot, double low, double high) {
    if (!is_on_end(spot) || fabs(spot->at[1]) < 0.28 || fabs(spot->at[1]) > 0.46 ||
        spot->at[2] < low || spot->at[2] > high)
        return NULL;
    return spot->normal[0] > 0 ? head_light : rear_light;
}

static const float *body_color(const Spot *spot) {
    static const double axles[3] = {0.31, -0.3, -0.3};
    const float *color = underside(spot, 0.21 * spot->solid->size_m[2], axles);
    return color ? color : lamps(spot, 0.38, 0.5);
}

/* A cabin has glass all round, with pillars at its corners and between the doors. */
static const float *cabin_color(const Spot *spot) {
    double up = spot->at[2], across = fabs(spot->at[1]), inset = 0.1 * (up - 0.58) / 0.42;
    if (up < 0.62 || up > 0.94)
        return NULL;
    if (is_on_side(spot)) {
        double slope = (up - 0.58) / 0.42, x = spot->at[0];
        bool pillar = x > 0.19 - 0.17 * slope || x < -0.38 + 0.1 * slope || fabs(x + 0.1) < 0.015;
        return pillar ? NULL : glass;
    }
    return across > 0.38 - inset ? NULL : spot->normal[0] > 0 ? windscreen : glass;
}

static const float *cab_color(const Spot *spot) {
    static const double axles[3] = {0.36, 0.36, 0.36};
    double up = spot->at[2];
    bool glazed = up > 0.48 && up < 0.74;
    const float *color = underside(spot, 0.17 * spot->solid->size_m[2], axles);
    if (color)
        return color;
    if (glazed && is_on_side(spot) && fabs(spot->at[0] - 0.39) < 0.06)
        return glass;
    if (glazed && is_on_end(spot) && spot->normal[0] > 0 && fabs(spot->at[1]) < 0.41)
        return windscreen;
    return spot->normal[0] > 0 ? lamps(spot, 0.2, 0.27) : NULL;
}

static const float *cargo_color(const Spot *spot) {
    static const double axles[3] = {-0.23, -0.36, -0.36};
    const float *color = underside(spot, 0.17 * spot->solid->size_m[2], axles);
    if (!color && spot->at[2] < 0.24)
        color = lamps(spot, 0.19, 0.23) ? rear_light : denim;
    return color;
}

static double fractional_part(double x) {
    return x - floor(x);
}

/* A bus or a tram has windows with a pillar every 1.8 m. */
static const float *bus_color(const Spot *spot) {
    static const double axles[3] = {0.3, -0.28, -0.28};
    double up = spot->at[2], along_m = spot->at[0] * spot->solid->size_m[0];
    const float *color = underside(spot, 0.14 * spot->solid->size_m[2], axles);
    if (color)
        return color;
    if (is_on_side(spot))
        return up > 0.42 && up < 0.78 && fractional_part(along_m / 1.8) > 0.08 ? glass : NULL;
    if (is_on_end(spot) && up > 0.36 && up < 0.8 && fabs(spot->at[1]) < 0.44)
        return windscreen;
    return lamps(spot, 0.2, 0.27);
}

/* The colour of a paint, or its function. Either yields NULL for the solid's own colour. */
static const struct {
    const float *color;
    const float *(*of_spot)(const Spot *spot);
} paints[PAINT_LEAVES + 1] = {
    [PAINT_SKIN] = {.color = skin},         [PAINT_TROUSERS] = {.color = denim},
    [PAINT_RUBBER] = {.color = rubber},     [PAINT_SHADED] = {.color = rim},
    [PAINT_BODY] = {.of_spot = body_color}, [PAINT_CABIN] = {.of_spot = cabin_color},
    [PAINT_CAB] = {.of_spot = cab_color},   [PAINT_CARGO] = {.of_spot = cargo_color},
    [PAINT_BUS] = {.of_spot = bus_color},
};

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

/* Returns a factor on the light: windows are dark, leaves are not evenly bright. */
static double shade(Paint paint, const Spot *spot) {
    const double *at = spot->at;
    if (paint == PAINT_LEAVES)
        return 1 + 0.3 * sin(17 * at[0] + 5 * at[2]) * sin(19 * at[1] + 3) * sin(13 * at[2]);
    return paint == PAINT_WALL && is_window(spot) ? 0.35 : 1;
}

/* ---- rays ------------------------------------------------------------------------------------ */

/* A ray in shares of the solid's size. */
typedef struct {
    double origin[3], direction[3], inverse[3]; /* inverse: 1 / direction */
} ShareRay;

/* The part of a ray inside a convex body, and the normal where it enters. */
typedef struct {
    double enter, leave;
    double normal[3];
} Span;

/* Cuts the span by the slab low <= p <= high of an axis. */
static inline bool cut_by_slab(const ShareRay *ray, int axis, double low, double high, Span *span) {
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

static inline bool cut_by_box(const ShareRay *ray, const double low[3], const double high[3],
                              Span *span) {
    return cut_by_slab(ray, 0, low[0], high[0], span) &&
           cut_by_slab(ray, 1, low[1], high[1], span) && cut_by_slab(ray, 2, low[2], high[2], span);
}

/* Cuts the span by the half-space sign * p[axis] + slope * (p[2] - low) <= edge. */
static inline bool cut_by_slope(const ShareRay *ray, int axis, double sign, double slope,
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

static bool cast_block(const Part *part, const ShareRay *ray, Span *span) {
    const double *low = part->low, *high = part->high;
    double tall = high[2] - low[2], side = part->side / tall;
    return cut_by_box(ray, low, high, span) &&
           cut_by_slope(ray, 0, 1, part->front / tall, low[2], high[0], span) &&
           cut_by_slope(ray, 0, -1, part->back / tall, low[2], -low[0], span) &&
           cut_by_slope(ray, 1, 1, side, low[2], high[1], span) &&
           cut_by_slope(ray, 1, -1, side, low[2], -low[1], span);
}

static bool cast_ball(const Part *part, const ShareRay *ray, Span *span) {
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
static void light_up(WorldHit *hit, const SolidPlace *place, const float color[3],
                     const double n[3], double shade) {
    double x = n[0] * place->cos_yaw - n[1] * place->sin_yaw;
    double y = n[0] * place->sin_yaw + n[1] * place->cos_yaw;
    double length = sqrt(x * x + y * y + n[2] * n[2]);
    double light = 0.78 + (0.17 * (0.8 * x + 0.6 * y) + 0.22 * n[2]) / length;
    for (int i = 0; i < 3; i++)
        hit->color[i] = color[i] * (float)(light * shade);
}

/* Paints the spot where the ray, in shares of the solid's size, enters the part. */
static void paint_part(const Solid *solid, const Part *part, const SolidPlace *place,
                       const ShareRay *ray, const Span *span, WorldHit *hit) {
    double at[3], normal[3];
    for (int i = 0; i < 3; i++) {
        at[i] = ray->origin[i] + span->enter * ray->direction[i];
        normal[i] = span->normal[i] * place->share[i];
    }
    const Spot spot = {solid, at, normal};
    const float *(*of_spot)(const Spot *) = paints[part->paint].of_spot;
    const float *color = of_spot ? of_spot(&spot) : paints[part->paint].color;
    light_up(hit, place, color ? color : solid->color, normal, shade(part->paint, &spot));
}

static bool cast_parts(const Solid *solid, const SolidPlace *place, const SolidRay *ray,
                       double far_m, WorldHit *hit) {
    static const double low[3] = {-0.5, -0.5, 0}, high[3] = {0.5, 0.5, 1};
    const Form *form = &forms[solid->kind];
    ShareRay own;
    Span first = {0, far_m, {0}};
    const Part *met = NULL;
    for (int i = 0; i < 3; i++) {
        own.origin[i] = ray->origin[i] * place->share[i];
        own.direction[i] = ray->direction[i] * place->share[i];
        own.inverse[i] = 1 / own.direction[i];
    }
    if (form->count > 1 && !cut_by_box(&own, low, high, &first))
        return false;
    first.enter = far_m;
    for (int i = 0; i < form->count; i++) {
        const Part *part = &form->parts[i];
        Span span = {0, first.enter, {0}};
        if (!(part->shape == BLOCK ? cast_block : cast_ball)(part, &own, &span) || span.enter <= 0)
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
    const ShareRay own = {{o[0], o[1], o[2]}, {d[0], d[1], d[2]}, {0, 0, 1 / d[2]}};
    double radius = solid->size_m[0] / 2, a = d[0] * d[0] + d[1] * d[1];
    double b = o[0] * d[0] + o[1] * d[1], c = o[0] * o[0] + o[1] * o[1] - radius * radius;
    double discriminant = b * b - a * c;
    Span span = {0, far_m, {0}};
    if (a > 0 ? !(discriminant > 0) : c > 0)
        return false;
    if (a > 0) {
        span.enter = fmax(0, (-b - sqrt(discriminant)) / a);
        span.leave = fmin(far_m, (-b + sqrt(discriminant)) / a);
        span.normal[0] = o[0] + span.enter * d[0];
        span.normal[1] = o[1] + span.enter * d[1];
    }
    if (!cut_by_slab(&own, 2, 0, solid->size_m[2], &span) || span.enter <= 0)
        return false;
    hit->depth_m = span.enter;
    light_up(hit, place, solid->color, span.normal, 1);
    return true;
}

bool solid_cast(const Solid *solid, const SolidPlace *place, const SolidRay *ray, double far_m,
                WorldHit *hit) {
    return (solid->kind == SOLID_CYLINDER ? cast_cylinder : cast_parts)(solid, place, ray, far_m,
                                                                        hit);
}
