#include "src/ui/menu.h"

#include "src/view/bev/bev_picture.h"

void live_menu(LiveMenu *live, const char *scene, unsigned where, int *chosen) {
    *live = (LiveMenu){.menu.where = where};
    Menu *scenes = &live->menu.scenes;
    size_t count = scene_names(live->scenes, MENU_MAX_SCENES);
    scenes->names = live->names;
    for (size_t i = 0; i < count; i++) {
        live->names[scenes->count++] = live->scenes[i].name;
        live->menu.preset_count += live->scenes[i].is_config;
    }
    *chosen = menu_find(scenes, scene);
    if (*chosen < 0) {
        *chosen = scenes->count;
        live->names[scenes->count++] = scene;
    }
    bev_picture_menus(&live->menu);
}
