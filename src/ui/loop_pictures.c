/* Snapshots and recordings of the live display. */
#include "src/ui/loop_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SNAPSHOT_W = 1280, SNAPSHOT_H = 860, MAX_RECORDINGS = 1000 };

static bool make_image(const Loop *loop, Image *image, Err *err) {
    if (loop->window)
        return window_capture(loop->window, &loop->state, loop_live(loop), loop_picture(loop),
                              image, err);
    return window_image(SNAPSHOT_W, SNAPSHOT_H, 1, &loop->state, loop_live(loop),
                        loop_picture(loop), image, err);
}

static void write_picture(Loop *loop, const char *path) {
    Image image;
    Err err;
    if (make_image(loop, &image, &err))
        writer_put(loop->writer, &image, path);
    else
        loop_note_error(loop, &err);
}

void loop_snapshot(Loop *loop) {
    char name[256];
    state_snapshot_name(&loop->state, name, sizeof name);
    write_picture(loop, name);
}

/* A folder of its own for each recording: no older frames are written over. */
void loop_recording(Loop *loop) {
    loop->recording[0] = '\0';
    for (int i = 1; loop->state.recording && i < MAX_RECORDINGS; i++) {
        snprintf(loop->recording, sizeof loop->recording, "recording-%03d", i);
        loop->recorded = -1;
        if (mkdir(loop->recording, 0777) == 0)
            return;
        if (errno != EEXIST)
            break;
    }
    if (loop->state.recording) {
        Err err;
        err_set(&err, ERR_FAILED, loop->recording, "", "no folder for the recording: %s",
                strerror(errno));
        loop->recording[0] = '\0';
        loop_note_error(loop, &err);
    }
}

void loop_record_frame(Loop *loop) {
    char name[64], path[160];
    if (!loop->recording[0] || loop->recorded == loop->state.recorded_frames)
        return;
    loop->recorded = loop->state.recorded_frames;
    state_frame_name(&loop->state, name, sizeof name);
    snprintf(path, sizeof path, "%s/%s", loop->recording, name);
    write_picture(loop, path);
}

void loop_take_messages(Loop *loop) {
    char text[512];
    if (writer_message(loop->writer, text, sizeof text) && !loop->recording[0])
        loop_note(loop, text);
    if (loop->term && term_error_line(loop->term, text, sizeof text))
        loop_note(loop, text);
}
