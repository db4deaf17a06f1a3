#include "src/cli/controls.h"

#include "src/state/keys.h"

void man_controls(FILE *out, void (*print)(FILE *out, const char *text)) {
    fputs(".SH CONTROLS\nKeys of the live display, in terminal and window alike, and its words. In "
          "scripts, and on standard input of \\fB\\-\\-plain\\fR, a word stands alone (a step on), "
          "with \\- (a step back) or with an argument. Scripts also know \\fBtick\\fR "
          "[\\fISECONDS\\fR [\\fITIMES\\fR]], \\fBkey\\fR \\fIKEY\\fR, \\fBsize\\fR "
          "\\fICOLUMNS ROWS\\fR, and # for comments.\n",
          out);
    for (int i = 0; i < ACTION_COUNT; i++) {
        char label[64];
        keys_label(&keys[i], label, sizeof label);
        if (i == 0 || keys[i].group != keys[i - 1].group)
            fprintf(out, ".SS \"%s\"\n", key_groups[keys[i].group]);
        fputs(".TP\n\\fB", out);
        print(out, label);
        fputs("\\fR \\(em ", out);
        print(out, keys[i].word);
        fputc('\n', out);
        print(out, keys[i].help);
        fputc('\n', out);
    }
}
