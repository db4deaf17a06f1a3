/* A GPU that fails in the middle of a frame, on a terminal and in a window: the CPU takes over, the
 * log says both, and the terminal comes back as it was.
 *
 * The program on the terminal is this one again: the live display over a ladder whose last kernel
 * runs on the CPU until SIGURG comes, and turns out to be a GPU's when it fails. */
#include "tests/support/pty_check.h"
#include "tests/support/vt.h"

#include "kernels/bevpool.h"
#include "src/ui/loop.h"

#include <locale.h>
#include <signal.h>

extern const BevKernel kernel_reference, kernel_cpu_v3;
extern const BevKernel kernel_v3_small_l2, kernel_v3_large_l2, kernel_v3; /* of the memory model */
static BevKernel cpu_kernel, gpu_kernel;
static BevKernel small_l2, large_l2, v3; /* those rows as in a build without CUDA */
static volatile sig_atomic_t lost;

const BevKernel *const bev_kernels[] = {&kernel_reference, &cpu_kernel, &gpu_kernel, &small_l2,
                                        &large_l2,         &v3,         NULL};

const BevKernel *bev_kernel_find(const char *name) {
    for (int i = 0; bev_kernels[i]; i++)
        if (!strcmp(bev_kernels[i]->name, name))
            return bev_kernels[i];
    return NULL;
}

static bool launch_and_fail(const BevProblem *problem, const BevPlan *plan, void *stream,
                            Err *err) {
    if (!lost)
        return kernel_cpu_v3.launch(problem, plan, stream, err);
    gpu_kernel.where = BEV_CUDA;
    return err_set(err, ERR_DEVICE, gpu_kernel.name, "",
                   "CUDA error 700: an illegal memory access");
}

/* ---- on the terminal ------------------------------------------------------------------------- */

static void lose_device(int signal) {
    (void)signal;
    lost = 1;
}

TAP_ALONE(device_lost) {
    const LoopOptions options = {
        .app = {.scene = "toy", .word_count = 1, .words = {"kernel gpu_v3"}},
        .where = 1u << BEV_CPU | 1u << BEV_CUDA,
        .no_terminal = term_impossible() != NULL};
    Err err = {.what = ""};
    LoopEnd end;
    setlocale(LC_ALL, "");
    signal(SIGURG, lose_device);
    cpu_kernel = gpu_kernel = kernel_cpu_v3;
    cpu_kernel.is_default = true;
    gpu_kernel.name = "gpu_v3";
    gpu_kernel.title = "GPU V3";
    gpu_kernel.launch = launch_and_fail;
    small_l2 = kernel_v3_small_l2;
    large_l2 = kernel_v3_large_l2;
    v3 = kernel_v3;
    v3.small_l2 = &small_l2;
    v3.large_l2 = &large_l2;
    small_l2.launch = large_l2.launch = v3.launch = NULL;
    if (loop_run(&options, &end, &err))
        return 0;
    fprintf(stderr, "%s: %s\n", err.where, err.what);
    return 1;
}

/* ---- this side ------------------------------------------------------------------------------- */

/* The error of the launch that failed. When a background launch fails first, the engine tries to
 * open a GPU before it hears of it, and says the error of that: in a build without CUDA of the
 * kernel as well, else of CUDA. */
static const char *const causes[] = {"gpu_v3: ", "cuda: "};

static bool screen_says_cause(Vt *vt, Pty *pty) {
    enum { LOOKS = 100 };
    bool said = false;
    for (int i = 0; !said && i < LOOKS * PATIENCE_S; i++)
        said = vt_wait(vt, pty, causes[i % 2], 0, true, 1.0 / LOOKS);
    return said;
}

/* Without a display the log is printed, all of it. */
static void test_lines(char *again[]) {
    char *const environment[] = {"TERM=dumb", "LC_ALL=C.UTF-8", "SDL_VIDEODRIVER=dummy", NULL};
    Pty pty;
    bool ok = pty_start(&pty, 120, 40, again, environment);
    pty_type(&pty, "dtype fp8\n");
    ok = ok && pty_wait_text(&pty, "FP8: ", 0, PATIENCE_S);
    kill(pty.program, SIGURG);
    ok = ok && pty_wait_text(&pty, "CPU, V3", 0, PATIENCE_S);
    tap_ok(ok && (strstr(pty.output, causes[0]) || strstr(pty.output, causes[1])),
           "as lines: why the CPU takes over, and that it does");
    pty_type(&pty, "quit\n");
    tap_ok(exits_with(&pty, 0), "and it goes on until the end");
    pty_end(&pty);
}

TAP_SUITE(device_lost) {
    char *again[] = {"/proc/self/exe", "--alone", "device_lost", NULL};
    char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", "SDL_VIDEODRIVER=dummy",
                                 NULL};
    Pty pty;
    Vt vt;
    bool ok = pty_start(&pty, 120, 40, again, environment);
    vt_open(&vt, 120, 40);
    tap_ok(ok && pty_wait_text(&pty, "GPU V3", 0, PATIENCE_S), "a GPU's picture is there");
    kill(pty.program, SIGURG);
    tap_ok(screen_says_cause(&vt, &pty), "it fails in the middle of a frame: said");
    tap_ok(vt_wait(&vt, &pty, "CPU, V3", 0, true, PATIENCE_S), "the CPU takes over: said, too");
    pty_type(&pty, "?");
    tap_ok(vt_wait(&vt, &pty, "Help", 0, true, PATIENCE_S), "keys are obeyed as before");
    quits(&pty, "quit after that", true);
    test_lines(again);
}
