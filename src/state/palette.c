/* SPDX-License-Identifier: MIT */
#include "src/state/palette.h"

#include "src/state/control.h"

#include <ctype.h>
#include <strings.h>

/* ---- how well a row fits --------------------------------------------------------------------- */

enum { MOST_ROWS = 1024, MOST_WORDS = 8, NO_MATCH = 40 };

/* A candidate row, with all texts that find it. */
typedef struct {
    PaletteRow row;
    const char *also;
    int score, order;
} Candidate;

typedef struct {
    Candidate list[MOST_ROWS];
    int count;
    char words[MOST_WORDS][PALETTE_TEXT]; /* the typed words */
    int word_count;
} Search;

/* Returns where `text` has the word: 0 the whole text, 1 its beginning, 2 the beginning of a word,
 * 3 within a word, -1 nowhere. */
static int match_place(const char *text, const char *word) {
    size_t length = strlen(word);
    int best = -1;
    for (const char *at = text; (at = strcasestr(at, word)); at++) {
        int place = at > text ? (isalnum((unsigned char)at[-1]) ? 3 : 2) : at[length] ? 1 : 0;
        best = best < 0 || place < best ? place : best;
    }
    return best;
}

/* Returns the rank of a candidate for a word. Names come first, then help and synonyms. Glossary
 * words come last. */
static int word_score(const Candidate *candidate, const char *word) {
    enum { IN_HELP = 8, SYNONYM = 12, EXPLAINED = 16 };
    const PaletteRow *row = &candidate->row;
    const char *control = keys[row->command.action].word;
    int name = match_place(row->kind == PALETTE_VALUE ? row->command.argument : row->name, word);
    int title = match_place(row->title, word), of = match_place(control, word);
    bool explained = row->kind == PALETTE_VALUE && row->command.action == ACTION_GLOSSARY;
    if (name >= 0 || title >= 0)
        return (name >= 0 && (title < 0 || name <= title) ? name : title) +
               (explained ? EXPLAINED : 0);
    if (of >= 0)
        return of + 3;
    int help = match_place(row->help, word), also = match_place(candidate->also, word);
    if (help >= 0 && help < 3)
        return IN_HELP + help + (explained ? EXPLAINED : 0);
    if (also >= 0 && also < 3)
        return SYNONYM + also;
    return NO_MATCH;
}

/* Adds the candidate where a typed word fits. "time 14.92" fits no value that lacks the number, but
 * may fit a control that takes a number. */
static void offer_candidate(Search *search, const Candidate *candidate) {
    int score = candidate->score, missed = 0;
    for (int i = 0; i < search->word_count; i++) {
        int word = word_score(candidate, search->words[i]);
        missed += word == NO_MATCH;
        if (word == NO_MATCH && candidate->row.kind == PALETTE_VALUE &&
            !search->words[i][strspn(search->words[i], "0123456789.+-")])
            return;
        score += word;
    }
    if ((search->word_count && missed == search->word_count) || search->count == MOST_ROWS)
        return;
    Candidate *added = &search->list[search->count];
    *added = *candidate;
    added->score = score;
    added->order = search->count++;
}

/* ---- the candidates -------------------------------------------------------------------------- */

static bool is_hidden(Action action) {
    return action == ACTION_COMMANDS || action == ACTION_ESCAPE;
}

/* Returns the candidate of a control's value; `value` "": of the control itself. */
static Candidate candidate_of(const KeyRow *control, const char *value, const char *title) {
    Candidate candidate = {.also = control->also};
    PaletteRow *row = &candidate.row;
    row->kind = *value ? PALETTE_VALUE : PALETTE_CONTROL;
    row->help = control->help;
    row->command = (Command){.action = control->action, .step = !*value};
    snprintf(row->command.argument, sizeof row->command.argument, "%s", value);
    snprintf(row->name, PALETTE_NAME, "%s%s%s", control->word, *value ? " " : "",
             row->command.argument);
    if (strcasecmp(title, value) != 0)
        snprintf(row->title, PALETTE_NAME, "%s", title);
    return candidate;
}

static void offer_values(Search *search, const State *state, const KeyRow *control) {
    ValueName values[VALUES_MAX];
    int count = control->list ? control->list(state, values) : 0;
    for (int i = 0; i < count; i++) {
        Candidate candidate = candidate_of(control, values[i].name, values[i].title);
        candidate.row.help = values[i].help ? values[i].help : "";
        if (control->action == ACTION_GLOSSARY)
            candidate.also = glossary[i].also;
        /* Scenes with cameras come first. Sizes are values of `config` first. */
        const SceneGroup group = state_scene_group(state, i);
        if (control->action == ACTION_SCENE)
            candidate.score = group == SCENES_PRESET ? 2 : group == SCENES_OPERATOR;
        offer_candidate(search, &candidate);
    }
}

static void offer_findings(Search *search, const State *state, const LiveData *live) {
    Finding findings[FINDINGS_MAX];
    int count = live ? live_findings(state, live, findings) : 0;
    for (int i = 0; i < count; i++) {
        char number[12], brief[sizeof findings[i].brief];
        snprintf(number, sizeof number, "%d", i + 1);
        text_micro(findings[i].brief, brief, sizeof brief);
        const Candidate candidate = candidate_of(&keys[ACTION_EXPLAIN], number, brief);
        offer_candidate(search, &candidate);
    }
}

/* Adds the typed line itself where scripts accept it: the value of "l2 32" is in no list. */
static void offer_line(Search *search, const State *state) {
    Command command;
    if (!keys_parse(state->palette.text, &command, NULL) || command.step)
        return;
    const KeyRow *control = &keys[command.action];
    if (control->list && control_find(state, &command) >= 0)
        return;
    bool numbers = command.argument[strspn(command.argument, "0123456789+-.,=")] == '\0';
    bool free =
        !control->list || numbers || strchr(command.argument, '=') || strchr(command.argument, '/');
    if (!free || is_hidden(command.action))
        return;
    Candidate candidate = candidate_of(control, command.argument, command.argument);
    candidate.score = -1;
    candidate.order = search->count;
    search->list[search->count++] = candidate;
}

/* ---- what is typed --------------------------------------------------------------------------- */

static int group_named(const char *text) {
    for (int i = 0; i < GROUP_COUNT; i++)
        if (!strcmp(key_groups[i], text)) /* in its capitals: "compare" is a control, too */
            return i;
    return -1;
}

/* Whether the word names nothing in a sentence: "turn one camera off" means "camera off". */
static bool is_filler(const char *word) {
    static const char fillers[] =
        " a an the of to on at it its is in for with and me my i one this that how what which does "
        "do like looks look see show find make take turn get go want please another other open set "
        "use ";
    return strcasestr(fillers, short_text(" %s ", word).text);
}

/* Splits the typed text into the words to search for. Fillers count only where nothing else is. */
static void split_words(Search *search, const char *text) {
    bool fillers = false; /* kept where there is nothing else */
    for (bool done = false; !done; fillers = true) {
        search->word_count = 0;
        for (const char *at = text; *(at += strspn(at, " ")) && search->word_count < MOST_WORDS;) {
            int length = (int)strcspn(at, " ");
            char *word = search->words[search->word_count];
            snprintf(word, PALETTE_TEXT, "%.*s", length, at);
            search->word_count += fillers || !is_filler(word);
            at += length;
        }
        done = search->word_count || fillers;
    }
}

/* Gathers the rows that fit the typed text. "dtype " and "dtype fp" mean the values of that
 * control, as long as one fits. The name of a group means its controls. */
static void gather_candidates(Search *search, const State *state, const LiveData *live,
                              const char *text) {
    const KeyRow *only = keys_beginning(text);
    const int group = group_named(text);
    search->count = 0;
    offer_line(search, state);
    if (only && only->list) {
        split_words(search, text + strlen(only->word));
        offer_values(search, state, only);
        if (search->count)
            return;
    }
    split_words(search, group < 0 ? text : "");
    for (int i = 0; i < ACTION_COUNT; i++) {
        const Candidate candidate = candidate_of(&keys[i], "", "");
        bool there = group < 0 || (int)keys[i].group == group;
        if (there && !is_hidden((Action)i))
            offer_candidate(search, &candidate);
    }
    for (int i = 0; i < ACTION_COUNT && group < 0; i++)
        offer_values(search, state, &keys[i]);
    if (group < 0 || group == GROUP_LESSON)
        offer_findings(search, state, live);
}

static int by_score(const void *left, const void *right) {
    const Candidate *a = left, *b = right;
    return a->score != b->score ? a->score - b->score : a->order - b->order;
}

/* Lists the first rows, while no text is typed: the latest commands, then the groups. */
static int list_first_rows(const State *state, PaletteRow rows[PALETTE_ROWS]) {
    const Palette *palette = &state->palette;
    int count = 0;
    for (int i = 0; i < palette->recent_count; i++) {
        const Command *command = &palette->recent[i];
        rows[count++] =
            candidate_of(&keys[command->action], command->argument, command->argument).row;
    }
    for (int group = 0; group < GROUP_COUNT; group++) {
        int first = 0;
        while (first < ACTION_COUNT - 1 && (int)keys[first].group != group)
            first++;
        PaletteRow *row = &rows[count++];
        *row = (PaletteRow){.kind = PALETTE_GROUP, .command.action = (Action)first};
        snprintf(row->name, PALETTE_NAME, "%s", key_groups[group]);
    }
    return count;
}

int palette_rows(const State *state, const LiveData *live, PaletteRow rows[PALETTE_ROWS]) {
    static Search search; /* large; screens and keys are of one thread */
    const char *text = state->palette.text;
    text += strspn(text, " ");
    if (!*text)
        return list_first_rows(state, rows);
    gather_candidates(&search, state, live, text);
    qsort(search.list, (size_t)search.count, sizeof *search.list, by_score);
    int count = search.count < PALETTE_ROWS ? search.count : PALETTE_ROWS;
    for (int i = 0; i < count; i++)
        rows[i] = search.list[i].row;
    return count;
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* Whether the command does anything but log. The command is tried on a copy of the state. */
bool palette_usable(const State *state, const Command *command, char *reason, size_t size) {
    State after = *state;
    Event event = {.kind = EVENT_COMMAND, .command = *command};
    unsigned bits = state_step(&after, &event);
    bool silent = after.log.said == state->log.said;
    const ShortText now = state_value(state, command->action);
    const ShortText then = state_value(&after, command->action);
    if (bits & ~(unsigned)STEP_REDRAW || silent || strcmp(now.text, then.text))
        return true;
    if (!command->step && now.text[0] && strcasestr(after.log.lines[0].said, now.text) &&
        !strstr(after.log.lines[0].said, "still") && !strstr(after.log.lines[0].said, "no "))
        return true; /* it stands there already */
    snprintf(reason, size, "%s", after.log.lines[0].said);
    return false;
}

/* Returns the row of the value that the control stands at; 0: no row has it. */
static int row_at_value(const State *state, const KeyRow *control) {
    PaletteRow rows[PALETTE_ROWS];
    char now[96];
    control->value(state, now, sizeof now);
    int row = palette_rows(state, NULL, rows) - 1;
    while (row > 0 && strcasecmp(rows[row].command.argument, now) &&
           strcasecmp(rows[row].title, now))
        row--;
    return row > 0 ? row : 0;
}

void palette_open(State *state, const char *text) {
    Palette *palette = &state->palette;
    palette->open = true;
    snprintf(palette->text, sizeof palette->text, "%.*s", PALETTE_TEXT - 1, text);
    const KeyRow *control = keys_beginning(palette->text);
    bool values = control && control->list && !palette->text[strlen(control->word) + 1];
    palette->row = values ? row_at_value(state, control) : 0;
}

void palette_close(State *state) {
    state->palette.open = state->palette.tries = false;
    state->palette.text[0] = '\0';
}

void palette_remember(State *state, const Command *command) {
    Palette *palette = &state->palette;
    int at = 0;
    while (at < palette->recent_count && !same_command(&palette->recent[at], command))
        at++;
    if (at == palette->recent_count && at < PALETTE_RECENT)
        palette->recent_count++;
    at = at < PALETTE_RECENT ? at : PALETTE_RECENT - 1;
    memmove(palette->recent + 1, palette->recent, (size_t)at * sizeof *palette->recent);
    palette->recent[0] = *command;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Writes out the row, for Tab. "dtype " lists the values, and "l2 " waits for a number. */
static PaletteDoes complete_row(State *state, const PaletteRow *row) {
    char text[PALETTE_NAME + 1];
    bool more = row->kind == PALETTE_CONTROL && keys[row->command.action].argument != ARGUMENT_NONE;
    snprintf(text, sizeof text, "%s%s", row->name, more ? " " : "");
    palette_open(state, text);
    return PALETTE_DRAW;
}

bool palette_drops(const State *state, const PaletteRow *row) {
    const char *text = state->palette.text;
    const KeyRow *typed = keys_beginning(text);
    char word[PALETTE_TEXT];
    if (!typed || row->kind != PALETTE_CONTROL || row->command.action != typed->action)
        return false;
    for (text += strlen(typed->word); sscanf(text, "%63s", word) == 1;) {
        text = strstr(text, word) + strlen(word);
        if (!is_filler(word))
            return true;
    }
    return false;
}

/* Runs the row, for Enter, like a script with this line. A group has no command, and opens. A
 * control whose typed argument does not exist is not run without it. */
static PaletteDoes enter_row(State *state, const PaletteRow *row, Command *command) {
    *command = row->command;
    return state->palette.tries         ? PALETTE_KEEP
           : row->kind == PALETTE_GROUP ? complete_row(state, row)
           : palette_drops(state, row)  ? PALETTE_NOTHING
                                        : PALETTE_RUN;
}

static PaletteDoes try_neighbour_value(const PaletteRow *row, int step, Command *command) {
    *command = row->command;
    if (row->kind == PALETTE_VALUE)
        return step > 0 ? PALETTE_TRY : PALETTE_DRAW;
    bool values = row->kind == PALETTE_CONTROL && keys[command->action].argument != ARGUMENT_NONE &&
                  keys[command->action].group < GROUP_LESSON;
    command->step = step;
    return values ? PALETTE_TRY : PALETTE_DRAW;
}

/* Changes the typed text by a key: a character, Backspace, or Ctrl-U. */
static PaletteDoes type_character(State *state, int32_t key) {
    char text[PALETTE_TEXT];
    int length = snprintf(text, sizeof text, "%s", state->palette.text);
    if (key == KEYCODE_CTRL_U)
        text[0] = '\0';
    else if (key == KEYCODE_BACKSPACE && length)
        text[length - 1] = '\0';
    else if (key >= ' ' && key < 0x7f)
        text_add(text, sizeof text, "%c", (char)key);
    palette_open(state, text);
    return PALETTE_DRAW;
}

PaletteDoes palette_key(State *state, const LiveData *live, int32_t key, Command *command) {
    enum { PAGE = 8 };
    PaletteRow rows[PALETTE_ROWS];
    int count = palette_rows(state, live, rows), at = state->palette.row;
    at = at < count ? at : count - 1;
    const PaletteRow *row = count ? &rows[at] : NULL;
    switch (key) {
    case KEYCODE_ESCAPE:
    case KEYCODE_CTRL_P:
        return PALETTE_LEAVE;
    case KEYCODE_ENTER:
        return row ? enter_row(state, row, command) : PALETTE_NOTHING;
    case KEYCODE_LEFT:
    case KEYCODE_RIGHT:
        return row ? try_neighbour_value(row, key == KEYCODE_RIGHT ? 1 : -1, command)
                   : PALETTE_NOTHING;
    case KEYCODE_TAB:
        return row ? complete_row(state, row) : PALETTE_NOTHING;
    case KEYCODE_UP:
    case KEYCODE_DOWN:
        at = count ? (at + (key == KEYCODE_UP ? count - 1 : 1)) % count : 0;
        break;
    case KEYCODE_PAGE_UP:
    case KEYCODE_PAGE_DOWN:
        at += key == KEYCODE_PAGE_UP ? -PAGE : PAGE;
        break;
    case KEYCODE_HOME:
    case KEYCODE_END:
        at = key == KEYCODE_HOME ? 0 : count - 1;
        break;
    case ':': /* typed twice: the palette is open already */
        return PALETTE_NOTHING;
    default:
        return type_character(state, key);
    }
    state->palette.row = at < 0 ? 0 : at >= count && count ? count - 1 : at;
    return PALETTE_DRAW;
}
