/* A form: fields with an explanation each, and below them an answer that follows what they say. On
 * the terminal, or as questions one after the other where a terminal cannot move its cursor. */
#pragma once

#include "kernels/err.h"

#include <stdio.h>

enum { FORM_TEXT = 48 };

typedef struct {
    const char *name, *help;
    const char *values;    /* words that Left and Right go through, a blank between them */
    const char *typed;     /* the characters of values that may be typed; NULL: none may */
    char usual[FORM_TEXT]; /* the value while `text` is empty */
    char text[FORM_TEXT];
} FormField;

typedef struct {
    const char *title;
    FormField *fields;
    int count;
    void *owner;
    void (*changed)(void *owner, int field); /* at once, before other keys are read */
    void (*compute)(void *owner);            /* begins another answer, once no key waits */
    void (*answer)(void *owner, FILE *out);  /* lines; they may become more by themselves */
    void (*save)(void *owner, char *said, size_t size); /* says in a line what it did */
} Form;

/* The value of a field, its usual one included. */
const char *form_value(const FormField *field);

/* Goes to the next or previous of the field's values, from its end to its beginning. From a value
 * that is none of them: to the nearest number above or below. */
void form_step(FormField *field, int direction);

/* Whether the terminal can show it; else form_ask. */
bool form_fits(void);

/* Shows the form until q, Esc or a signal that asks to stop, *signal; else that is 0. */
bool form_run(const Form *form, int *signal, Err *err);

/* Asks for the fields by lines; an empty line keeps a value, the end of the input all of them. */
void form_ask(const Form *form);
