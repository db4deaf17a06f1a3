/* SPDX-License-Identifier: MIT */
/* Seeded random numbers, the same on every machine: splitmix64 (Steele, Lea, Flood 2014). */
#pragma once

#include <stdint.h>

/* Returns 64 random bits. *state starts as any seed, and each call advances it. */
static inline uint64_t random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Returns a random number, uniform in [0, 1). */
static inline double random_unit(uint64_t *state) {
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

/* Returns a random whole number, uniform in [0, count). */
static inline int64_t random_below(uint64_t *state, int64_t count) {
    return (int64_t)(random_unit(state) * (double)count);
}
