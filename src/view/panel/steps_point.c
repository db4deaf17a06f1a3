/* What the steps page says of a point: the letter of its cell, its camera; and the point in focus.
 */
#include "src/view/panel/steps_rows.h"

#include <stdio.h>

enum { LETTERS = 26 };

static int letter_of(const Steps *steps, const Step *step, int32_t cell) {
    int letter = 0;
    for (int i = 0; i < step->point_count; i++) {
        int32_t other = steps->points[step->first_point + i].cell;
        bool seen = false;
        for (int k = 0; k < i && !seen; k++)
            seen = steps->points[step->first_point + k].cell == other;
        if (other == cell)
            return letter;
        letter += !seen;
    }
    return letter;
}

char cell_letter(const Steps *steps, const Step *step, int32_t cell) {
    return (char)('a' + letter_of(steps, step, cell) % LETTERS);
}

const StepPoint *focus_of(const StepsView *view, const Step *step) {
    const StepPoint *points = view->steps->points + step->first_point;
    const StepPoint *own = view->lane >= 0 ? step_lane_point(view->steps, step, view->lane) : NULL;
    if (own)
        return own;
    for (int i = 0; i < step->point_count; i++)
        if (points[i].cell == view->cell)
            return &points[i];
    return step->point_count ? points : NULL;
}

void camera_text(const StepsView *view, int64_t camera, char *text, size_t size) {
    if (view->rig && camera < view->rig->camera_count)
        snprintf(text, size, "%.31s", view->rig->cameras[camera].name);
    else
        snprintf(text, size, "camera %lld", (long long)camera);
}
