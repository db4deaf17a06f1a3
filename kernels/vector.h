/* Marks of loops that become vector code, and of functions compiled once for each vector width. */
#ifndef BEV_VECTOR_H
#define BEV_VECTOR_H

/* A function so marked exists three times, and the loader picks the one for this machine. All
 * three give the same bits: sums keep their order, and products are not fused (-ffp-contract=off).
 * Only GCC on x86-64 Linux, and not under sanitizers, which start after the loader has picked. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) &&   \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CPU_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define CPU_CLONES
#endif

/* Helpers of such a function: compiled as part of each of the three, never on their own. */
#define CPU_INLINE __attribute__((always_inline)) static inline

/* The loop that follows becomes vector code; its iterations do not meet. */
#ifdef _OPENMP
#define CPU_SIMD _Pragma("omp simd")
#else
#define CPU_SIMD
#endif

/* The loop that follows, at most 16 turns of a number that is known, becomes straight code. */
#ifdef __clang__
#define CPU_UNROLL _Pragma("clang loop unroll(full)")
#else
#define CPU_UNROLL _Pragma("GCC unroll 16")
#endif

#endif
