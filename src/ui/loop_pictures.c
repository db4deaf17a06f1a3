/* Snapshots and recordings of the live display. A thread of its own compresses and writes the PNG
 * files, because that takes longer than a frame may. */
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

struct Writer {
    Worker worker;
    Item items[WAITING_MAX];
    int count;
    bool has_message;
    char message[MESSAGE_SIZE];
};

static void write_item(const Item *item, char *message) {
    uint8_t *bytes = NULL;
    size_t length;
    Err err;
    bool ok = image_png(&item->image, &bytes, &length, &err) &&
              data_write(item->path, bytes, length, &err);
    free(bytes);
    if (ok)
        snprintf(message, MESSAGE_SIZE, "wrote %.280s", item->path);
    else
        err_line(&err, message, MESSAGE_SIZE);
}

static void *writer_main(void *argument) {
    Writer *writer = argument;
    char message[MESSAGE_SIZE];
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
        write_item(&item, message);
        image_free(&item.image);
        worker_lock(&writer->worker);
        memcpy(writer->message, message, sizeof message);
        writer->has_message = true;
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

bool loop_close_writer(Loop *loop, double patience_ms, int *left) {
    Writer *writer = loop->writer;
    *left = 0;
    if (!writer)
        return true;
    if (!worker_stop_within(&writer->worker, patience_ms)) {
        worker_lock(&writer->worker);
        *left = writer->count + 1; /* those that wait, and the one in hand */
        worker_unlock(&writer->worker);
        return false;
    }
    worker_close(&writer->worker);
    free(writer);
    loop->writer = NULL;
    return true;
}

/* Takes the image over. Waits while the queue is full: no frame of a recording is dropped. */
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

/* A message about what was written, or why it was not; false: none is waiting. */
static bool writer_message(Writer *writer, char *text, size_t size) {
    worker_lock(&writer->worker);
    bool has_message = writer->has_message;
    if (has_message)
        snprintf(text, size, "%s", writer->message);
    writer->has_message = false;
    worker_unlock(&writer->worker);
    return has_message;
}

/* ---- pictures -------------------------------------------------------------------------------- */

static bool make_image(const Loop *loop, Image *image, Err *err) {
    if (loop->window)
        return sdl_window_capture(loop->window, &loop->state, loop_live(loop), loop_picture(loop),
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

/* Each recording gets a new folder, so that no older frames are overwritten. */
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
