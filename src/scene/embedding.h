/* How class, colour and height become C channels, and how they are read back from pooled ones. */
#ifndef BEV_EMBEDDING_H
#define BEV_EMBEDDING_H

#include "src/scene/world.h"

/* Rows of the embedding: one a class, then red, green, blue, height. Pooling is linear, so the
 * coordinates of a pooled vector are sums too: of class i, its mass; of red, mass x red. */
enum { EMBED_R = CLASS_COUNT, EMBED_G, EMBED_B, EMBED_HEIGHT, EMBED_DIMS };

#define EMBED_HEIGHT_M 10.0 /* metres that count as 1, so that heights weigh like colours */

typedef struct {
    int64_t channels;
    float *rows; /* (EMBED_DIMS, channels), unit length; orthogonal when channels >= EMBED_DIMS */
    double *columns; /* the same turned round, (channels, EMBED_DIMS): decoding reads it in order */
} Embedding;

/* A seeded Gaussian matrix, orthonormalised in double. With fewer than EMBED_DIMS channels the
 * rows are unit vectors that cannot be told apart: embedding_decode then returns false. */
bool embedding_init(Embedding *embedding, int64_t channels, uint64_t seed, Err *err);
void embedding_free(Embedding *embedding); /* accepts NULL */

/* vector = sum of parts[i] * row i. */
void embedding_encode(const Embedding *embedding, const float parts[EMBED_DIMS], float *vector);

/* Coordinates of a pooled feature vector in the embedding: parts[EMBED_DIMS]. */
bool embedding_decode(const Embedding *embedding, const float *vector, float parts[EMBED_DIMS]);

#endif
