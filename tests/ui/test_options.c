/* SPDX-License-Identifier: MIT */
/* Options of the command line have two ways to a job: the commands' own, and words of the App,
 * which the display obeys. Both give the same job; what a job gives is one (src/inputs/inputs.h).
 */
#include "src/app/app.h"
#include "src/cli/selection.h"
#include "tests/support/ok_or_note.h"
#include "tests/support/script.h"

static Options parsed(const char *name, const char *line) {
    static char text[256], *words[32]; /* options point into both */
    char *rest = text;
    int count = 0;
    Options options;
    Err err;
    snprintf(text, sizeof text, "bevscope live %s --kernel cpu_v2 %s", name, line);
    while ((words[count] = strsep(&rest, " ")))
        count += *words[count] != '\0';
    need(options_parse(&options, count, words, &err), &err);
    return options;
}

/* The job of the words, in a display that shows the scene. */
static const Job *shown(const Options *options, const SceneFacts *facts) {
    static AppMenu menu;
    AppOptions words = {.scene = options->arguments[0]};
    Err err;
    app_menu_open(&menu, 1u << BEV_CPU);
    state_init(&state, &menu.menu, app_menu_scene(&menu, words.scene));
    state.job.time_s = options->time_s;
    need(select_words(options, menu.menu.where, &words, &err), &err);
    step(EVENT_FRAME, .scene = facts);
    for (int i = 0; i < words.word_count; i++)
        use("%s", words.words[i]);
    return &state.job;
}

static bool same_rigs(const Job *a, const Job *b, int cameras) {
    const uint32_t seen = cameras < 32 ? (1u << cameras) - 1 : UINT32_MAX;
    bool same = a->temperature == b->temperature && a->balance == b->balance &&
                prune_equal(&a->prune, &b->prune) && a->outlier == b->outlier &&
                a->rounding == b->rounding && (a->camera_mask & seen) == (b->camera_mask & seen);
    for (int i = 0; same && i < cameras; i++)
        same = camera_error_equal(&a->camera_errors[i], &b->camera_errors[i]);
    return same;
}

TAP_SUITE(options_agree) {
    static const char *const lines[] = {
        "--dtype bf16",
        "--temperature 20 --dtype fp8",
        "--align bilinear --time 3",
        "--channels 8 --outlier 20",
        "--prune 0.02 --balance 0.5",
        "--prune top3 --align bilinear --dtype int8",
        "--rounding truncate",
        "--camera front --yaw 3.14159 --pitch 1 --roll -2 --height 0.3",
        "--camera 1 --shift-x 0.5 --shift-y 0.2 --focal 3",
        "--camera back --delay 700 --time 2",
        "--camera front --dropout --balance 1",
        "--points 5000 --skew 0.3"};
    Err err;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *scene = strstr(lines[i], "--points") ? "histogram" : "small";
        const Options options = parsed(scene, lines[i]);
        Workload workload;
        need(select_open(&workload, scene, &options, &err) &&
                 select_use_fault(&options, &workload, &err),
             &err);
        const Job *a = &workload.job, *b = shown(&options, &workload.loaded->facts);
        tap_ok(a->channels == b->channels && a->time_s == b->time_s &&
                   (!a->sizes.points || operator_same_change(&a->sizes, &b->sizes)) &&
                   (!options.dtype || !strcmp(bev_dtypes[b->config.dtype].name, options.dtype)) &&
                   (!options.align || !strcmp(bev_aligns[b->config.align].name, options.align)) &&
                   same_rigs(a, b, workload.loaded->facts.camera_count),
               "%s: one job", lines[i]);
        if (i == sizeof lines / sizeof *lines - 2) {
            const Options nobody = parsed(scene, "--camera nobody --yaw 3 --dropout");
            const Job plain = job_plain();
            tap_ok(same_rigs(shown(&nobody, &workload.loaded->facts), &plain, RIG_MAX_CAMERAS),
                   "the fault of a camera that is not there is no other camera's");
        }
        workload_close(&workload);
    }
}
