/* SPDX-License-Identifier: MIT */
/* The table of controls (src/state/controls.inc): complete and without clashes; keys and script
 * lines become the right commands. The glossary: complete, within limits, found by every word. */
#include "src/state/state.h"
#include "src/cachesim/predict.h"
#include "kernels/bevpool.h"
#include "kernels/regime.h"
#include "tests/support/tap.h"

static bool is_function_key(int32_t key) {
    return key >= KEYCODE_F1 && key <= KEYCODE_F12;
}

TAP_SUITE(keys_rows) {
    int in_order = 0, complete = 0, others = 0, short_enough = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        const KeyRow *row = &keys[i];
        bool letter = false, function = false;
        for (int k = 0; k < KEYS_PER_ROW; k++) {
            function |= is_function_key(row->keys[k]);
            letter |= row->keys[k] && !is_function_key(row->keys[k]);
        }
        in_order += (int)row->action == i;
        complete += row->word && row->word[0] && (row->label || !row->rank) && row->help &&
                    row->help[0] && (row->keys[0] || !row->direct) && row->group < GROUP_COUNT;
        others += !function || letter;
        short_enough += strlen(row->help) < HELP_TEXT_W && strlen(row->word) < 12;
    }
    tap_ok(in_order == ACTION_COUNT, "rows stand in the order of the actions");
    tap_ok(complete == ACTION_COUNT,
           "each has word, group, label and help, and those of the help have keys");
    tap_ok(others == ACTION_COUNT, "each function key has another key that terminals do not steal");
    tap_ok(short_enough == ACTION_COUNT, "words and help fit their columns");
}

TAP_SUITE(keys_help) {
    State state = {.glossary = false};
    int count = help_entries(&state), in_order = 0, listed = 0;
    for (int i = 0; i < count; i++)
        in_order += keys[keys_direct(i)].direct && (!i || keys_direct(i) > keys_direct(i - 1));
    for (int i = 0; i < ACTION_COUNT; i++)
        listed += keys[i].direct;
    tap_ok(in_order == count && listed == count && keys_direct(count) == ACTION_COUNT,
           "the help lists the controls with a direct key, in their order (%d)", count);
}

/* Calls `use` for every key of every row. */
static int for_each_key(bool (*use)(const KeyRow *row, int32_t key, bool back)) {
    int bad = 0, count = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        for (int k = 0; k < KEYS_PER_ROW && keys[i].keys[k]; k++, count++)
            bad += !use(&keys[i], keys[i].keys[k], false);
        if (keys[i].back > 0) {
            bad += !use(&keys[i], keys[i].back, true);
            count++;
        }
    }
    return count >= ACTION_COUNT ? bad : -1;
}

static bool finds_itself(const KeyRow *row, int32_t key, bool back) {
    Command command;
    if (!keys_find(key, &command) || command.action != row->action)
        return false;
    return command.step == (back ? -1 : 1);
}

static bool found_by_name(const KeyRow *row, int32_t key, bool back) {
    Command command;
    (void)back;
    return keys_find(keys_named(keys_name(key).name), &command) && command.action == row->action;
}

/* Where two rows have the same key, keys_find returns the first: the second fails here. */
TAP_SUITE(keys_keys) {
    Command command;
    tap_ok(for_each_key(finds_itself) == 0, "every key means one control, and that one");
    tap_ok(for_each_key(found_by_name) == 0, "every key is found by its name");
    tap_ok(!keys_find(0, &command) && !keys_find(0x1d, &command) &&
               !keys_find(KEYCODE_F12 + 1, &command),
           "other keys mean nothing");
    tap_ok(!keys_named("Hyper") && !keys_named(""), "other names mean nothing");
}

TAP_SUITE(keys_words) {
    int same = 0, parsed = 0, back = 0;
    Command command;
    for (int i = 0; i < ACTION_COUNT; i++) {
        for (int k = 0; k < i; k++)
            same += !strcmp(keys[i].word, keys[k].word);
        parsed += keys_parse(keys[i].word, &command, NULL) && (int)command.action == i &&
                  command.step == 1;
        char line[32];
        snprintf(line, sizeof line, "%s -", keys[i].word);
        bool ok = keys_parse(line, &command, NULL);
        back += keys[i].back ? ok && command.step == -1 : !ok;
        same += !strcmp(keys[i].word, "tick") || !strcmp(keys[i].word, "size") ||
                !strcmp(keys[i].word, "key");
    }
    tap_ok(same == 0, "words are unique, and none is a word of scripts");
    tap_ok(parsed == ACTION_COUNT, "every word is understood");
    tap_ok(back == ACTION_COUNT, "'-' steps back where a step back exists");
}

TAP_SUITE(keys_labels) {
    tap_ok(!strcmp(keys_label(&keys[ACTION_KERNEL]).text, "k K F2"), "forward, back, function key");
    tap_ok(!strcmp(keys_label(&keys[ACTION_PAN_Y]).text, "S-Left/Right"),
           "shifted arrows in short");
    tap_ok(!strcmp(keys_label(&keys[ACTION_PLAY]).text, "Space"), "keys without a glyph by name");
}

TAP_SUITE(keys_ranks) {
    int seen[ACTION_COUNT + 1] = {0}, twice = 0, most = 0;
    for (int i = 0; i < ACTION_COUNT; i++) {
        int rank = keys[i].rank;
        if (rank > 0 && rank <= ACTION_COUNT)
            twice += seen[rank]++ > 0;
        most = rank > most ? rank : most;
    }
    int gaps = 0;
    for (int rank = 1; rank <= most; rank++)
        gaps += !seen[rank];
    tap_ok(most > 0 && !twice && !gaps, "the key bar's order is one, without gaps");
}

static bool is_ascii(const char *text) {
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

/* Whether the text of row `row` says each of the row's other words, and each leads to that row. */
static bool also_told(int row) {
    char also[128], *rest = NULL;
    snprintf(also, sizeof also, "%s", glossary[row].also);
    for (char *word = strtok_r(also, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        word += *word == ' ';
        if (!strcasestr(glossary[row].text, word) || glossary_find(word) != &glossary[row]) {
            tap_note("%s: %s", glossary[row].word, word);
            return false;
        }
    }
    return true;
}

TAP_SUITE(keys_glossary_rows) {
    int limits = 0, order = 0, also = 0;
    for (int i = 0; i < glossary_count; i++) {
        const GlossaryRow *row = &glossary[i];
        size_t word = strlen(row->word), text = strlen(row->text);
        limits += word > 0 && word <= GLOSSARY_WORD_MAX && text > 20 && text <= GLOSSARY_TEXT_MAX &&
                  row->text[text - 1] == '.' && is_ascii(row->text) && is_ascii(row->word);
        order += i == 0 || strcasecmp(glossary[i - 1].word, row->word) < 0;
        also += also_told(i) && glossary_find(row->word) == row;
    }
    tap_ok(limits == glossary_count && limits >= 30, "%d words with short texts", limits);
    tap_ok(order == glossary_count, "in alphabetical order, each once");
    tap_ok(also == glossary_count, "other words lead to the text that says them");
}

/* What the program's tables and screens call things. */
TAP_SUITE(keys_glossary_words) {
    int missing = 0, count = 0;
    for (int i = 0; i < TERM_COUNT; i++, count++)
        missing += !glossary_find(term_names[i]);
    for (int i = 0; i < REGIME_COUNT; i++, count++)
        missing += !glossary_find(bev_regimes[i].name);
    for (int i = 0; i < BEV_ALIGN_COUNT; i++, count++)
        missing += !glossary_find(bev_aligns[i].name);
    tap_ok(!missing, "%d words of the screens are found (%d are not)", count, missing);
    char nearest[64];
    glossary_hint("fotprint", "", nearest, sizeof nearest);
    tap_ok(!glossary_find("fotprint") && !glossary_find("") &&
               !strcmp(nearest, "did you mean footprint?"),
           "a mistyped word is not, and the nearest is named");
}
