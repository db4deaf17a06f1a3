/* main() of a program of suites. A suite is a process of its own: what it changes, exhausts or
 * crashes is not the next one's. */
#include "tests/support/tap.h"

#include <getopt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* A suite fails by a check, or by how its process ends: a signal, a leak, no check at all. */
static void judge_end(int status, const TapTotals *before) {
    if (WIFSIGNALED(status))
        tap_ok(false, "ended by signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) && tap_totals->failures == before->failures)
        tap_ok(false, "ended with status %d", WEXITSTATUS(status));
    else if (tap_totals->count == before->count)
        tap_ok(false, "no check ran");
}

static void run_suite(const TapSuite *suite) {
    const TapTotals before = *tap_totals;
    double begun = now_s();
    int status = 0;
    pid_t parent = getpid(), child = fork();
    tap_suite = suite->name;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() == parent)
            suite->run();
        exit(EXIT_SUCCESS);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_ok(false, "no process");
    else
        judge_end(status, &before);
    tap_suite = NULL;
    tap_note("suite %s %.2f s", suite->name, now_s() - begun);
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

static const struct option options[] = {{"filter", required_argument, NULL, 'f'},
                                        {"hard", no_argument, NULL, 'h'},
                                        {"list", no_argument, NULL, 'l'},
                                        {"alone", required_argument, NULL, 'a'},
                                        {NULL, 0, NULL, 0}};

int main(int argc, char **argv) {
    const char *filter = getenv("FILTER"), *ring = getenv("RING");
    bool hard = ring && !strcmp(ring, "hard");
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 'f': filter = optarg; break;
        case 'h': hard = true; break;
        case 'l': return list();
        case 'a': return run_alone(optarg);
        default:
            fprintf(stderr, "usage: %s [--filter NAME] [--hard] [--list]\n", argv[0]);
            return 2;
        }
    void *shared = mmap(NULL, sizeof *tap_totals, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    tap_need(shared != MAP_FAILED, "memory");
    tap_totals = (TapTotals *)shared;
    int ran = 0;
    for (const TapSuite *suite = first; suite; suite = suite->next)
        if (wanted(suite, filter && filter[0] ? filter : NULL, hard)) {
            run_suite(suite);
            ran++;
        }
    if (!ran && !hard && !(filter && filter[0])) {
        puts("1..0 # SKIP its suites belong to the second ring");
        return EXIT_SUCCESS;
    }
    return tap_done();
}
