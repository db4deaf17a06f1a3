/* SPDX-License-Identifier: MIT */
#include "src/learn/course.h"

#include "src/base/data.h"
#include "src/base/nearest.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char suffix[] = ".lesson";

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

static void add_name(Course *course, const char *file) {
    const char *dot = strrchr(file, '.');
    if (course->count < COURSE_LESSONS && dot && !strcmp(dot, suffix) && dot > file &&
        dot - file < COURSE_NAME)
        snprintf(course->names[course->count++], COURSE_NAME, "%.*s", (int)(dot - file), file);
}

/* Reads the comment that a lesson's file begins with: "# Loops swapped: fewer bytes, ...". */
static void read_idea(const char *folder, const char *name, char idea[COURSE_IDEA]) {
    char path[2 * COURSE_PATH];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "# %127[^\n]", idea) != 1)
        idea[0] = '\0';
    if (file)
        fclose(file);
}

void course_read(Course *course) {
    char path[COURSE_PATH];
    *course = (Course){.count = 0};
    DIR *folder = data_path("samples/lessons", path, sizeof path, NULL) ? opendir(path) : NULL;
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        add_name(course, entry->d_name);
    closedir(folder);
    qsort(course->names, (size_t)course->count, COURSE_NAME, compare_names);
    for (int i = 0; i < course->count; i++)
        read_idea(path, course->names[i], course->ideas[i]);
}

/* Whether the word names the lesson: "2", "02", or the text after the number, "whose-bytes". */
static bool names_lesson(const char *name, const char *word) {
    char *end, *word_end;
    long number = strtol(name, &end, 10), asked = strtol(word, &word_end, 10);
    bool numbered = end != name && *end == '-';
    return !strcmp(name, word) || (numbered && !strcmp(end + 1, word)) ||
           (numbered && word_end != word && !*word_end && number == asked);
}

bool course_find(const Course *course, const char *word, char *path, size_t size, Err *err) {
    const char *names[COURSE_LESSONS];
    char relative[COURSE_NAME + 32], hint[160] = "no lesson is installed";
    for (int i = 0; i < course->count; i++) {
        names[i] = course->names[i];
        if (!names_lesson(names[i], word))
            continue;
        snprintf(relative, sizeof relative, "samples/lessons/%s%s", names[i], suffix);
        return data_path(relative, path, size, err);
    }
    if (strpbrk(word, "./") && access(word, F_OK) == 0) {
        snprintf(path, size, "%s", word);
        return true;
    }
    if (course->count)
        nearest_hint(word, names, (size_t)course->count, "bevscope learn lists them", hint,
                     sizeof hint);
    return err_set(err, ERR_USAGE, word, hint, "no such lesson");
}

const char *course_after(const Course *course, const char *name) {
    for (int i = 0; i + 1 < course->count; i++)
        if (!strcmp(course->names[i], name))
            return course->names[i + 1];
    return NULL;
}

const char *course_next(const Course *course, const CourseProgress *progress) {
    const char *fresh = NULL;
    for (int i = 0; i < course->count; i++) {
        const CourseProgressRow *row = course_progress_find(progress, course->names[i]);
        if (row && row->page > 0)
            return course->names[i];
        if (!fresh && !(row && row->done))
            fresh = course->names[i];
    }
    return fresh ? fresh : course->count ? course->names[0] : NULL;
}
