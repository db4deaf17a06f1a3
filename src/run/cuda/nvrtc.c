/* SPDX-License-Identifier: MIT */
#include "src/run/cuda/nvrtc.h"

#include "src/run/cuda/driver.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- libcuda.so: prototypes as in the driver's ABI ------------------------------------------- */

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

typedef struct {
    int (*init)(unsigned flags);
    int (*get)(int *device, int index);
    int (*attribute)(int *value, int attribute, int device);
    int (*load)(void **module, const void *image);
    int (*function)(void **function, void *module, const char *name);
    int (*clear)(unsigned long long at, unsigned value, size_t count, void *stream);
    int (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                  void *stream, void **arguments, void **extra);
    int (*error)(int status, const char **text);
} Driver;

/* Finds the functions, which every driver that runs this program's own kernels has. */
static bool load_driver(Driver *driver, Err *err) {
    static const char *const names[] = {
        "cuInit",           "cuDeviceGet",         "cuDeviceGetAttribute",
        "cuModuleLoadData", "cuModuleGetFunction", "cuMemsetD32Async",
        "cuLaunchKernel",   "cuGetErrorString"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return find_functions(library, names, driver, sizeof *driver) ||
           err_set(err, ERR_DEVICE, "cuda", "kernels in C need no GPU",
                   "no NVIDIA driver: libcuda.so.1 was not found");
}

static bool driver_refuses(const Driver *driver, int status, ErrKind kind, const char *what,
                           Err *err) {
    const char *text = NULL;
    driver->error(status, &text);
    return err_set(err, kind, "cuda", "", "%s: error %d%s%s", what, status, text ? ", " : "",
                   text ? text : "");
}

/* ---- libnvrtc: the compiler ------------------------------------------------------------------ */

typedef struct {
    int (*create)(void **program, const char *source, const char *name, int header_count,
                  const char *const *headers, const char *const *names);
    int (*compile)(void *program, int count, const char *const *options);
    int (*log_size)(void *program, size_t *size);
    int (*log)(void *program, char *log);
    int (*image_size)(void *program, size_t *size);
    int (*image)(void *program, char *image);
} Compiler;

static bool load_compiler(Compiler *compiler, Err *err) {
    static const char *const files[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    static const char *const names[] = {"nvrtcCreateProgram",     "nvrtcCompileProgram",
                                        "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
                                        "nvrtcGetCUBINSize",      "nvrtcGetCUBIN"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof files / sizeof *files; i++)
        library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    return find_functions(library, names, compiler, sizeof *compiler) ||
           err_set(err, ERR_DEVICE, "nvrtc", "install the CUDA toolkit, or write the kernel in C",
                   "libnvrtc.so was not found");
}

/* Returns the text that `get` writes, with a zero at its end. `size_of` gives the bytes of the
 * text. NULL: there is none. */
static char *fetch_text(int (*size_of)(void *, size_t *), int (*get)(void *, char *), void *program,
                        size_t *bytes) {
    *bytes = 0;
    if (size_of(program, bytes) != 0 || *bytes == 0)
        return NULL;
    char *text = calloc(1, *bytes + 1);
    if (!text || get(program, text) == 0)
        return text;
    free(text);
    return NULL;
}

/* Writes the option that names the first GPU's architecture. */
static bool name_architecture(char *option, size_t size, Err *err) {
    Driver driver = {0};
    int device, major = 0, minor = 0, status;
    if (!load_driver(&driver, err))
        return false;
    if ((status = driver.init(0)) || (status = driver.get(&device, 0)) ||
        (status = driver.attribute(&major, CAPABILITY_MAJOR, device)) ||
        (status = driver.attribute(&minor, CAPABILITY_MINOR, device)))
        return driver_refuses(&driver, status, ERR_DEVICE, "there is no GPU to run on", err);
    snprintf(option, size, "--gpu-architecture=sm_%d%d", major, minor);
    return true;
}

bool nvrtc_compile(const char *source, const char *name, const char *headers, NvrtcResult *result,
                   Err *err) {
    Compiler compiler = {0};
    char architecture[60], folder[4200];
    void *program;
    size_t log_bytes;
    *result = (NvrtcResult){.image = NULL};
    if (!name_architecture(architecture, sizeof architecture, err) ||
        !load_compiler(&compiler, err))
        return false;
    snprintf(folder, sizeof folder, "--include-path=%s", headers);
    const char *const options[] = {architecture, folder, "--std=c++17", "--generate-line-info"};
    if (compiler.create(&program, source, name, 0, NULL, NULL) != 0)
        return err_set(err, ERR_FAILED, "nvrtc", "", "does not start");
    bool ok = compiler.compile(program, sizeof options / sizeof *options, options) == 0;
    result->log = fetch_text(compiler.log_size, compiler.log, program, &log_bytes);
    if (ok)
        result->image = fetch_text(compiler.image_size, compiler.image, program, &result->bytes);
    return result->image || err_set(err, ERR_FAILED, name, "", "does not compile");
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static struct {
    Driver driver;
    void *function;
} loaded;

bool nvrtc_load(const char *image, const char *function, Err *err) {
    void *module;
    if (!load_driver(&loaded.driver, err))
        return false;
    int status = loaded.driver.load(&module, image);
    if (!status)
        status = loaded.driver.function(&loaded.function, module, function);
    return !status || driver_refuses(&loaded.driver, status, ERR_FAILED, function, err);
}

bool nvrtc_launch(const void *argument, void *out, size_t bytes, long threads, void *stream,
                  Err *err) {
    unsigned blocks = (unsigned)((threads + NVRTC_BLOCK - 1) / NVRTC_BLOCK);
    void *arguments[] = {(void *)argument};
    int status = loaded.driver.clear((unsigned long long)(uintptr_t)out, 0, bytes / 4, stream);
    if (!status && blocks > 0)
        status = loaded.driver.launch(loaded.function, blocks, 1, 1, NVRTC_BLOCK, 1, 1, 0, stream,
                                      arguments, NULL);
    return !status || driver_refuses(&loaded.driver, status, ERR_FAILED, "launch", err);
}
