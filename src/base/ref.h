/* Memory with several owners: a finished frame and the next ones hold the same features as long as
 * those stay the same. Contents do not change once a second owner has them. */
#ifndef BEV_REF_H
#define BEV_REF_H

#include <stddef.h>

/* Zeroed memory with one owner; `destroy` is called on it when the last one lets go. NULL: no
 * memory. */
void *ref_new(size_t size, void (*destroy)(void *contents));

/* One more owner; returns `contents`. Both accept NULL. */
void *ref_keep(void *contents);
void ref_drop(void *contents);

#endif
