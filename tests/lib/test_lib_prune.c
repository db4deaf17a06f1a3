/* libbevpool's option `prune`: what is left out are the points of small depth and no others, the
 * error keeps the header's bound, 0 changes no bit, and programs made before it run on. */
#include "tests/lib/lib_case.h"
#include "tests/support/judged.h"

#include <math.h>

static const float PRUNE = 0.1f; /* half of the depths of a case are smaller */

/* What a plan with these options pools of the problem. The caller frees the codes. */
static void *pooled(HostProblem *host, BevpoolOptions options, const char **kernel) {
    BevpoolMap *map = map_of(host, BEVPOOL_CPU);
    BevpoolPlan *plan = NULL;
    options.size = options.size ? options.size : sizeof options;
    options.channels = host->view.shape.channels;
    options.dtype = (int32_t)host->view.dtype;
    fine(bevpool_plan_create(&plan, map, &options, &error), "a plan");
    BevpoolCall call = lib_call(host, plan);
    fine(bevpool_run(plan, &call, &error), "a launch");
    if (kernel)
        *kernel = bevpool_plan_kernel(plan);
    void *codes = call.tensors[BEVPOOL_OUT].data;
    call.tensors[BEVPOOL_OUT].data = NULL;
    lib_call_free(&call);
    bevpool_plan_destroy(plan);
    bevpool_map_destroy(map);
    return codes;
}

static bool same(const HostProblem *host, void *a, void *b) {
    bool equal = !memcmp(a, b, bev_output_bytes(&host->view));
    free(a), free(b);
    return equal;
}

/* Makes the small depths 0, as the library should see them. Returns how many there were. */
static int64_t drop_small(HostProblem *host) {
    const BevTensor *depth = &host->view.depth;
    size_t bytes = (size_t)bev_dtypes[depth->dtype].bits / 8;
    int64_t dropped = 0;
    for (int64_t i = 0; i < depth->row_len; i++)
        if (fabs(bev_tensor_at(depth, 0, i)) <= PRUNE) {
            memset((char *)depth->data + (size_t)i * bytes, 0, bytes);
            dropped++;
        }
    return dropped;
}

/* The bound as the header has it, of each cell without the feature: sums of weight * |depth|, and,
 * with `loose`, of prune * weight. */
static void sum_dropped(const BevProblem *p, bool loose, double *sums) {
    memset(sums, 0, (size_t)p->out.rows * sizeof *sums);
    for (int64_t t = 0; t < p->map.points; t++) {
        double depth = fabs(bev_tensor_at(&p->depth, 0, p->map.ranks_depth[t]));
        if (depth <= PRUNE)
            sums[p->map.ranks_bev[t]] +=
                (p->map.weights ? p->map.weights[t] : 1) * (loose ? PRUNE : depth);
    }
}

static double largest_of(const BevTensor *feat, int64_t channel) {
    double largest = 0;
    for (int64_t row = 0; row < feat->rows; row++)
        largest = fmax(largest, fabs(bev_tensor_at(feat, row, channel)));
    return largest;
}

/* The largest share of the bound that an FP32 error takes; roundings are far smaller. */
static double share_of_bound(HostProblem *host, bool loose) {
    const BevProblem *p = &host->view;
    double *sums = malloc((size_t)p->out.rows * sizeof *sums), worst = 0;
    float *all = pooled(host, (BevpoolOptions){0}, NULL);
    float *some = pooled(host, (BevpoolOptions){.prune = PRUNE}, NULL);
    sum_dropped(p, loose, sums);
    for (int64_t c = 0; c < p->out.row_len; c++) {
        double largest = largest_of(&p->feat, c);
        for (int64_t cell = 0; cell < p->out.rows; cell++) {
            int64_t at = cell * p->out.row_len + c;
            double off = fabs((double)all[at] - some[at]);
            worst = fmax(worst, off / (sums[cell] * largest + 1e-4));
        }
    }
    free(all), free(some), free(sums);
    return worst;
}

typedef struct {
    int tried, exact, bounded, off;
    int64_t dropped;
    double share, loose_share;
} Tally;

static void try_problem(HostProblem *host, Tally *tally) {
    const char *kernel;
    BevProblem view = host->view;
    Err err;
    size_t values = (size_t)gate_values(&view);
    double *reference = malloc(values * sizeof *reference), *sums = malloc(values * sizeof *sums);
    int32_t *terms = gate_terms(&view, &err);
    tap_need(reference && sums && terms, "memory");
    gate_reference(&view, reference, sums);
    void *some = pooled(host, (BevpoolOptions){.prune = PRUNE}, &kernel);
    view.prune = PRUNE;
    GateResult a = gate_kernel(&view, BEV_FP32, some, reference, sums, terms, NULL);
    tally->tried++;
    tally->bounded += !a.bad;
    tally->off +=
        same(host, pooled(host, (BevpoolOptions){.prune = 0}, &kernel),
             pooled(host, (BevpoolOptions){.size = offsetof(BevpoolOptions, prune), .prune = NAN},
                    NULL)) &&
        !strcmp(kernel, "cpu_v4");
    if (view.dtype == BEV_FP32) {
        tally->share = fmax(tally->share, share_of_bound(host, false));
        tally->loose_share = fmax(tally->loose_share, share_of_bound(host, true));
    }
    tally->dropped += drop_small(host);
    tally->exact += same(host, some, pooled(host, (BevpoolOptions){.kernel = "cpu_v4"}, NULL));
    free(reference), free(sums), free(terms);
}

/* One of each form; channels of every width of vectors. */
static const char *const forms[] = {"one_point",   "both_ends", "one_cell_grid",
                                    "ragged_tall", "ragged_c7", "sparse_columns"};
static const BevDtype dtypes[] = {BEV_FP32, BEV_FP16, BEV_BF16, BEV_NVFP4, BEV_INT8};
enum { FORMS = sizeof forms / sizeof *forms, DTYPES = sizeof dtypes / sizeof *dtypes };

static void try_cases(BevAlign align, Tally *tally) {
    for (int form = 0; form < FORMS; form++) {
        CaseData data = open_case(forms[form], align, 1, 7);
        for (int dtype = 0; dtype < DTYPES; dtype++) {
            HostProblem host = case_problem(&data, dtypes[dtype], align);
            try_problem(&host, tally);
            problem_free(&host);
        }
        case_free(&data);
    }
}

TAP_SUITE(lib_prune) {
    for (int align = 0; align <= BEV_BILINEAR; align++) {
        Tally tally = {0};
        try_cases((BevAlign)align, &tally);
        const char *name = bev_aligns[align].name;
        tap_ok(tally.tried == FORMS * DTYPES && tally.bounded == tally.tried,
               "%s: %d of %d problems within gate A and what is left out", name, tally.bounded,
               tally.tried);
        tap_ok(tally.dropped > 1000 && tally.exact == tally.tried,
               "%s: in %d of %d the bits of a launch without the %lld small depths", name,
               tally.exact, tally.tried, (long long)tally.dropped);
        tap_ok(tally.share > 0.2 && tally.share <= 1 && tally.loose_share > 0.1 &&
                   tally.loose_share <= tally.share,
               "%s: the error is at most %.3g of the header's bound, %.3g of the looser one", name,
               tally.share, tally.loose_share);
        tap_ok(tally.off == tally.tried,
               "%s: with 0, and with options of an older header, %d of %d as ever", name, tally.off,
               tally.tried);
    }
}
