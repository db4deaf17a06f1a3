/* Pictures of what the cameras see. */
#include "src/scene/look.h"

#include <math.h>
#include <stdlib.h>

/* ---- one pixel ------------------------------------------------------------------------------- */

/* The ray `across` widths to the right of the middle and `down` heights below it. */
static void ray_at(const Footprint *footprint, const Camera *camera, const Frustum *frustum,
                   double across, double down, double origin_m[3], double direction[3]) {
    camera_ray(camera, frustum, footprint->u_px + across * footprint->width_px,
               footprint->v_px + down * footprint->height_px, origin_m, direction);
}

void footprint_ray(const Footprint *footprint, const Camera *camera, const Frustum *frustum,
                   int column, int row, double origin_m[3], double direction[3]) {
    ray_at(footprint, camera, frustum, (column + 0.5) / footprint->columns - 0.5,
           (row + 0.5) / footprint->rows - 0.5, origin_m, direction);
}

WorldSight footprint_sight(const Footprint *footprint, const Camera *camera, const Frustum *frustum,
                           const WorldSnapshot *still) {
    double origin_m[3], edges[4][3];
    for (int i = 0; i < 4; i++)
        ray_at(footprint, camera, frustum, i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, origin_m,
               edges[i]);
    return world_sight(still, origin_m, edges);
}

void look_add(Look *look, const WorldHit *hit, const double direction[3]) {
    float sky[3];
    const float *color = hit->color;
    if (!hit->hit) {
        world_sky(direction, sky);
        color = sky;
    }
    for (int i = 0; i < 3; i++)
        look->color[i] += color[i];
    look->depth_m += hit->hit ? hit->depth_m : 0;
    look->votes[hit->hit ? hit->class : CLASS_COUNT]++;
    look->rays++;
}

void look_store(const Look *look, CameraViews *views, int64_t pixel) {
    int commonest = 0, hits = look->rays - look->votes[CLASS_COUNT];
    for (int i = 1; i <= CLASS_COUNT; i++)
        if (look->votes[i] > look->votes[commonest])
            commonest = i;
    for (int i = 0; i < 3; i++)
        views->color[pixel * 3 + i] = (float)(look->color[i] / look->rays);
    views->class[pixel] = (uint8_t)commonest;
    views->depth_m[pixel] = hits > 0 ? (float)(look->depth_m / hits) : NAN;
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool camera_views_alloc(CameraViews *views, int64_t cameras, int64_t h, int64_t w, Err *err) {
    size_t pixels = (size_t)(cameras * h * w);
    *views = (CameraViews){.cameras = cameras, .h = h, .w = w};
    views->color = malloc(pixels * 3 * sizeof *views->color);
    views->class = malloc(pixels);
    views->depth_m = malloc(pixels * sizeof *views->depth_m);
    if (views->color && views->class && views->depth_m)
        return true;
    camera_views_free(views);
    return err_set(err, ERR_FAILED, "camera views", "", "out of memory for %zu pixels", pixels);
}

void camera_views_free(CameraViews *views) {
    if (!views)
        return;
    free(views->color);
    free(views->class);
    free(views->depth_m);
    *views = (CameraViews){.cameras = 0};
}

static Look look_at(const Footprint *footprint, const Camera *camera, const Frustum *frustum,
                    const WorldSnapshot *still, const WorldSight *sight) {
    Look look = {.rays = 0};
    for (int row = 0; row < footprint->rows; row++)
        for (int column = 0; column < footprint->columns; column++) {
            double origin_m[3], direction[3];
            footprint_ray(footprint, camera, frustum, column, row, origin_m, direction);
            WorldHit hit = world_cast(still, sight, origin_m, direction, LOOK_FAR_M);
            look_add(&look, &hit, direction);
        }
    return look;
}

/* Line y of a camera, in stretches of pixels that share a sight. */
static void render_line(const Rig *rig, const WorldSnapshot *still, int64_t camera, int64_t y,
                        CameraViews *views) {
    enum { STRETCH = 16, ACROSS = 2, DOWN = 2 };
    const Camera *seen_by = &rig->cameras[camera];
    double width_px = (double)rig->frustum.input_w / (double)views->w;
    double height_px = (double)rig->frustum.input_h / (double)views->h;
    Footprint pixel = {0, ((double)y + 0.5) * height_px - 0.5, width_px, height_px, ACROSS, DOWN};
    WorldSight sight = {.count = -1};
    for (int64_t x = 0; x < views->w; x++) {
        if (x % STRETCH == 0) {
            Footprint stretch = pixel;
            stretch.u_px = ((double)x + STRETCH / 2.0) * width_px - 0.5;
            stretch.width_px = STRETCH * width_px;
            sight = footprint_sight(&stretch, seen_by, &rig->frustum, still);
        }
        pixel.u_px = ((double)x + 0.5) * width_px - 0.5;
        Look look = look_at(&pixel, seen_by, &rig->frustum, still, &sight);
        look_store(&look, views, (camera * views->h + y) * views->w + x);
    }
}

bool camera_views_render(const Rig *rig, const World *world, int64_t h, int64_t w, double time_s,
                         const GiveUp *give_up, CameraViews *views, Err *err) {
    WorldSnapshot *still = NULL;
    bool done = world_snapshot(world, time_s, &still, err) &&
                camera_views_alloc(views, rig->camera_count, h, w, err);
    int64_t lines = done ? rig->camera_count * h : 0;
    bool unwanted = false;
#pragma omp parallel for schedule(dynamic, 4) reduction(|| : unwanted)
    for (int64_t line = 0; line < lines; line++) {
        unwanted = unwanted || given_up(give_up);
        if (!unwanted)
            render_line(rig, still, line / h, line % h, views);
    }
    world_snapshot_free(still);
    if (unwanted)
        camera_views_free(views);
    return done && !unwanted;
}
