#include "src/state/calibration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void multiply(const double a[9], const double b[9], double product[9]) {
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            product[3 * row + column] = 0;
            for (int k = 0; k < 3; k++)
                product[3 * row + column] += a[3 * row + k] * b[3 * k + column];
        }
}

void camera_bend(Camera *camera, const CameraError *error) {
    const double degree = M_PI / 180;
    double yaw = error->yaw_deg * degree, pitch = error->pitch_deg * degree;
    /* Camera axes are right, down, forward: pitching up moves forward against down. */
    const double about_z[9] = {cos(yaw), -sin(yaw), 0, sin(yaw), cos(yaw), 0, 0, 0, 1};
    const double about_right[9] = {1, 0, 0, 0, cos(pitch), -sin(pitch), 0, sin(pitch), cos(pitch)};
    double turned[9], bent[9];
    multiply(about_z, camera->rotation, turned);
    multiply(turned, about_right, bent);
    memcpy(camera->rotation, bent, sizeof bent);
    camera->position_m[2] += error->height_m;
}

bool camera_error_is_zero(const CameraError *error) {
    return error->yaw_deg == 0 && error->pitch_deg == 0 && error->height_m == 0;
}

static void append(char *text, size_t size, const char *format, double value) {
    size_t length = strlen(text);
    if (value != 0)
        snprintf(text + length, size - length, format, value);
}

bool camera_faults(const Job *job, int camera, char *text, size_t size) {
    const CameraError *error = &job->camera_errors[camera];
    bool dirty = !(job->camera_mask >> camera & 1);
    snprintf(text, size, "%s", dirty ? ", dirty" : "");
    append(text, size, ", yaw %+.1f deg", error->yaw_deg);
    append(text, size, ", pitch %+.1f deg", error->pitch_deg);
    append(text, size, ", height %+.1f m", error->height_m);
    return text[0] != '\0';
}
