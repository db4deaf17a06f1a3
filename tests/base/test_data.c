/* SPDX-License-Identifier: MIT */
/* Finding, reading and replacing files. After any failure the old file is unchanged and no
 * temporary file is left. */
#include "src/base/clock.h"
#include "src/base/data.h"
#include "src/base/nearest.h"
#include "tests/support/child.h"
#include "tests/support/folder.h"
#include "tests/support/refused.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>

/* The open() below replaces the C library's. With this flag set it behaves like a file system
 * without O_TMPFILE. */
static bool refuse_nameless;

int open(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
    va_end(args);
    if (refuse_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return openat(AT_FDCWD, path, flags, mode);
}

static char *bytes; /* what was read last; the next reading frees it */
static size_t length;

static bool reads(const char *path, size_t limit) {
    free(bytes);
    return keep_line(data_read(path, limit, &bytes, &length, &err));
}

static bool holds(const char *path, const char *text) {
    return reads(path, 1 << 20) && strcmp(bytes, text) == 0;
}

static bool writes(const char *path, const char *text) {
    return keep_line(data_write(path, text, strlen(text), &err)) && holds(path, text);
}

static unsigned mode_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

static bool found(const char *relative) {
    char path[PATH_MAX];
    return data_path(relative, path, sizeof path, NULL);
}

/* Number of files in a folder, hidden ones included. */
static int entries(const char *path) {
    DIR *directory = opendir(path);
    int count = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (directory)
        closedir(directory);
    return count;
}

static bool refused(const char *path, const char *words) {
    bool ok = !keep_line(data_write(path, "new", 3, &err)) && refused_with(path, words);
    if (!ok)
        tap_note("got: %s", line);
    return ok;
}

static void test_path(void) {
    char path[256];
    unsetenv("BEVSCOPE_DATA");
    tap_ok(!found("bevscope-no-such/file.json"), "a file that nobody has");
    tap_ok(!data_path("bevscope-no-such/file.json", path, sizeof path, &err) &&
               strstr(err.hint, "BEVSCOPE_DATA"),
           "the error says how to help");
    mkdir(in_folder("bevscope-no-such"), 0777);
    put(in_folder("bevscope-no-such/file.json"), "{}");
    setenv("BEVSCOPE_DATA", folder, 1);
    tap_ok(data_path("bevscope-no-such/file.json", path, sizeof path, NULL) &&
               strcmp(path, in_folder("bevscope-no-such/file.json")) == 0,
           "BEVSCOPE_DATA is searched first");
    tap_ok(data_path("bevscope-no-such", path, sizeof path, NULL), "folders are found as well");
    tap_ok(!data_path("bevscope-no-such/file.json", path, 20, NULL), "a short buffer is no match");
    tap_ok(found("kernels/bevpool.h"), "what BEVSCOPE_DATA lacks is in the source folder");
    unlink(in_folder("bevscope-no-such/file.json"));
    rmdir(in_folder("bevscope-no-such"));
}

static void test_nearest(void) {
    static const char *const names[] = {"canonical", "highway", "parking", "target"};
    tap_ok(edit_distance("", "") == 0 && edit_distance("abc", "abc") == 0 &&
               edit_distance("", "abc") == 3 && edit_distance("kitten", "sitting") == 3 &&
               edit_distance("grid", "gird") == 1,
           "distances: equal, insertions, substitutions, a swap");
    char longest[300];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    tap_ok(edit_distance(longest, "") == 63, "long words count to their 63rd byte");
    tap_ok(strcmp(nearest_name("hihgway", names, 4), "highway") == 0 &&
               strcmp(nearest_name("taget", names, 4), "target") == 0 &&
               !nearest_name("any", names, 0),
           "the nearest of several names, and of none");
    static const char *const far[][2] = {
        {"qq", "l2"}, {"foo", "zoom"}, {"xx", "orin"}, {"nonsense", "reference"}, {"", "a"}};
    bool none = true;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        none = none && !nearest_name(far[i][0], &far[i][1], 1);
    tap_ok(none, "names that are not near are not the nearest");
    char hint[64];
    nearest_hint("taget", names, 4, NULL, hint, sizeof hint);
    bool right = !strcmp(hint, "did you mean target?");
    nearest_hint("qq", names, 4, NULL, hint, sizeof hint);
    right = right && !strcmp(hint, "known: canonical, highway, parking, target");
    nearest_hint("qq", names, 4, "see --list", hint, sizeof hint);
    tap_ok(right && !strcmp(hint, "see --list"), "a hint names one, or all, or says where");
}

static void test_read(void) {
    const char *path = in_folder("read");
    put(path, "twelve bytes");
    tap_ok(reads(path, 12) && length == 12 && strcmp(bytes, "twelve bytes") == 0,
           "a file of just the limit");
    tap_ok(!reads(path, 11) && !bytes && length == 0 && strstr(line, "11 bytes"),
           "a byte more than the limit");
    tap_ok(!reads("/dev/zero", 100000) && !bytes, "an endless file ends at the limit");
    tap_ok(!reads(folder, 100) && strstr(line, "directory"), "a folder");
    tap_ok(!reads(in_folder("absent"), 100) && strstr(line, "No such file"),
           "a file that is not there");
    unlink(path);
}

static void test_write(void) {
    const char *path = in_folder("figure.png");
    struct stat status;
    umask(022);
    tap_ok(writes(path, "first"), "a new file");
    tap_ok(mode_of(path) == 0644, "it has the mode that the umask leaves");
    chmod(path, 0640);
    tap_ok(writes(path, "second"), "it is replaced");
    tap_ok(mode_of(path) == 0640, "and keeps its mode");
    tap_ok(writes(path, ""), "by an empty file");
    tap_ok(entries(folder) == 1, "nothing lies beside it");
    tap_need(symlink("figure.png", in_folder("link")) == 0, "symlink");
    tap_ok(data_write(in_folder("link"), "third", 5, NULL) && holds(path, "third") &&
               lstat(in_folder("link"), &status) == 0 && S_ISLNK(status.st_mode),
           "through a symbolic link, which stays one");
    unlink(in_folder("link"));
    tap_need(chdir(folder) == 0, "chdir");
    tap_ok(writes("figure.png", "fourth") && writes("bare", "new") && holds(path, "fourth") &&
               holds(in_folder("bare"), "new"),
           "by a bare name in the current folder");
    unlink(in_folder("bare"));
    char longest[NAME_MAX + 1];
    memset(longest, 'n', NAME_MAX);
    longest[NAME_MAX] = '\0';
    tap_ok(writes(longest, "1") && writes(longest, "2"), "a name as long as names can be");
    unlink(longest);
    tap_ok(entries(folder) == 1, "nothing lies beside them");
    tap_need(chdir("/") == 0, "chdir");
    unlink(path);
}

/* In place of the C library's: a system where nameless files cannot be linked, as without /proc. */
static bool links_fail;

int linkat(int from, const char *old_path, int to, const char *new_path, int flags) {
    if (links_fail) {
        errno = ENOENT;
        return -1;
    }
    return (int)syscall(SYS_linkat, from, old_path, to, new_path, flags);
}

static void test_no_links(void) {
    const char *path = in_folder("figure.png");
    links_fail = true;
    tap_ok(writes(path, "first") && writes(path, "second") && entries(folder) == 1,
           "where linkat() through /proc fails: a new file, and one that is replaced");
    links_fail = false;
    unlink(path);
}

/* As root: somebody else's program with the setuid bit. */
static void test_owner(void) {
    enum { NOBODY = 65534 };
    const char *path = in_folder("figure.png");
    struct stat status = {0};
    put(path, "old");
    if (chown(path, NOBODY, NOBODY) != 0)
        tap_skip("a replaced file keeps its owner", "only root gives files away");
    else {
        chmod(path, 06755);
        tap_ok(writes(path, "new") && stat(path, &status) == 0 && status.st_uid == NOBODY &&
                   status.st_gid == NOBODY && mode_of(path) == 0755,
               "a replaced file keeps its owner, and lends nobody's rights any more");
    }
    unlink(path);
}

static bool write_late(void) {
    usleep(200000);
    int fd = open(in_folder("pipe"), O_WRONLY);
    usleep(200000);
    return write(fd, "late", 4) == 4;
}

/* A pipe that ends, one whose writer comes late, and files of the system without an end. */
static void test_endless(void) {
    const char *path = in_folder("pipe");
    tap_need(mkfifo(path, 0600) == 0, "mkfifo");
    pid_t child = start_child(write_late);
    errno = ENOENT;
    tap_ok(!data_open(path, &err) && strstr(err.what, "not a regular file") && errno != ENOENT,
           "a pipe is opened as no file, and not waited for");
    tap_ok(reads(path, 100) && length == 4 && !memcmp(bytes, "late", 4) && child_succeeds(child),
           "a pipe whose writer comes late");
    unlink(path);
    tap_ok(!reads("/dev/zero", 1000) && strstr(line, "limit of 1000 bytes"),
           "a device without end");
    tap_ok(!reads("/proc/kmsg", 1 << 20) || length < 1 << 20,
           "/proc/kmsg does not keep its reader");
}

enum { PIPED = 300000 }; /* more than a pipe holds */
static char piped[PIPED];

static bool read_late(void) {
    usleep(200000);
    int fd = open(in_folder("pipe"), O_RDONLY);
    size_t all = 0;
    for (ssize_t got; (got = read(fd, piped, sizeof piped)) > 0; all += (size_t)got)
        usleep(1000);
    return all == PIPED;
}

/* A pipe whose reader comes late gets all of it. */
static void test_late_reader(void) {
    tap_need(mkfifo(in_folder("pipe"), 0600) == 0, "mkfifo");
    pid_t child = start_child(read_late);
    bool ok = data_write(in_folder("pipe"), piped, sizeof piped, &err);
    tap_ok(ok && child_succeeds(child), "a pipe whose reader is late and slow");
    unlink(in_folder("pipe"));
}

/* What cannot be opened at all is not waited for. */
static void test_no_pipe(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%s", in_folder("socket"));
    tap_need(fd >= 0 && !bind(fd, (struct sockaddr *)&name, sizeof name), "a socket");
    double begun_ms = clock_ms();
    bool ok = data_write(name.sun_path, "x", 1, &err);
    tap_ok(!ok && strstr(err.what, "cannot open") && clock_ms() - begun_ms < 5000,
           "a socket as output: %s", err.what);
    close(fd);
    unlink(name.sun_path);
}

static bool unread(void) {
    return !data_write(in_folder("unread"), "x", 1, &err) && strstr(err.what, "within 60 s");
}

static bool unwritten(void) {
    return !reads(in_folder("unwritten"), 100) && strstr(line, "within 60 s");
}

static bool unused(void) {
    return !reads("/dev/ptmx", 100) && strstr(line, "within 60 s");
}

/* Nobody at the other end; a minute each, side by side. */
TAP_HARD_SUITE(data_given_up) {
    folder_open();
    tap_need(mkfifo(in_folder("unread"), 0600) == 0 && mkfifo(in_folder("unwritten"), 0600) == 0,
             "two pipes");
    pid_t no_reader = start_child(unread), no_writer = start_child(unwritten);
    pid_t no_user = start_child(unused);
    tap_ok(child_succeeds(no_reader), "a pipe that nobody reads");
    tap_ok(child_succeeds(no_writer), "a pipe that nobody writes");
    tap_ok(child_succeeds(no_user), "a terminal without a user");
    unlink(in_folder("unread"));
    unlink(in_folder("unwritten"));
    folder_close();
}

static bool write_beyond_the_limit(void) {
    signal(SIGXFSZ, SIG_IGN);
    limit_to(RLIMIT_FSIZE, 1);
    return refused(in_folder("figure.png"), "cannot write: File too large");
}

static bool write_killed_by_the_limit(void) {
    limit_to(RLIMIT_FSIZE, 1);
    data_write(in_folder("figure.png"), "new", 3, NULL);
    return false; /* the signal came first */
}

/* Root may write anywhere, so the child runs as another user. */
static bool drop_root(void) {
    return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

static bool write_into_a_read_only_folder(void) {
    return drop_root() && refused(in_folder("other.png"), "Permission denied");
}

static bool replace_in_a_read_only_folder(void) {
    return drop_root() && refused(in_folder("open.png"), "Permission denied");
}

static bool replace_a_read_only_file(void) {
    return drop_root() && refused(in_folder("figure.png"), "the old file is unchanged");
}

static void test_read_only(const char *path) {
    if (!in_child(drop_root)) {
        tap_skip("read-only folders and files", "root that cannot become anybody else");
        return;
    }
    put(in_folder("open.png"), "old");
    chmod(in_folder("open.png"), 0666);
    chmod(path, 0444);
    chmod(folder, 0555);
    tap_ok(in_child(write_into_a_read_only_folder), "a read-only folder");
    tap_ok(in_child(replace_in_a_read_only_folder), "a file in a read-only folder");
    chmod(folder, 0777);
    tap_ok(in_child(replace_a_read_only_file), "a read-only file, though its folder is not");
    tap_ok(holds(path, "old") && holds(in_folder("open.png"), "old") && entries(folder) == 2,
           "all old files survive, alone");
    unlink(in_folder("open.png"));
    chmod(path, 0644);
}

static void test_refusals(void) {
    const char *path = in_folder("figure.png");
    put(path, "old");
    tap_ok(refused("/dev/full", "No space left on device"), "a full disk is reported");
    struct stat status;
    tap_ok(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode), "and stays a device");
    tap_ok(in_child(write_beyond_the_limit), "a file limit is reported");
    tap_ok(!in_child(write_killed_by_the_limit), "or kills");
    tap_ok(holds(path, "old") && entries(folder) == 1, "the old file survives both, alone");
    test_read_only(path);
    tap_ok(refused(folder, "is a folder"), "a folder");
    tap_ok(refused(in_folder("absent/figure.png"), "No such file"), "a folder that is not there");
    tap_ok(refused(in_folder("figure.png/figure.png"), "Not a directory"), "a file as a folder");
    char name[PATH_MAX + 100];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    tap_ok(!data_write(name, "new", 3, NULL), "a name that is too long");
    unlink(path);
}

/* ---- killed while it writes ------------------------------------------------------------------ */

enum { PAYLOAD = 1 << 20 };
static char payload[2][PAYLOAD + 1];

static bool holds_a_payload(const char *path) {
    return holds(path, payload[0]) || holds(path, payload[1]);
}

static void write_forever(const char *path, bool afresh) {
    for (int i = 0;; i++) {
        if (afresh)
            unlink(path);
        if (!data_write(path, payload[i % 2], PAYLOAD, NULL))
            _exit(9);
    }
}

/* Kills a writer at many different moments; counts the errors found afterwards. */
static int count_damage(int signal_number, bool afresh, int rounds, int *leftovers) {
    const char *path = in_folder("killed.png");
    int damaged = 0;
    *leftovers = 0;
    put(path, payload[0]);
    for (int i = 0; i < rounds; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            write_forever(path, afresh);
        nanosleep(&(struct timespec){0, 300000 + 137000L * i}, NULL);
        kill(child, signal_number);
        int status;
        waitpid(child, &status, 0);
        damaged += !WIFSIGNALED(status) || WTERMSIG(status) != signal_number;
        bool present = access(path, F_OK) == 0;
        damaged += present ? !holds_a_payload(path) : !afresh;
        *leftovers += entries(folder) - present;
    }
    unlink(path);
    return damaged;
}

/* Removes the temporary files of killed writers; returns how many of these were incomplete. */
static int remove_leftovers(void) {
    DIR *directory = opendir(folder);
    int torn = 0;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *suffix = strrchr(entry->d_name, '.');
        if (!suffix || strcmp(suffix, ".tmp") != 0)
            continue;
        const char *path = in_folder(entry->d_name);
        torn += !holds_a_payload(path);
        unlink(path);
    }
    if (directory)
        closedir(directory);
    return torn;
}

static void test_signals(void) {
    const struct {
        int number;
        const char *name;
    } signals[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};
    int leftovers;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        /* nohup and background shells ignore some; children must not from their first moment. */
        signal(signals[i].number, SIG_DFL);
        int damaged = count_damage(signals[i].number, false, 40, &leftovers);
        tap_ok(damaged == 0 && leftovers == 0,
               "40 times %s while replacing: %d damaged, %d left over", signals[i].name, damaged,
               leftovers);
    }
}

static void test_kill(void) {
    int leftovers;
    int damaged = count_damage(SIGKILL, true, 40, &leftovers);
    tap_ok(damaged == 0 && leftovers == 0,
           "40 times SIGKILL while creating: %d damaged, %d left over", damaged, leftovers);
    /* Between linking and renaming SIGKILL can leave a complete file beside it: see data.c. */
    damaged = count_damage(SIGKILL, false, 40, &leftovers);
    int torn = remove_leftovers();
    tap_ok(damaged == 0 && torn == 0,
           "40 times SIGKILL while replacing: %d damaged, %d left over incomplete", damaged, torn);
}

static void test_stem(void) {
    static const char *const cases[][2] = {{"a.json", "a"},
                                           {"x/y.z/two.dots.npz", "two.dots"},
                                           {"/none", "none"},
                                           {"folder.d/none", "none"},
                                           {".hidden", ".hidden"},
                                           {"", ""},
                                           {"x/cut-short.c", "cut-shor"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char stem[9];
        data_stem(cases[i][0], stem, sizeof stem);
        tap_ok(!strcmp(stem, cases[i][1]), "the stem of '%s' is '%s'", cases[i][0], stem);
    }
}

static volatile sig_atomic_t handled;

static void note_signal(int number) {
    (void)number;
    handled = 1;
}

/* A program keeps its own signal handlers. */
static void test_handlers(void) {
    struct sigaction action = {.sa_handler = note_signal}, now;
    sigaction(SIGINT, &action, NULL);
    const char *path = in_folder("handlers.png");
    put(path, "old");
    data_write(path, "new", 3, NULL);
    sigaction(SIGINT, NULL, &now);
    tap_ok(now.sa_handler == note_signal, "a handler of the program stays");
    signal(SIGINT, SIG_DFL);
    data_write(path, "new", 3, NULL);
    sigaction(SIGINT, NULL, &now);
    tap_ok(now.sa_handler == SIG_DFL, "the default comes back");
    unlink(path);
}

TAP_SUITE(data) {
    folder_open();
    chmod(folder, 0777);
    test_path();
    test_stem();
    test_nearest();
    test_read();
    test_endless();
    test_late_reader();
    test_no_pipe();
    memset(payload[0], 'a', PAYLOAD);
    memset(payload[1], 'b', PAYLOAD);
    for (int named = 0; named < 2; named++) {
        refuse_nameless = named;
        tap_note("the file system has %s files", named ? "only named" : "nameless");
        test_write();
        test_no_links();
        test_owner();
        test_refusals();
        test_signals();
        test_handlers();
    }
    refuse_nameless = false;
    test_kill();
    folder_close();
}
