/* bevscope [live] [SCENE] and bevscope demo: from the options to the loop of the live display. */
#include "src/base/progress.h"
#include "src/cachesim/gpus.h"
#include "src/cli/live.h"
#include "src/cli/selection.h"
#include "src/run/machine.h"
#include "src/scene/scene.h"
#include "src/base/rescue.h"
#include "src/ui/script.h"

#include <malloc.h>
#include <unistd.h>

/* By default malloc keeps freed blocks of up to 32 MB, in one heap for each thread: as sizes
 * change, the holes between blocks grow. With these settings small blocks share one heap, and large
 * ones (grids and maps) go back to the system when they are freed. */
static void keep_memory_flat(void) {
    enum { LARGE = 256 << 10 };
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, LARGE);
}

bool live_run(const LoopOptions *options, Err *err) {
    LoopEnd end;
    keep_memory_flat();
    bool ok = loop_run(options, &end, err);
    if (end.signal)
        rescue_die(end.signal);
    if (ok && end.threads_left) { /* exit() would free memory that they use */
        fflush(stdout);
        _exit(0);
    }
    return ok;
}

/* The memory model begins with the GPU of this machine, when the table has it. */
static void add_gpu(LoopOptions *loop) {
    if (!(loop->where & 1u << BEV_CUDA))
        return;
    Machine machine;
    machine_read(&machine);
    const Gpu *gpu = gpu_of_device(machine.gpu);
    app_word(&loop->app, "gpu", gpu ? gpu->name : NULL);
}

/* Scripts run on the CPU on every machine, so that the same input gives the same bytes. */
static bool run_script(const Options *options, const LoopOptions *loop, Err *err) {
    ScriptOptions script = {
        .app = loop->app,
        .file = options->script,
        .frames = options->frames ? options->frames : "frames",
        .ascii = options->ascii,
        .no_color = loop->color == TERM_COLOR_NEVER,
    };
    progress_begin("script", options->quiet);
    progress_step("frames", 0, 1);
    bool ok = script_size(options->size ? options->size : "120x40", &script.columns, &script.rows,
                          err) &&
              script_run(&script, err);
    progress_end();
    return ok;
}

static LoopOptions screens(const Options *options) {
    return (LoopOptions){.color = (TermColor)choices_find(CHOICE_COLOR, options->color),
                         .ascii = options->ascii,
                         .no_window = options->no_window,
                         .no_mouse = options->no_mouse,
                         .no_terminal = options->plain || term_impossible() != NULL};
}

bool cmd_live(const Options *options, Err *err) {
    LoopOptions loop = screens(options);
    loop.app.scene = options->argument_count ? options->arguments[0] : preset_world;
    loop.app.other = options->compare;
    loop.app.time_s = options->time_s;
    if (!select_single(options, "takes one name", "keys change it later", err) ||
        !select_devices(options->script ? "cpu" : options->device, &loop.where, err) ||
        !select_words(options, loop.where, &loop.app, err))
        return false;
    if (options->script)
        return run_script(options, &loop, err);
    loop.app.paused = loop.no_terminal; /* printed lines need figures that settle */
    add_gpu(&loop);
    loop.app.greets = !loop.no_terminal;
    return live_run(&loop, err);
}

bool cmd_demo(const Options *options, Err *err) {
    LoopOptions loop = screens(options);
    loop.app.scene = "canonical";
    loop.app.tour = true;
    if (loop.no_terminal)
        return err_set(err, ERR_FAILED, "demo",
                       "bevscope live --script samples/demo.keys writes it as pictures", "%s",
                       term_impossible());
    if (!select_devices(options->device, &loop.where, err) ||
        !select_words(options, loop.where, &loop.app, err))
        return false;
    add_gpu(&loop);
    return live_run(&loop, err);
}
