/* SPDX-License-Identifier: MIT */
/* A picture that takes long: its stage and its expected time; see loop_internal.h. */
#include "src/ui/loop_internal.h"

#include <math.h>
#include <stdio.h>

enum { SLOW_MS = 400 }; /* the least time that is reported */

void slow_asked(SlowMeter *meter, int scene, bool loads, uint64_t request, double now_ms) {
    if (!meter->request || meter->scene != scene)
        meter->since_ms = now_ms;
    meter->loads = loads;
    meter->scene = scene;
    meter->request = request;
}

void slow_answered(SlowMeter *meter, uint64_t request, double now_ms) {
    if (!meter->request || request < meter->request)
        return;
    meter->took_ms[meter->loads][meter->scene] = now_ms - meter->since_ms;
    meter->request = 0;
}

void slow_shown(SlowMeter *meter, const LiveData *live) {
    meter->shown_scene = live->job.scene;
    meter->shown_ms = 0;
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        if (live->stages_us[stage].source)
            meter->shown_ms += live->stages_us[stage].value * 1e-3;
}

/* Returns the work of a scene's first picture, as a number of frustum points; 0: unknown. Rays,
 * points of the map and pooling all grow with that number. */
static double work_of(const Menu *scenes, int scene) {
    const Preset *preset = preset_find(menu_name(scenes, scene));
    return preset ? preset->feat_w * preset->feat_h / preset->depth_step_m : 0;
}

/* Returns the expected time of a picture: the last time of this scene. For a new scene the time of
 * the shown scene is scaled by the work. 0: unknown. */
static double about_ms(const SlowMeter *meter, const Menu *scenes) {
    double took = meter->took_ms[meter->loads][meter->scene];
    double shown = work_of(scenes, meter->shown_scene), work = work_of(scenes, meter->scene);
    if (took > 0 || !meter->loads || !(shown > 0))
        return took;
    return meter->shown_ms * work / shown;
}

void slow_text(const SlowMeter *meter, const Menu *scenes, const char *doing, double now_ms,
               char *text, size_t size) {
    double passed_ms = now_ms - meter->since_ms, about = about_ms(meter, scenes);
    text[0] = '\0';
    if (!meter->request || passed_ms < SLOW_MS)
        return;
    int used = snprintf(text, size, "computing %.40s: %s, %.1f s", menu_name(scenes, meter->scene),
                        doing, passed_ms * 1e-3);
    if (passed_ms < about && used < (int)size)
        snprintf(text + used, size - (size_t)used, " of about %.2g", about * 1e-3);
}

double slow_in_ms(const SlowMeter *meter, double now_ms) {
    enum { AGAIN_MS = 200 };
    double passed_ms = now_ms - meter->since_ms;
    if (!meter->request)
        return INFINITY;
    return passed_ms < SLOW_MS ? SLOW_MS - passed_ms : AGAIN_MS - fmod(passed_ms, AGAIN_MS);
}
