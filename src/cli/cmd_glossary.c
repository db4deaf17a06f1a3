/* The glossary on the command line: bevscope glossary [WORD]... */
#include "src/cli/options.h"
#include "src/state/glossary.h"

bool cmd_glossary(const Options *options, Err *err) {
    for (int i = 0; i < options->argument_count; i++) {
        const char *word = options->arguments[i];
        const GlossaryRow *row = glossary_find(word);
        if (!row) {
            char hint[128];
            glossary_hint(word, "see bevscope glossary", hint, sizeof hint);
            return err_set(err, ERR_USAGE, word, hint, "not in the glossary");
        }
        glossary_print(row, stdout);
    }
    for (int i = 0; !options->argument_count && i < glossary_count; i++)
        glossary_print(&glossary[i], stdout);
    if (fflush(stdout) == 0)
        return true;
    return err_set(err, ERR_FAILED, "standard output", "", "cannot be written");
}
