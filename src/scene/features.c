/* SPDX-License-Identifier: MIT */
#include "src/scene/features.h"
#include "kernels/threads.h"
#include "kernels/vector.h"
#include "src/base/random.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- the embedding --------------------------------------------------------------------------- */

static double dot_product(const double *a, const double *b, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Makes the rows orthonormal by Gram-Schmidt. A second round removes rounding errors. */
static void orthonormalise(double *rows, int64_t channels) {
    const int rounds = channels >= EMBED_DIMS ? 2 : 0;
    for (int i = 0; i < EMBED_DIMS; i++) {
        double *row = rows + i * channels;
        for (int round = 0; round < rounds; round++)
            for (int j = 0; j < i; j++) {
                const double *unit = rows + j * channels;
                double along = dot_product(row, unit, channels);
                for (int64_t c = 0; c < channels; c++)
                    row[c] -= along * unit[c];
            }
        double length = sqrt(dot_product(row, row, channels));
        for (int64_t c = 0; c < channels; c++)
            row[c] /= length;
    }
}

bool embedding_init(Embedding *embedding, int64_t channels, uint64_t seed, Err *err) {
    assert(channels >= 1);
    size_t count = (size_t)channels * EMBED_DIMS;
    double *columns = malloc(count * (2 * sizeof(double) + sizeof(float)));
    *embedding = (Embedding){.columns = columns};
    if (!columns)
        return err_no_memory(err, "embedding", "");
    double *rows = columns + count; /* exact, before they are rounded to FP32 */
    embedding->channels = channels;
    embedding->rows = (float *)(rows + count);
    for (size_t i = 0; i < count; i++) {
        /* The Box-Muller transform makes normally distributed numbers. random_unit() can be 0,
         * where the logarithm is infinite; 1 - random_unit() cannot. */
        double radius = sqrt(-2 * log(1 - random_unit(&seed)));
        rows[i] = radius * cos(2 * M_PI * random_unit(&seed));
    }
    orthonormalise(rows, channels);
    for (size_t i = 0; i < count; i++) {
        size_t dim = i / (size_t)channels, channel = i % (size_t)channels;
        embedding->rows[i] = (float)rows[i];
        columns[channel * EMBED_DIMS + dim] = embedding->rows[i];
    }
    return true;
}

void embedding_free(Embedding *embedding) {
    if (!embedding)
        return;
    free(embedding->columns);
    *embedding = (Embedding){.channels = 0};
}

void embedding_add_outlier(Embedding *embedding, double factor) {
    for (int i = 0; i < EMBED_DIMS; i++) {
        embedding->rows[i * embedding->channels] *= (float)factor;
        embedding->columns[i] /= factor;
    }
}

void embedding_encode(const Embedding *embedding, const float parts[EMBED_DIMS], float *vector) {
    int64_t channels = embedding->channels;
    for (int64_t c = 0; c < channels; c++)
        vector[c] = 0;
    for (int i = 0; i < EMBED_DIMS; i++) {
        if (parts[i] == 0)
            continue;
        for (int64_t c = 0; c < channels; c++)
            vector[c] += parts[i] * embedding->rows[i * channels + c];
    }
}

CPU_CLONES
bool embedding_decode(const Embedding *embedding, const float *vector, float parts[EMBED_DIMS]) {
    int64_t channels = embedding->channels;
    const double *column = embedding->columns;
    double sums[EMBED_DIMS] = {0};
    for (int64_t c = 0; c < channels; c++, column += EMBED_DIMS) {
        double value = vector[c];
        CPU_SIMD
        for (int i = 0; i < EMBED_DIMS; i++)
            sums[i] += value * column[i];
    }
    for (int i = 0; i < EMBED_DIMS; i++)
        parts[i] = (float)sums[i];
    return channels >= EMBED_DIMS;
}

WorldClass embedding_class(const Embedding *embedding, const float *vector) {
    float parts[EMBED_DIMS];
    int best = 0;
    if (!embedding_decode(embedding, vector, parts))
        return CLASS_COUNT;
    for (int class = 1; class < CLASS_COUNT; class ++)
        if (parts[class] > parts[best])
            best = class;
    return parts[best] > 0 ? (WorldClass)best : CLASS_COUNT;
}

/* A pixel has more rows than columns of sub-rays. Near the horizon one pixel row covers the ground
 * from 25 m to 50 m, and every depth bin in this range must get its share. */
const SubRays sub_rays_full = {.columns = 4, .rows = 12};
const SubRays sub_rays_draft = {.columns = 2, .rows = 4};

#define CAMERA_FAR_M 400.0 /* ground farther away counts as sky */

/* ---- sampling the footprint of a pixel ------------------------------------------------------- */

/* A camera in the world at one moment. The ray of pixel (u, v): first + u * right + v * down. */
typedef struct {
    const WorldSnapshot *snapshot;
    double origin_m[3], first[3], right[3], down[3];
} Viewpoint;

static Viewpoint viewpoint_of(const Camera *camera, const WorldSnapshot *snapshot) {
    Viewpoint view = {.snapshot = snapshot};
    double one_right[3], one_down[3]; /* the rays through pixels (1, 0) and (0, 1) */
    camera_ray(camera, 0, 0, view.origin_m, view.first);
    camera_ray(camera, 1, 0, view.origin_m, one_right);
    camera_ray(camera, 0, 1, view.origin_m, one_down);
    for (int axis = 0; axis < 3; axis++) {
        view.right[axis] = one_right[axis] - view.first[axis];
        view.down[axis] = one_down[axis] - view.first[axis];
    }
    return view;
}

/* A rectangle of the network input. Each of its columns x rows equal parts has one sub-ray. */
typedef struct {
    double u_px, v_px; /* centre */
    double width_px, height_px;
    int columns, rows;
} Footprint;

/* A feature pixel has VIEW_ROWS rows of view pixels. In each row there is a view pixel for each
 * column of sub-rays. So moving pictures are sharp, although no ray is cast for pictures only. */
enum { VIEW_ROWS = 4, VIEW_COLUMNS_MAX = 4 };

/* Sums over the sub-rays of a pixel. */
typedef struct {
    int rays, votes[CLASS_COUNT + 1]; /* votes: sub-rays of each class; CLASS_COUNT: sky */
    double color[3], depth_m; /* color: sum over all rays; depth_m: sum over the rays that hit */
} PixelSum;

/* Computes the direction of the ray through centre + (across * width, down * height). */
static void footprint_ray(const Viewpoint *view, const Footprint *footprint, double across,
                          double down, double direction[3]) {
    double u = footprint->u_px + across * footprint->width_px;
    double v = footprint->v_px + down * footprint->height_px;
    for (int axis = 0; axis < 3; axis++)
        direction[axis] = view->first[axis] + u * view->right[axis] + v * view->down[axis];
}

/* Returns the solids that the rays between the footprint's four corner rays can hit. */
static WorldSight footprint_sight(const Viewpoint *view, const Footprint *footprint) {
    double edges[4][3];
    for (int corner = 0; corner < 4; corner++) {
        const double across = corner & 1 ? 0.5 : -0.5, down = corner & 2 ? 0.5 : -0.5;
        footprint_ray(view, footprint, across, down, edges[corner]);
    }
    return world_sight(view->snapshot, view->origin_m, edges);
}

/* Casts a sub-ray through the centre of a part of the footprint, and adds its hit to the sums. */
static WorldHit cast_sub_ray(const Viewpoint *view, const Footprint *footprint,
                             const WorldSight *sight, int column, int row, PixelSum *sum) {
    double direction[3];
    footprint_ray(view, footprint, (column + 0.5) / footprint->columns - 0.5,
                  (row + 0.5) / footprint->rows - 0.5, direction);
    WorldHit hit = world_cast(view->snapshot, sight, view->origin_m, direction, CAMERA_FAR_M);
    float sky[3];
    const float *color = hit.color;
    if (!hit.hit) {
        world_sky(direction, sky);
        color = sky;
    }
    for (int i = 0; i < 3; i++)
        sum->color[i] += color[i];
    sum->depth_m += hit.hit ? hit.depth_m : 0;
    sum->votes[hit.hit ? hit.class : CLASS_COUNT]++;
    sum->rays++;
    return hit;
}

/* Writes the means and the most frequent class into element `pixel` of the views. */
static void store_view_pixel(const PixelSum *sum, CameraViews *views, int64_t pixel) {
    int commonest = 0, hits = sum->rays - sum->votes[CLASS_COUNT];
    for (int i = 1; i <= CLASS_COUNT; i++)
        if (sum->votes[i] > sum->votes[commonest])
            commonest = i;
    for (int i = 0; i < 3; i++)
        views->color[pixel * 3 + i] = (float)(sum->color[i] / sum->rays);
    views->class[pixel] = (uint8_t)commonest;
    views->depth_m[pixel] = hits > 0 ? (float)(sum->depth_m / hits) : NAN;
}

/* Makes a snapshot for each camera, earlier by its delay. */
static bool take_snapshots(const Rig *rig, const World *world, double time_s,
                           WorldSnapshot *snapshots[RIG_MAX_CAMERAS], Err *err) {
    for (int i = 0; i < rig->camera_count; i++)
        if (!world_snapshot(world, time_s - rig->cameras[i].delay_s, &snapshots[i], err))
            return false;
    return true;
}

static void free_snapshots(WorldSnapshot *snapshots[RIG_MAX_CAMERAS]) {
    for (int i = 0; i < RIG_MAX_CAMERAS; i++)
        world_snapshot_free(snapshots[i]);
}

/* ---- camera views ---------------------------------------------------------------------------- */

static bool camera_views_alloc(CameraViews *views, int64_t cameras, int64_t h, int64_t w,
                               Err *err) {
    size_t pixels = (size_t)(cameras * h * w);
    *views = (CameraViews){.cameras = cameras, .h = h, .w = w};
    views->color = malloc(pixels * 3 * sizeof *views->color);
    views->class = malloc(pixels);
    views->depth_m = malloc(pixels * sizeof *views->depth_m);
    if (views->color && views->class && views->depth_m)
        return true;
    camera_views_free(views);
    return err_no_memory(err, "camera views", "");
}

void camera_views_free(CameraViews *views) {
    if (!views)
        return;
    free(views->color);
    free(views->class);
    free(views->depth_m);
    *views = (CameraViews){.cameras = 0};
}

/* Renders pixel row y of a camera. world_sight is called once for BLOCK pixels. */
static void render_view_line(const Rig *rig, WorldSnapshot *const *snapshots, int64_t camera,
                             int64_t y, CameraViews *views) {
    enum { BLOCK = 16, COLUMNS = 2, ROWS = 2 };
    const Viewpoint view = viewpoint_of(&rig->cameras[camera], snapshots[camera]);
    double width_px = (double)rig->frustum.input_w / (double)views->w;
    double height_px = (double)rig->frustum.input_h / (double)views->h;
    Footprint pixel = {.v_px = ((double)y + 0.5) * height_px - 0.5,
                       .width_px = width_px,
                       .height_px = height_px,
                       .columns = COLUMNS,
                       .rows = ROWS};
    WorldSight sight = {.count = -1};
    for (int64_t x = 0; x < views->w; x++) {
        if (x % BLOCK == 0) {
            Footprint block = pixel;
            block.u_px = ((double)x + BLOCK / 2.0) * width_px - 0.5;
            block.width_px = BLOCK * width_px;
            sight = footprint_sight(&view, &block);
        }
        pixel.u_px = ((double)x + 0.5) * width_px - 0.5;
        PixelSum sum = {.rays = 0};
        for (int row = 0; row < ROWS; row++)
            for (int column = 0; column < COLUMNS; column++)
                cast_sub_ray(&view, &pixel, &sight, column, row, &sum);
        store_view_pixel(&sum, views, (camera * views->h + y) * views->w + x);
    }
}

bool camera_views_render(const Rig *rig, const World *world, int64_t h, int64_t w, double time_s,
                         CameraViews *views, Err *err) {
    WorldSnapshot *snapshots[RIG_MAX_CAMERAS] = {NULL};
    bool done = take_snapshots(rig, world, time_s, snapshots, err) &&
                camera_views_alloc(views, rig->camera_count, h, w, err);
    int64_t lines = done ? rig->camera_count * h : 0;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 4)
    for (int64_t line = 0; line < lines; line++)
        render_view_line(rig, snapshots, line / h, line % h, views);
    free_snapshots(snapshots);
    return done;
}

/* ---- depth distributions --------------------------------------------------------------------- */

/* Adds a Gaussian around depth z_m to the bins. A bin takes the part that is nearer to the bin than
 * to its neighbours. The first and the last bin that the Gaussian reaches also take the tails. */
static void add_gaussian(double *mass, int64_t bins, const Frustum *frustum, double z_m) {
    enum { TAIL_SIGMAS = 5 };
    const double nearest = round(frustum_bin_at(frustum, z_m));
    const double step_m =
        frustum_depth_m(frustum, nearest + 0.5) - frustum_depth_m(frustum, nearest - 0.5);
    double sigma_m = fmax(SIGMA_AT_10M_M * (z_m / 10) * (z_m / 10), step_m / 4);
    double reach_m = TAIL_SIGMAS * sigma_m, from = floor(frustum_bin_at(frustum, z_m - reach_m));
    double to = ceil(frustum_bin_at(frustum, z_m + reach_m));
    int64_t first = (int64_t)fmin(fmax(from, 0), (double)(bins - 1));
    int64_t last = (int64_t)fmin(fmax(to, 0), (double)(bins - 1));
    double below = 0; /* the share of the Gaussian below the edge of the bin before */
    for (int64_t d = first; d <= last; d++) {
        double edge_m = frustum_depth_m(frustum, (double)d + 0.5);
        double below_edge = d < last ? 0.5 * erfc(-((edge_m - z_m) / sigma_m) * M_SQRT1_2) : 1;
        mass[d] += below_edge - below;
        below = below_edge;
    }
}

/* Raises the bins to the power 1 / temperature, normalises the bins and writes them `stride` apart.
 * First each bin is divided by the largest bin: a large power could round all bins to 0. */
static void store_distribution(double *mass, int64_t bins, double temperature, float *out,
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

/* ---- features -------------------------------------------------------------------------------- */

typedef struct {
    const FeaturesRequest *request;
    WorldSnapshot *snapshots[RIG_MAX_CAMERAS];
    Embedding embedding;
    BevShape shape;
    double far_m; /* depth at the end of the last bin */
    const Features *features;
    CameraViews *views; /* NULL: no views are wanted */
} Render;

/* Returns the area that is closer to this feature pixel than to its neighbours. linspace puts the
 * pixel of a single column or row at 0, but the area of this pixel is the whole input. */
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

/* Adds the share of a sub-ray to the pixel's feature (`parts`) and to its depth bins (`mass`). */
static void add_hit_to_pixel(const Render *render, const WorldHit *hit, float parts[EMBED_DIMS],
                             double *mass) {
    const SubRays rays = render->request->rays;
    const float share = 1.0F / (float)(rays.columns * rays.rows);
    if (!hit->hit || hit->depth_m > render->far_m) {
        mass[render->shape.depth_bins - 1] += 1;
        return;
    }
    add_gaussian(mass, render->shape.depth_bins, &render->request->rig->frustum, hit->depth_m);
    parts[hit->class] += share;
    for (int i = 0; i < 3; i++)
        parts[EMBED_R + i] += share * hit->color[i];
    parts[EMBED_HEIGHT] += share * (float)(hit->height_m / EMBED_HEIGHT_M);
}

/* Renders the depth distribution and the features of feature pixel (h, w), and its view pixels. */
static void render_pixel(const Render *render, int64_t camera, int64_t h, int64_t w) {
    const BevShape *shape = &render->shape;
    const Rig *rig = render->request->rig;
    const Viewpoint view = viewpoint_of(&rig->cameras[camera], render->snapshots[camera]);
    const Footprint footprint = feature_footprint(&rig->frustum, render->request->rays, h, w);
    const WorldSight sight = footprint_sight(&view, &footprint);
    int64_t pixels = shape->feat_h * shape->feat_w, pixel = h * shape->feat_w + w;
    float parts[EMBED_DIMS] = {0};
    double mass[FRUSTUM_MAX_BINS]; /* of each depth bin */
    PixelSum sums[VIEW_ROWS][VIEW_COLUMNS_MAX] = {{{.rays = 0}}}; /* of each view pixel */
    for (int64_t d = 0; d < shape->depth_bins; d++)
        mass[d] = 0;
    for (int row = 0; row < footprint.rows; row++)
        for (int column = 0; column < footprint.columns; column++) {
            PixelSum *view_sum = &sums[row * VIEW_ROWS / footprint.rows][column];
            WorldHit hit = cast_sub_ray(&view, &footprint, &sight, column, row, view_sum);
            add_hit_to_pixel(render, &hit, parts, mass);
        }
    store_distribution(mass, shape->depth_bins, render->request->temperature,
                       render->features->depth + camera * shape->depth_bins * pixels + pixel,
                       pixels);
    embedding_encode(&render->embedding, parts,
                     render->features->feat + (camera * pixels + pixel) * shape->channels);
    CameraViews *views = render->views;
    for (int row = 0; views && row < VIEW_ROWS; row++)
        for (int column = 0; column < footprint.columns; column++) {
            const int64_t y = h * VIEW_ROWS + row, x = w * footprint.columns + column;
            store_view_pixel(&sums[row][column], views, (camera * views->h + y) * views->w + x);
        }
}

/* Prepares a rendering: the embedding, and the worlds as the cameras see them. */
static bool render_open(Render *render, Err *err) {
    const FeaturesRequest *request = render->request;
    const Frustum *frustum = &request->rig->frustum;
    const BevShape *shape = &render->shape;
    assert(request->temperature > 0);
    assert(request->rays.columns <= VIEW_COLUMNS_MAX && request->rays.rows % VIEW_ROWS == 0);
    render->shape = rig_shape(request->rig, request->channels);
    assert(shape->depth_bins <= FRUSTUM_MAX_BINS);
    render->far_m = frustum_depth_m(frustum, (double)shape->depth_bins - 0.5);
    if (!embedding_init(&render->embedding, request->channels, request->seed, err) ||
        !take_snapshots(request->rig, request->world, request->time_s, render->snapshots, err))
        return false;
    const int64_t view_h = shape->feat_h * VIEW_ROWS;
    const int64_t view_w = shape->feat_w * request->rays.columns;
    return !render->views || camera_views_alloc(render->views, shape->cameras, view_h, view_w, err);
}

bool features_render(const FeaturesRequest *request, const Features *features, CameraViews *views,
                     Err *err) {
    Render render = {.request = request, .features = features, .views = views};
    bool done = render_open(&render, err);
    int64_t h = render.shape.feat_h, lines = done ? render.shape.cameras * h : 0;
    bool unwanted = false;
#pragma omp parallel for num_threads(bev_threads()) schedule(dynamic, 1) reduction(|| : unwanted)
    for (int64_t line = 0; line < lines; line++) {
        unwanted = unwanted || given_up(request->give_up);
        for (int64_t w = 0; !unwanted && w < render.shape.feat_w; w++)
            render_pixel(&render, line / h, line % h, w);
    }
    done = done && !unwanted;
    if (!done)
        camera_views_free(views);
    embedding_free(&render.embedding);
    free_snapshots(render.snapshots);
    return done;
}

void features_add_outlier(const BevShape *shape, const Features *features, double factor) {
    const int64_t count = (int64_t)features_feat_count(shape);
    for (int64_t i = 0; i < count; i += shape->channels)
        features->feat[i] *= (float)factor;
}

void features_free(Features *features) {
    if (!features)
        return;
    free(features->depth);
    free(features->feat);
    *features = (Features){.depth = NULL};
}
