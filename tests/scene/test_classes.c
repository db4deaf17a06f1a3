/* SPDX-License-Identifier: MIT */
/* Legend colours must differ for normal, protan, deutan and tritan vision, on white and on the dark
 * background. */
#include "src/scene/world.h"
#include "tests/support/tap.h"
#include "tests/support/vision.h"

static void test_pairs(const Vision *vision, double limit) {
    static const uint8_t grounds[2][3] = {{255, 255, 255}, {16, 20, 24}};
    double closest[2] = {INFINITY, INFINITY}; /* to a class, to a ground */
    const char *of[2][2];
    for (int i = 0; i < CLASS_COUNT; i++)
        for (int j = 0; j < i + 2; j++) {
            bool ground = j >= i;
            const uint8_t *other = ground ? grounds[j - i] : world_classes[j].color;
            double distance = vision_apart(world_classes[i].color, other, vision);
            if (distance >= closest[ground])
                continue;
            closest[ground] = distance;
            of[ground][0] = world_classes[i].name;
            of[ground][1] = !ground ? world_classes[j].name : j > i ? "dark" : "white";
        }
    tap_ok(closest[0] >= limit && closest[1] >= 17,
           "%s: closest are %s and %s, %.1f apart; to a ground %s to %s, %.1f", vision->name,
           of[0][0], of[0][1], closest[0], of[1][0], of[1][1], closest[1]);
}

TAP_SUITE(classes) {
    for (size_t i = 0; i < sizeof visions / sizeof *visions; i++) {
        bool rare = strcmp(visions[i].name, "tritan") == 0; /* 1 reader in 10,000 */
        test_pairs(&visions[i], rare ? 11 : 13.5);
    }
}
