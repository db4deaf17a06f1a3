/* SPDX-License-Identifier: MIT */
/* Types and functions that the parts of the live display share. Private to loop.c, pace.c and
 * plain.c. */
#pragma once

#include "src/ui/loop.h"
#include "src/ui/sdl_window.h"

/* ---- pace.c: how fast the display answers, measured when a screen has got its pixels --------- */

typedef enum { SCREEN_TERMINAL, SCREEN_WINDOW, SCREEN_COUNT } Screen;

enum { PACE_KEYS = 1024, PACE_WAITING = 64 };

/* A key that not every screen has answered yet. */
typedef struct {
    double arrived_ms;
    uint64_t request; /* the number of the frame that answers the key; 0: any drawing does */
    unsigned screens; /* screens that have not answered yet: a mask of 1u << Screen */
} PaceKey;

typedef struct {
    double time_s, shown_ms; /* the last moment of the world shown, and when; 0: none yet */
    double playing_ms;       /* total time between moments that followed each other */
    int64_t moments;         /* number of these moments */
} ScreenPace;

/* Measures how fast keys are answered. All zero: nothing was measured yet. */
typedef struct {
    PaceKey waiting[PACE_WAITING];
    int waiting_count;
    double taken_us[PACE_KEYS]; /* the time of each of the latest keys, a ring */
    int64_t keys;               /* answered so far */
    double first_us; /* from the start of the process to a picture on every screen; 0: not yet */
    ScreenPace screens[SCREEN_COUNT];
} PaceMeter;

/* Notes a key that the open screens, the mask `open`, are to answer. While PACE_WAITING keys wait,
 * no other key is noted. */
void pace_key(PaceMeter *meter, double arrived_ms, uint64_t request, unsigned open);

/* Notes that `screen`, of the screens of the mask `open`, shows the frame of `request` with the
 * moment `time_s` of the world. */
void pace_shown(PaceMeter *meter, Screen screen, unsigned open, uint64_t request, double time_s);

/* Whether a key is answered when `screen` shows the frame of `request`. */
bool pace_answers(const PaceMeter *meter, Screen screen, uint64_t request);

/* Lets no key wait for a closed screen. */
void pace_closed(PaceMeter *meter, Screen screen);

/* Returns the times of the latest keys and of the first picture, and moments a second. */
Pace pace_figures(const PaceMeter *meter);

/* The keys that wait for a picture. All zero: no key waits. */
typedef struct {
    uint64_t request;                      /* the frame of the newest waiting key; 0: none waits */
    int scene;                             /* the position of the scene in the menu */
    bool loads;                            /* the scene must be loaded first */
    double since_ms;                       /* when the first waiting key came */
    double took_ms[2][APP_MAX_SCENES + 1]; /* the last time of each scene; [1]: with loading it */
    int shown_scene;                       /* the scene on the screens */
    double shown_ms;                       /* the sum of its stages' times; 0: unknown */
} SlowMeter;

/* Notes that the engine was asked for a frame, that the frame came, and what the screens show. */
void slow_asked(SlowMeter *meter, int scene, bool loads, uint64_t request, double now_ms);
void slow_answered(SlowMeter *meter, uint64_t request, double now_ms);
void slow_shown(SlowMeter *meter, const LiveData *live);

/* Writes "computing dense: map, 1.2 s of about 3"; "": nothing takes long. `doing`: the stage. */
void slow_text(const SlowMeter *meter, const Menu *scenes, const char *doing, double now_ms,
               char *text, size_t size);

/* Returns the milliseconds until that text appears or changes; INFINITY: no key waits. */
double slow_in_ms(const SlowMeter *meter, double now_ms);

typedef struct {
    const LoopOptions *options;
    App app;
    Term *term;        /* NULL: no terminal to draw on */
    SdlWindow *window; /* NULL: not open */
    PaceMeter pace;
    SlowMeter slow;
    Cells cells;
    Spots spots; /* places in the newest drawing of the terminal */
    Pointer pointer;
    Hover hover;                   /* in the terminal, in columns and rows */
    bool term_dirty, window_dirty; /* the screen must be drawn again */
    double term_ms, window_ms;     /* when each was drawn last */
    bool gave_way;                 /* the window's last drawing gave way to a key */
    bool quit;
    bool hung_up, input_ended; /* the terminal hung up; standard input ended */
    int signal;                /* the signal that asks to leave; 0: none */
    double echo_ms;            /* when a key that waits for its picture is acknowledged; 0: none */
    double start_ms;           /* when the display began */
    double tick_ms, moment_ms; /* the last tick; the next moment of the world */
    double polled_ms, pumped_ms; /* the last look for keys in the terminal; in the window */
    double typed_ms;             /* the next input of the terminal was typed after this time */
    bool snapshot_due;           /* a snapshot waits for the picture of snapshot_request */
    uint64_t snapshot_request;
    char recording[64]; /* folder of the recording; "": none */
    int64_t recorded;   /* number of the frame written last */
    bool frame_lost;    /* the user knows that a picture could not be written */
    bool picture_lost;  /* the newest picture could not be written */
    char written[320];  /* the log's line about the newest picture */
    char line[512];     /* a line of standard input, so far */
    size_t line_length;
    char printed[LOG_LENGTH]; /* the log line that was printed last */
    uint64_t printed_said;    /* the number of log lines at that time */
    uint64_t told;            /* serial of the line that was printed before its figures came */
    double said_ms;           /* when the newest word came, or the program began */
    bool waits;               /* the wait for figures was explained */
} Loop;

/* ---- loop.c: what the App leaves to the screens ---------------------------------------------- */

/* Carries out the screens' part of the events and notes so far. Returns their STEP_* bits. */
unsigned loop_serve(Loop *loop);

void loop_take_frame(Loop *loop);   /* takes the engine's new frame, if there is one */
void loop_record_frame(Loop *loop); /* writes the picture, while a recording runs */

/* ---- plain.c: lines where there is no terminal ----------------------------------------------- */

/* Says what the program is, which words work, and on a terminal why there is no dashboard. */
void plain_greet(void);

/* Reads lines from standard input and carries out their words. */
void plain_read(Loop *loop);

/* Prints what is due, in each turn of the main loop where there is no terminal. */
void plain_step(Loop *loop);

/* Prints the selection's figures in one line. */
void plain_put_figures(const Loop *loop, FILE *out);
