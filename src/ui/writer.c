#include "src/ui/writer.h"

#include "src/base/worker.h"
#include "src/base/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITING_MAX = 4, PATH_SIZE = 512, MESSAGE_SIZE = 320 };

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

bool writer_open(Writer **out, Err *err) {
    Writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return err_set(err, ERR_FAILED, "pictures", "", "out of memory");
    if (!worker_start(&writer->worker, writer_main, writer, "pictures", err)) {
        free(writer);
        return false;
    }
    *out = writer;
    return true;
}

void writer_close(Writer *writer) {
    if (!writer)
        return;
    worker_end(&writer->worker);
    free(writer);
}

void writer_put(Writer *writer, Image *image, const char *path) {
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

bool writer_message(Writer *writer, char *text, size_t size) {
    worker_lock(&writer->worker);
    bool has_message = writer->has_message;
    if (has_message)
        snprintf(text, size, "%s", writer->message);
    writer->has_message = false;
    worker_unlock(&writer->worker);
    return has_message;
}
