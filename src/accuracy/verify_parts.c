/* The gates of a large grid, one part of its rows after another, so that the FP64 arrays they
 * compare with have the size of a part. */
#include "src/accuracy/verify.h"

#include <stdlib.h>
#include <string.h>

/* The first interval of a cell at or behind `cell`: intervals are in the order of their cells. */
static int64_t interval_from(const BevMap *map, int64_t cell) {
    int64_t low = 0, high = map->intervals;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (map->ranks_bev[map->interval_starts[middle]] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void part_free(BevMap *part) {
    free(part->ranks_bev);
    free(part->interval_starts);
}

/* The map of cells [first, end), counted from `first`. It borrows all unchanged arrays from
 * `map`. */
static bool part_init(BevMap *part, const BevMap *map, int64_t first, int64_t end, Err *err) {
    int64_t from = interval_from(map, first), to = interval_from(map, end);
    int64_t point = from < map->intervals ? map->interval_starts[from] : map->points;
    int64_t behind = to < map->intervals ? map->interval_starts[to] : map->points;
    *part = (BevMap){.points = behind - point,
                     .intervals = to - from,
                     .ranks_depth = map->ranks_depth + point,
                     .ranks_feat = map->ranks_feat + point,
                     .interval_lengths = map->interval_lengths + from,
                     .weights = map->weights ? map->weights + point : NULL};
    part->ranks_bev = malloc((size_t)part->points * sizeof(int32_t) + 1);
    part->interval_starts = malloc((size_t)part->intervals * sizeof(int32_t) + 1);
    if (!part->ranks_bev || !part->interval_starts) {
        part_free(part);
        return err_set(err, ERR_FAILED, "verify", "choose a smaller scene", "out of memory");
    }
    for (int64_t t = 0; t < part->points; t++)
        part->ranks_bev[t] = map->ranks_bev[point + t] - (int32_t)first;
    for (int64_t i = 0; i < part->intervals; i++)
        part->interval_starts[i] = map->interval_starts[from + i] - (int32_t)point;
    return true;
}

/* A part may cut a slice, so it has no slices. */
static bool verify_part(const BevShape *whole, const Features *features, const BevMap *map,
                        const KernelConfig *config, int64_t rows, VerifyRow *row, Err *err) {
    BevShape shape = *whole;
    HostProblem problem = {0};
    shape.ny = rows;
    shape.nz = 1;
    bool ok = problem_encode(&problem, &shape, config->dtype, config->align, features, map, err) &&
              verify_one(&problem, config->kernel, row, err);
    problem_free(&problem);
    return ok;
}

static void add(VerifyRow *row, const VerifyRow *part, int64_t first_cell) {
    memcpy(row->skipped, part->skipped, sizeof row->skipped);
    gate_add(&row->kernel, &part->kernel, first_cell);
    gate_add(&row->exact, &part->exact, first_cell);
    format_error_add(&row->format, &part->format, first_cell);
    row->same_bits &= part->same_bits;
}

bool verify_in_parts(const BevShape *shape, const Features *features, const BevMap *map,
                     const KernelConfig *config, int64_t rows, const GiveUp *give_up,
                     VerifyRow *row, Err *err) {
    *row = (VerifyRow){.scene = "", .config = *config, .same_bits = true};
    row->kernel = row->exact = (GateResult){.cell = -1, .channel = -1};
    row->adjoint.verdict = GATE_SKIP;
    row->format = (FormatError){.worst_cell = -1, .worst_channel = -1};
    for (int64_t y = 0; y < shape->ny && !row->skipped[0]; y += rows) {
        int64_t here = shape->ny - y < rows ? shape->ny - y : rows, first = y * shape->nx;
        VerifyRow part;
        BevMap of_part;
        if (given_up(give_up))
            return err_set(err, ERR_FAILED, "verify", "", "given up");
        if (!part_init(&of_part, map, first, first + here * shape->nx, err))
            return false;
        bool ok = verify_part(shape, features, &of_part, config, here, &part, err);
        part_free(&of_part);
        if (!ok)
            return false;
        add(row, &part, first);
    }
    row->format_verdict = gate_format(config->dtype, &row->format);
    row->passed = row->kernel.verdict == GATE_PASS && row->format_verdict == GATE_PASS &&
                  row->exact.verdict == GATE_PASS &&
                  (row->same_bits || !config->kernel->deterministic);
    return true;
}
