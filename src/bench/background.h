/* Threads whose work can wait. */
#ifndef BEV_BACKGROUND_H
#define BEV_BACKGROUND_H

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From now on the calling thread, and those that it starts, take the time that pictures leave. */
static inline void stand_back(void) {
    enum { LEAST = 10 };
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), LEAST);
}

#endif
