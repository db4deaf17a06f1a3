/* SPDX-License-Identifier: MIT */
/* Markers for loops that the compiler vectorises, and for functions that are compiled once for each
 * vector width. */
#pragma once

/* A function compiled three times; the loader picks the version for this machine. All three give
 * the same bits: sums keep their order, and products are not fused (-ffp-contract=off). Only GCC on
 * x86-64 Linux, and not under sanitizers, which start after the loader has picked. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CPU_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define CPU_CLONES
#endif

/* A helper of a CPU_CLONES function, inlined into each of its three versions. */
#define CPU_INLINE __attribute__((always_inline)) static inline

/* The compiler vectorises the next loop: its iterations are independent. */
#ifdef _OPENMP
#define CPU_SIMD _Pragma("omp simd")
#else
#define CPU_SIMD
#endif

/* The compiler unrolls the next loop: at most 16 iterations, a constant number. */
#ifdef __clang__
#define CPU_UNROLL _Pragma("clang loop unroll(full)")
#else
#define CPU_UNROLL _Pragma("GCC unroll 16")
#endif
