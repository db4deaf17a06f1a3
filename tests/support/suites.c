/* SPDX-License-Identifier: MIT */
/* main() of a program of suites. A suite is a process of its own: what it changes, exhausts or
 * crashes is not the next one's. A suite that computes runs beside suites that wait. What a suite
 * prints is kept in a file and passed on in the order of the suites, of the first one still to be
 * passed on as it comes. */
#include "tests/support/tap.h"

#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SUITES = 256 };

static TapSuite *first, **last = &first;

void tap_register(TapSuite *suite) {
    *last = suite;
    last = &suite->next;
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- a suite that runs ----------------------------------------------------------------------- */

typedef struct {
    const TapSuite *suite;
    enum { PENDING, RUNS, ENDED } stage;
    pid_t process;
    int output;     /* the file with all that it printed */
    long passed_on; /* bytes of it */
    int status;
    double begun_s, took_s;
} Run;

static sigset_t usual_signals;

__attribute__((noreturn)) static void become(const TapSuite *suite, int output, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &usual_signals, NULL);
    dup2(output, STDOUT_FILENO);
    close(output);
    tap_suite = suite->name;
    tap_totals = (TapTotals){0};
    if (getppid() == parent)
        suite->run();
    exit(tap_totals.failures ? EXIT_FAILURE : EXIT_SUCCESS);
}

static void begin(Run *run) {
    pid_t parent = getpid();
    run->stage = RUNS;
    run->begun_s = now_s();
    run->output = memfd_create("suite", MFD_CLOEXEC);
    tap_need(run->output >= 0, "a file for what a suite prints");
    fflush(stdout);
    run->process = fork();
    if (run->process == 0)
        become(run->suite, run->output, parent);
    if (run->process < 0)
        run->stage = ENDED;
}

/* Prints a line of a suite, a result with its number in the program. */
static void print_line(const char *line, size_t length) {
    const bool failed = !strncmp(line, "not ", strlen("not "));
    int number, digits = 0;
    const char *rest = line + (failed ? strlen("not ") : 0);
    if (sscanf(rest, "ok %d%n", &number, &digits) == 1) {
        printf("%sok %d", failed ? "not " : "", ++tap_totals.count);
        tap_totals.failures += failed;
        rest += digits;
    } else
        rest = line;
    fwrite(rest, 1, length - (size_t)(rest - line), stdout);
    if (line[length - 1] != '\n')
        putchar('\n');
}

/* Prints what the suite has printed since the last time. */
static void pass_on(Run *run) {
    char path[32], *line = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", run->output);
    FILE *kept = fopen(path, "r"); /* with a position of its own */
    if (!kept || fseek(kept, run->passed_on, SEEK_SET) < 0)
        abort();
    for (ssize_t length; (length = getline(&line, &size, kept)) > 0; run->passed_on += length) {
        if (line[length - 1] != '\n' && run->stage == RUNS)
            break; /* the rest of the line is still to come */
        print_line(line, (size_t)length);
    }
    fflush(stdout);
    free(line);
    fclose(kept);
}

/* How long a suite may take, but in the second ring; TAP_SLOW is a factor for slow machines. */
static double most_s(const TapSuite *suite) {
    enum { USUALLY_S = 120 };
    const char *slow = getenv("TAP_SLOW");
    return suite->hard ? INFINITY : USUALLY_S * (slow ? atof(slow) : 1);
}

/* A suite fails by a check, or by how its process ends: a signal, a leak, no check at all; or by
 * its seconds. */
static void judge_end(const Run *run, const TapTotals *before) {
    if (run->process < 0)
        tap_ok(false, "no process");
    else if (WIFSIGNALED(run->status))
        tap_ok(false, "ended by signal %d, %s", WTERMSIG(run->status),
               strsignal(WTERMSIG(run->status)));
    else if (WEXITSTATUS(run->status) && tap_totals.failures == before->failures)
        tap_ok(false, "ended with status %d", WEXITSTATUS(run->status));
    else if (tap_totals.count == before->count)
        tap_ok(false, "no check ran");
    else if (run->took_s > most_s(run->suite))
        tap_ok(false, "took longer than %.0f s", most_s(run->suite));
}

/* ---- all suites ------------------------------------------------------------------------------ */

/* Of suites that compute one at a time. */
static bool may_begin(const TapSuite *suite, const Run *runs, int count, int jobs) {
    bool computes = false;
    for (int i = 0; i < count; i++)
        if (runs[i].stage == RUNS) {
            computes |= !runs[i].suite->waits;
            jobs--;
        }
    return jobs > 0 && (suite->waits || !computes);
}

static void wait_for_end(Run *runs, int count, const sigset_t *child) {
    const struct timespec moment = {.tv_nsec = 100000000};
    sigtimedwait(child, NULL, &moment);
    for (int i = 0; i < count; i++) {
        Run *run = &runs[i];
        pid_t ended = run->stage == RUNS ? waitpid(run->process, &run->status, WNOHANG) : 0;
        if (ended) {
            run->stage = ENDED;
            run->process = ended;
            run->took_s = now_s() - run->begun_s;
        }
    }
}

static void run_all(Run *runs, int count, int jobs) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &usual_signals);
    TapTotals before = tap_totals;
    for (int next = 0; next < count;) {
        for (int i = next; i < count; i++)
            if (runs[i].stage == PENDING && may_begin(runs[i].suite, runs, count, jobs))
                begin(&runs[i]);
        wait_for_end(runs, count, &child);
        for (; next < count && runs[next].stage != PENDING; next++) {
            Run *run = &runs[next];
            pass_on(run);
            if (run->stage == RUNS)
                break;
            tap_suite = run->suite->name;
            judge_end(run, &before);
            tap_suite = NULL;
            tap_note("suite %s %.2f s", run->suite->name, run->took_s);
            before = tap_totals;
            close(run->output);
        }
    }
}

/* A filter names suites of both rings. */
static bool wanted(const TapSuite *suite, const char *filter, bool hard) {
    return suite->run && (filter ? strstr(suite->name, filter) != NULL : suite->hard == hard);
}

static int list(void) {
    for (const TapSuite *suite = first; suite; suite = suite->next)
        if (suite->run)
            printf("%s%s\n", suite->name, suite->hard ? " (hard)" : "");
    return EXIT_SUCCESS;
}

static int run_alone(const char *name) {
    for (const TapSuite *suite = first; suite; suite = suite->next)
        if (suite->alone && !strcmp(suite->name, name))
            return suite->alone();
    fprintf(stderr, "%s: no such program\n", name);
    return EXIT_FAILURE;
}

static const struct option options[] = {
    {"filter", required_argument, NULL, 'f'}, {"hard", no_argument, NULL, 'h'},
    {"jobs", required_argument, NULL, 'j'},   {"list", no_argument, NULL, 'l'},
    {"alone", required_argument, NULL, 'a'},  {NULL, 0, NULL, 0}};

int main(int argc, char **argv) {
    enum { JOBS = 6 };
    const char *filter = getenv("FILTER"), *ring = getenv("RING"), *jobs = getenv("TAP_JOBS");
    bool hard = ring && !strcmp(ring, "hard");
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'f':
            filter = optarg;
            break;
        case 'h':
            hard = true;
            break;
        case 'j':
            jobs = optarg;
            break;
        case 'l':
            return list();
        case 'a':
            return run_alone(optarg);
        default:
            fprintf(stderr, "usage: %s [--filter NAME] [--hard] [--jobs N] [--list]\n", argv[0]);
            return 2;
        }
    static Run runs[MOST_SUITES];
    int count = 0, at_once = jobs ? atoi(jobs) : JOBS;
    filter = filter && filter[0] ? filter : NULL;
    for (const TapSuite *suite = first; suite; suite = suite->next)
        if (wanted(suite, filter, hard)) {
            tap_need(count < MOST_SUITES, "room for all suites");
            runs[count++].suite = suite;
        }
    run_all(runs, count, at_once > 1 ? at_once : 1);
    if (!count && !hard && !filter) {
        puts("1..0 # SKIP its suites belong to the second ring");
        return EXIT_SUCCESS;
    }
    return tap_done();
}
