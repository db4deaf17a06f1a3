/* SPDX-License-Identifier: MIT */
/* Snapshots and recordings of the live display. */
#include "src/ui/loop_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SNAPSHOT_W = 1280, SNAPSHOT_H = 860, MAX_RECORDINGS = 1000 };

static bool make_image(const Loop *loop, const State *state, Image *image, Err *err) {
    if (loop->window)
        return sdl_window_capture(loop->window, state, app_live(&loop->app),
                                  app_picture(&loop->app), image, err);
    return window_image(SNAPSHOT_W, SNAPSHOT_H, state_text_scale(state), state,
                        app_live(&loop->app), app_picture(&loop->app), image, err);
}

/* Writes what is shown and says so. Only the first error of a recording is said. */
static void write_picture(Loop *loop, const State *state, const char *path) {
    Image image = {.w = 0};
    Err err;
    char text[320];
    const bool frame = loop->recording[0] != '\0';
    loop->picture_lost =
        !make_image(loop, state, &image, &err) || !image_write(&image, path, frame, &err);
    image_free(&image);
    snprintf(text, sizeof text, "wrote %.280s", path);
    if (loop->picture_lost)
        err_line(&err, loop->lost, sizeof loop->lost);
    if (loop->picture_lost && !(frame && loop->frame_lost))
        app_note(&loop->app, loop->lost);
    else if (!loop->picture_lost && !frame)
        app_note(&loop->app, text);
    loop->frame_lost |= loop->picture_lost;
}

void loop_snapshot(Loop *loop) {
    char name[256];
    const LiveData *live = app_live(&loop->app);
    State bare = loop->app.state;
    bare.bare = true;
    if (!loop->app.frame) {
        app_note(&loop->app, "snapshot: the first picture is not there yet, try again");
        return;
    }
    state_snapshot_name(&bare, &live->job, live->stand_in, name, sizeof name);
    write_picture(loop, &bare, name);
}

/* Begins or ends a recording. Each recording gets a new folder, so that older frames are kept. */
void loop_recording(Loop *loop) {
    loop->recording[0] = '\0';
    for (int i = 1; loop->app.state.recording && i < MAX_RECORDINGS; i++) {
        snprintf(loop->recording, sizeof loop->recording, "recording-%03d", i);
        loop->recorded = -1;
        loop->frame_lost = false;
        if (mkdir(loop->recording, 0777) == 0)
            return;
        if (errno != EEXIST)
            break;
    }
    if (loop->app.state.recording) {
        Err err;
        err_set(&err, ERR_FAILED, loop->recording, "", "no folder for the recording: %s",
                strerror(errno));
        loop->recording[0] = '\0';
        app_note_error(&loop->app, &err);
    }
}

void loop_record_frame(Loop *loop) {
    char name[64], path[160];
    if (!loop->recording[0] || loop->recorded == loop->app.state.recorded_frames)
        return;
    loop->recorded = loop->app.state.recorded_frames;
    state_frame_name(&loop->app.state, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", loop->recording, name);
    write_picture(loop, &loop->app.state, path);
}

void loop_take_messages(Loop *loop) {
    char text[512];
    if (loop->term && term_error_line(loop->term, text, sizeof text))
        app_note(&loop->app, text);
}
