#include "tests/support/process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static bool read_status(pid_t pid, Holdings *holdings) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "VmRSS: %ld", &holdings->resident_kb);
        sscanf(line, "VmHWM: %ld", &holdings->peak_kb);
        sscanf(line, "RssAnon: %ld", &holdings->anonymous_kb);
        sscanf(line, "Threads: %d", &holdings->threads);
    }
    fclose(file);
    return holdings->resident_kb > 0;
}

static int count_files(pid_t pid) {
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

static int count_mappings(pid_t pid) {
    char path[64];
    int count = 0, c;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && (c = fgetc(file)) != EOF)
        count += c == '\n';
    if (file)
        fclose(file);
    return count;
}

/* The fields behind the name of a thread, which may hold anything. */
static bool read_nice(pid_t pid, const char *thread, long *nice) {
    char path[320], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, thread);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    const char *fields = strrchr(line, ')');
    return fields &&
           sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %ld",
                  nice) == 1;
}

static double busy_s(pid_t pid, const char *thread) {
    char path[320];
    unsigned long long ran_ns = 0, waited_ns = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, thread);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%llu %llu", &ran_ns, &waited_ns) != 2)
        ran_ns = waited_ns = 0;
    if (file)
        fclose(file);
    return (double)(ran_ns + waited_ns) * 1e-9;
}

Busy process_busy(pid_t pid) {
    char path[64], first[32];
    long usual = 0, nice;
    Busy busy = {0};
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    snprintf(first, sizeof first, "%d", (int)pid);
    read_nice(pid, first, &usual);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && read_nice(pid, entry->d_name, &nice))
            *(nice > usual ? &busy.background_s : &busy.foreground_s) += busy_s(pid, entry->d_name);
    if (folder)
        closedir(folder);
    return busy;
}

bool process_holdings(pid_t pid, Holdings *holdings) {
    *holdings = (Holdings){.resident_kb = 0};
    if (!read_status(pid, holdings))
        return false;
    holdings->files = count_files(pid);
    holdings->mappings = count_mappings(pid);
    return true;
}

long gpu_used_mb(void) {
    long mb = 0;
    FILE *pipe =
        popen("nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>&1", "r");
    if (pipe && fscanf(pipe, "%ld", &mb) != 1)
        mb = 0;
    if (pipe)
        pclose(pipe);
    return mb;
}
