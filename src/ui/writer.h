/* Writes pictures as PNG on a thread of its own: compressing one takes longer than a frame may. */
#ifndef BEV_WRITER_H
#define BEV_WRITER_H

#include "src/view/draw/image.h"

typedef struct Writer Writer;

bool writer_open(Writer **writer, Err *err);

/* Finishes what is waiting. Accepts NULL. */
void writer_close(Writer *writer);

/* Takes the image over. Waits while too many are waiting: no frame of a recording is dropped. */
void writer_put(Writer *writer, Image *image, const char *path);

/* One message about what was written, or why it was not; false: none is waiting. */
bool writer_message(Writer *writer, char *text, size_t size);

#endif
