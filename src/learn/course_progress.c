/* SPDX-License-Identifier: MIT */
/* Progress in the course, as lines: name, page, pages, answered, right, asked, done. */
#include "src/learn/course.h"

#include "src/base/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PROGRESS_BYTES = 1 << 16, LINE = 160 };

bool course_progress_path(char *path, size_t size) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && state[0] == '/')
        return snprintf(path, size, "%s/bevscope/progress", state) < (int)size;
    return home && home[0] &&
           snprintf(path, size, "%s/.local/state/bevscope/progress", home) < (int)size;
}

static bool read_progress_line(const char *line, CourseProgressRow *row) {
    int done;
    char more[2];
    *row = (CourseProgressRow){.page = 0};
    return sscanf(line, "%63s %d %d %d %d %d %d %1s", row->name, &row->page, &row->pages,
                  &row->answered, &row->right, &row->asked, &done, more) == 7 &&
           (row->done = done == 1, done == 0 || done == 1) && row->page >= 0 &&
           row->page <= row->pages && row->answered >= 0 && row->answered <= row->pages &&
           row->right >= 0 && row->right <= row->asked;
}

static CourseProgressRow *find_row(CourseProgress *progress, const char *name) {
    for (int i = 0; i < progress->count; i++)
        if (!strcmp(progress->rows[i].name, name))
            return &progress->rows[i];
    return NULL;
}

const CourseProgressRow *course_progress_find(const CourseProgress *progress, const char *name) {
    return find_row((CourseProgress *)progress, name);
}

static bool put_row(CourseProgress *progress, const CourseProgressRow *row) {
    CourseProgressRow *place = find_row(progress, row->name);
    if (!place && progress->count < COURSE_PROGRESS_ROWS)
        place = &progress->rows[progress->count++];
    if (place)
        *place = *row;
    return place != NULL;
}

void course_progress_read(CourseProgress *progress) {
    char path[COURSE_PATH], *text = NULL;
    size_t length;
    Err unread;
    *progress = (CourseProgress){.count = 0};
    if (!course_progress_path(path, sizeof path) ||
        !data_read(path, PROGRESS_BYTES, &text, &length, &unread))
        return;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        CourseProgressRow row;
        if (read_progress_line(line, &row))
            put_row(progress, &row);
    }
    free(text);
}

bool course_progress_folder(const char *path, Err *err) {
    char folder[COURSE_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return err_set(err, ERR_FAILED, folder, "progress is not kept", "cannot be made: %s",
                           strerror(errno));
        *slash = '/';
    }
    return true;
}

bool course_progress_save(const CourseProgressRow *row, Err *err) {
    char path[COURSE_PATH];
    CourseProgress progress;
    if (!course_progress_path(path, sizeof path))
        return err_set(err, ERR_FAILED, "progress", "set HOME", "there is no folder to keep it in");
    course_progress_read(&progress);
    if (!put_row(&progress, row))
        return err_set(err, ERR_FAILED, path, "delete it", "there is no room for another lesson");
    char *text = malloc((size_t)progress.count * LINE + 1);
    if (!text)
        return err_set(err, ERR_FAILED, path, "", "out of memory");
    size_t used = 0;
    for (int i = 0; i < progress.count; i++) {
        const CourseProgressRow *r = &progress.rows[i];
        used += (size_t)snprintf(text + used, LINE, "%s %d %d %d %d %d %d\n", r->name, r->page,
                                 r->pages, r->answered, r->right, r->asked, (int)r->done);
    }
    bool ok = course_progress_folder(path, err) && data_write(path, text, used, err);
    free(text);
    return ok;
}
