"""Kernels that are right and then attack: the system, the judge, its page of results. Each must end with one
line that names what it tried, or be refused as wrong; nothing outside may change."""
import os
import re
import subprocess
import sys

from tap import done as tap_done, ok

BEVSCOPE, SRC = os.environ["BEVSCOPE"], sys.argv[1]
right = open(f"{SRC}/samples/try/pool.c").read().replace("void pool", "static void right")
head = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
"""


def judged(code, kernel="void pool(const Pool *p) { right(p); attack(p); }"):
    open("evil.c", "w").write(head + right + code + kernel)
    return subprocess.run([BEVSCOPE, "try", "evil.c", "toy", "-q", "--limit", "20"], capture_output=True)


def stopped(name, code, words="it tried"):
    done = judged(code)
    good = done.returncode == 1 and words in done.stderr.decode() and done.stderr.count(b"\n") == 1
    ok(good and open("kept").read() == "kept" and sorted(os.listdir(".")) == ["evil.c", "kept"], name,
           f"exit {done.returncode}: {done.stderr.decode()[:300]!r}")


# ---- the system: each call with arguments that would do harm --------------------------------------

PATH, MEMORY = '"kept"', "(long)memory"
calls = f"""
fork|vfork|clone,SIGCHLD,0,0,0,0|unshare,CLONE_NEWNS|setns,0,0|execve,"/bin/true",0,0|execveat,-100,"/bin/true",0,0,0
open,{PATH},1|open,"new",0101,0600|openat,-100,{PATH},2|openat,-100,"new",0101,0600|creat,"new",0600|unlink,{PATH}
unlinkat,-100,{PATH},0|rename,{PATH},"new"|renameat,-100,{PATH},-100,"new"|renameat2,-100,{PATH},-100,"new",0
link,{PATH},"new"|linkat,-100,{PATH},-100,"new",0|symlink,{PATH},"new"|symlinkat,{PATH},-100,"new"|mkdir,"new",0700
mkdirat,-100,"new",0700|rmdir,"new"|mknod,"new",010600,0|mknodat,-100,"new",010600,0|chmod,{PATH},0|fchmodat,-100,{PATH},0
fchmod,4,0|chown,{PATH},1,1|fchown,4,1,1|fchownat,-100,{PATH},1,1,0|lchown,{PATH},1,1|utime,{PATH},0
utimensat,-100,{PATH},0,0|utimes,{PATH},0|setxattr,{PATH},"user.a","b",1,0|fsetxattr,4,"user.a","b",1,0
removexattr,{PATH},"user.a"|truncate,{PATH},0|ftruncate,4,0|fallocate,4,0,0,4096|chroot,"."|chdir,"/"|mount,0,"/",0,0,0
umount2,"/",0|pivot_root,".","."|swapon,{PATH},0|sendfile,4,3,0,8|copy_file_range,3,0,4,0,8,0|splice,3,0,4,0,8,0
pwrite64,4,{MEMORY},8,0|write,4,{MEMORY},8|name_to_handle_at,-100,{PATH},{MEMORY},{MEMORY},0
open_by_handle_at,-100,{MEMORY},0|memfd_create,"m",0|dup,4|dup2,4,1|dup3,4,9,0|fcntl,4,F_SETFL,0|socket,1,1,0
socketpair,1,1,0,{MEMORY}|connect,4,{MEMORY},16|bind,4,{MEMORY},16|sendto,4,{MEMORY},8,0,0,0|ptrace,0,0,0,0|kill,PARENT,9
tkill,PARENT,9|tgkill,PARENT,PARENT,9|rt_sigqueueinfo,PARENT,9,{MEMORY}|rt_tgsigqueueinfo,PARENT,PARENT,9,{MEMORY}
pidfd_open,PARENT,0|pidfd_getfd,4,0,0|pidfd_send_signal,4,9,0,0|process_vm_readv,PARENT,{MEMORY},1,{MEMORY},1,0
process_vm_writev,PARENT,{MEMORY},1,{MEMORY},1,0|process_madvise,4,{MEMORY},1,4,0|setpriority,0,PARENT,19|getpriority,0,PARENT
prlimit64,PARENT,7,{MEMORY},0|setpgid,0,0|setsid|sched_setparam,PARENT,{MEMORY}|sched_setscheduler,PARENT,0,{MEMORY}
ioprio_set,1,PARENT,0|kcmp,PARENT,PARENT,0,0,0|shmget,7,4096,01600|shmat,0,0,0|shmctl,0,0,0|semget,7,1,01600|msgget,7,01600
msgsnd,0,{MEMORY},8,0|mq_open,"/q",0102,0600,0|bpf,0,{MEMORY},8|perf_event_open,{MEMORY},PARENT,-1,-1,0|userfaultfd,0
keyctl,0,0|add_key,"user","a","b",1,-1|io_uring_setup,1,{MEMORY}|prctl,PR_SET_DUMPABLE,1|prctl,PR_SET_PTRACER,-1
seccomp,1,0,{MEMORY}|setuid,0|setgid,0|setresuid,0,0,0|capset,{MEMORY},{MEMORY}|personality,0|syslog,3,{MEMORY},8
reboot,0,0,0,0|kexec_load,0,0,0,0|init_module,{MEMORY},8,""|settimeofday,{MEMORY},0|clock_settime,0,{MEMORY}|adjtimex,{MEMORY}
sethostname,"a",1|acct,{PATH}|quotactl,0,0,0,0|vhangup|ioctl,1,0x5412,"x"|inotify_init1,0|fanotify_init,0,0|landlock_create_ruleset,0,0,1
migrate_pages,PARENT,8,{MEMORY},{MEMORY}|move_pages,PARENT,0,0,0,0,0|set_mempolicy,0,0,0|rt_sigaction,SIGSYS,0,0,8|setitimer,0,{MEMORY},0
timer_create,0,0,{MEMORY}|alarm,1|vmsplice,4,{MEMORY},1,0|tee,3,4,8,0|flock,4,2|sync|syncfs,4|fsync,4|umask,0|mlockall,1
"""


def system_calls():
    for call in calls.replace("\n", "|").strip("|").split("|"):
        name, *arguments = call.split(",")
        words = "".join(f", (long)({word.replace('PARENT', 'getppid()')})" for word in arguments)
        code = f"""
static char memory[4096];
static void attack(const Pool *p) {{
    (void)p, (void)memory;
#ifdef SYS_{name}
    syscall(SYS_{name}{words});
#else
    puts("no such call here");
#endif
}}
"""
        done = judged(code)
        said = done.stderr.decode()
        if b"no such call here" in done.stdout:
            continue
        unharmed = open("kept").read() == "kept" and sorted(os.listdir(".")) == ["evil.c", "kept"]
        ok(done.returncode == 1 and "it tried" in said and said.count("\n") == 1 and unharmed, call, said[:300])


def other_numbers():
    if os.uname().machine != "x86_64":
        return
    for name in "fork", "socket", "openat", "execve", "kill":
        stopped(f"{name} of x32", f"static void attack(const Pool *p) {{ (void)p; "
                f"syscall(0x40000000 | SYS_{name}, 0, 0, 0); }}")
    stopped("a call of 32 bits", "static void attack(const Pool *p) { (void)p; long r; "
            '__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory"); }', "another architecture")
    stopped("with SIGSYS blocked", "static void attack(const Pool *p) { (void)p; sigset_t all; sigfillset(&all);"
            "sigprocmask(SIG_BLOCK, &all, 0); syscall(SYS_socket, 1, 1, 0); }")


# ---- the page of results, and time ---------------------------------------------------------------

page = """
static volatile int *report;
static void find_report(void) {
    char line[256];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (!report && maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:outputs") && strstr(line, " 00000000 "))
            report = (int *)strtoul(line, 0, 16);
}
static void *forge(void *context) {
    (void)context;
    for (;;) { FORGED }
    return 0;
}
static void attack(const Pool *p) {
    (void)p;
    pthread_t thread;
    if (!report && (find_report(), report)) pthread_create(&thread, 0, forge, 0);
}
"""
times = "volatile double *t = (volatile double *)(report + 8); for (int i = 0; i < 5; i++) t[i] = %s;"


def forgeries():
    for value in "0", "-1", "NAN", "INFINITY", "-INFINITY", "1e-300", "1e-4", "1e300":
        done = judged(page.replace("FORGED", times % value))
        shown = re.search(r"^yours\D*([\d.e+-]+) (.)s", done.stdout.decode(), re.M)  # the runner's own came last
        kept = shown and 0.05 < float(shown[1]) * {"m": 1e3, "n": 1e-3}.get(shown[2], 1) < 1e6
        ok((done.returncode == 1 and done.stderr.count(b"\n") == 1) or (done.returncode == 0 and kept),
               f"times of {value}", f"exit {done.returncode}: {done.stderr.decode()[:300]!r} {shown}")
    forged = {"a signal": "report[0] = 7; report[1] = 2147483647;", "a state": "report[0] = -7;",
              "a state too large": "report[0] = 99;", "an array": "report[0] = 7; report[2] = 1; report[3] = 1 << 30;",
              "an access": "report[0] = 7; report[2] = -5;", "a call": "report[0] = 7; report[1] = SIGSYS; report[4] = 1 << 30;",
              "a text": "report[0] = 1; char *t = (char *)report; for (int i = 96; i < 352; i++) t[i] = 27;",
              "all ones": "for (int i = 0; i < 88; i++) report[i] = -1;"}
    for name, code in forged.items():
        done = judged(page.replace("FORGED", code), "void pool(const Pool *p) { attack(p); usleep(100000); p->out[0] = 7; }")
        text = done.stdout + done.stderr
        good = done.returncode in (1, 3) and b"\33" not in text and b"2147483647" not in text
        ok(good and not any(byte < 32 and byte != 10 for byte in text), f"forged: {name}", f"exit {done.returncode}: {text[-300:]!r}")


def lazy():
    for first in 1, 2, 3, 50:
        done = judged("", f"static int n; void pool(const Pool *p) {{ if (n++ < {first}) right(p); }}")
        ok(done.returncode in (1, 3), f"right in the first {first} calls only", f"exit {done.returncode}")


open("kept", "w").write("kept")
done = judged("", "void pool(const Pool *p) { right(p); }")
ok(done.returncode == 0, "without an attack all is right", done.stderr)
system_calls()
other_numbers()
forgeries()
lazy()
tap_done()
