#include "src/ui/writer.h"

#include "src/model/data.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITING_MAX = 4, PATH_SIZE = 512, MESSAGE_SIZE = 320 };

typedef struct {
    Image image;
    char path[PATH_SIZE];
} Item;

struct Writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Item items[WAITING_MAX];
    int count;
    bool stop, has_message;
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
    pthread_mutex_lock(&writer->lock);
    while (writer->count || !writer->stop) {
        if (!writer->count) {
            pthread_cond_wait(&writer->changed, &writer->lock);
            continue;
        }
        Item item = writer->items[0];
        memmove(writer->items, writer->items + 1, (WAITING_MAX - 1) * sizeof item);
        writer->count--;
        pthread_cond_broadcast(&writer->changed);
        pthread_mutex_unlock(&writer->lock);
        write_item(&item, message);
        image_free(&item.image);
        pthread_mutex_lock(&writer->lock);
        memcpy(writer->message, message, sizeof message);
        writer->has_message = true;
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

bool writer_open(Writer **out, Err *err) {
    Writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return err_set(err, ERR_FAILED, "pictures", "", "out of memory");
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    if (pthread_create(&writer->thread, NULL, writer_main, writer) != 0) {
        free(writer);
        return err_set(err, ERR_FAILED, "pictures", "", "no thread");
    }
    *out = writer;
    return true;
}

void writer_close(Writer *writer) {
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->stop = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}

void writer_put(Writer *writer, Image *image, const char *path) {
    pthread_mutex_lock(&writer->lock);
    while (writer->count == WAITING_MAX)
        pthread_cond_wait(&writer->changed, &writer->lock);
    Item *item = &writer->items[writer->count++];
    item->image = *image;
    snprintf(item->path, sizeof item->path, "%s", path);
    *image = (Image){.w = 0};
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

bool writer_message(Writer *writer, char *text, size_t size) {
    pthread_mutex_lock(&writer->lock);
    bool has_message = writer->has_message;
    if (has_message)
        snprintf(text, size, "%s", writer->message);
    writer->has_message = false;
    pthread_mutex_unlock(&writer->lock);
    return has_message;
}
