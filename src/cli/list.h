/* bevscope --list: every name the program knows, read from its tables. */
#ifndef BEV_LIST_H
#define BEV_LIST_H

#include <stdio.h>

void list_everything(FILE *out);

#endif
