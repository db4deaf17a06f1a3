/* What the live display lets its user choose from: the names of the tables of all layers. */
#ifndef BEV_MENU_H
#define BEV_MENU_H

#include "src/scene/scene.h"
#include "src/state/state.h"

enum { MENU_MAX_SCENES = 64 };

/* Owns the names that its `menu` borrows. */
typedef struct {
    StateMenu menu;
    SceneName scenes[MENU_MAX_SCENES];
    const char *names[MENU_MAX_SCENES + 1];
} LiveMenu;

/* All scenes that are known, and `scene` (a name or a path) behind them where it is none of these;
 * *chosen is its position. `scene` must outlive the menu. */
void live_menu(LiveMenu *live, const char *scene, unsigned where, int *chosen);

#endif
