/* Keys as a terminal sends them. */
#pragma once

#include "src/state/keys.h"

enum { TYPED_TEXT = 8 };

/* For TERM=xterm-256color; "": a key that is not in the table. */
void typed_text(int32_t key, char text[TYPED_TEXT]);

/* A set of controls. */
typedef struct {
    bool has[ACTION_COUNT];
    bool plain; /* only characters, arrows, Enter, Tab and Esc */
} TypedControls;

/* Every control but these. */
TypedControls typed_all_but(const Action *out, size_t count);

/* One of these controls and one of its keys, both at random. */
int32_t typed_random(const TypedControls *controls);

/* The seed of random keys: HARD_SEED of the environment, else `otherwise`; it is printed. */
unsigned typed_seed(unsigned otherwise);

/* A word of the environment, and a whole number. */
const char *typed_word(const char *name, const char *otherwise);
int typed_number(const char *name, int otherwise);
