/* World scenes: every field of the format is read. */
#include "src/scene/scene.h"
#include "tests/scene/corner_json.h"
#include "tests/support/tap.h"

#include <math.h>

static bool near(double a, double b) {
    return fabs(a - b) < 1e-9;
}

TAP_SUITE(scene_json_values) {
    Scene scene;
    char line[800];
    if (!tap_ok(read_text(base, sizeof base - 1, &scene, line), "a scene with every field")) {
        tap_note("%s", line);
        return;
    }
    const Rig *rig = &scene.rig;
    tap_ok(scene.has_rig && scene.has_world && !scene.has_map, "it has a rig and a world");
    tap_ok(strcmp(scene.title, "Corner") == 0 && scene.channels == 40 && scene.seed == 7 &&
               near(scene.temperature, 0.5),
           "title, channels, seed, temperature");
    tap_ok(rig->frustum.image_w == 1600 && rig->frustum.image_h == 900 &&
               near(rig->frustum.resize, 0.44) && near(rig->frustum.crop_x, 2) &&
               near(rig->frustum.crop_y, 140) && rig->frustum.input_w == 704 &&
               rig->frustum.input_h == 256 && rig->frustum.feat_w == 44 &&
               rig->frustum.feat_h == 16 && near(rig->frustum.depth_start_m, 1) &&
               near(rig->frustum.depth_stop_m, 60) && near(rig->frustum.depth_step_m, 0.5),
           "frustum: width before height everywhere");
    tap_ok(near(rig->grid.x_min_m, -54) && near(rig->grid.x_max_m, 54) &&
               near(rig->grid.y_min_m, -27) && near(rig->grid.y_max_m, 27) &&
               near(rig->grid.z_min_m, -10) && near(rig->grid.z_max_m, 10) && rig->grid.nx == 200 &&
               rig->grid.ny == 100,
           "grid: nx before ny");
    const double *r = rig->cameras[0].rotation;
    tap_ok(
        rig->camera_count == 2 && strcmp(rig->cameras[0].name, "front") == 0 &&
            near(rig->cameras[0].intrinsics[0], 1266) && near(rig->cameras[0].intrinsics[2], 816) &&
            near(rig->cameras[0].intrinsics[5], 492) && near(rig->cameras[0].position_m[1], 0.02),
        "cameras: name, intrinsics, position");
    tap_ok(near(r[2], 0) && near(r[5], 1) && near(r[8], 0), "a camera of yaw 90 looks to the left");
    tap_ok(near(rig->cameras[1].rotation[2], 1), "angles default to 0: forward");
    const World *world = &scene.world;
    const Patch *patches = world->patches;
    tap_ok(near(world->loop_s, 12) && world->ground_class == CLASS_TERRAIN &&
               world->ground_color[2] == 0.3f && world->patch_count == 3 && world->solid_count == 2,
           "world: loop, ground, counts");
    tap_ok(patches[0].kind == PATCH_RECT && patches[0].class == CLASS_ROAD &&
               patches[0].color[2] == 1 && near(patches[0].center_m[1], 2) &&
               near(patches[0].size_m[0], 3) && near(patches[0].yaw_deg, 30) &&
               patches[0].repeat == 5 && near(patches[0].step_m[1], 7),
           "a rectangle, repeated");
    tap_ok(patches[1].kind == PATCH_CHECKER && near(patches[1].square_m, 0.5) &&
               patches[1].color2[0] == 0.25f && patches[1].color2[2] == 0.75f,
           "a checker");
    tap_ok(patches[2].repeat == 1 && near(patches[2].square_m, 1) && patches[2].color2[0] == 0,
           "a checker's defaults: once, squares of 1 m, black");
    const Solid *solids = world->solids;
    tap_ok(solids[0].kind == SOLID_BOX && solids[0].class == CLASS_CAR &&
               near(solids[0].center_m[0], 5) && near(solids[0].z_m, 0.25) &&
               near(solids[0].size_m[2], 1.5) && near(solids[0].yaw_deg, -45) &&
               near(solids[0].velocity_mps[1], -1),
           "a box");
    tap_ok(solids[1].kind == SOLID_CYLINDER && solids[1].class == CLASS_POLE &&
               near(solids[1].z_m, 0) && near(solids[1].velocity_mps[0], 0),
           "a cylinder's defaults: on the ground, standing still");
    tap_ok(scene.shape.cameras == 2 && scene.shape.depth_bins == 118 && scene.shape.feat_h == 16 &&
               scene.shape.feat_w == 44 && scene.shape.channels == 40 && scene.shape.nx == 200 &&
               scene.shape.ny == 100,
           "the shape of its problem");
    scene_free(&scene);
    scene_free(&scene);
    scene_free(NULL);
    tap_ok(!scene.world.patches, "scene_free zeroes, and may be called again");
}

/* A long file name is shortened at its start; the JSON path stays complete. */
TAP_SUITE(scene_json_long_name) {
    char name[600], line[800];
    memset(name, 'd', sizeof name);
    snprintf(name + sizeof name - 12, 12, "/scene.json");
    Scene scene;
    Err err;
    scene_read_json("{}", 2, name, &scene, &err);
    err_line(&err, line, sizeof line);
    tap_ok(strstr(line, "d/scene.json: $.bevscope: is missing"), "a long path keeps its end");
}
