/* SPDX-License-Identifier: MIT */
/* FNV-1a, a hash of bytes or of words of 32 bits. The first `hash` is HASH_BEGIN or any seed. */
#pragma once

#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_add(uint64_t hash, uint32_t word) {
    return (hash ^ word) * UINT64_C(0x100000001b3);
}

static inline uint64_t hash_text(uint64_t hash, const char *text) {
    while (*text)
        hash = hash_add(hash, (unsigned char)*text++);
    return hash;
}
