/* SPDX-License-Identifier: MIT */
#include "src/state/palette.h"

#include "src/state/control.h"

#include <ctype.h>
#include <strings.h>
#include <sys/param.h>

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

/* Where a text has a typed word, from the best match to the worst. */
typedef enum { WHOLE_TEXT, TEXT_BEGINS, WORD_BEGINS, IN_WORD, NOWHERE } Match;

/* Returns the best place where `text` has the word, in any case. */
static Match match_place(const char *text, const char *word) {
    const size_t length = strlen(word);
    Match best = NOWHERE;
    for (const char *at = strcasestr(text, word); at; at = strcasestr(at + 1, word)) {
        if (at == text)
            best = at[length] ? TEXT_BEGINS : WHOLE_TEXT;
        else if (isalnum((unsigned char)at[-1]))
            best = MIN(best, IN_WORD);
        else
            best = MIN(best, WORD_BEGINS);
    }
    return best;
}

/* Returns the rank of a candidate for a word; the lowest is the best. Names and titles come first,
 * then the control's word, help and synonyms. Words of the glossary come last. */
static int word_score(const Candidate *candidate, const char *word) {
    enum { IN_CONTROL = 3, IN_HELP = 8, SYNONYM = 12, GLOSSARY_WORD = 16 };
    const PaletteRow *row = &candidate->row;
    const bool is_value = row->kind == PALETTE_VALUE;
    const bool in_glossary = is_value && row->command.action == ACTION_GLOSSARY;
    const int penalty = in_glossary ? GLOSSARY_WORD : 0;
    const Match name = match_place(is_value ? row->command.argument : row->name, word);
    const Match title = match_place(row->title, word);
    if (name != NOWHERE || title != NOWHERE)
        return (int)MIN(name, title) + penalty;
    const Match control = match_place(keys[row->command.action].word, word);
    if (control != NOWHERE)
        return (int)control + IN_CONTROL;
    const Match help = match_place(row->help, word), also = match_place(candidate->also, word);
    if (help <= WORD_BEGINS)
        return IN_HELP + (int)help + penalty;
    return also <= WORD_BEGINS ? SYNONYM + (int)also : NO_MATCH; /* a synonym must begin a word */
}

/* Adds the candidate where a typed word fits. A value must have every typed number: of "time 14.92"
 * only a control that takes numbers may lack 14.92. */
static void offer_candidate(Search *search, const Candidate *candidate) {
    int score = candidate->score, missed = 0;
    for (int i = 0; i < search->word_count; i++) {
        const char *word = search->words[i];
        const int rank = word_score(candidate, word);
        const bool is_number = word[strspn(word, "0123456789.+-")] == '\0';
        missed += rank == NO_MATCH;
        if (rank == NO_MATCH && candidate->row.kind == PALETTE_VALUE && is_number)
            return;
        score += rank;
    }
    const bool no_word_fits = search->word_count && missed == search->word_count;
    if (no_word_fits || search->count == MOST_ROWS)
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

/* Returns the candidate of a control's value; `value` "": the candidate of the control itself. */
static Candidate candidate_of(const KeyRow *control, const char *value, const char *title) {
    Candidate candidate = {.also = control->also};
    PaletteRow *row = &candidate.row;
    const bool has_value = value[0] != '\0';
    row->kind = has_value ? PALETTE_VALUE : PALETTE_CONTROL;
    row->help = control->help;
    row->command = (Command){.action = control->action, .step = has_value ? 0 : 1};
    snprintf(row->command.argument, sizeof row->command.argument, "%s", value);
    snprintf(row->name, PALETTE_NAME, "%s%s%s", control->word, has_value ? " " : "",
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
        /* Scenes with cameras come first. Presets come last, because `config` offers them, too. */
        const SceneGroup group = state_scene_group(state, i);
        if (control->action == ACTION_SCENE)
            candidate.score = group == SCENES_CAMERAS ? 0 : group == SCENES_OPERATOR ? 1 : 2;
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

/* Adds the typed line itself where scripts accept the line: the value of "l2 32" is in no list. */
static void offer_typed_line(Search *search, const State *state) {
    Command command;
    if (!keys_parse(state->palette.text, &command, NULL) || command.step)
        return;
    const KeyRow *control = &keys[command.action];
    const char *argument = command.argument;
    if (control->list && control_find(state, &command) >= 0)
        return;
    const bool is_numbers = argument[strspn(argument, "0123456789+-.,=")] == '\0';
    const bool is_path_or_setting = strchr(argument, '/') || strchr(argument, '=');
    const bool may_be_unlisted = !control->list || is_numbers || is_path_or_setting;
    if (!may_be_unlisted || is_hidden(command.action))
        return;
    Candidate candidate = candidate_of(control, command.argument, command.argument);
    candidate.score = -1;
    candidate.order = search->count;
    search->list[search->count++] = candidate;
}

/* ---- what is typed --------------------------------------------------------------------------- */

/* Returns the group with that name; -1: none. "compare" is a control, "Compare" a group. */
static int group_named(const char *text) {
    for (int i = 0; i < GROUP_COUNT; i++)
        if (!strcmp(key_groups[i], text))
            return i;
    return -1;
}

/* Whether the search ignores the word: "turn one camera off" means "camera off". */
static bool is_filler(const char *word) {
    static const char fillers[] =
        " a an the of to on at it its is in for with and me my i one this that how what which does "
        "do like looks look see show find make take turn get go want please another other open set "
        "use ";
    return strcasestr(fillers, short_text(" %s ", word).text);
}

/* Splits the typed text into the words to search for. Fillers are searched for only where the text
 * has no other words. */
static void split_words(Search *search, const char *text) {
    bool only_fillers = true; /* so far */
    search->word_count = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        const ShortText word = short_text("%.*s", (int)length, at);
        const bool filler = is_filler(word.text);
        at += length;
        if (only_fillers && !filler)
            search->word_count = 0;
        only_fillers &= filler;
        if (filler == only_fillers && search->word_count < MOST_WORDS)
            snprintf(search->words[search->word_count++], PALETTE_TEXT, "%s", word.text);
    }
}

/* Gathers the rows that fit the typed text. "dtype " and "dtype fp" mean the values of `dtype`, as
 * long as a value fits. The name of a group means the controls of that group. */
static void gather_candidates(Search *search, const State *state, const LiveData *live,
                              const char *text) {
    const KeyRow *typed = keys_beginning(text);
    const int group = group_named(text);
    const bool all_groups = group < 0;
    search->count = 0;
    offer_typed_line(search, state);
    if (typed && typed->list) {
        split_words(search, text + strlen(typed->word));
        offer_values(search, state, typed);
        if (search->count)
            return;
    }
    split_words(search, all_groups ? text : "");
    for (int i = 0; i < ACTION_COUNT; i++) {
        const Candidate candidate = candidate_of(&keys[i], "", "");
        const bool in_group = all_groups || (int)keys[i].group == group;
        if (in_group && !is_hidden((Action)i))
            offer_candidate(search, &candidate);
    }
    for (int i = 0; all_groups && i < ACTION_COUNT; i++)
        offer_values(search, state, &keys[i]);
    if (all_groups || group == GROUP_LESSON)
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
    static Search search; /* too large for the stack; only one thread draws and takes keys */
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

/* Tries the command on a copy of the state. If only the log changes, its line is the reason. */
bool palette_usable(const State *state, const Command *command, char *reason, size_t size) {
    State after = *state;
    Event event = {.kind = EVENT_COMMAND, .command = *command};
    const unsigned bits = state_step(&after, &event);
    const bool logged_nothing = after.log.said == state->log.said;
    const char *said = after.log.lines[0].said;
    const ShortText now = state_value(state, command->action);
    const ShortText then = state_value(&after, command->action);
    if (bits & ~(unsigned)STEP_REDRAW || logged_nothing || strcmp(now.text, then.text))
        return true;
    const bool names_value = !command->step && now.text[0] && strcasestr(said, now.text);
    if (names_value && !strstr(said, "still") && !strstr(said, "no "))
        return true; /* the control has this value already */
    snprintf(reason, size, "%s", said);
    return false;
}

/* Returns the row of the control's present value; 0: no row has that value. */
static int row_at_value(const State *state, const KeyRow *control) {
    PaletteRow rows[PALETTE_ROWS];
    char now[96];
    control->value(state, now, sizeof now);
    for (int row = palette_rows(state, NULL, rows) - 1; row > 0; row--)
        if (!strcasecmp(rows[row].command.argument, now) || !strcasecmp(rows[row].title, now))
            return row;
    return 0;
}

void palette_open(State *state, const char *text) {
    Palette *palette = &state->palette;
    palette->open = true;
    snprintf(palette->text, sizeof palette->text, "%.*s", PALETTE_TEXT - 1, text);
    const KeyRow *control = keys_beginning(palette->text);
    const bool lists_all = control && control->list && !palette->text[strlen(control->word) + 1];
    palette->row = lists_all ? row_at_value(state, control) : 0; /* "dtype " lists all values */
}

void palette_close(State *state) {
    state->palette.open = state->palette.tries = false;
    state->palette.text[0] = '\0';
}

void palette_remember(State *state, const Command *command) {
    Palette *palette = &state->palette;
    int place = 0; /* the old place of this command, else the end of the list */
    while (place < palette->recent_count && !same_command(&palette->recent[place], command))
        place++;
    if (place == PALETTE_RECENT) /* the list is full: the oldest command is dropped */
        place--;
    else if (place == palette->recent_count)
        palette->recent_count++;
    memmove(palette->recent + 1, palette->recent, (size_t)place * sizeof *palette->recent);
    palette->recent[0] = *command;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Writes out the row, for Tab. "dtype " lists the values, and "l2 " waits for a number. */
static PaletteDoes complete_row(State *state, const PaletteRow *row) {
    char text[PALETTE_NAME + 1];
    const bool takes_argument =
        row->kind == PALETTE_CONTROL && keys[row->command.action].argument != ARGUMENT_NONE;
    snprintf(text, sizeof text, "%s%s", row->name, takes_argument ? " " : "");
    palette_open(state, text);
    return PALETTE_DRAW;
}

bool palette_drops(const State *state, const PaletteRow *row) {
    const KeyRow *typed = keys_beginning(state->palette.text);
    char word[PALETTE_TEXT];
    if (!typed || row->kind != PALETTE_CONTROL || row->command.action != typed->action)
        return false;
    const char *rest = state->palette.text + strlen(typed->word);
    while (sscanf(rest, "%63s", word) == 1) {
        if (!is_filler(word))
            return true;
        rest = strstr(rest, word) + strlen(word);
    }
    return false;
}

/* Runs the row, for Enter, like a script with this line. A group has no command, and opens. A
 * control does not run without the typed argument, where the control has no such value. */
static PaletteDoes enter_row(State *state, const PaletteRow *row, Command *command) {
    *command = row->command;
    if (state->palette.tries)
        return PALETTE_KEEP;
    if (row->kind == PALETTE_GROUP)
        return complete_row(state, row);
    return palette_drops(state, row) ? PALETTE_NOTHING : PALETTE_RUN;
}

/* Tries a value, for Left and Right. Right on a value tries that value, and Left takes the value
 * back. On a control the keys step through its values. */
static PaletteDoes try_value(const PaletteRow *row, int step, Command *command) {
    const KeyRow *control = &keys[row->command.action];
    *command = row->command;
    if (row->kind == PALETTE_VALUE)
        return step > 0 ? PALETTE_TRY : PALETTE_DRAW;
    command->step = step;
    if (row->kind != PALETTE_CONTROL || control->argument == ARGUMENT_NONE)
        return PALETTE_DRAW;
    return control->group < GROUP_LESSON ? PALETTE_TRY : PALETTE_DRAW;
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
    const int last = palette_rows(state, live, rows) - 1;
    int at = state->palette.row <= last ? state->palette.row : last;
    const PaletteRow *row = last >= 0 ? &rows[at] : NULL;
    switch (key) {
    case KEYCODE_ESCAPE:
    case KEYCODE_CTRL_P:
        return PALETTE_LEAVE;
    case KEYCODE_ENTER:
        return row ? enter_row(state, row, command) : PALETTE_NOTHING;
    case KEYCODE_LEFT:
    case KEYCODE_RIGHT:
        return row ? try_value(row, key == KEYCODE_RIGHT ? 1 : -1, command) : PALETTE_NOTHING;
    case KEYCODE_TAB:
        return row ? complete_row(state, row) : PALETTE_NOTHING;
    case KEYCODE_UP: /* from the first row to the last */
        at = at > 0 ? at - 1 : last;
        break;
    case KEYCODE_DOWN: /* from the last row to the first */
        at = at < last ? at + 1 : 0;
        break;
    case KEYCODE_PAGE_UP:
    case KEYCODE_PAGE_DOWN:
        at += key == KEYCODE_PAGE_UP ? -PAGE : PAGE;
        break;
    case KEYCODE_HOME:
    case KEYCODE_END:
        at = key == KEYCODE_HOME ? 0 : last;
        break;
    case ':': /* typed twice: the palette is open already */
        return PALETTE_NOTHING;
    default:
        return type_character(state, key);
    }
    state->palette.row = (int)clamp(at, 0, last >= 0 ? last : 0);
    return PALETTE_DRAW;
}
