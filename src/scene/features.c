#include "src/scene/features.h"

#include "src/scene/look.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* Rows matter more: near the horizon one pixel's ground reaches from 25 m to 50 m, and every depth
 * bin in between wants a share. */
const SubRays sub_rays_full = {4, 12}, sub_rays_draft = {2, 4};

typedef struct {
    const Rig *rig;
    const WorldSnapshot *still;
    Embedding embedding;
    BevShape shape;
    SubRays rays;
    double temperature, far_m; /* far_m: where the last bin ends */
    double *mass;              /* (camera, h, depth): scratch, a line of pixels its own row */
    const Features *features;
    CameraViews *views;
} Render;

/* ---- depth ----------------------------------------------------------------------------------- */

/* Share of a normal distribution below `x` standard deviations. */
static double normal_below(double x) {
    return 0.5 * erfc(-x * M_SQRT1_2);
}

/* Adds a Gaussian around depth z to the bins' mass, each bin taking what falls within half a step
 * of it; the outer bins take the tails. */
static void add_depth(double *mass, int64_t bins, const Frustum *frustum, double z_m) {
    const double step = frustum->depth_step_m, tail = 5;
    double sigma = fmax(SIGMA_AT_10M_M * (z_m / 10) * (z_m / 10), step / 4);
    double middle = (z_m - frustum->depth_start_m) / step, reach = tail * sigma / step;
    int64_t first = (int64_t)fmin(fmax(floor(middle - reach), 0), (double)(bins - 1));
    int64_t last = (int64_t)fmin(fmax(ceil(middle + reach), 0), (double)(bins - 1));
    double below = 0;
    for (int64_t d = first; d <= last; d++) {
        double edge_m = frustum_depth_m(frustum, d) + step / 2;
        double upto = d < last ? normal_below((edge_m - z_m) / sigma) : 1;
        mass[d] += upto - below;
        below = upto;
    }
}

/* Raises the bins to 1/temperature and writes them as a distribution, `stride` apart. Dividing by
 * the peak first keeps a cold power from vanishing as a whole. */
static void store_depth(double *mass, int64_t bins, double temperature, float *out,
                        int64_t stride) {
    double peak = 0, sum = 0;
    for (int64_t d = 0; d < bins; d++)
        peak = fmax(peak, mass[d]);
    for (int64_t d = 0; d < bins; d++) {
        mass[d] /= peak;
        if (temperature != 1)
            mass[d] = pow(mass[d], 1 / temperature);
        sum += mass[d];
    }
    for (int64_t d = 0; d < bins; d++)
        out[d * stride] = (float)(mass[d] / sum);
}

/* ---- pixels ---------------------------------------------------------------------------------- */

/* The pixel's surroundings, halfway to its neighbours. linspace puts the only pixel of a single
 * column or row at 0; it still stands for the whole input. */
static Footprint feature_footprint(const Frustum *frustum, SubRays rays, int64_t h, int64_t w) {
    bool one_w = frustum->feat_w == 1, one_h = frustum->feat_h == 1;
    return (Footprint){
        .u_px = one_w ? (frustum->input_w - 1) / 2.0 : frustum_u_px(frustum, (double)w),
        .v_px = one_h ? (frustum->input_h - 1) / 2.0 : frustum_v_px(frustum, (double)h),
        .width_px = one_w ? frustum->input_w : frustum_u_px(frustum, 1),
        .height_px = one_h ? frustum->input_h : frustum_v_px(frustum, 1),
        .columns = rays.columns,
        .rows = rays.rows,
    };
}

/* Adds a sub-ray's share of the pixel: to the embedding's coordinates and to the bins. */
static void add_hit(const Render *render, const WorldHit *hit, float parts[EMBED_DIMS],
                    double *mass) {
    const float share = 1.0F / (float)(render->rays.columns * render->rays.rows);
    if (!hit->hit || hit->depth_m > render->far_m) {
        mass[render->shape.depth_bins - 1] += 1;
        return;
    }
    add_depth(mass, render->shape.depth_bins, &render->rig->frustum, hit->depth_m);
    parts[hit->class] += share;
    for (int i = 0; i < 3; i++)
        parts[EMBED_R + i] += share * hit->color[i];
    parts[EMBED_HEIGHT] += share * (float)(hit->height_m / EMBED_HEIGHT_M);
}

static void render_pixel(const Render *render, int64_t camera, int64_t h, int64_t w, double *mass) {
    const BevShape *shape = &render->shape;
    const Frustum *frustum = &render->rig->frustum;
    const Camera *seen_by = &render->rig->cameras[camera];
    const Footprint footprint = feature_footprint(frustum, render->rays, h, w);
    const WorldSight sight = footprint_sight(&footprint, seen_by, frustum, render->still);
    int64_t pixels = shape->feat_h * shape->feat_w, pixel = h * shape->feat_w + w;
    float parts[EMBED_DIMS] = {0};
    Look look = {.rays = 0};
    for (int64_t d = 0; d < shape->depth_bins; d++)
        mass[d] = 0;
    for (int row = 0; row < footprint.rows; row++)
        for (int column = 0; column < footprint.columns; column++) {
            double origin_m[3], direction[3];
            footprint_ray(&footprint, seen_by, frustum, column, row, origin_m, direction);
            WorldHit hit = world_cast(render->still, &sight, origin_m, direction, LOOK_FAR_M);
            add_hit(render, &hit, parts, mass);
            look_add(&look, &hit, direction);
        }
    store_depth(mass, shape->depth_bins, render->temperature,
                render->features->depth + camera * shape->depth_bins * pixels + pixel, pixels);
    embedding_encode(&render->embedding, parts,
                     render->features->feat + (camera * pixels + pixel) * shape->channels);
    if (render->views)
        look_store(&look, render->views, camera * pixels + pixel);
}

/* ---- all of them ----------------------------------------------------------------------------- */

size_t features_depth_count(const BevShape *shape) {
    return (size_t)(shape->cameras * shape->depth_bins * shape->feat_h * shape->feat_w);
}

size_t features_feat_count(const BevShape *shape) {
    return (size_t)(shape->cameras * shape->feat_h * shape->feat_w * shape->channels);
}

static bool no_memory(const BevShape *shape, Err *err) {
    return err_set(err, ERR_FAILED, "features", "", "out of memory for %zu pixels",
                   (size_t)(shape->cameras * shape->feat_h * shape->feat_w));
}

static bool render_alloc(Render *render, Err *err) {
    const BevShape *shape = &render->shape;
    size_t lines = (size_t)(shape->cameras * shape->feat_h), bins = (size_t)shape->depth_bins;
    render->mass = malloc(lines * bins * sizeof *render->mass);
    if (!render->mass)
        return no_memory(shape, err);
    return !render->views ||
           camera_views_alloc(render->views, shape->cameras, shape->feat_h, shape->feat_w, err);
}

bool features_render_into(const Rig *rig, const World *world, int64_t channels, uint64_t seed,
                          double temperature, double time_s, SubRays rays, const GiveUp *give_up,
                          const Features *features, CameraViews *views, Err *err) {
    assert(temperature > 0);
    Render render = {
        .rig = rig, .rays = rays, .temperature = temperature, .features = features, .views = views};
    WorldSnapshot *still = NULL;
    render.shape = rig_shape(rig, channels);
    render.far_m =
        frustum_depth_m(&rig->frustum, render.shape.depth_bins - 1) + rig->frustum.depth_step_m / 2;
    bool done = embedding_init(&render.embedding, channels, seed, err) &&
                world_snapshot(world, time_s, &still, err) && render_alloc(&render, err);
    render.still = still;
    int64_t h = render.shape.feat_h, lines = done ? render.shape.cameras * h : 0;
    bool unwanted = false;
#pragma omp parallel for schedule(dynamic, 1) reduction(|| : unwanted)
    for (int64_t line = 0; line < lines; line++) {
        unwanted = unwanted || given_up(give_up);
        for (int64_t w = 0; !unwanted && w < render.shape.feat_w; w++)
            render_pixel(&render, line / h, line % h, w,
                         render.mass + line * render.shape.depth_bins);
    }
    done = done && !unwanted;
    if (!done)
        camera_views_free(views);
    embedding_free(&render.embedding);
    world_snapshot_free(still);
    free(render.mass);
    return done;
}

bool features_render(const Rig *rig, const World *world, int64_t channels, uint64_t seed,
                     double temperature, double time_s, SubRays rays, const GiveUp *give_up,
                     Features *features, CameraViews *views, Err *err) {
    const BevShape shape = rig_shape(rig, channels);
    features->depth = malloc(features_depth_count(&shape) * sizeof *features->depth);
    features->feat = malloc(features_feat_count(&shape) * sizeof *features->feat);
    bool ok = (features->depth && features->feat) || no_memory(&shape, err);
    if (ok && features_render_into(rig, world, channels, seed, temperature, time_s, rays, give_up,
                                   features, views, err))
        return true;
    features_free(features);
    return false;
}

void features_free(Features *features) {
    if (!features)
        return;
    free(features->depth);
    free(features->feat);
    *features = (Features){.depth = NULL};
}
