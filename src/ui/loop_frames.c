/* The engine of the live display, and the frames that come from it. */
#include "src/base/ref.h"
#include "src/ui/loop_internal.h"
#include "src/ui/rescue.h"

#include <string.h>

/* ---- pictures, made on the engine's thread --------------------------------------------------- */

static void destroy_picture(void *contents) {
    window_picture_free(contents);
}

static void *make_picture(const State *state, const LiveData *live, void *previous, const GiveUp *give_up,
                   Err *err) {
    WindowPicture picture;
    bool same;
    if (!window_picture(state, live, previous, give_up, &picture, &same, err))
        return NULL;
    if (same)
        return ref_keep(previous);
    WindowPicture *shared = ref_new(sizeof *shared, destroy_picture);
    if (shared)
        *shared = picture;
    else {
        window_picture_free(&picture);
        err_set(err, ERR_FAILED, "picture", "", "out of memory");
    }
    return shared;
}

bool loop_open_engine(Loop *loop, Err *err) {
    const EngineOptions options = {.where = loop->options->where,
                                   .background = true,
                                   .make_picture = make_picture,
                                   .thread_begin = rescue_thread_begin,
                                   .thread_end = rescue_thread_end};
    return engine_open(&loop->engine, &options, err);
}

/* ---- frames ---------------------------------------------------------------------------------- */

const LiveData *loop_live(const Loop *loop) {
    return loop->frame ? &loop->frame->live : &loop->nothing;
}

const WindowPicture *loop_picture(const Loop *loop) {
    return loop->frame ? loop->frame->picture : NULL;
}

/* A GPU that is lost stays lost for this process: the CPU takes over. */
static void leave_device(Loop *loop) {
    char why[160];
    if (!(loop->state.menu.where & 1u << BEV_CUDA) ||
        loop->state.job.config.kernel->where != BEV_CUDA)
        return;
    loop->state.menu.where = 1u << BEV_CPU;
    loop_words(loop, "backend cpu", why, sizeof why);
}

void loop_take_frame(Loop *loop) {
    const EngineFrame *frame = engine_take(loop->engine);
    if (!frame)
        return;
    if (!frame->loads) { /* the scene that was asked for cannot be shown at all */
        *loop->err = frame->err;
        loop->failed = loop->quit = true;
        return;
    }
    loop->frame = frame;
    loop->term_dirty = loop->window_dirty = true;
    loop->echoes = loop->echoes && frame->request < loop->request;
    if (frame->loads != loop->loads) {
        loop->loads = frame->loads;
        loop_step(loop, &(Event){.kind = EVENT_SCENE, .scene = &frame->facts});
    }
    const Headline headline = live_headline(&frame->live);
    loop_step(loop, &(Event){.kind = EVENT_RESULT, .headline = &headline});
    if (strcmp(loop->error_text, frame->live.error_text) != 0) {
        memcpy(loop->error_text, frame->live.error_text, sizeof loop->error_text);
        if (loop->error_text[0])
            loop_note(loop, loop->error_text);
    }
    if (frame->notes != loop->notes)
        loop_note(loop, frame->note);
    loop->notes = frame->notes;
    if (frame->device_lost)
        leave_device(loop);
}
