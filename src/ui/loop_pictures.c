/* SPDX-License-Identifier: MIT */
/* Snapshots and recordings of the live display. A thread of its own compresses and writes the PNG
 * files, which takes longer than a frame may. */
#include "src/base/data.h"
#include "src/base/worker.h"
#include "src/ui/loop_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SNAPSHOT_W = 1280, SNAPSHOT_H = 860, MAX_RECORDINGS = 1000 };
enum { WAITING_MAX = 4, PATH_SIZE = 512, MESSAGE_SIZE = 320 };

/* ---- the writing thread ---------------------------------------------------------------------- */

typedef struct {
    Image image;
    char path[PATH_SIZE];
} Item;

typedef struct {
    bool failed; /* `text`: the error; else the file that was written */
    char text[MESSAGE_SIZE];
} Message;

struct Writer {
    Worker worker;
    Item items[WAITING_MAX];
    int count;
    Message messages[WAITING_MAX]; /* oldest first */
    int message_count;
};

static void write_item(const Item *item, Message *message) {
    uint8_t *bytes = NULL;
    size_t length;
    Err err;
    bool ok = image_png(&item->image, &bytes, &length, &err) &&
              data_write(item->path, bytes, length, &err);
    free(bytes);
    message->failed = !ok;
    if (ok)
        snprintf(message->text, MESSAGE_SIZE, "wrote %.280s", item->path);
    else
        err_line(&err, message->text, MESSAGE_SIZE);
}

/* Queues a message, under the lock. In a full queue an error replaces the newest message. */
static void leave_message(Writer *writer, const Message *message) {
    if (writer->message_count < WAITING_MAX)
        writer->messages[writer->message_count++] = *message;
    else if (message->failed)
        writer->messages[WAITING_MAX - 1] = *message;
}

static void *writer_main(void *argument) {
    Writer *writer = argument;
    Message message;
    worker_lock(&writer->worker);
    while (writer->count || !writer->worker.stop) {
        if (!writer->count) {
            worker_wait(&writer->worker);
            continue;
        }
        Item item = writer->items[0];
        memmove(writer->items, writer->items + 1, (WAITING_MAX - 1) * sizeof item);
        writer->count--;
        worker_tell(&writer->worker);
        worker_unlock(&writer->worker);
        write_item(&item, &message);
        image_free(&item.image);
        worker_lock(&writer->worker);
        leave_message(writer, &message);
    }
    worker_unlock(&writer->worker);
    return NULL;
}

bool loop_open_writer(Loop *loop, Err *err) {
    Writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return err_set(err, ERR_FAILED, "pictures", "", "out of memory");
    if (!worker_start(&writer->worker, writer_main, writer, "pictures", err)) {
        free(writer);
        return false;
    }
    loop->writer = writer;
    return true;
}

/* Takes the oldest message from the queue. Returns false where the queue is empty. */
static bool take_message(Writer *writer, Message *message) {
    worker_lock(&writer->worker);
    bool waits = writer->message_count > 0;
    if (waits) {
        *message = writer->messages[0];
        writer->message_count--;
        memmove(writer->messages, writer->messages + 1,
                (size_t)writer->message_count * sizeof *message);
    }
    worker_unlock(&writer->worker);
    return waits;
}

bool loop_close_writer(Loop *loop, double patience_ms, int *left, char *error, size_t size) {
    Writer *writer = loop->writer;
    Message message;
    *left = 0;
    error[0] = '\0';
    if (!writer)
        return true;
    if (!worker_stop_within(&writer->worker, patience_ms)) {
        worker_lock(&writer->worker);
        *left = writer->count + 1; /* those that wait, and the one in hand */
        worker_unlock(&writer->worker);
        return false;
    }
    while (!error[0] && take_message(writer, &message))
        if (message.failed)
            snprintf(error, size, "%s", message.text);
    worker_close(&writer->worker);
    free(writer);
    loop->writer = NULL;
    return true;
}

/* Takes the image over and queues it. Waits while the queue is full, so that no frame is lost. */
static void writer_put(Writer *writer, Image *image, const char *path) {
    worker_lock(&writer->worker);
    while (writer->count == WAITING_MAX)
        worker_wait(&writer->worker);
    Item *item = &writer->items[writer->count++];
    item->image = *image;
    snprintf(item->path, sizeof item->path, "%s", path);
    *image = (Image){.w = 0};
    worker_tell(&writer->worker);
    worker_unlock(&writer->worker);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static bool make_image(const Loop *loop, const State *state, Image *image, Err *err) {
    if (loop->window)
        return sdl_window_capture(loop->window, state, app_live(&loop->app),
                                  app_picture(&loop->app), image, err);
    return window_image(SNAPSHOT_W, SNAPSHOT_H, state_text_scale(state), state,
                        app_live(&loop->app), app_picture(&loop->app), image, err);
}

static void write_picture(Loop *loop, const State *state, const char *path) {
    Image image;
    Err err;
    if (make_image(loop, state, &image, &err))
        writer_put(loop->writer, &image, path);
    else
        app_note_error(&loop->app, &err);
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

/* Logs the messages of the writer. Only the first error of a recording is logged. */
void loop_take_messages(Loop *loop) {
    Message message;
    char text[512];
    while (take_message(loop->writer, &message)) {
        if (!loop->recording[0] || (message.failed && !loop->frame_lost))
            app_note(&loop->app, message.text);
        loop->frame_lost |= message.failed;
    }
    if (loop->term && term_error_line(loop->term, text, sizeof text))
        app_note(&loop->app, text);
}
