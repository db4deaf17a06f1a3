#include "src/cachesim/trace_pieces.h"

#include <stdlib.h>

enum { PIECE_POINTS = 8 };

/* Workers of a cell with so many points. */
static int parts_of(int32_t points, int rows) {
    int parts = 1;
    while (parts < rows && PIECE_POINTS * parts < points)
        parts *= 2;
    return parts;
}

bool pieces_deal(const BevProblem *problem, const int32_t *interval_of, int rows, Pieces *pieces,
                 Err *err) {
    const BevMap *map = &problem->map;
    int64_t cells = problem->shape.nx * problem->shape.ny, owner = 0;
    /* A cell has a worker, or fewer than two for every eight points. */
    size_t most = (size_t)cells + (size_t)map->points / PIECE_POINTS * 2;
    *pieces = (Pieces){.workers = malloc((most + 1) * sizeof *pieces->workers)};
    if (!pieces->workers)
        return err_set(err, ERR_FAILED, "V4's pieces", "", "no memory for %zu workers", most);
    for (int parts = rows; parts >= 0; parts /= 2) { /* 0: cells without a point come last */
        for (int64_t cell = 0; cell < cells; cell++) {
            int32_t interval = interval_of[cell];
            int own = interval < 0 ? 0 : parts_of(map->interval_lengths[interval], rows);
            if (own != parts)
                continue;
            for (int part = 0; part < (parts ? parts : 1); part++)
                pieces->workers[pieces->count++] =
                    (Piece){(int32_t)cell, (int32_t)owner, part, parts ? parts : 1};
            owner++;
        }
        if (parts == 0)
            break;
    }
    return true;
}

void pieces_free(Pieces *pieces) {
    free(pieces->workers);
    *pieces = (Pieces){0};
}
