/* How what takes long learns that nobody wants it any more. */
#ifndef BEV_GIVE_UP_H
#define BEV_GIVE_UP_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: never. `asked` may be called from any thread; once true it stays true until what was
 * begun has returned. */
typedef struct {
    bool (*asked)(void *context);
    void *context;
} GiveUp;

/* Accepts NULL: never. */
static inline bool given_up(const GiveUp *give_up) {
    return give_up && give_up->asked && give_up->asked(give_up->context);
}

#endif
