/* SPDX-License-Identifier: MIT */
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
    int count = solid_is_round(s->kind) ? WORLD_CORNERS : 4;
    double center_m[2], yaw = s->yaw_deg * M_PI / 180;
    world_solid_center(world, solid, time_s, center_m);
    for (int i = 0; i < count; i++) {
        double angle = 2 * M_PI * i / WORLD_CORNERS, x, y;
        if (count == 4) {
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

static Place place_at(const double center_m[2], double yaw_deg, double length_m, double width_m) {
    double yaw = yaw_deg * M_PI / 180, x = center_m[0], y = center_m[1];
    return (Place){.frame = {x, y, cos(yaw), sin(yaw), {0}},
                   .around = {x, y, hypot(length_m, width_m) / 2}};
}

/* Places a solid at a time: its own frame, and the bounds of its shadow on the ground. */
static Place place_solid(const World *world, int i, double time_s) {
    const Solid *solid = &world->solids[i];
    double center_m[2], top_m = solid->z_m + solid->size_m[2], middle_m = top_m / 2;
    world_solid_center(world, i, time_s, center_m);
    double width_m = solid_is_round(solid->kind) ? 0 : solid->size_m[1];
    Place place = place_at(center_m, solid->yaw_deg, solid->size_m[0], width_m);
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
    Place place = place_at(patch->center_m, patch->yaw_deg, patch->size_m[0], patch->size_m[1]);
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

/* ---- sky ------------------------------------------------------------------------------------- */

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
    double from_x = x - place->frame.x_m, from_y = y - place->frame.y_m;
    double c = place->frame.cos_yaw, s = place->frame.sin_yaw;
    int first = 0, last = 0;
    if (patch->repeat > 1 && (step[0] != 0 || step[1] != 0)) {
        last = patch->repeat - 1;
        narrow_copies(from_x * c + from_y * s, step[0] * c + step[1] * s, patch->size_m[0] / 2,
                      &first, &last);
        if (last >= 0)
            narrow_copies(from_y * c - from_x * s, step[1] * c - step[0] * s, patch->size_m[1] / 2,
                          &first, &last);
    }
    for (int k = first; k <= last; k++) {
        double off_x = from_x - k * step[0], off_y = from_y - k * step[1];
        at[0] = off_x * c + off_y * s;
        at[1] = off_y * c - off_x * s;
        double u = at[0] / patch->size_m[0], v = at[1] / patch->size_m[1];
        if (patch->kind == PATCH_DISC ? u * u + v * v <= 0.25 : fabs(u) <= 0.5 && fabs(v) <= 0.5)
            return true;
    }
    return false;
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
        /* square 0 of a checkerboard is at the centre of the patch */
        double squares = floor(at[0] / patch->square_m) + floor(at[1] / patch->square_m);
        bool second = patch->kind == PATCH_CHECKER && fmod(squares, 2) != 0;
        hit->class = patch->class;
        memcpy(hit->color, second ? patch->color2 : patch->color, sizeof hit->color);
        return;
    }
}

/* ---- which solids rays can hit -------------------------------------------------------------- */

/* Returns the z component of the cross product. It is positive when b lies anticlockwise of a. */
static double cross(const double a[2], const double b[2]) {
    return a[0] * b[1] - a[1] * b[0];
}

/* Finds the outer edges of the pyramid, seen from above: the most clockwise (*right) and the most
 * anticlockwise (left), with length 1. False: it contains the vertical and has no such edges. */
static bool find_outer_edges(const double edges[4][3], double right[2], double left[2]) {
    const double *most_right = edges[0], *most_left = edges[0];
    for (int i = 1; i < 4; i++) {
        if (cross(most_right, edges[i]) < 0)
            most_right = edges[i];
        if (cross(most_left, edges[i]) > 0)
            most_left = edges[i];
    }
    for (int i = 0; i < 4; i++)
        if (cross(most_right, edges[i]) < 0 || cross(most_left, edges[i]) > 0 ||
            most_right[0] * edges[i][0] + most_right[1] * edges[i][1] <= 0)
            return false;
    double right_length = hypot(most_right[0], most_right[1]);
    double left_length = hypot(most_left[0], most_left[1]);
    for (int i = 0; i < 2; i++) {
        right[i] = most_right[i] / right_length;
        left[i] = most_left[i] / left_length;
    }
    return true;
}

/* Whether a circle, seen from above, reaches between two directions of length 1. */
static bool is_between(const Circle *circle, const double origin_m[3], const double right[2],
                       const double left[2]) {
    const double to[2] = {circle->x_m - origin_m[0], circle->y_m - origin_m[1]};
    return cross(right, to) >= -circle->radius_m && cross(left, to) <= circle->radius_m;
}

/* Inserts a solid at its distance. */
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
        if (is_between(around, origin_m, right, left))
            insert_solid(&sight, i, sqrt(x * x + y * y) - around->radius_m);
        if (is_between(&snapshot->solids[i].shadow, origin_m, right, left))
            sight.shadows[sight.shadow_count++] = i;
    }
    return sight;
}

/* ---- rays ------------------------------------------------------------------------------------ */

/* Whether the ray, seen from above, crosses the circle. */
static bool passes_circle(const Circle *circle, const double origin[3], const double direction[3]) {
    const double to[2] = {circle->x_m - origin[0], circle->y_m - origin[1]};
    double across = cross(to, direction);
    double length_square = direction[0] * direction[0] + direction[1] * direction[1];
    return across * across <= circle->radius_m * circle->radius_m * length_square;
}

/* Turns a vector into the solid's frame. */
static void turn(const SolidPlace *frame, double x, double y, double out[2]) {
    out[0] = x * frame->cos_yaw + y * frame->sin_yaw;
    out[1] = y * frame->cos_yaw - x * frame->sin_yaw;
}

static bool cast_solid(const WorldSnapshot *snapshot, int i, const double origin[3],
                       const double direction[3], double far_m, WorldHit *hit) {
    const SolidPlace *frame = &snapshot->solids[i].frame;
    const Solid *solid = &snapshot->world->solids[i];
    SolidRay ray = {{0, 0, origin[2] - solid->z_m}, {0, 0, direction[2]}};
    turn(frame, origin[0] - frame->x_m, origin[1] - frame->y_m, ray.origin);
    turn(frame, direction[0], direction[1], ray.direction);
    return solid_cast(solid, frame, &ray, far_m, hit);
}

static bool is_in_shadow(const WorldSnapshot *snapshot, const WorldSight *sight,
                         const double at_m[3]) {
    bool all = sight->count < 0;
    int count = all ? snapshot->world->solid_count : sight->shadow_count;
    for (int k = 0; k < count; k++) {
        int i = all ? k : sight->shadows[k];
        const Place *place = &snapshot->solids[i];
        double at[2];
        WorldHit hit;
        turn(&place->frame, at_m[0] - place->frame.x_m, at_m[1] - place->frame.y_m, at);
        if (at[0] > place->shadow_m[0][0] && at[0] < place->shadow_m[0][1] &&
            at[1] > place->shadow_m[1][0] && at[1] < place->shadow_m[1][1] &&
            cast_solid(snapshot, i, at_m, sun, INFINITY, &hit))
            return true;
    }
    return false;
}

/* Finds the first solid of the ray before hit->depth_m. Solids are sorted by distance. */
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
    for (int axis = 0; axis < 3; axis++)
        at_m[axis] = origin_m[axis] + hit.depth_m * direction[axis];
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
