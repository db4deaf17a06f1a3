/* The memory model against hardware counters, everywhere or on the scenes named. */
#include "src/cli/agreement.h"
#include "src/cli/choices.h"
#include "src/cli/output.h"
#include "src/scene/scene.h"

#include <string.h>
#include <unistd.h>

static bool add_scene(Agreement *agreement, const LabGpus *known, const char *scene, Err *err) {
    Lab lab;
    unsigned kernels = agreement_kernels(known, scene);
    if (!kernels)
        return err_set(err, ERR_FAILED, scene, "name no scene for all that were counted",
                       "no hardware counters were recorded on it");
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s", scene);
    bool ok = lab_open(&lab, scene, NULL, BEV_FP16, BEV_NEAREST, kernels, err);
    if (ok)
        agreement_add(agreement, &lab, known, scene);
    lab_close(&lab);
    return ok;
}

static bool add_scenes(Agreement *agreement, const LabGpus *known, const Options *options,
                       Err *err) {
    bool ok = true;
    for (int i = 0; ok && i < options->argument_count; i++)
        ok = add_scene(agreement, known, options->arguments[i], err);
    for (int i = 0; ok && options->argument_count == 0 && i < preset_total; i++)
        ok = !agreement_kernels(known, presets[i].name) ||
             add_scene(agreement, known, presets[i].name, err);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return ok;
}

static bool print_table(const Options *options, Report *table, const char *verdict, bool markdown,
                        Err *err) {
    Output output;
    if (!output_open(&output, err))
        return false;
    fprintf(output.stream,
            "The model beside recorded hardware counters and latencies, FP16, L2 warm; "
            "off: model - counted\n\n");
    (markdown ? report_markdown : report_text)(table, output.stream);
    fprintf(output.stream, "\n%s\n", verdict);
    return output_close(&output, options->output, err);
}

bool cmd_agreement(const Options *options, Err *err) {
    static Agreement agreement;
    LabGpus known;
    char verdict[640];
    const char *format = choices_name(CHOICE_FORMAT, choices_find(CHOICE_FORMAT, options->format));
    bool for_people = format[0] == 't' || format[0] == 'm';
    bool ok = lab_gpus(options, (1u << gpu_count) - 1, &known, err) &&
              add_scenes(&agreement, &known, options, err);
    if (ok) {
        Report table = agreement_table(&agreement);
        agreement_verdict(&agreement, verdict, sizeof verdict);
        ok = for_people
                 ? print_table(options, &table, verdict, format[0] == 'm', err)
                 : output_report(options, &table, json_pack("{ss}", "verdict", verdict), err);
        report_free(&table);
    }
    lab_gpus_free(&known);
    return ok;
}
