/* What the hardware counted, measured now or recorded earlier, beside what the model says of it. */
#ifndef BEV_COUNTED_H
#define BEV_COUNTED_H

#include "src/run/machine.h"
#include "src/cli/laboratory.h"
#include "src/cli/report.h"

/* A row a kernel. Borrows what its cells name: labs, GPUs and machine must outlive it. */
Report counted_table(void);

/* Times every CUDA kernel on the lab's problem and counts. `label` names the machine. */
bool counted_measure(Report *report, CounterReader *reader, const Lab *lab, const char *scene,
                     const char *label, Err *err);

/* Where the rows come from, a line a machine: "recorded on NVIDIA H200, driver ..." */
void counted_sources(const Report *report, FILE *out);

/* Adds what was recorded on the chosen GPUs. */
void counted_recall(Report *report, const Lab *lab, const LabGpus *chosen_gpus, const char *scene);

#endif
