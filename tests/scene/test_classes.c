/* SPDX-License-Identifier: MIT */
/* Legend colours must differ for normal, protan, deutan and tritan vision, on white and on the dark
 * background. */
#include "src/scene/world.h"
#include "tests/support/tap.h"
#include "tests/support/vision.h"

static void test_pairs(const Vision *vision, double limit) {
    double closest = INFINITY;
    int one = 0, other = 0;
    for (int i = 0; i < CLASS_COUNT; i++)
        for (int j = i + 1; j < CLASS_COUNT; j++) {
            double distance = vision_apart(world_classes[i].color, world_classes[j].color, vision);
            if (distance >= closest)
                continue;
            closest = distance;
            one = i;
            other = j;
        }
    tap_ok(closest >= limit, "%s: closest are %s and %s, %.1f apart", vision->name,
           world_classes[one].name, world_classes[other].name, closest);
}

static void test_background(const Vision *vision, const char *name, const uint8_t background[3]) {
    double closest = INFINITY;
    int which = 0;
    for (int i = 0; i < CLASS_COUNT; i++) {
        double distance = vision_apart(world_classes[i].color, background, vision);
        if (distance < closest) {
            closest = distance;
            which = i;
        }
    }
    tap_ok(closest >= 17, "%s: on %s the closest is %s, %.1f apart", vision->name, name,
           world_classes[which].name, closest);
}

TAP_SUITE(classes) {
    static const uint8_t white[3] = {255, 255, 255}, dark[3] = {16, 20, 24};
    for (size_t i = 0; i < sizeof visions / sizeof *visions; i++) {
        bool rare = strcmp(visions[i].name, "tritan") == 0; /* 1 reader in 10,000 */
        test_pairs(&visions[i], rare ? 11 : 13.5);
        test_background(&visions[i], "white", white);
        test_background(&visions[i], "dark", dark);
    }
    bool named = true;
    for (int i = 0; i < CLASS_COUNT; i++)
        for (int j = 0; j < i; j++)
            named &= strcmp(world_classes[i].name, world_classes[j].name) != 0 &&
                     strcmp(world_classes[i].title, world_classes[j].title) != 0;
    tap_ok(named, "every class has a name and a title of its own");
}
