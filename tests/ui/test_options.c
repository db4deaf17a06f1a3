/* Options of the command line have two ways to a grid: a workload, which snapshot, verify and bench
 * pool, and words of the App, which the display pools. Both give the same bits. */
#include "src/app/app.h"
#include "src/cli/selection.h"
#include "src/live/pipeline.h"
#include "tests/support/maps.h"
#include "tests/support/script.h"

#include <unistd.h>

static char scene[] = "/tmp/options-XXXXXX.json";

/* The intersection with a quarter of its pixels, cells and depths on each side; a temperature. */
static void write_scene(void) {
    char command[1024];
    int file = mkstemps(scene, 5);
    snprintf(command, sizeof command,
             "sed -e 's/\"resize\": 0.44/\"resize\": 0.11/; s/\\[704, 256\\]/[176, 64]/' -e "
             "'s/\"crop_px\": \\[0, 140\\]/\"crop_px\": [0, 35]/; s/\\[1, 60, 1\\]/[1, 60, 4]/' -e "
             "'s/\"features\": \\[44, 16\\]/\"features\": [11, 4]/; s/\\[200, 200\\]/[50, 50]/' -e "
             "'s/\"depth_temperature\": 1/\"depth_temperature\": 0.5/; s/ls\": 80/ls\": 16/' "
             "'%s/samples/intersection.json' >%s",
             getenv("BEVSCOPE_DATA"), scene);
    tap_need(file >= 0 && system(command) == 0, "a scene");
    close(file);
}

static Options parsed(const char *name, const char *line) {
    static char text[256];
    char *words[32] = {"bevscope", "live", (char *)name, "--kernel", "cpu_v2"}, *rest = text;
    int count = 5;
    Options options;
    Err err;
    snprintf(text, sizeof text, "%s", line);
    while ((words[count] = strsep(&rest, " ")))
        count += *words[count] != '\0';
    tap_need(options_parse(&options, count, words, &err), line);
    return options;
}

static void compare(const Options *options, const FrameInputs *shown, const char *line) {
    const Job opened = select_job(options);
    const KernelConfig *config = &shown->pooled->config;
    const char *name = options->arguments[0];
    Workload workload;
    Pooled pooled = {.config = *config};
    Err err;
    tap_need(select_open(&workload, name, &opened, &err), "a workload");

    bool ok = select_use_fault(options, &workload, &err) &&
              workload_problem(&workload, config->dtype, config->align, &pooled.problem, &err) &&
              pooled_launch(&pooled, &err);
    float *values = ok ? tensor_decoded(&pooled.problem.view.out, pooled.codes, &err) : NULL;
    const BevShape *shape = &workload.seen->shape;
    const Features *a = workload.features, *b = &shown->features->values;
    tap_need(ok && shape->channels == shown->features->shape.channels, "a grid");
    tap_ok(same_array(a->depth, b->depth, (int64_t)features_depth_count(shape)) &&
               same_array(a->feat, b->feat, (int64_t)features_feat_count(shape)),
           "%s: depth and features", line);
    tap_ok(same_map(&pooled.problem.view.map, &shown->map->map), "%s: the map", line);
    tap_ok(same_array(values, shown->pooled->values, shape->nx * shape->ny * shape->channels),
           "%s: the grid", line);
    free(values);
    pooled_free(&pooled);
    workload_close(&workload);
}

/* The state of the words, and what the display then pools. */
static const FrameInputs *show(const Options *options, Pipeline *pipeline) {
    static AppMenu menu;
    static LiveData live;
    AppOptions words = {.scene = options->arguments[0]};
    const PipelineNeeds needs = {.fp64_original = false};
    Err err;
    app_menu_open(&menu, 1u << BEV_CPU);
    state_init(&state, &menu.menu, app_menu_scene(&menu, words.scene));
    state.job.time_s = options->time_s;
    live_init(&live);
    tap_need(select_words(options, menu.menu.where, &words, &err) &&
                 pipeline_run(pipeline, &state, needs, &live, &err) == PIPELINE_DONE,
             "the scene");
    step(EVENT_FRAME, .scene = &pipeline_inputs(pipeline)->scene->facts);
    for (int i = 0; i < words.word_count; i++)
        use("%s", words.words[i]);
    tap_need(pipeline_run(pipeline, &state, needs, &live, &err) == PIPELINE_DONE, "a frame");
    return pipeline_inputs(pipeline);
}

TAP_SUITE(options_agree) {
    static const char *const lines[] = {
        "--dtype bf16",
        "--temperature 20 --dtype fp8",
        "--align bilinear --time 3",
        "--channels 8 --outlier 20",
        "--prune 0.02 --evenness 0.5",
        "--prune top3 --align bilinear --dtype int8",
        "--rounding truncate",
        "--camera front --yaw 3.14159 --pitch 1 --roll -2 --height 0.3",
        "--camera 1 --shift-x 0.5 --shift-y 0.2 --focal 3",
        "--camera back --delay 700 --time 2",
        "--camera front --dirty --evenness 1",
        "--points 5000 --skew 0.3"};
    Pipeline *pipeline;
    Err err;
    write_scene();
    tap_need(pipeline_open(&pipeline, &err), "a pipeline");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const bool operator= strstr(lines[i], "--points") != NULL;
        const Options options = parsed(operator? "histogram" : scene, lines[i]);
        compare(&options, show(&options, pipeline), lines[i]);
    }
    const Options nobody = parsed(scene, "--camera nobody --yaw 3 --dirty");
    show(&nobody, pipeline);
    tap_ok(state.job.camera_mask == UINT32_MAX &&
               camera_error_equal(&state.job.camera_errors[0], &(CameraError){.yaw_deg = 0}),
           "the fault of a camera that is not there is no other camera's");
    pipeline_close(pipeline);
    unlink(scene);
}
