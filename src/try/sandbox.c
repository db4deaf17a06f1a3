#include "src/try/sandbox.h"

#include "src/try/job.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
/* clang-format off */
#define LOAD(field)      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define END(value)       BPF_STMT(BPF_RET | BPF_K, (value))
#define UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (n)) /* skips n */
#define IF_ANY(bits)     BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1)   /* else skips one */
#define TRAP(why)        END(SECCOMP_RET_TRAP | (why))

/* One line a system call; the number is loaded. */
#define REFUSE(call, why)             UNLESS(SYS_##call, 1), TRAP(why)
#define REFUSE_WRITING(call, flags)   UNLESS(SYS_##call, 4), LOAD(args[flags]),                    \
                                      IF_ANY(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC),               \
                                      TRAP(REFUSED_WRITE), END(SECCOMP_RET_ALLOW)
#define REFUSE_TO_OTHERS(call, self)  UNLESS(SYS_##call, 4), LOAD(args[0]), UNLESS(self, 1),       \
                                      END(SECCOMP_RET_ALLOW), TRAP(REFUSED_SIGNAL)

static bool filter_calls(void) {
    unsigned self = (unsigned)getpid();
    struct sock_filter rules[] = {
        LOAD(arch), UNLESS(ARCHITECTURE, 1), BPF_STMT(BPF_JMP | BPF_JA, 1), TRAP(REFUSED_OTHER),
        LOAD(nr),
#ifdef SYS_fork
        REFUSE(fork, REFUSED_PROCESS), REFUSE(vfork, REFUSED_PROCESS),
#endif
        REFUSE(execve, REFUSED_PROCESS), REFUSE(execveat, REFUSED_PROCESS),
        UNLESS(SYS_clone, 4), LOAD(args[0]), IF_ANY(CLONE_THREAD), END(SECCOMP_RET_ALLOW),
        TRAP(REFUSED_PROCESS),
        /* Its flags lie in memory, which a filter cannot read: the C library then takes clone. */
        UNLESS(SYS_clone3, 1), END(SECCOMP_RET_ERRNO | ENOSYS),
        UNLESS(SYS_openat2, 1), END(SECCOMP_RET_ERRNO | ENOSYS),
        REFUSE_WRITING(openat, 2),
#ifdef SYS_open
        REFUSE_WRITING(open, 1), REFUSE(creat, REFUSED_WRITE), REFUSE(unlink, REFUSED_WRITE),
        REFUSE(rename, REFUSED_WRITE), REFUSE(mkdir, REFUSED_WRITE), REFUSE(rmdir, REFUSED_WRITE),
        REFUSE(link, REFUSED_WRITE), REFUSE(symlink, REFUSED_WRITE), REFUSE(chmod, REFUSED_WRITE),
#endif
        REFUSE(unlinkat, REFUSED_WRITE), REFUSE(renameat2, REFUSED_WRITE),
        REFUSE(renameat, REFUSED_WRITE), REFUSE(mkdirat, REFUSED_WRITE),
        REFUSE(linkat, REFUSED_WRITE), REFUSE(symlinkat, REFUSED_WRITE),
        REFUSE(fchmodat, REFUSED_WRITE), REFUSE(truncate, REFUSED_WRITE),
        REFUSE(socket, REFUSED_NETWORK), REFUSE(socketpair, REFUSED_NETWORK),
        REFUSE(ptrace, REFUSED_SIGNAL), REFUSE(tkill, REFUSED_SIGNAL),
        REFUSE(rt_sigqueueinfo, REFUSED_SIGNAL), REFUSE(pidfd_send_signal, REFUSED_SIGNAL),
        REFUSE(io_uring_setup, REFUSED_OTHER),
        REFUSE_TO_OTHERS(kill, self), REFUSE_TO_OTHERS(tgkill, self),
        END(SECCOMP_RET_ALLOW),
    };
    /* clang-format on */
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool filter_calls(void) {
    return false;
}
#endif

#if defined(__has_feature)
#define UNDER_ASAN __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

static void limit(int resource, rlim_t soft, rlim_t hard) {
    setrlimit((__rlimit_resource_t)resource, &(struct rlimit){soft, hard});
}

/* The limit counts all threads of the user; those of the whole system are at least as many. */
static void limit_processes(void) {
    struct sysinfo info;
    if (sysinfo(&info) != 0)
        return;
    rlim_t enough = (rlim_t)info.procs + 2 * (rlim_t)sysconf(_SC_NPROCESSORS_ONLN) + 32;
    limit(RLIMIT_NPROC, enough, enough);
}

void sandbox_enter(double seconds, size_t bytes) {
    rlim_t cpu_s = (rlim_t)seconds + 1;
    limit(RLIMIT_CPU, cpu_s, cpu_s + 1);
    if (!UNDER_ASAN)
        limit(RLIMIT_AS, bytes, bytes);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_FSIZE, 0, 0);
    if (!filter_calls())
        limit_processes();
}
