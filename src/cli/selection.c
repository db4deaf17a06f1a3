/* SPDX-License-Identifier: MIT */
#include "src/cli/selection.h"

#include "config.h"
#include "kernels/clean.h"
#include "src/app/app.h"
#include "src/base/progress.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef HAVE_CUDA
#include "src/run/cuda/device.h"

enum { HAS_CUDA = 1 };
#else
enum { HAS_CUDA = 0 };

static bool device_open(int index, Err *err) {
    (void)index;
    return err_set(err, ERR_DEVICE, "cuda", "configure it --with-cuda, or use --device cpu",
                   "this build has no CUDA kernels");
}
#endif

bool select_devices(const char *word, unsigned *where, Err *err) {
    *where = 1u << BEV_CPU;
    if (!strcmp(word, "cpu"))
        return true;
    bool automatic = !strcmp(word, "auto");
    char *end;
    long index = strtol(word, &end, 10);
    bool is_number = end != word && !*end && index >= 0 && index < 1024;
    if (!automatic && !is_number && strcmp(word, "cuda"))
        return err_set(err, ERR_USAGE, "--device", "auto, cpu, cuda or a number from 0",
                       "'%s' is no device", word);
    Err why = {0};
    if (device_open(is_number ? (int)index : 0, &why)) {
        *where = automatic ? *where | 1u << BEV_CUDA : 1u << BEV_CUDA;
        return true;
    }
    if (!automatic) {
        *err = why;
        err->kind = ERR_DEVICE;
        return false;
    }
    if (HAS_CUDA) {
        char line[1024];
        err_line(&why, line, sizeof line);
        progress_hide();
        fprintf(stderr, "bevscope: %s; the CPU takes over\n", line);
    }
    return true;
}

/* Finds a kernel that can run by its title. NULL: the device is not among `where`, or has none. */
static const BevKernel *kernel_titled(const char *title, unsigned where, BevWhere device,
                                      BevDirection direction) {
    for (int i = 0; where & 1u << device && bev_kernels[i]; i++) {
        const BevKernel *kernel = bev_kernels[i];
        if (kernel->where == device && kernel->direction == direction && kernel->launch &&
            !strcasecmp(kernel->title, title))
            return kernel;
    }
    return NULL;
}

/* Finds a kernel of this direction by its name or title. If another kernel has the name, its title
 * is searched: "v4" may also run on the CPU, and a forward name finds the backward kernel. NULL,
 * without an error: no such kernel can run. */
static const BevKernel *find_kernel(const char *word, unsigned where, BevDirection direction) {
    const BevKernel *named = bev_kernel_find(word), *found = NULL;
    const char *title = named ? named->title : word;
    if (named && named->direction == direction) {
        if (where & 1u << named->where && named->launch)
            return named;
        if (named->where == BEV_CPU)
            return NULL; /* the name of a CPU kernel never stands for a GPU */
    }
    if (named) /* the device of the name comes first, then the GPU */
        found = kernel_titled(title, where, named->where, direction);
    for (int device = BEV_CUDA; !found && device >= BEV_CPU; device--)
        found = kernel_titled(title, where, (BevWhere)device, direction);
    return found;
}

/* Fills `err` with the reason why find_kernel found no kernel of these directions. */
static bool refuse_kernel(const char *word, unsigned where, unsigned directions, Err *err) {
    const BevKernel *named = bev_kernel_find(word);
    bool right_way = named && directions >> named->direction & 1;
    if (right_way && bev_unavailable(named))
        return err_set(err, ERR_DEVICE, word, "see bevscope --list", "this kernel %s",
                       bev_unavailable(named));
    if (named && named->direction == BEV_BACKWARD && !right_way)
        return err_set(err, ERR_USAGE, word, "bench and verify run it, --direction backward",
                       "this kernel computes gradients");
    if (!(directions & 1u << BEV_FORWARD))
        return err_set(err, ERR_USAGE, word, "see bevscope --list",
                       "this kernel has no backward on the chosen device");
    return err_set(err, ERR_DEVICE, word, "see bevscope --list", "this kernel does not run on %s",
                   where == 1u << BEV_CPU ? "the CPU" : "the chosen device");
}

const BevKernel *select_kernel(const char *word, unsigned where, Err *err) {
    const BevKernel *kernel = find_kernel(word, where, BEV_FORWARD);
    const BevKernel *named = bev_kernel_find(word);
    if (kernel && !(named && named->direction == BEV_BACKWARD))
        return kernel;
    refuse_kernel(word, where, 1u << BEV_FORWARD, err);
    return NULL;
}

const BevKernel *select_best(unsigned where) {
    return bev_default(where & 1u << BEV_CUDA ? BEV_CUDA : BEV_CPU, BEV_FORWARD);
}

bool select_single(const Options *options, const char *says, const char *hint, Err *err) {
    const char *const names[] = {"--dtype", "--align"};
    const char *const values[] = {options->dtype, options->align};
    for (int i = 0; i < 2; i++)
        if (values[i] && (strchr(values[i], ',') || !strcmp(values[i], "all")))
            return err_set(err, ERR_USAGE, names[i], hint, "%s, not '%s'", says, values[i]);
    return true;
}

int select_formats(const Options *options, KernelConfig *list) {
    unsigned dtypes = choices_mask(CHOICE_DTYPE, options->dtype, 1u << BEV_FP16);
    unsigned aligns = choices_mask(CHOICE_ALIGN, options->align, 1u << BEV_NEAREST);
    int count = 0;
    for (int align = 0; align < BEV_ALIGN_COUNT; align++)
        for (int dtype = 0; dtype < BEV_DTYPE_COUNT; dtype++)
            if (aligns >> align & 1 && dtypes >> dtype & 1)
                list[count++] = (KernelConfig){.dtype = (BevDtype)dtype, .align = (BevAlign)align};
    return count;
}

bool select_open(Workload *workload, const char *scene, const Options *options, Err *err) {
    char clean[200];
    const Job job = options ? select_job(options) : job_plain();
    if (!workload_open(workload, scene, &job, err))
        return false;
    if (workload->scene->remark[0]) {
        clean_text(scene, clean, sizeof clean);
        progress_hide();
        fprintf(stderr, "bevscope: %s: %s\n", clean, workload->scene->remark);
    }
    return true;
}

void select_say_if_empty(const char *scene, BevAlign align, int64_t points, const Pruned *pruned) {
    static char said[256];
    char line[256], clean[200];
    clean_text(scene, clean, sizeof clean);
    snprintf(line, sizeof line, "%s, %s", clean, bev_aligns[align].name);
    if (points > 0 || !strcmp(line, said))
        return;
    progress_hide();
    fprintf(stderr, "bevscope: %s: %s\n", line, scatter_empty_reason(pruned));
    memcpy(said, line, sizeof said);
}

bool select_cell(const char *text, const BevShape *shape, int64_t *cell, Err *err) {
    const Slice whole = slice_of(shape, SLICE_MAX);
    const bool tall = whole.slices > 1;
    long long x, y, z = 0;
    int end = 0, z_length = 0; /* bytes of `text` that were read */
    bool read = sscanf(text, "%lld,%lld%n", &x, &y, &end) == 2;
    if (read && tall && text[end] == ',') {
        read = sscanf(text + end, ",%lld%n", &z, &z_length) == 1;
        end += z_length;
    }
    if (!read || text[end])
        return err_set(err, ERR_USAGE, "--cell", tall ? "such as 64,70,3" : "such as 64,70",
                       "'%s' is not X,Y%s", text, tall ? " or X,Y,Z" : "");
    ShortText last = cell_place(shape, shape->nx * shape->ny - 1, ",");
    if (x < 0 || y < 0 || z < 0 || x >= whole.cells_x || y >= whole.rows || z >= whole.slices)
        return err_set(err, ERR_USAGE, "--cell", "", "'%s': cells are 0,0%s to %s", text,
                       tall ? ",0" : "", last.text);
    *cell = (z * whole.rows + y) * whole.cells_x + x;
    return true;
}

bool select_grad_out(const Options *options, GradOutFile *file, Err *err) {
    char text[256], clean[256];
    *file = (GradOutFile){.first = -1};
    if (!options->grad_out)
        return true;
    if (!grad_out_read(file, data_open(options->grad_out, err), options->grad_out, err))
        return false;
    grad_out_describe(file, text, sizeof text);
    clean_text(text, clean, sizeof clean);
    if (clean[0])
        fprintf(stderr, "bevscope: %s\n", clean);
    return true;
}

/* Finds a camera by name or number. A name comes before a number; of equal names the first. */
static bool find_camera(const char *word, const BevShape *shape, const Rig *rig, const char *option,
                        int64_t *camera, Err *err) {
    char *end;
    *camera = strtol(word, &end, 10);
    bool found = end != word && !*end && *camera >= 0 && *camera < shape->cameras;
    for (int i = rig ? rig->camera_count : 0; i-- > 0;)
        if (!strcasecmp(rig->cameras[i].name, word)) {
            *camera = i;
            found = true;
        }
    return found || err_set(err, ERR_USAGE, option, "name one of them, or say its number from 0",
                            "there is no camera '%s' among %lld", word, (long long)shape->cameras);
}

bool select_pixel(const char *text, const BevShape *shape, const Rig *rig, int64_t *pixel,
                  Err *err) {
    char word[64] = "", rest;
    long long x = -1, y = -1;
    if (sscanf(text, "%63[^,],%lld,%lld%c", word, &x, &y, &rest) != 3)
        return err_set(err, ERR_USAGE, "--pixel", "such as front,20,8", "'%s' is not CAMERA,X,Y",
                       text);
    int64_t camera;
    if (!find_camera(word, shape, rig, "--pixel", &camera, err))
        return false;
    if (x < 0 || y < 0 || x >= shape->feat_w || y >= shape->feat_h)
        return err_set(err, ERR_USAGE, "--pixel", "", "%lld,%lld is outside of %lld x %lld pixels",
                       x, y, (long long)shape->feat_w, (long long)shape->feat_h);
    *pixel = (camera * shape->feat_h + y) * shape->feat_w + x;
    return true;
}

const BevKernel *select_both_ways(const Options *options, unsigned where,
                                  const BevKernel **backward, Err *err) {
    const char *word = options->kernel;
    const BevKernel *named = word ? bev_kernel_find(word) : NULL;
    const BevKernel *there = word ? find_kernel(word, where, BEV_FORWARD) : select_best(where);
    const BevKernel *back = word ? find_kernel(word, where, BEV_BACKWARD) : NULL;
    const bool names_backward = back && named && named->direction == BEV_BACKWARD;
    const BevKernel *leader = names_backward || !there ? back : there; /* chooses the device */
    if (!leader) {
        refuse_kernel(word, where, 1u << BEV_FORWARD | 1u << BEV_BACKWARD, err);
        return NULL;
    }
    const BevWhere device = leader->where;
    *backward = back && back->where == device ? back : bev_default(device, BEV_BACKWARD);
    return there && there->where == device ? there : bev_default(device, BEV_FORWARD);
}

bool select_words(const Options *options, unsigned where, AppOptions *app, Err *err) {
    const BevKernel *kernel = NULL; /* NULL: the default of the display */
    if (options->kernel && !(kernel = select_kernel(options->kernel, where, err)))
        return false;
    app_word(app, "kernel", kernel ? kernel->name : NULL);
    if (!select_fault(options, NULL, err))
        return false;
    for (const OptionRow *row = NULL; (row = options_next(options->command, row));) {
        if (!row->control || !options->given[row->number])
            continue;
        const Action action = (Action)(row->control - 1);
        /* A control of one camera takes the camera's name first: "yaw front". */
        const bool of_camera = keys[action].group == GROUP_CAMERAS && action != ACTION_CAMERA;
        const char *camera = of_camera && options->camera ? options->camera : "";
        const ShortText word =
            short_text("%s%s%.40s", keys[action].word, of_camera ? " " : "", camera);
        app_word(app, word.text, options->given[row->number]);
    }
    app_word(app, "view", options->rgb && !options->view ? "rgb" : NULL);
    return true;
}

bool select_fault(const Options *options, bool *fault, Err *err) {
    const char *option = options->dropout ? "dropout" : NULL;
    for (int i = FAULTS - 1; i >= 0; i--) /* backwards: the error names the first that is given */
        if (options->fault.each[i] != 0)
            option = fault_infos[i].word;
    if (fault)
        *fault = option != NULL;
    return !option || options->camera ||
           err_set(err, ERR_USAGE, short_text("--%s", option).text, "add --camera NAME",
                   "which camera is not said");
}

bool select_use_fault(const Options *options, Workload *workload, Err *err) {
    const Scene *scene = workload->scene;
    Job job = workload->job;
    int64_t camera;
    if (!select_fault(options, NULL, err))
        return false;
    if ((options->camera || options->rounding) && !scene->has_rig) {
        const char *option = options->camera ? "--camera" : "--rounding";
        if (scene->has_operator)
            return err_set(err, ERR_USAGE, option, "leave it out",
                           "this scene is an operator: it has no cameras");
        return err_set(err, ERR_USAGE, option, "export the scene with its calibration",
                       "this scene came without its cameras");
    }
    if (options->camera &&
        !find_camera(options->camera, &scene->shape, &scene->rig, "--camera", &camera, err))
        return false;
    job.rounding = (GridRounding)choices_or(CHOICE_ROUNDING, options->rounding, ROUNDING_SCENE);
    if (options->camera) {
        job.camera_errors[camera] = options->fault;
        job.camera_mask &= ~((uint32_t)options->dropout << camera);
    }
    return scene_allows_delay(&workload->loaded->facts, options->fault.delay_ms, err) &&
           workload_use(workload, &job, err);
}

Job select_job(const Options *options) {
    Job job = job_plain();
    job.time_s = options->time_s;
    if (options->temperature > 0)
        job.temperature = options->temperature;
    job.channels = options->channels;
    job.sizes = (OperatorChange){options->skew >= 0, options->skew, options->points};
    job.balance = options->balance;
    job.prune = options->prune;
    if (options->outlier > 0)
        job.outlier = options->outlier;
    if (options->scales) {
        bool channel = !strcmp(options->scales, "channel");
        job.scales = channel ? SCALES_CHANNEL : SCALES_FILE;
        job.scales_file = options->scales;
    }
    job.photo_features = options->photo_features;
    return job;
}

/* Finds the kernels of a list in these directions. `directions` 0: a name is searched in the
 * direction of its kernel, a title forward. "all" and NULL give 0: every kernel. */
static bool select_kernels(const char *list, unsigned where, unsigned directions,
                           KernelSet *kernels, Err *err) {
    *kernels = 0;
    for (char word[CHOICE_ITEM]; choices_item(&list, word);) {
        const BevKernel *named = bev_kernel_find(word);
        unsigned wanted = directions ? directions : 1u << (named ? named->direction : BEV_FORWARD);
        KernelSet found = 0;
        if (!strcmp(word, "all")) {
            *kernels = 0;
            return true;
        }
        for (BevDirection way = 0; way < BEV_DIRECTION_COUNT; way++) {
            const BevKernel *kernel = wanted >> way & 1 ? find_kernel(word, where, way) : NULL;
            found |= kernel ? kernel_bit(kernel) : 0;
        }
        if (!found)
            return refuse_kernel(word, where, wanted, err);
        *kernels |= found;
    }
    return true;
}

bool select_plan(const Options *options, unsigned dtypes, unsigned aligns, const char *const *usual,
                 int count, BenchPlan *plan, Err *err) {
    const int which = choices_or(CHOICE_DIRECTION, options->direction, -1);
    unsigned asked = which < 0 ? 0 : 1u << which; /* by --direction; 0: it is not given */
    if (which == BEV_DIRECTION_COUNT)
        asked = 1u << BEV_FORWARD | 1u << BEV_BACKWARD;
    bool named = options->argument_count > 0;
    const int usual_moments = options->time_s > 0 ? 1 : 0; /* --time means one; 0: all of a clip */
    *plan = (BenchPlan){.scenes = named ? options->arguments : usual,
                        .scene_count = named ? options->argument_count : count,
                        .moments = options->moments ? (int)options->moments : usual_moments,
                        .dtypes = choices_mask(CHOICE_DTYPE, options->dtype, dtypes),
                        .aligns = choices_mask(CHOICE_ALIGN, options->align, aligns),
                        .job = select_job(options)};
    if (!select_devices(options->device, &plan->where, err) ||
        !select_kernels(options->kernel, plan->where, asked, &plan->kernels, err))
        return false;
    for (int i = 0; bev_kernels[i]; i++)
        if (plan->kernels >> i & 1) {
            plan->directions |= 1u << bev_kernels[i]->direction;
            plan->stages |= 1u << bev_kernels[i]->stage;
        }
    if (asked || !plan->kernels)
        plan->directions = asked ? asked : 1u << BEV_FORWARD;
    if (options->stage || !plan->kernels)
        plan->stages = 1u << choices_or(CHOICE_STAGE, options->stage, BEV_POOL);
    if (plan->stages == 1u << BEV_VIEW && !(plan->dtypes & scaleless_dtypes))
        return err_set(err, ERR_USAGE, "--dtype", "choose fp32, fp16 or bf16",
                       "a view transform does not read %s", options->dtype);
    if (plan->directions == 1u << BEV_BACKWARD && !(plan->dtypes & scaleless_dtypes))
        return err_set(err, ERR_USAGE, "--dtype", "choose fp32, fp16 or bf16",
                       "there are no gradients in %s", options->dtype);
    return true;
}

/* Reads the scenes of the plan from the file of --scenes. Empty lines are left out. */
static bool read_scenes(const Options *options, BenchPlan *plan, Err *err) {
    enum { MOST_BYTES = 16 << 20 };
    static char *listed;
    static const char **names; /* in `listed` */
    const char *path = options->scenes;
    size_t length, lines = 1;
    plan->scene_count = 0;
    if (options->argument_count)
        return err_set(err, ERR_USAGE, "--scenes", "leave the others out",
                       "scenes are named twice");
    if (!data_read(path, MOST_BYTES, &listed, &length, err))
        return false;
    for (size_t i = 0; i < length; i++)
        lines += listed[i] == '\n';
    if (!(names = calloc(lines, sizeof *names)))
        return err_no_memory(err, path, "");
    plan->scenes = names;
    for (char *rest = listed, *name; (name = strtok_r(rest, "\r\n", &rest));)
        names[plan->scene_count++] = name;
    return plan->scene_count > 0 || err_set(err, ERR_FAILED, path, "", "names no scene");
}

bool select_plan_with_files(const Options *options, unsigned dtypes, unsigned aligns,
                            const char *const *usual, int count, BenchPlan *plan, Err *err) {
    static GradOutFile grad_out;
    if (!select_plan(options, dtypes, aligns, usual, count, plan, err))
        return false;
    const bool backward = plan->directions >> BEV_BACKWARD & 1;
    if (!backward && !options_refuse(options, "grad-out", "add --direction backward",
                                     "only backward has a gradient of the output", err))
        return false;
    if (!select_grad_out(options, &grad_out, err))
        return false;
    if (options->grad_out)
        plan->grad_file = &grad_out;
    return !options->scenes || read_scenes(options, plan, err);
}

bool pool_workload(Workload *workload, Pooled *pooled, Err *err) {
    const KernelConfig *config = &pooled->config;
    const BevProblem *view = &pooled->problem.view;
    const bool backward = config->kernel->direction == BEV_BACKWARD;
    Session *session = NULL;
    if (!(backward ? workload_problem_backward : workload_problem)(
            workload, config->dtype, config->align, &pooled->problem, err))
        return false;
    if (!(pooled->codes = malloc(bev_output_bytes(view))))
        return err_no_memory(err, "output", "choose a smaller scene");
    bool ok = session_open(&session, config->kernel, view, err) && session_poison(session, err) &&
              session_run(session, err) && session_read(session, pooled->codes, err);
    session_close(session);
    return ok;
}
