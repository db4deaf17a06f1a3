/* SPDX-License-Identifier: MIT */
/* The machine of a measurement. Every recorded result carries this description. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct {
    char cpu[128];                            /* the CPU's name; "n/a": unknown */
    int cores;                                /* cores that this process may run on */
    int threads;                              /* threads that CPU kernels use */
    int64_t l2_bytes, l3_bytes, memory_bytes; /* 0: unknown */
    char system[128];                         /* kernel name, release and architecture */
    char compiler[128];
    char version[32];          /* the version of bevscope */
    char date[32];             /* UTC, "2026-11-20T21:18:33Z" */
    char gpu[128];             /* "" without a usable GPU */
    char driver[32], cuda[32]; /* versions; "" without a usable GPU */
} Machine;

/* Fills *machine. Never fails: unknown fields stay empty or 0. */
void machine_read(Machine *machine);

/* Writes GPU and date, or CPU and date without a GPU: "NVIDIA H200, driver 580.159, CUDA 13.0,
 * 2026-11-20". */
void machine_label(const Machine *machine, char *label, size_t size);
