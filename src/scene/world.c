#include "src/scene/world.h"

#include <math.h>
#include <stdlib.h>

/* Legend colours, searched for so that no two, and neither the white nor the dark background, come
 * close for readers with normal, protan, deutan or tritan vision; test_world holds them to it. */
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

/* ---- where things are ----------------------------------------------------------------------- */

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
        /* `along` is 0 where the way passes the ego; the piece runs from -half to half of it. */
        double along_m = center_m[0] * ahead[0] + center_m[1] * ahead[1];
        double piece_m = speed_mps * world->loop_s;
        distance_m = speed_mps * fmod(time_s, world->loop_s);
        distance_m -= piece_m * floor((along_m + distance_m) / piece_m + 0.5);
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
