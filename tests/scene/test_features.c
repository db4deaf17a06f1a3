/* SPDX-License-Identifier: MIT */
/* Features: the embedding, depth distributions compared with their definition, walls by hand. */
#include "src/scene/features.h"
#include "tests/support/scenes.h"

#include <math.h>

static Err err; /* why a step failed */

static Embedding embedding_of(int64_t channels, uint64_t seed) {
    Embedding embedding;
    need(embedding_init(&embedding, channels, seed, &err), &err);
    return embedding;
}

static double row_dot(const Embedding *e, int i, int j) {
    double sum = 0;
    for (int64_t c = 0; c < e->channels; c++)
        sum += (double)e->rows[i * e->channels + c] * e->rows[j * e->channels + c];
    return sum;
}

static void test_embedding(int64_t channels) {
    Embedding e = embedding_of(channels, 1), same = embedding_of(channels, 1);
    Embedding other = embedding_of(channels, 2);
    bool orthogonal = channels >= EMBED_DIMS;
    double unit = 0, across = 0;
    for (int i = 0; i < EMBED_DIMS; i++)
        for (int j = 0; j <= i; j++) {
            double dot = row_dot(&e, i, j);
            unit = i == j ? fmax(unit, fabs(dot - 1)) : unit;
            across = i != j ? fmax(across, fabs(dot)) : across;
        }
    tap_ok(unit < 1e-6 && (across < 1e-6) == orthogonal, "%lld channels: rows of length 1, %s",
           (long long)channels, orthogonal ? "at right angles" : "not all at right angles");
    float parts[EMBED_DIMS], back[EMBED_DIMS], worst = 0, *vector = malloc(sizeof(float[1024]));
    for (int i = 0; i < EMBED_DIMS; i++)
        parts[i] = (float)(i % 4) - 1.25F;
    embedding_encode(&e, parts, vector);
    bool decodes = embedding_decode(&e, vector, back);
    for (int i = 0; i < EMBED_DIMS; i++)
        worst = fmaxf(worst, fabsf(parts[i] - back[i]));
    tap_ok(decodes == orthogonal && (worst < 1e-5F) == orthogonal,
           orthogonal ? "%lld channels: what goes in comes out"
                      : "%lld channels: it does not decode",
           (long long)channels);
    size_t bytes = (size_t)channels * EMBED_DIMS * sizeof(float);
    tap_ok(memcmp(e.rows, same.rows, bytes) == 0 && memcmp(e.rows, other.rows, bytes) != 0,
           "%lld channels: the seed decides", (long long)channels);
    free(vector);
    embedding_free(&e);
    embedding_free(&same);
    embedding_free(&other);
    embedding_free(NULL);
}

static Features render_with(const Scene *scene, double temperature, double time_s, SubRays rays,
                            CameraViews *views) {
    Features features;
    const FeaturesRequest request = {.rig = &scene->rig,
                                     .world = &scene->world,
                                     .channels = scene->channels,
                                     .seed = scene->seed,
                                     .temperature = temperature,
                                     .time_s = time_s,
                                     .rays = rays};
    features.depth = malloc(features_depth_count(&scene->shape) * sizeof *features.depth);
    features.feat = malloc(features_feat_count(&scene->shape) * sizeof *features.feat);
    need(features_render(&request, &features, views, &err), &err);
    return features;
}

static Features render(const Scene *scene, double temperature, double time_s, CameraViews *views) {
    return render_with(scene, temperature, time_s, sub_rays_full, views);
}

/* The distribution of pixel (camera 0, h, w), `stride` apart. */
static const float *depth_of(const Scene *scene, const Features *features, int64_t h, int64_t w,
                             int64_t *stride) {
    *stride = scene->shape.feat_h * scene->shape.feat_w;
    return features->depth + h * scene->shape.feat_w + w;
}

static void test_distributions(const Scene *scene, const Features *features) {
    const BevShape *s = &scene->shape;
    int64_t pixels = s->feat_h * s->feat_w, bad = 0;
    for (int64_t c = 0; c < s->cameras; c++)
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            double sum = 0;
            bool sound = true;
            for (int64_t d = 0; d < s->depth_bins; d++) {
                double p = features->depth[(c * s->depth_bins + d) * pixels + pixel];
                sound &= p >= 0 && p <= 1;
                sum += p;
            }
            bad += !sound || fabs(sum - 1) > 1e-5;
        }
    tap_ok(bad == 0, "%s: all %lld depth distributions sum to 1", scene->name,
           (long long)(s->cameras * pixels));
}

/* A wall across the toy camera's view, seen in fine bins: its distribution is one Gaussian, so its
 * mean is the wall and its variance sigma^2 + step^2 / 12, the share of the bins' width. */
static void test_width(const Scene *toy) {
    static const double walls_m[] = {20, 25, 30, 40};
    Scene scene = *toy;
    Solid wall = {SOLID_BOX, CLASS_BUILDING, {1, 1, 1}, {0, 0}, 0, {1, 400, 400}, 0, {0, 0}};
    scene.world = (World){.solid_count = 1, .solids = &wall};
    Frustum *f = &scene.rig.frustum;
    f->depth_start_m = 1;
    f->depth_stop_m = 60;
    f->depth_step_m = 0.25;
    scene.rig.cameras[0].position_m[2] = 30;
    scene.shape = rig_shape(&scene.rig, scene.channels);
    for (size_t i = 0; i < sizeof walls_m / sizeof *walls_m; i++) {
        wall.center_m[0] = walls_m[i] + 0.5;
        Features features = render(&scene, 1, 0, NULL);
        double mean = 0, square = 0, z = walls_m[i], sigma = SIGMA_AT_10M_M * z * z / 100;
        int64_t stride;
        const float *depth = depth_of(&scene, &features, 1, 1, &stride);
        for (int64_t d = 0; d < scene.shape.depth_bins; d++)
            mean += depth[d * stride] * frustum_depth_m(f, d);
        for (int64_t d = 0; d < scene.shape.depth_bins; d++)
            square += depth[d * stride] * pow(frustum_depth_m(f, d) - mean, 2);
        sigma = fmax(sigma, f->depth_step_m / 4);
        double want = sigma * sigma + f->depth_step_m * f->depth_step_m / 12;
        tap_ok(fabs(mean - z) < 1e-3 && fabs(square / want - 1) < 0.01,
               "a wall at %g m: mean %.3f m, width %.3f m", z, mean, sqrt(square));
        features_free(&features);
    }
}

/* Pixels that see a wall at 4 m and sky. The pixel u = 2, v = 0 reaches from u = 1 to 3 and v = -1
 * to 1, on the wall from y = 1 to -1 and z = 4 to 2. A wall up to z = 2.5 fills a quarter of it,
 * one from y = -0.4 on to the left three quarters. The rest is sky: no feature, last bin. */
static void test_partial(const Scene *toy) {
    static const Solid walls[] = {
        {SOLID_BOX, CLASS_TRUCK, {1, 0.5F, 0.25F}, {4.5, 0}, 0, {1, 12, 2.5}, 0, {0, 0}},
        {SOLID_BOX, CLASS_TRUCK, {1, 0.5F, 0.25F}, {4.5, 5.6}, 0, {1, 12, 8}, 0, {0, 0}},
    };
    static const double filled[] = {0.25, 0.75}, mean_m[] = {2.25, 3};
    const double tail = 0.022750132, light = 0.78 - 0.17 * 0.8;
    Embedding embedding = embedding_of(toy->channels, toy->seed);
    for (int i = 0; i < 2; i++) {
        Scene scene = *toy;
        Solid wall = walls[i];
        scene.world = (World){.solid_count = 1, .solids = &wall};
        Features features = render(&scene, 1, 0, NULL);
        float parts[EMBED_DIMS];
        int64_t stride;
        const float *depth = depth_of(&scene, &features, 0, 1, &stride);
        embedding_decode(&embedding, features.feat + scene.channels, parts);
        tap_ok(fabs(parts[CLASS_TRUCK] - filled[i]) < 1e-5, "a wall fills %.0f%% of a pixel",
               100 * parts[CLASS_TRUCK]);
        tap_ok(fabs(parts[EMBED_R] - filled[i] * light) < 1e-5 &&
                   fabs(parts[EMBED_G] - filled[i] * light / 2) < 1e-5 &&
                   fabs(parts[EMBED_HEIGHT] - filled[i] * mean_m[i] / 10) < 1e-3,
               "its colour, in the light of a wall that faces -x, and its mean height, %.3f",
               parts[EMBED_HEIGHT] * 10 / filled[i]);
        tap_ok(fabs(depth[2 * stride] - (1 - filled[i] + filled[i] * tail)) < 1e-5,
               "and leaves %.0f%% of its depth to the last bin", 100 * depth[2 * stride]);
        features_free(&features);
    }
    embedding_free(&embedding);
}

/* Temperature T turns p into p^(1/T), renormalised. */
static void test_temperature(const Scene *scene, const Features *plain) {
    const BevShape *s = &scene->shape;
    static const double temperatures[] = {0.25, 2};
    for (int i = 0; i < 2; i++) {
        double worst = 0, t = temperatures[i];
        Features features = render(scene, t, 0, NULL);
        for (int64_t h = 0; h < s->feat_h; h++)
            for (int64_t w = 0; w < s->feat_w; w++) {
                int64_t stride;
                const float *got = depth_of(scene, &features, h, w, &stride);
                const float *from = depth_of(scene, plain, h, w, &stride);
                double sum = 0;
                for (int64_t d = 0; d < s->depth_bins; d++)
                    sum += pow(from[d * stride], 1 / t);
                for (int64_t d = 0; d < s->depth_bins; d++) {
                    double want = pow(from[d * stride], 1 / t) / sum;
                    worst = fmax(worst, fabs(got[d * stride] - want));
                }
            }
        size_t bytes = (size_t)(s->cameras * s->feat_h * s->feat_w * s->channels) * sizeof(float);
        tap_ok(worst < 1e-5 && memcmp(features.feat, plain->feat, bytes) == 0,
               "temperature %g: depths to the power of %g, features as they were", t, 1 / t);
        features_free(&features);
    }
}

/* The embedding that knows the outlier finds the same parts in the features. */
static void test_outlier(void) {
    Job large = job_plain();
    large.outlier = 100;
    Workload own, changed;
    float parts[2][EMBED_DIMS];
    need(workload_open(&own, "toy", NULL, &err), &err);
    need(workload_open(&changed, "toy", &large, &err), &err);
    int64_t count = (int64_t)features_feat_count(&own.seen->shape), channels = own.scene->channels;
    bool scaled = true;
    double worst = 0;
    for (int64_t i = 0; i < count; i++)
        scaled &= changed.features->feat[i] == own.features->feat[i] * (i % channels ? 1 : 100);
    for (int64_t i = 0; i < count; i += channels) {
        embedding_decode(&own.seen->embedding, own.features->feat + i, parts[0]);
        embedding_decode(&changed.seen->embedding, changed.features->feat + i, parts[1]);
        for (int k = 0; k < EMBED_DIMS; k++)
            worst = fmax(worst, fabs(parts[0][k] - parts[1][k]));
    }
    tap_ok(scaled && worst < 1e-6, "an outlier changes channel 0, and no decoded part (%.1e)",
           worst);
    workload_close(&own);
    workload_close(&changed);
}

static void test_sky(const Scene *toy) {
    Scene scene = *toy;
    scene.world = (World){.ground_class = CLASS_ROAD};
    camera_set_pose(&scene.rig.cameras[0], 0, 60, 0, scene.rig.cameras[0].position_m);
    CameraViews views;
    Features features = render(&scene, 1, 0, &views);
    bool empty = true, last = true, sky = true;
    int64_t pixels = scene.shape.feat_h * scene.shape.feat_w;
    for (int64_t i = 0; i < pixels * scene.channels; i++)
        empty &= features.feat[i] == 0;
    for (int64_t i = 0; i < pixels * scene.shape.depth_bins; i++)
        last &= features.depth[i] == (i / pixels == scene.shape.depth_bins - 1);
    for (int64_t i = 0; i < views.h * views.w; i++)
        sky &= views.class[i] == CLASS_COUNT && isnan(views.depth_m[i]) && views.color[3 * i] > 0;
    tap_ok(empty && last, "sky: no feature, all depth in the last bin");
    tap_ok(sky, "and the views know it for sky");
    features_free(&features);
    camera_views_free(&views);
    camera_views_free(&views);
    camera_views_free(NULL);
    features_free(NULL);
}

/* A draft is coarser, but most of each pixel's depth lies in the same place. */
static void test_draft(const Scene *scene, const Features *full) {
    const BevShape *s = &scene->shape;
    CameraViews views;
    Features draft = render_with(scene, 1, 0, sub_rays_draft, &views);
    tap_ok(views.h == 64 && views.w == 88, "a draft has views of 88 x 64, a pixel for each ray");
    camera_views_free(&views);
    test_distributions(scene, &draft);
    double shared = 0;
    int64_t pixels = s->cameras * s->feat_h * s->feat_w;
    for (int64_t i = 0; i < pixels * s->depth_bins; i++)
        shared += fminf(draft.depth[i], full->depth[i]);
    shared /= (double)pixels;
    tap_ok(shared > 0.85 && shared < 0.999, "a draft shares %.0f%% of its depth with the full one",
           100 * shared);
    features_free(&draft);
}

static void test_views(const Scene *scene, const CameraViews *coarse) {
    CameraViews views;
    need(camera_views_render(&scene->rig, &scene->world, 64, 176, 0, &views, &err), &err);
    int64_t seen[CLASS_COUNT + 1] = {0}, kinds = 0, differ = 0;
    for (int64_t i = 0; i < views.cameras * views.h * views.w; i++)
        seen[views.class[i]]++;
    for (int i = 0; i <= CLASS_COUNT; i++)
        kinds += seen[i] > 0;
    tap_ok(views.cameras == 6 && views.h == 64 && views.w == 176 && kinds == CLASS_COUNT + 1,
           "six views of 64 x 176 show every class, and sky");
    tap_ok(seen[CLASS_COUNT] * 20 < views.cameras * views.h * views.w * 10, "and not only sky");
    for (int64_t c = 0; c < 6; c++)
        for (int64_t h = 0; h < coarse->h; h++)
            for (int64_t w = 0; w < coarse->w; w++)
                differ += coarse->class[(c * coarse->h + h) * coarse->w + w] !=
                          views.class[(c * 64 + h) * 176 + w];
    tap_ok(coarse->h == 64 && coarse->w == 176 && differ * 4 < 6 * 64 * 176,
           "they agree with those that come with features: %lld differ", (long long)differ);
    camera_views_free(&views);
}

TAP_SUITE(features) {
    Scene *toy = load_scene("toy"), *flagship = load_scene("intersection");
    test_embedding(80);
    test_embedding(EMBED_DIMS);
    test_embedding(EMBED_DIMS - 1);
    test_embedding(1);
    CameraViews views;
    Features features = render(flagship, 1, 0, &views);
    test_distributions(flagship, &features);
    test_temperature(flagship, &features);
    test_draft(flagship, &features);
    test_views(flagship, &views);
    test_width(toy);
    test_partial(toy);
    test_sky(toy);
    test_outlier();
    camera_views_free(&views);
    features_free(&features);
    drop_scene(flagship);
    drop_scene(toy);
}
