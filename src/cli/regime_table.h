/* The table of traffic and predictions: every kernel on every GPU, for `regime` and `report`. */
#ifndef BEV_REGIME_TABLE_H
#define BEV_REGIME_TABLE_H

#include "src/cli/laboratory.h"
#include "src/cli/report.h"

/* Borrow what the rows name: keep the lab and the GPUs until the report is printed. */
Report regime_traffic_table(void);
void regime_add_traffic(Report *report, const Lab *lab, const char *scene);

Report regime_prediction_table(void);
void regime_add_predictions(Report *report, const Lab *lab, const LabGpus *chosen_gpus,
                            const char *scene);

/* All of both in one row a kernel and GPU, for machines. */
Report regime_full_table(void);
void regime_add_full(Report *report, const Lab *lab, const LabGpus *chosen_gpus, const char *scene);

#endif
