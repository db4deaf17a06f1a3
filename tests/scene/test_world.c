/* SPDX-License-Identifier: MIT */
/* Worlds: rays compared with hits computed by hand and with slow ray marching, patches compared
 * with their definition, and motion that repeats. */
#include "src/base/clock.h"
#include "src/base/random.h"
#include "src/scene/world.h"
#include "tests/support/scenes.h"

#include <math.h>

static bool near(double a, double b) {
    return fabs(a - b) < 1e-9;
}

static const WorldSight all = {.count = -1};

static WorldSnapshot *snapshot_of(const World *world, double time_s) {
    Err err = {0};
    WorldSnapshot *still = NULL;
    need(world_snapshot(world, time_s, &still, &err), &err);
    return still;
}

static WorldHit cast(const World *world, double ox, double oy, double oz, double dx, double dy,
                     double dz, double far_m) {
    const double origin[3] = {ox, oy, oz}, direction[3] = {dx, dy, dz};
    WorldSnapshot *still = snapshot_of(world, 0);
    WorldHit hit = world_cast(still, &all, origin, direction, far_m);
    world_snapshot_free(still);
    return hit;
}

static double between(uint64_t *seed, double low, double high) {
    return low + random_unit(seed) * (high - low);
}

static bool color_is(const WorldHit *hit, const float color[3]) {
    return memcmp(hit->color, color, sizeof hit->color) == 0;
}

static void test_box(void) {
    Solid box = {SOLID_BOX, CLASS_TRUCK, {1, 0.5F, 0.25F}, {10, 0}, 0.5, {4, 2, 3}, 0, {0, 0}};
    World world = {.ground_class = CLASS_TERRAIN, .solid_count = 1, .solids = &box};
    WorldHit hit = cast(&world, 0, 0, 2, 1, 0, 0, 100);
    tap_ok(hit.hit && near(hit.depth_m, 8) && near(hit.height_m, 2) && hit.class == CLASS_TRUCK,
           "a box is met at its near face");
    tap_ok(near(hit.color[0], hit.color[1] * 2) && hit.color[0] > 0.5 && hit.color[0] < 1,
           "its side is darker than its colour, but of the same hue");
    hit = cast(&world, 0, 0, 2, 2, 0, 0, 100);
    tap_ok(near(hit.depth_m, 4), "depth is the ray's parameter, not a length");
    hit = cast(&world, 10, 0, 9, 0, 0, -1, 100);
    tap_ok(near(hit.depth_m, 5.5) && near(hit.height_m, 3.5) && color_is(&hit, box.color),
           "from above its top, in full light");
    tap_ok(cast(&world, 0, 0, 0.2, 1, 0, 0, 100).hit == false, "a ray passes under a raised box");
    tap_ok(cast(&world, 0, 0, 2, 1, 0, 0, 7.9).hit == false, "what is too far is sky");
    tap_ok(cast(&world, 0, 0, 2, -1, 0, 0, 100).hit == false, "what is behind is not seen");
    tap_ok(cast(&world, 10, 0, 2, 1, 0, 0, 100).hit == false, "from inside a box nothing is met");
    Solid sunk = {SOLID_BOX, CLASS_CAR, {1, 1, 1}, {10, 0}, -3, {4, 2, 2}, 0, {0, 0}};
    World below = {.ground_class = CLASS_TERRAIN, .solid_count = 1, .solids = &sunk};
    hit = cast(&below, 4, 0, 1, 1, 0, -0.5, 100);
    tap_ok(near(hit.depth_m, 2) && hit.class == CLASS_TERRAIN,
           "the ground hides what lies below it");
}

/* A form lies in the box or cylinder around it. A fifth of the rays miss it there, or hit later. */
static void test_forms(void) {
    enum { RAYS = 4000 };
    uint64_t seed = 7;
    for (SolidKind kind = SOLID_CAR; kind < SOLID_KINDS; kind++) {
        Solid form = {kind, CLASS_TREE, {1, 0.5F, 0.25F}, {1, 2}, 1, {4, 2, 1.5}, 30, {0, 0}};
        Solid around = form;
        around.kind = solid_is_round(kind) ? SOLID_CYLINDER : SOLID_BOX;
        World world = {.solid_count = 1, .solids = &form};
        World plain = {.solid_count = 1, .solids = &around};
        int met = 0, later = 0, outside = 0, other = 0;
        for (int i = 0; i < RAYS; i++) {
            double a = between(&seed, -M_PI, M_PI), from[3] = {1 + 9 * cos(a), 2 + 9 * sin(a), 3};
            double x = between(&seed, -2, 4) - from[0], y = between(&seed, 0, 4) - from[1];
            double z = between(&seed, 1, 2.6) - from[2];
            WorldHit hit = cast(&world, from[0], from[1], from[2], x, y, z, 1.3);
            WorldHit first = cast(&plain, from[0], from[1], from[2], x, y, z, 1.3);
            outside += hit.solid == 0 && (first.solid != 0 || hit.depth_m < first.depth_m - 1e-9);
            later += first.solid == 0 && (hit.solid != 0 || hit.depth_m > first.depth_m + 1e-3);
            met += hit.solid == 0;
            other += hit.solid == 0 && hit.class != CLASS_TREE;
        }
        tap_ok(outside == 0 && other == 0 && met > RAYS / 8 && later > RAYS / 20,
               "form %d: %d of %d rays meet it, all in what is around it; %d go farther", kind, met,
               RAYS, later);
    }
}

/* A car of 4.5 x 2 x 1.5 m, seen from its left side and from above. */
static void test_car(void) {
    Solid car = {SOLID_CAR, CLASS_CAR, {0.8F, 0.1F, 0.1F}, {0, 0}, 0, {4.5, 2, 1.5}, 0, {0, 0}};
    World world = {.ground_color = {1, 1, 1}, .solid_count = 1, .solids = &car};
    WorldHit door = cast(&world, 0, 9, 0.7, 0, -1, 0, 20);
    WorldHit wheel = cast(&world, 1.4, 9, 0.1, 0, -1, 0, 20);
    WorldHit window = cast(&world, 0, 9, 1.2, 0, -1, 0, 20);
    tap_ok(door.color[0] > 7 * door.color[2] && wheel.color[0] < 0.1 && window.color[0] < 0.1,
           "a car's door has its colour; a wheel and a window are dark");
    WorldHit bonnet = cast(&world, 1.9, 0, 5, 0, 0, -1, 20),
             roof = cast(&world, 0, 0, 5, 0, 0, -1, 20);
    tap_ok(near(roof.height_m, 1.5) && bonnet.height_m < 1 && bonnet.height_m > 0.5,
           "its bonnet is lower than its roof");
    WorldHit shade = cast(&world, 0, -1.1, 5, 0, 0, -1, 20),
             lit = cast(&world, 0, 1.2, 5, 0, 0, -1, 20);
    tap_ok(near(shade.color[0], lit.color[0] / 2) && shade.class == lit.class,
           "and its shadow lies on the ground, on the side away from the sun");
}

static bool inside(const World *world, const double p[3]) {
    for (int i = 0; i < world->solid_count; i++) {
        const Solid *s = &world->solids[i];
        double x = p[0] - s->center_m[0], y = p[1] - s->center_m[1], z = p[2] - s->z_m;
        double yaw = s->yaw_deg * M_PI / 180;
        double along = x * cos(yaw) + y * sin(yaw), across = y * cos(yaw) - x * sin(yaw);
        bool within = s->kind == SOLID_CYLINDER
                          ? hypot(x, y) <= s->size_m[0] / 2
                          : fabs(along) <= s->size_m[0] / 2 && fabs(across) <= s->size_m[1] / 2;
        if (within && z >= 0 && z <= s->size_m[2])
            return true;
    }
    return p[2] <= 0;
}

static void random_solids(Solid *solids, int count, uint64_t *seed) {
    for (int i = 0; i < count; i++)
        solids[i] = (Solid){
            .kind = i % 3 ? SOLID_BOX : SOLID_CYLINDER,
            .class = (WorldClass)(i % CLASS_COUNT),
            .center_m = {between(seed, -25, 25), between(seed, -25, 25)},
            .z_m = i % 4 ? 0 : 1,
            .size_m = {between(seed, 1, 6), between(seed, 1, 4), between(seed, 1, 5)},
            .yaw_deg = between(seed, -180, 180),
        };
}

/* Marches along the ray in steps of 2 cm. It can miss a solid that the ray only grazes, so a later
 * first hit is an error only where the point of world_cast lies well inside a solid. */
static void test_march(void) {
    enum { SOLIDS = 24, RAYS = 400 };
    const double step = 0.02, far_m = 40;
    uint64_t seed = 5;
    Solid solids[SOLIDS];
    random_solids(solids, SOLIDS, &seed);
    World world = {.solid_count = SOLIDS, .solids = solids};
    WorldSnapshot *still = snapshot_of(&world, 0);
    int early = 0, late = 0, met = 0, grazes = 0;
    for (int ray = 0; ray < RAYS; ray++) {
        double origin[3], direction[3], p[3], s = 0;
        do {
            for (int i = 0; i < 3; i++)
                origin[i] = i < 2 ? between(&seed, -5, 5) : between(&seed, 0.5, 6);
        } while (inside(&world, origin));
        double azimuth = between(&seed, -M_PI, M_PI), rise = between(&seed, -0.4, 0.3);
        direction[0] = cos(azimuth);
        direction[1] = sin(azimuth);
        direction[2] = rise;
        WorldHit hit = world_cast(still, &all, origin, direction, far_m);
        do {
            s += step;
            for (int i = 0; i < 3; i++)
                p[i] = origin[i] + s * direction[i];
        } while (s < far_m && !inside(&world, p));
        double got = hit.hit ? hit.depth_m : far_m;
        late += got > s + 1e-6;
        bool graze = got < s - step - 1e-6;
        for (int i = 0; i < 3; i++)
            p[i] = origin[i] + (got + 1e-6) * direction[i];
        early += graze && !inside(&world, p);
        grazes += graze;
        met += hit.hit;
    }
    tap_ok(met > RAYS / 4 && met < RAYS && late == 0 && early == 0 && grazes < 5,
           "%d rays meet what a march of 2 cm meets: %d hits, %d grazes", RAYS, met, grazes);
    world_snapshot_free(still);
}

/* A sight must contain every solid that a ray inside its pyramid hits. */
static void test_sight(void) {
    enum { SOLIDS = 50, SIGHTS = 300 };
    uint64_t seed = 11;
    Solid solids[SOLIDS];
    random_solids(solids, SOLIDS, &seed);
    World world = {.solid_count = SOLIDS, .solids = solids};
    WorldSnapshot *still = snapshot_of(&world, 0);
    int64_t differ = 0, candidates = 0, narrow = 0, whole = 0;
    for (int i = 0; i < SIGHTS; i++) {
        const double origin[3] = {between(&seed, -9, 9), between(&seed, -9, 9), 1.5};
        double yaw = between(&seed, -M_PI, M_PI), half = between(&seed, 0.01, 0.6);
        double pitch = i % 10 ? between(&seed, -0.3, 0.3) : -1.5, edges[4][3];
        for (int e = 0; e < 4; e++) {
            double right = e & 1 ? half : -half, up = e & 2 ? half : -half;
            double forward = cos(pitch) - up * sin(pitch);
            edges[e][0] = forward * cos(yaw) + right * sin(yaw);
            edges[e][1] = forward * sin(yaw) - right * cos(yaw);
            edges[e][2] = sin(pitch) + up * cos(pitch);
        }
        WorldSight sight = world_sight(still, origin, edges);
        whole += sight.count < 0;
        narrow += sight.count >= 0;
        candidates += sight.count < 0 ? 0 : sight.count;
        for (int ray = 0; ray < 60; ray++) {
            double share[4], sum = 0, direction[3] = {0, 0, 0};
            for (int e = 0; e < 4; e++)
                sum += share[e] = random_unit(&seed);
            for (int e = 0; e < 4; e++)
                for (int axis = 0; axis < 3; axis++)
                    direction[axis] += share[e] / sum * edges[e][axis];
            WorldHit some = world_cast(still, &sight, origin, direction, 60);
            WorldHit every = world_cast(still, &all, origin, direction, 60);
            differ += some.hit != every.hit || some.depth_m != every.depth_m ||
                      !color_is(&some, every.color);
        }
    }
    tap_ok(differ == 0 && whole > 0, "sights change no ray; %lld of %d hold the vertical",
           (long long)whole, SIGHTS);
    tap_ok(narrow > 0 && candidates / narrow < SOLIDS / 2, "and leave %lld of %d solids to try",
           (long long)(candidates / narrow), SOLIDS);
    world_snapshot_free(still);
}

static void test_ground(void) {
    Patch patches[] = {
        {PATCH_RECT, CLASS_ROAD, {0.1F, 0.1F, 0.1F}, {0, 0}, {20, 6}, 0, 1, {0, 0}, 0, {0}},
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {0, 0}, {3, 0.5}, 0, 1, {0, 0}, 0, {0}},
        {PATCH_CHECKER, CLASS_CROSSING, {1, 0, 0}, {6, 0}, {4, 4}, 0, 1, {0, 0}, 1, {0, 0, 1}},
    };
    World world = {.ground_class = CLASS_TERRAIN, .ground_color = {0, 1, 0}, .patch_count = 3};
    world.patches = patches;
    WorldHit hit = cast(&world, 30, 0, 2, 0, 0, -1, 100);
    tap_ok(hit.hit && hit.class == CLASS_TERRAIN && color_is(&hit, world.ground_color) &&
               near(hit.depth_m, 2) && near(hit.height_m, 0),
           "beside all patches there is ground");
    tap_ok(cast(&world, 8.5, 2.5, 2, 0, 0, -1, 100).class == CLASS_ROAD, "a patch covers it");
    tap_ok(cast(&world, 1.4, 0.2, 2, 0, 0, -1, 100).class == CLASS_LANE,
           "a later patch lies over an earlier one");
    hit = cast(&world, 6.5, 0.5, 2, 0, 0, -1, 100);
    tap_ok(hit.class == CLASS_CROSSING && color_is(&hit, patches[2].color), "a checker's square");
    hit = cast(&world, 5.5, 0.5, 2, 0, 0, -1, 100);
    tap_ok(color_is(&hit, patches[2].color2), "and the one beside it");
    hit = cast(&world, 5.5, -0.5, 2, 0, 0, -1, 100);
    tap_ok(color_is(&hit, patches[2].color), "and the one across the corner");
    tap_ok(!cast(&world, 0, 0, 2, 1, 0, 0.1, 100).hit && !cast(&world, 0, 0, 2, 1, 0, 0, 100).hit,
           "level and rising rays meet no ground");
    tap_ok(!cast(&world, 0, 0, 2, 1, 0, -0.01, 199).hit &&
               cast(&world, 0, 0, 2, 1, 0, -0.01, 200).hit,
           "ground ends at the far limit");
    const double up[3] = {0, 0, 1}, level[3] = {1, 0, 0};
    float high[3], low[3];
    world_sky(up, high);
    world_sky(level, low);
    tap_ok(high[2] > high[0] && low[0] > high[0], "the sky is blue, and paler at the horizon");
}

/* True when the point lies in any copy of the patch, by definition. */
static bool in_any_copy(const Patch *patch, double x, double y) {
    double yaw = patch->yaw_deg * M_PI / 180;
    for (int k = 0; k < patch->repeat; k++) {
        double from_x = x - patch->center_m[0] - k * patch->step_m[0];
        double from_y = y - patch->center_m[1] - k * patch->step_m[1];
        double along = from_x * cos(yaw) + from_y * sin(yaw);
        double across = from_y * cos(yaw) - from_x * sin(yaw);
        if (fabs(along) <= patch->size_m[0] / 2 && fabs(across) <= patch->size_m[1] / 2)
            return true;
    }
    return false;
}

/* Copies that lie over each other cost no more than a few: a small file must not take minutes. */
static void test_many_copies(void) {
    double took_us[2];
    for (int many = 0; many < 2; many++) {
        Patch patch = {PATCH_RECT, CLASS_LANE, {1, 1, 1},   {0, 0}, {200, 0.001},
                       45,         1,          {0.0001, 0}, 0,      {0}};
        patch.repeat = many ? 1000 : 2;
        World world = {.ground_class = CLASS_ROAD, .patch_count = 1, .patches = &patch};
        WorldSnapshot *still = snapshot_of(&world, 0);
        uint64_t seed = 3;
        double begun = clock_thread_us();
        for (int k = 0; k < 100000; k++) {
            const double origin[3] = {between(&seed, -14, 14), between(&seed, -14, 14), 1};
            const double down[3] = {0, 0, -1};
            world_cast(still, &all, origin, down, 10);
        }
        took_us[many] = clock_thread_us() - begun;
        world_snapshot_free(still);
    }
    tap_ok(took_us[1] < 5 * took_us[0], "1,000 copies cost about as much as 2");
}

static void test_copies(void) {
    /* Copies of the third overlap, those of the fourth have no step. */
    static const Patch shapes[] = {
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {-9, 1}, {2, 0.5}, 0, 6, {3.5, 0}, 0, {0}},
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {9, 3}, {2, 1}, 30, 5, {-4, -2}, 0, {0}},
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {0, -9}, {6, 1}, -70, 4, {0.5, 4}, 0, {0}},
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {0, 0}, {5, 3}, 20, 4, {0, 0}, 0, {0}},
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {-6, 6}, {12, 2}, 45, 3, {0.3, 0.1}, 0, {0}},
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {1, 2}, {20, 0.4}, 45, 1000, {0.0001, 0}, 0, {0}},
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {-9, 2}, {2, 4}, 0, 900, {0.02, 0}, 0, {0}},
        {PATCH_RECT, CLASS_LANE, {1, 1, 1}, {3, 9}, {2, 4}, 90, 700, {-0.001, -0.02}, 0, {0}},
    };
    uint64_t seed = 3;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        Patch patch = shapes[i];
        World world = {.ground_class = CLASS_ROAD, .patch_count = 1, .patches = &patch};
        WorldSnapshot *still = snapshot_of(&world, 0);
        int differ = 0, covered = 0;
        for (int k = 0; k < 4000; k++) {
            const double origin[3] = {between(&seed, -14, 14), between(&seed, -14, 14), 1};
            const double down[3] = {0, 0, -1};
            bool want = in_any_copy(&patch, origin[0], origin[1]);
            differ += (world_cast(still, &all, origin, down, 10).class == CLASS_LANE) != want;
            covered += want;
        }
        tap_ok(differ == 0 && covered > 20, "copies of patch %zu: %d of 4000 points, as defined", i,
               covered);
        world_snapshot_free(still);
    }
}

static void test_motion(void) {
    Solid solids[] = {
        {SOLID_BOX, CLASS_CAR, {1, 0, 0}, {-10, 3}, 0, {4, 2, 1.5}, 0, {8, 0}},
        {SOLID_BOX, CLASS_CAR, {1, 0, 0}, {7, 5}, 0, {4, 2, 1.5}, 30, {-3, -4}},
        {SOLID_BOX, CLASS_CAR, {1, 0, 0}, {1, 2}, 0, {4, 2, 1.5}, 0, {0, 0}},
    };
    World world = {.solid_count = 3, .solids = solids, .loop_s = 0};
    double at[2], again[2];
    world_solid_center(&world, 1, 2.5, at);
    tap_ok(near(at[0], 7 - 7.5) && near(at[1], 5 - 10), "a solid moves with its velocity");
    WorldSnapshot *still = snapshot_of(&world, 1);
    const double origin[3] = {-2, 20, 1}, right[3] = {0, -1, 0};
    tap_ok(near(world_cast(still, &all, origin, right, 50).depth_m, 16), "and rays meet it there");
    world_snapshot_free(still);
    world.loop_s = 16;
    solids[1].velocity_mps[0] = -3.1; /* not exact in binary, so that rounding would show */
    bool same = true, held = true, steady = true;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 64; k++) {
            double t = k / 4.0, next[2],
                   speed = hypot(solids[i].velocity_mps[0], solids[i].velocity_mps[1]);
            world_solid_center(&world, i, t, at);
            world_solid_center(&world, i, t + 16, again);
            world_solid_center(&world, i, t + 0.25, next);
            same &= at[0] == again[0] && at[1] == again[1];
            double along =
                speed > 0
                    ? (at[0] * solids[i].velocity_mps[0] + at[1] * solids[i].velocity_mps[1]) /
                          speed
                    : 0;
            held &= fabs(along) <= speed * 8 + 1e-9;
            double moved = hypot(next[0] - at[0], next[1] - at[1]);
            steady &= near(moved, speed / 4) || near(moved, speed * (16 - 0.25));
        }
    tap_ok(same, "after a loop everything is back, to the bit");
    tap_ok(held, "and stays on the piece of its way around the ego");
    tap_ok(steady, "moving steadily but for one jump back");
    world_solid_center(&world, 0, 0, at);
    tap_ok(at[0] == -10 && at[1] == 3, "at time 0 all is where the file says");
}

static void test_footprint(void) {
    Solid solids[] = {
        {SOLID_BOX, CLASS_CAR, {1, 0, 0}, {10, 3}, 0, {4, 2, 1.5}, 30, {1, 0}},
        {SOLID_CYLINDER, CLASS_POLE, {1, 0, 0}, {-3, 8}, 0, {2, 2, 4}, 0, {0, 0}},
    };
    World world = {.solid_count = 2, .solids = solids};
    for (int i = 0; i < 2; i++) {
        double c[WORLD_CORNERS][2], area = 0, x = 0, y = 0;
        int n = world_footprint(&world, i, 2, c);
        for (int k = 0; k < n; k++) {
            const double *a = c[k], *b = c[(k + 1) % n];
            area += (a[0] * b[1] - a[1] * b[0]) / 2;
            x += a[0] / n;
            y += a[1] / n;
        }
        bool box = solids[i].kind == SOLID_BOX;
        tap_ok(n == (box ? 4 : WORLD_CORNERS) && (box ? near(area, 8) : fabs(area - M_PI) < 0.05),
               "footprint of a %s: %d corners anticlockwise, %.3f m2", box ? "box" : "cylinder", n,
               area);
        tap_ok(near(x, box ? 12 : -3) && near(y, box ? 3 : 8), "around where it is by then");
    }
}

TAP_SUITE(world) {
    test_box();
    test_forms();
    test_car();
    test_march();
    test_sight();
    test_ground();
    test_copies();
    test_many_copies();
    test_motion();
    test_footprint();
    world_free(NULL);
}
