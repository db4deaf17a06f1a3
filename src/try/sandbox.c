#include "src/try/sandbox.h"

#include "src/try/job.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
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

/* One line a system call; the number is loaded. WITH: an argument has that value, else it is refused;
 * WITHOUT: has none of these bits. */
#define ALLOW(call)               UNLESS(SYS_##call, 1), END(SECCOMP_RET_ALLOW)
#define FAIL(call, error)         UNLESS(SYS_##call, 1), END(SECCOMP_RET_ERRNO | (error))
#define WITH(call, i, value)      UNLESS(SYS_##call, 4), LOAD(args[i]), UNLESS(value, 1),          \
                                  END(SECCOMP_RET_ALLOW), END(SECCOMP_RET_TRAP)
#define WITH_EITHER(call, i, a, b) UNLESS(SYS_##call, 6), LOAD(args[i]), UNLESS(a, 1),             \
                                  END(SECCOMP_RET_ALLOW), UNLESS(b, 1), END(SECCOMP_RET_ALLOW),    \
                                  END(SECCOMP_RET_TRAP)
#define WITHOUT(call, i, bits)    UNLESS(SYS_##call, 4), LOAD(args[i]), IF_ANY(bits),              \
                                  END(SECCOMP_RET_TRAP), END(SECCOMP_RET_ALLOW)
#define WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* What a computing kernel, the C library and OpenMP need; every other call ends the process. Numbers of
 * x32 are other numbers. */
static bool filter_calls(void) {
    unsigned self = (unsigned)getpid();
    struct sock_filter rules[] = {
        LOAD(arch), UNLESS(ARCHITECTURE, 1), BPF_STMT(BPF_JMP | BPF_JA, 1),
        END(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        /* threads and time */
        ALLOW(futex), ALLOW(sched_yield), ALLOW(nanosleep), ALLOW(clock_nanosleep),
        ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(gettimeofday), ALLOW(restart_syscall),
        UNLESS(SYS_clone, 4), LOAD(args[0]), IF_ANY(CLONE_THREAD), END(SECCOMP_RET_ALLOW),
        END(SECCOMP_RET_TRAP),
        FAIL(clone3, ENOSYS), /* its flags lie in memory, which a filter cannot read */
        ALLOW(set_robust_list), ALLOW(rseq), ALLOW(set_tid_address), ALLOW(membarrier),
        ALLOW(sched_getaffinity), FAIL(sched_setaffinity, EPERM), ALLOW(getcpu),
        ALLOW(exit), ALLOW(exit_group),
        /* memory */
        ALLOW(mmap), ALLOW(munmap), ALLOW(mprotect), ALLOW(mremap), ALLOW(brk), ALLOW(madvise),
        /* files to read; standard output */
        ALLOW(read), ALLOW(readv), ALLOW(pread64), ALLOW(lseek), ALLOW(close), ALLOW(fstat),
        ALLOW(newfstatat), FAIL(statx, ENOSYS), ALLOW(readlinkat), ALLOW(faccessat), ALLOW(getcwd),
        WITHOUT(openat, 2, WRITES), FAIL(openat2, ENOSYS),
        WITH_EITHER(write, 0, 1, 2), WITH_EITHER(writev, 0, 1, 2),
        WITH_EITHER(fcntl, 1, F_GETFD, F_GETFL), WITH(ioctl, 1, TCGETS),
        /* facts */
        ALLOW(getpid), ALLOW(gettid), ALLOW(getppid), ALLOW(getuid), ALLOW(geteuid), ALLOW(getgid),
        ALLOW(getegid), ALLOW(uname), ALLOW(sysinfo), ALLOW(getrandom), ALLOW(getrusage),
        ALLOW(times), WITH(prlimit64, 2, 0), WITH(prctl, 0, PR_SET_NAME),
        /* signals: the runner's own answer to SIGSYS stays */
        UNLESS(SYS_rt_sigaction, 4), LOAD(args[0]), UNLESS(SIGSYS, 1), END(SECCOMP_RET_TRAP),
        END(SECCOMP_RET_ALLOW),
        ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(sigaltstack),
        ALLOW(ppoll), WITH(kill, 0, self), WITH(tgkill, 0, self),
#ifdef SYS_open
        WITHOUT(open, 1, WRITES), ALLOW(stat), ALLOW(lstat), ALLOW(access), ALLOW(readlink),
        ALLOW(time), ALLOW(pause), ALLOW(getrlimit), ALLOW(arch_prctl),
#endif
        END(SECCOMP_RET_TRAP),
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

/* ---- names ----------------------------------------------------------------------------------- */

#define NAME(call, why) {SYS_##call, #call, why}
static const SandboxCall calls[] = {
    NAME(execve, REFUSED_PROCESS), NAME(execveat, REFUSED_PROCESS), NAME(clone, REFUSED_PROCESS),
    NAME(unshare, REFUSED_PROCESS), NAME(setns, REFUSED_PROCESS), NAME(openat, REFUSED_WRITE),
    NAME(write, REFUSED_WRITE), NAME(writev, REFUSED_WRITE), NAME(pwrite64, REFUSED_WRITE),
    NAME(ftruncate, REFUSED_WRITE), NAME(truncate, REFUSED_WRITE), NAME(fallocate, REFUSED_WRITE),
    NAME(sendfile, REFUSED_WRITE), NAME(copy_file_range, REFUSED_WRITE), NAME(unlinkat, REFUSED_WRITE),
    NAME(renameat2, REFUSED_WRITE), NAME(mkdirat, REFUSED_WRITE), NAME(mknodat, REFUSED_WRITE),
    NAME(linkat, REFUSED_WRITE), NAME(symlinkat, REFUSED_WRITE), NAME(fchmod, REFUSED_WRITE),
    NAME(fchmodat, REFUSED_WRITE), NAME(fchown, REFUSED_WRITE), NAME(fchownat, REFUSED_WRITE),
    NAME(utimensat, REFUSED_WRITE), NAME(setxattr, REFUSED_WRITE), NAME(fsetxattr, REFUSED_WRITE),
    NAME(mount, REFUSED_WRITE), NAME(chroot, REFUSED_WRITE), NAME(memfd_create, REFUSED_WRITE),
    NAME(open_by_handle_at, REFUSED_WRITE), NAME(socket, REFUSED_NETWORK),
    NAME(socketpair, REFUSED_NETWORK), NAME(connect, REFUSED_NETWORK), NAME(bind, REFUSED_NETWORK),
    NAME(ptrace, REFUSED_SIGNAL), NAME(process_vm_readv, REFUSED_SIGNAL),
    NAME(process_vm_writev, REFUSED_SIGNAL), NAME(kill, REFUSED_SIGNAL), NAME(tkill, REFUSED_SIGNAL),
    NAME(tgkill, REFUSED_SIGNAL), NAME(rt_sigqueueinfo, REFUSED_SIGNAL),
    NAME(rt_tgsigqueueinfo, REFUSED_SIGNAL), NAME(pidfd_open, REFUSED_SIGNAL),
    NAME(pidfd_getfd, REFUSED_SIGNAL), NAME(pidfd_send_signal, REFUSED_SIGNAL),
    NAME(setpriority, REFUSED_SIGNAL), NAME(prlimit64, REFUSED_SIGNAL), NAME(setpgid, REFUSED_SIGNAL),
    NAME(setsid, REFUSED_SIGNAL), NAME(shmget, REFUSED_OTHER), NAME(shmat, REFUSED_OTHER),
    NAME(semget, REFUSED_OTHER), NAME(msgget, REFUSED_OTHER), NAME(mq_open, REFUSED_OTHER),
    NAME(bpf, REFUSED_OTHER), NAME(perf_event_open, REFUSED_OTHER), NAME(userfaultfd, REFUSED_OTHER),
    NAME(keyctl, REFUSED_OTHER), NAME(io_uring_setup, REFUSED_OTHER), NAME(prctl, REFUSED_OTHER),
    NAME(seccomp, REFUSED_OTHER), NAME(ioctl, REFUSED_OTHER), NAME(fcntl, REFUSED_OTHER),
    NAME(rt_sigaction, REFUSED_OTHER), NAME(setitimer, REFUSED_OTHER), NAME(dup, REFUSED_OTHER),
#ifdef SYS_fork
    NAME(fork, REFUSED_PROCESS), NAME(vfork, REFUSED_PROCESS), NAME(open, REFUSED_WRITE),
    NAME(creat, REFUSED_WRITE), NAME(unlink, REFUSED_WRITE), NAME(rename, REFUSED_WRITE),
    NAME(mkdir, REFUSED_WRITE), NAME(rmdir, REFUSED_WRITE), NAME(link, REFUSED_WRITE),
    NAME(symlink, REFUSED_WRITE), NAME(chmod, REFUSED_WRITE), NAME(chown, REFUSED_WRITE),
    NAME(mknod, REFUSED_WRITE), NAME(utime, REFUSED_WRITE),
#endif
};

SandboxCall sandbox_call(int number) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            return calls[i];
    return (SandboxCall){number, "", REFUSED_OTHER};
}
