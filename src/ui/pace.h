/* How soon the live display answers and how often its picture moves, measured where people see it:
 * when a screen has been handed its pixels. */
#ifndef BEV_PACE_H
#define BEV_PACE_H

#include "src/state/state.h"

typedef enum { SCREEN_TERMINAL, SCREEN_WINDOW, SCREEN_COUNT } Screen;

enum { PACE_KEYS = 1024, /* the latest so many count */ PACE_WAITING = 64 };

/* A key that not every screen has answered yet. */
typedef struct {
    double arrived_ms;
    uint64_t wish;    /* of the frame that answers it (engine.h); 0: to draw again is enough */
    unsigned screens; /* 1u << Screen: those still to come */
} PaceKey;

typedef struct {
    bool started;
    double time_s, shown_ms; /* moment of the world shown last, and when it was shown */
    double playing_ms;       /* for which such moments have followed each other */
    int64_t moments;         /* in that time */
} ScreenPace;

/* Zeroed: nothing measured yet. */
typedef struct {
    PaceKey waiting[PACE_WAITING];
    int waiting_count;
    double taken_us[PACE_KEYS];
    int64_t keys;    /* answered so far */
    double first_us; /* from the start of the process to its first picture on every screen */
    ScreenPace screens[SCREEN_COUNT];
} PaceMeter;

/* A key that arrived then is to be answered by every open screen (a mask of 1u << Screen). Of keys
 * that come faster than they are answered, those beyond PACE_WAITING are left out. */
void pace_key(PaceMeter *meter, double arrived_ms, uint64_t wish, unsigned open);

/* `screen` has just been handed a picture: of wish `wish`, at `time_s` of the world. */
void pace_shown(PaceMeter *meter, Screen screen, unsigned open, uint64_t wish, double time_s);

/* Whether a picture of wish `wish` on `screen` answers a key that waits for one. */
bool pace_answers(const PaceMeter *meter, Screen screen, uint64_t wish);

/* A closed screen answers nothing any more. */
void pace_closed(PaceMeter *meter, Screen screen);

/* Median and 99th percentile of the latest keys, and the rest of what a State shows. */
Pace pace_figures(const PaceMeter *meter);

#endif
