/* SPDX-License-Identifier: MIT */
#include "src/cachesim/network.h"

#include "kernels/bevpool.h"
#include "src/base/json_fields.h"

#include <stdlib.h>
#include <string.h>

const char *const network_parts[] = {"LiDAR", "image", "pooling", "BEV", "head"};
_Static_assert(sizeof network_parts / sizeof *network_parts == NETWORK_PARTS, "a part has no name");

enum { MAX_STAGES = 32, MAX_FILE_BYTES = 1 << 16 };

typedef struct {
    char name[64];
    int part;
    double ms;
} StageFields;

typedef struct {
    Network network;
    FieldList stages;
} NetworkFields;

static const char *const parts[NETWORK_PARTS] = {"lidar", "image", "pooling", "bev", "head"};

#define AT(type_, member_) .offset = offsetof(type_, member_)
static const Field stage_fields[] = {
    {"name", FIELD_TEXT, AT(StageFields, name), .min = 1, .max = 63},
    {"part", FIELD_WORD, AT(StageFields, part), FIELD_WORDS(parts[0], *parts, NETWORK_PARTS)},
    {"ms", FIELD_DOUBLE, AT(StageFields, ms), .min = 1e-4, .max = 1e5},
};
static const FieldTable stage_table = FIELD_TABLE(stage_fields, StageFields);

static const Field network_fields[] = {
    {"title", FIELD_TEXT, AT(NetworkFields, network.title), .min = 1, .max = 31},
    {"gpu", FIELD_TEXT, AT(NetworkFields, network.gpu), .min = 1, .max = 31},
    {"kernel", FIELD_TEXT, AT(NetworkFields, network.kernel), .min = 1, .max = 31,
     .optional = true},
    {"source", FIELD_TEXT, AT(NetworkFields, network.source), .min = 1, .max = 127},
    {"budget_ms", FIELD_DOUBLE, AT(NetworkFields, network.budget_ms), .min = 0.1, .max = 1e5,
     .optional = true, .fallback = 100},
    {"stages", FIELD_LIST, AT(NetworkFields, stages), .min = 1, .max = MAX_STAGES,
     .table = &stage_table},
};
static const FieldTable network_table = FIELD_TABLE(network_fields, NetworkFields);

double network_ms(const Network *network) {
    double ms = 0;
    for (int part = 0; part < NETWORK_PARTS; part++)
        ms += network->part_ms[part];
    return ms;
}

double network_speedup(const Network *network, double gain) {
    double all = network_ms(network), pooling = network->part_ms[NETWORK_POOLING];
    return all / (all - pooling + pooling / gain);
}

/* Reads a network file. The times of a part's stages add up. At least one stage must be pooling. */
static bool network_read(const char *path, Network *network, Err *err) {
    NetworkFields fields = {0};
    bool ok = fields_read_file(path, MAX_FILE_BYTES, &network_table, &fields, err);
    *network = fields.network;
    if (!network->kernel[0])
        strcpy(network->kernel, "v2_bevdet");
    const StageFields *stages = fields.stages.items;
    for (int i = 0; ok && i < fields.stages.count; i++)
        network->part_ms[stages[i].part] += stages[i].ms;
    free(fields.stages.items);
    if (ok && !bev_kernel_find(network->kernel))
        ok = data_refuse(err, path, "$.kernel", "see bevscope --list", "there is no such kernel");
    if (ok && network->part_ms[NETWORK_POOLING] <= 0)
        ok = data_refuse(err, path, "$.stages", "give one stage \"part\": \"pooling\"",
                         "no stage is of pooling");
    return ok;
}

bool networks_open(const char *path, Networks *networks, Err *err) {
    static const char *const shipped[NETWORKS] = {"samples/networks/bevdet.json",
                                                  "samples/networks/bevfusion.json"};
    *networks = (Networks){0};
    const int files = path ? 1 : NETWORKS;
    for (int i = 0; i < files; i++) {
        char shipped_path[4096];
        if ((!path && !data_path(shipped[i], shipped_path, sizeof shipped_path, err)) ||
            !network_read(path ? path : shipped_path, &networks->list[i], err))
            return false;
        networks->count++;
    }
    return true;
}
