/* Controls of the group "Lessons". Lessons are above the state: a control notes a wish, and
 * STEP_LESSON reports the wish. */
#include "src/cachesim/slow.h"
#include "src/state/control.h"

#include <stdio.h>
#include <string.h>

static unsigned wish(State *state, LessonWish what) {
    state->lesson_wish = what;
    return STEP_LESSON | STEP_REDRAW;
}

unsigned control_lesson(State *state, const Command *command) {
    bool off = command->step ? state->lesson.open : !strcmp(command->argument, "off");
    if (off && !state->lesson.open)
        return SAY(state, command->action, "lesson: none is open");
    bool next = command->step || !strcmp(command->argument, "next");
    snprintf(state->lesson_name, sizeof state->lesson_name, "%s", next ? "" : command->argument);
    SAY(state, command->action, "lesson %s",
        off                       ? "closed"
        : state->lesson_name[0] ? state->lesson_name
                                  : "opened");
    return wish(state, off ? WISH_CLOSE : WISH_OPEN);
}

unsigned control_tour(State *state, const Command *command) {
    SAY(state, command->action, "tour: one minute, any key ends it");
    return wish(state, WISH_TOUR);
}

unsigned control_explain(State *state, const Command *command) {
    double number = control_moved(command, 0, 1);
    if (!(number >= 1 && number <= FINDINGS_MAX))
        return SAY(state, command->action, "explain takes the number of a finding, 1 to %d",
                   FINDINGS_MAX);
    state->finding = (int)number - 1;
    SAY(state, command->action, "explain finding %d", state->finding + 1);
    return wish(state, WISH_EXPLAIN);
}

/* A page in the place of a lesson. */
unsigned control_workflow(State *state, const Command *command) {
    bool off = command->step ? state->lesson.open : !strcmp(command->argument, "off");
    if (off && !state->lesson.open)
        return SAY(state, command->action, "workflow: it is not open");
    SAY(state, command->action, "workflow %s", off ? "closed" : "opened");
    return wish(state, off ? WISH_CLOSE : WISH_WORKFLOW);
}

const char *const slow_letters[] = {"none", "A", "B", "C", "D", "E", "F", "G", "H"};

const char *state_slow(const State *state) {
    return slow_letters[state->slow];
}

int state_slow_fault(const State *state) {
    return state->slow ? slow_behind(state->slow - 1, (uint64_t)state->slow_seed) : -1;
}

/* "A", or "A 7" with the seed of the order; -1: neither. */
static int slow_named(const char *text, int64_t *seed) {
    char letter[8], more[2];
    long long number = 1;
    int read = sscanf(text, "%7s %lld %1s", letter, &number, more);
    *seed = number;
    if (read >= 1 && read <= 2 && !strcmp(letter, "none"))
        return 0;
    int place = (letter[0] & ~32) - 'A';
    return read < 1 || read > 2 || letter[1] || place < 0 || place >= SLOW_COUNT ? -1 : place + 1;
}

/* The log does not tell the fault: finding it is the exercise. The page stays closed in a lesson.
 */
unsigned control_slow(State *state, const Command *command) {
    int64_t seed = state->slow_seed;
    int slow = command->step ? (state->slow + command->step + 1 + SLOW_COUNT) % (1 + SLOW_COUNT)
                             : slow_named(command->argument, &seed);
    bool lesson = state->lesson.open && state->lesson.steps;
    if (slow < 0)
        return SAY(state, command->action, "slow: there is no \"%s\": none, A to H, or \"A 7\"",
                   command->argument);
    state->slow = slow;
    state->slow_suspect = 0;
    state->slow_seed = seed;
    if (!slow)
        SAY(state, command->action, "no slow kernel");
    else
        SAY(state, command->action, "slow kernel %s: what makes it slow?", state_slow(state));
    return lesson || (!slow && !state->lesson.open) ? STEP_REDRAW
                                                    : wish(state, slow ? WISH_SLOW : WISH_CLOSE);
}

unsigned control_suspect(State *state, const Command *command) {
    int fault = state_slow_fault(state), named = slow_find(command->argument);
    if (fault < 0)
        return SAY(state, command->action, "suspect: nothing is slow; %s A plants something",
                   keys[ACTION_SLOW].word);
    if (command->step || named < 0)
        return SAY(state, command->action, "suspect takes what you suspect, such as %s",
                   slow_faults[0].name);
    state->slow_suspect = named + 1;
    if (named != fault)
        SAY(state, command->action, "not %s: that shows otherwise: %s", slow_faults[named].title,
            slow_faults[named].symptom);
    else
        SAY(state, command->action, "right, %s is %s. %s", state_slow(state),
            slow_faults[fault].title, slow_faults[fault].why);
    return state->lesson.open && !state->lesson.steps ? wish(state, WISH_SLOW) : STEP_REDRAW;
}

unsigned control_lesson_move(State *state, const Command *command) {
    if (!state->lesson.open)
        return SAY(state, command->action, "%s: no lesson is open; %s opens one",
                   keys[command->action].word, key_of(ACTION_LESSON).name);
    return wish(state, command->action == ACTION_NEXT   ? WISH_NEXT
                       : command->action == ACTION_BACK ? WISH_BACK
                                                        : WISH_SKIP);
}
