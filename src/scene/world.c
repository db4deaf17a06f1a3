#include "src/scene/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    int count = s->kind == SOLID_BOX ? 4 : WORLD_CORNERS;
    double center_m[2], yaw = s->yaw_deg * M_PI / 180;
    world_solid_center(world, solid, time_s, center_m);
    for (int i = 0; i < count; i++) {
        double angle = 2 * M_PI * i / WORLD_CORNERS, x, y;
        if (s->kind == SOLID_BOX) {
            x = box[i][0] * s->size_m[0];
            y = box[i][1] * s->size_m[1];
        } else {
            x = cos(angle) * s->size_m[0] / 2;
            y = sin(angle) * s->size_m[0] / 2;
        }
        corners[i][0] = center_m[0] + x * cos(yaw) - y * sin(yaw);
        corners[i][1] = center_m[1] + x * sin(yaw) + y * cos(yaw);
    }
    return count;
}

/* ---- snapshots ------------------------------------------------------------------------------ */

/* The place of a solid or patch at one moment: its own coordinate frame, and a circle around it. */
typedef struct {
    double x_m, y_m, cos_yaw, sin_yaw, radius_m;
    double low_m[2], high_m[2]; /* patches: bounding rectangle of all copies */
} Place;

struct WorldSnapshot {
    const World *world;
    Place *solids, *patches;
};

static Place place_at(const double center_m[2], double yaw_deg, double length_m, double width_m) {
    double yaw = yaw_deg * M_PI / 180;
    Place place = {
        .x_m = center_m[0], .y_m = center_m[1], .cos_yaw = cos(yaw), .sin_yaw = sin(yaw)};
    place.radius_m = hypot(length_m, width_m) / 2;
    return place;
}

static Place place_patch(const Patch *patch) {
    Place place = place_at(patch->center_m, patch->yaw_deg, patch->size_m[0], patch->size_m[1]);
    for (int axis = 0; axis < 2; axis++) {
        double reach_m = patch->repeat > 1 ? (patch->repeat - 1) * patch->step_m[axis] : 0;
        place.low_m[axis] = patch->center_m[axis] + fmin(reach_m, 0) - place.radius_m;
        place.high_m[axis] = patch->center_m[axis] + fmax(reach_m, 0) + place.radius_m;
    }
    return place;
}

bool world_snapshot(const World *world, double time_s, WorldSnapshot **snapshot, Err *err) {
    size_t places = (size_t)world->solid_count + (size_t)world->patch_count;
    WorldSnapshot *made = malloc(sizeof *made + places * sizeof(Place));
    *snapshot = made;
    if (!made)
        return err_set(err, ERR_FAILED, "world", "", "out of memory for %zu things", places);
    made->world = world;
    made->solids = (Place *)(made + 1);
    made->patches = made->solids + world->solid_count;
    for (int i = 0; i < world->solid_count; i++) {
        const Solid *solid = &world->solids[i];
        double center_m[2];
        world_solid_center(world, i, time_s, center_m);
        double width_m = solid->kind == SOLID_BOX ? solid->size_m[1] : 0;
        made->solids[i] = place_at(center_m, solid->yaw_deg, solid->size_m[0], width_m);
    }
    for (int i = 0; i < world->patch_count; i++)
        made->patches[i] = place_patch(&world->patches[i]);
    return true;
}

void world_snapshot_free(WorldSnapshot *snapshot) {
    free(snapshot);
}

/* ---- light ----------------------------------------------------------------------------------- */

/* Returns the brightness of a side wall by the direction of its normal. Other surfaces have 1. */
static double light_on_wall(double normal_x, double normal_y) {
    return 0.78 + 0.17 * (0.8 * normal_x + 0.6 * normal_y);
}

static double fractional_part(double x) {
    return x - floor(x);
}

/* Whether a point on a wall is a window. Buildings have rows of windows, cars a band. */
static bool is_window(const Solid *solid, double along_m, double height_m) {
    double up = height_m - solid->z_m;
    if (solid->class == CLASS_BUILDING)
        return fabs(fractional_part(along_m / 3) - 0.5) < 0.27 &&
               fabs(fractional_part(up / 3.2) - 0.5) < 0.22;
    if (solid->class == CLASS_CAR)
        return fabs(up / solid->size_m[2] - 0.74) < 0.13;
    return false;
}

static void paint_solid(WorldHit *hit, const Solid *solid, double light, bool window) {
    hit->class = solid->class;
    for (int i = 0; i < 3; i++)
        hit->color[i] = solid->color[i] * (float)(window ? 0.35 * light : light);
}

void world_sky(const double direction[3], float color[3]) {
    static const float horizon[3] = {0.68F, 0.80F, 0.90F}, zenith[3] = {0.16F, 0.36F, 0.72F};
    double up = direction[2] / hypot(hypot(direction[0], direction[1]), direction[2]);
    float share = (float)fmin(fmax(up * 2, 0), 1);
    for (int i = 0; i < 3; i++)
        color[i] = horizon[i] + share * (zenith[i] - horizon[i]);
}

/* ---- the ground ------------------------------------------------------------------------------ */

/* Narrows [*first, *last] to the copies k with |offset - k * step| <= half. Keeps one more copy on
 * either side, because rounding may decide about it. */
static void narrow_copies(double offset, double step, double half, int *first, int *last) {
    if (step == 0)
        return;
    double a = (offset - half) / step, b = (offset + half) / step;
    double low = a < b ? a : b, high = a < b ? b : a;
    if (low > *last + 1 || high < *first - 1)
        *last = -1;
    else {
        *first = low - 1 > *first ? (int)low - 1 : *first;
        *last = high + 1 < *last ? (int)high + 1 : *last;
    }
}

/* Whether a copy of the patch contains (x, y). `at` receives the point in that copy's frame. Copy k
 * is moved by k steps. The first copy that contains the point is among the first few that are
 * tested, however many copies overlap. */
static bool patch_contains(const Patch *patch, const Place *place, double x, double y,
                           double at[2]) {
    const double *step = patch->step_m;
    if (x < place->low_m[0] || x > place->high_m[0] || y < place->low_m[1] || y > place->high_m[1])
        return false;
    double from_x = x - place->x_m, from_y = y - place->y_m;
    double c = place->cos_yaw, s = place->sin_yaw;
    int first = 0, last = 0;
    if (patch->repeat > 1 && (step[0] != 0 || step[1] != 0)) {
        last = patch->repeat - 1;
        narrow_copies(from_x * c + from_y * s, step[0] * c + step[1] * s, patch->size_m[0] / 2,
                      &first, &last);
        if (last >= 0)
            narrow_copies(from_y * c - from_x * s, step[1] * c - step[0] * s,
                          patch->size_m[1] / 2, &first, &last);
    }
    for (int k = first; k <= last; k++) {
        double off_x = from_x - k * step[0], off_y = from_y - k * step[1];
        at[0] = off_x * place->cos_yaw + off_y * place->sin_yaw;
        at[1] = off_y * place->cos_yaw - off_x * place->sin_yaw;
        if (fabs(at[0]) <= patch->size_m[0] / 2 && fabs(at[1]) <= patch->size_m[1] / 2)
            return true;
    }
    return false;
}

/* Whether a point lies in every second square of a checkerboard. Square 0 is at the centre. */
static bool is_second_square(const Patch *patch, const double at[2]) {
    if (patch->kind != PATCH_CHECKER)
        return false; /* the patch is no checkerboard */
    double squares = floor(at[0] / patch->square_m) + floor(at[1] / patch->square_m);
    return fmod(squares, 2) != 0;
}

static void paint_ground(const WorldSnapshot *snapshot, double x, double y, WorldHit *hit) {
    const World *world = snapshot->world;
    hit->class = world->ground_class;
    memcpy(hit->color, world->ground_color, sizeof hit->color);
    for (int i = world->patch_count - 1; i >= 0; i--) {
        const Patch *patch = &world->patches[i];
        double at[2];
        if (!patch_contains(patch, &snapshot->patches[i], x, y, at))
            continue;
        hit->class = patch->class;
        memcpy(hit->color, is_second_square(patch, at) ? patch->color2 : patch->color,
               sizeof hit->color);
        return;
    }
}

/* ---- solids ---------------------------------------------------------------------------------- */

typedef struct {
    double origin[3], direction[3]; /* in the solid's frame, where the base has z = 0 */
} Ray;

static Ray ray_in(const Place *place, double z_m, const double origin[3],
                  const double direction[3]) {
    double x = origin[0] - place->x_m, y = origin[1] - place->y_m;
    double c = place->cos_yaw, s = place->sin_yaw;
    return (Ray){
        {x * c + y * s, y * c - x * s, origin[2] - z_m},
        {direction[0] * c + direction[1] * s, direction[1] * c - direction[0] * s, direction[2]}};
}

/* The slab method for a ray and a box. Narrows [*enter, *leave] to the parameters s with low <= o +
 * s * d <= high. Returns whether the interval is not empty. *moved: the ray enters through these
 * planes. */
static bool cut_by_slab(double o, double d, double low, double high, double *enter, double *leave,
                        bool *moved) {
    *moved = false;
    if (d == 0)
        return o >= low && o <= high;
    double a = (low - o) / d, b = (high - o) / d;
    double in = a < b ? a : b, out = a < b ? b : a;
    *moved = in > *enter;
    if (*moved)
        *enter = in;
    if (out < *leave)
        *leave = out;
    return *enter <= *leave;
}

/* Finds where the ray enters the box, before `far`. A ray that starts inside hits nothing. */
static bool cast_box(const Solid *solid, const Place *place, const Ray *ray, double far,
                     WorldHit *hit) {
    const double half[2] = {solid->size_m[0] / 2, solid->size_m[1] / 2};
    const double *o = ray->origin, *d = ray->direction;
    double enter = 0, leave = far;
    bool front, side, top;
    if (!cut_by_slab(o[0], d[0], -half[0], half[0], &enter, &leave, &front) ||
        !cut_by_slab(o[1], d[1], -half[1], half[1], &enter, &leave, &side) ||
        !cut_by_slab(o[2], d[2], 0, solid->size_m[2], &enter, &leave, &top) || enter <= 0)
        return false;
    hit->depth_m = enter;
    double light = 1, along_m = 0, c = place->cos_yaw, s = place->sin_yaw;
    if (!top && side) {
        double facing = d[1] < 0 ? 1 : -1;
        light = light_on_wall(-s * facing, c * facing);
        along_m = o[0] + enter * d[0];
    } else if (!top) {
        double facing = d[0] < 0 ? 1 : -1;
        light = light_on_wall(c * facing, s * facing);
        along_m = o[1] + enter * d[1];
    }
    double height_m = solid->z_m + o[2] + enter * d[2];
    paint_solid(hit, solid, light, !top && is_window(solid, along_m, height_m));
    return true;
}

/* Finds where the ray enters the cylinder, before `far`. The side is a quadratic equation. */
static bool cast_cylinder(const Solid *solid, const Place *place, const Ray *ray, double far,
                          WorldHit *hit) {
    const double *o = ray->origin, *d = ray->direction;
    double radius = solid->size_m[0] / 2;
    double a = d[0] * d[0] + d[1] * d[1], b = o[0] * d[0] + o[1] * d[1];
    double c = o[0] * o[0] + o[1] * o[1] - radius * radius;
    double enter = 0, leave = far;
    if (a > 0) {
        double discriminant = b * b - a * c;
        if (!(discriminant > 0))
            return false;
        enter = fmax(enter, (-b - sqrt(discriminant)) / a);
        leave = fmin(leave, (-b + sqrt(discriminant)) / a);
    } else if (c > 0) {
        return false;
    }
    bool top;
    if (enter > leave || !cut_by_slab(o[2], d[2], 0, solid->size_m[2], &enter, &leave, &top) ||
        enter <= 0)
        return false;
    hit->depth_m = enter;
    double normal_x = (o[0] + enter * d[0]) / radius, normal_y = (o[1] + enter * d[1]) / radius;
    double world_x = normal_x * place->cos_yaw - normal_y * place->sin_yaw;
    double world_y = normal_x * place->sin_yaw + normal_y * place->cos_yaw;
    paint_solid(hit, solid, top ? 1 : light_on_wall(world_x, world_y), false);
    return true;
}

/* ---- which solids rays can hit -------------------------------------------------------------- */

/* Returns the z component of the cross product. It is positive when b lies anticlockwise of a. */
static double cross(const double a[2], const double b[2]) {
    return a[0] * b[1] - a[1] * b[0];
}

/* Finds the outer edges of the pyramid, seen from above: the most clockwise (*right) and the most
 * anticlockwise (*left). False: it contains the vertical and has no such edges. */
static bool find_outer_edges(const double edges[4][3], const double **right, const double **left) {
    *right = *left = edges[0];
    for (int i = 1; i < 4; i++) {
        if (cross(*right, edges[i]) < 0)
            *right = edges[i];
        if (cross(*left, edges[i]) > 0)
            *left = edges[i];
    }
    for (int i = 0; i < 4; i++)
        if (cross(*right, edges[i]) < 0 || cross(*left, edges[i]) > 0 ||
            (*right)[0] * edges[i][0] + (*right)[1] * edges[i][1] <= 0)
            return false;
    return true;
}

/* Lists the solids whose circle, seen from above, reaches between the outer edges. */
WorldSight world_sight(const WorldSnapshot *snapshot, const double origin_m[3],
                       const double edges[4][3]) {
    WorldSight sight = {.count = 0};
    const double *right, *left;
    if (!find_outer_edges(edges, &right, &left))
        return (WorldSight){.count = -1};
    double right_length = hypot(right[0], right[1]), left_length = hypot(left[0], left[1]);
    for (int i = 0; i < snapshot->world->solid_count; i++) {
        const Place *place = &snapshot->solids[i];
        const double to[2] = {place->x_m - origin_m[0], place->y_m - origin_m[1]};
        if (cross(right, to) < -place->radius_m * right_length ||
            cross(left, to) > place->radius_m * left_length)
            continue;
        if (sight.count == WORLD_SIGHT_MAX)
            return (WorldSight){.count = -1};
        sight.solids[sight.count++] = i;
    }
    return sight;
}

/* Whether the ray, seen from above, crosses the circle around the solid. */
static bool passes_circle(const Place *place, const double origin[3], const double direction[3]) {
    const double to[2] = {place->x_m - origin[0], place->y_m - origin[1]};
    double across = cross(to, direction);
    double length_square = direction[0] * direction[0] + direction[1] * direction[1];
    return across * across <= place->radius_m * place->radius_m * length_square;
}

static bool cast_solid(const WorldSnapshot *snapshot, int i, const double origin_m[3],
                       const double direction[3], double far_m, WorldHit *hit) {
    const Place *place = &snapshot->solids[i];
    const Solid *solid = &snapshot->world->solids[i];
    if (!passes_circle(place, origin_m, direction))
        return false;
    Ray ray = ray_in(place, solid->z_m, origin_m, direction);
    return solid->kind == SOLID_BOX ? cast_box(solid, place, &ray, far_m, hit)
                                    : cast_cylinder(solid, place, &ray, far_m, hit);
}

WorldHit world_cast(const WorldSnapshot *snapshot, const WorldSight *sight,
                    const double origin_m[3], const double direction[3], double far_m) {
    WorldHit hit = {.hit = false, .depth_m = far_m};
    bool all = sight->count < 0;
    int count = all ? snapshot->world->solid_count : sight->count;
    for (int i = 0; i < count; i++)
        hit.hit |= cast_solid(snapshot, all ? i : sight->solids[i], origin_m, direction,
                              hit.depth_m, &hit);
    double ground = direction[2] < 0 ? -origin_m[2] / direction[2] : INFINITY;
    if (ground > 0 && (hit.hit ? ground < hit.depth_m : ground <= far_m)) {
        hit.hit = true;
        hit.depth_m = ground;
        paint_ground(snapshot, origin_m[0] + ground * direction[0],
                     origin_m[1] + ground * direction[1], &hit);
    }
    hit.height_m = origin_m[2] + hit.depth_m * direction[2];
    return hit;
}
