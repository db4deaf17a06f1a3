/* SPDX-License-Identifier: MIT */
/* Finding, reading and replacing files. After any failure the old file is unchanged and no
 * temporary file is left. */
#include "src/base/data.h"
#include "src/base/nearest.h"
#include "tests/support/child.h"
#include "tests/support/folder.h"
#include "tests/support/refused.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

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

/* A pipe that is no file, and files of the system without an end. */
static void test_endless(void) {
    const char *path = in_folder("pipe");
    tap_need(mkfifo(path, 0600) == 0, "mkfifo");
    errno = ENOENT;
    tap_ok(!data_open(path, &err) && strstr(err.what, "not a regular file") && errno != ENOENT,
           "a pipe is opened as no file, and not waited for");
    unlink(path);
    tap_ok(!reads("/dev/zero", 1000) && strstr(line, "limit of 1000 bytes"),
           "a device without end");
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

enum { PAYLOAD = 1 << 20 };
static char payload[2][PAYLOAD + 1];

static bool holds_a_payload(const char *path) {
    return holds(path, payload[0]) || holds(path, payload[1]);
}

static void write_forever(const char *path) {
    for (int i = 0;; i++)
        if (!data_write(path, payload[i % 2], PAYLOAD, NULL))
            _exit(9);
}

static void test_kill(void) {
    const char *path = in_folder("killed.png");
    int damaged = 0;
    put(path, payload[0]);
    for (int i = 0; i < 40; i++) {
        char temporary[PATH_MAX];
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            write_forever(path);
        nanosleep(&(struct timespec){0, 300000 + 137000L * i}, NULL);
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        damaged += !WIFSIGNALED(status) || !holds_a_payload(path);
        snprintf(temporary, sizeof temporary, "%s/.killed.png.%ld.tmp", folder, (long)child);
        unlink(temporary);
    }
    tap_ok(damaged == 0, "40 times SIGKILL while replacing: %d damaged", damaged);
    unlink(path);
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

TAP_SUITE(data) {
    folder_open();
    chmod(folder, 0777);
    test_path();
    test_stem();
    test_nearest();
    test_read();
    test_endless();
    memset(payload[0], 'a', PAYLOAD);
    memset(payload[1], 'b', PAYLOAD);
    test_write();
    test_owner();
    test_refusals();
    test_kill();
    folder_close();
}
