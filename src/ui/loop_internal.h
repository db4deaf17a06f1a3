/* The parts of the live display's loop, and what they share. Private to loop*.c. */
#ifndef BEV_LOOP_INTERNAL_H
#define BEV_LOOP_INTERNAL_H

#include "src/live/engine.h"
#include "src/ui/loop.h"
#include "src/ui/menu.h"
#include "src/ui/pace.h"
#include "src/ui/window.h"
#include "src/ui/writer.h"

typedef struct {
    const LoopOptions *options;
    LiveMenu menu;
    State state;
    State submitted;  /* what the engine was last asked for */
    uint64_t request; /* number of that */
    LiveData nothing; /* before the first frame */
    Engine *engine;
    const EngineFrame *frame;
    uint64_t loads, notes; /* of the frame seen last */
    char error_text[sizeof((LiveData *)0)->error_text];
    Term *term;
    Window *window;
    Writer *writer;
    PaceMeter pace;
    Cells cells;
    bool term_dirty, window_dirty;
    bool gave_way; /* the last drawing of the window, to a key */
    bool quit, failed, hung_up, input_ended;
    bool echoes; /* keys were not acknowledged yet; at echo_ms they are, whatever comes */
    double echo_ms;
    int signal;
    double term_ms, window_ms, tick_ms, start_ms;
    double moment_ms; /* when the next moment of a moving world is due */
    /* Ends of the last looks at the terminal's keys and at the window's. */
    double polled_ms, pumped_ms;
    double typed_ms;    /* nothing read now from the terminal was typed before */
    char recording[64]; /* folder; "": none */
    int64_t recorded;   /* number of the frame written last */
    char line[512];     /* plain input so far */
    size_t line_length;
    char printed[LOG_LENGTH]; /* the log's line that was printed last */
    Err *err;                 /* of loop_run; filled where the first frame is impossible */
} Loop;

/* ---- loop_frames.c: the engine and what comes from it ---------------------------------------- */

bool loop_open_engine(Loop *loop, Err *err);
void loop_take_frame(Loop *loop);
const LiveData *loop_live(const Loop *loop);
const WindowPicture *loop_picture(const Loop *loop); /* NULL before the first frame */

/* ---- loop_state.c: what happens to the state ------------------------------------------------- */

/* Asks the engine for a frame: a new job (`run`), or the same one in another look. */
void loop_submit(Loop *loop, bool run);

/* True: there is something to draw. */
bool loop_step(Loop *loop, const Event *event);
void loop_note(Loop *loop, const char *text);
void loop_note_error(Loop *loop, const Err *err);

/* A key that was typed at `arrived_ms` or later. */
void loop_key(Loop *loop, int32_t key, double arrived_ms);

/* Keys whose picture is not there yet: milliseconds until the screens are drawn all the same, to
 * show what was chosen; INFINITY: there are none. */
double loop_echo_in_ms(const Loop *loop);
void loop_echo(Loop *loop); /* has them drawn when it is time */

/* A control and its value, as in a script; false: `why` says what is wrong with it. */
bool loop_words(Loop *loop, const char *line, char *why, size_t size);

/* ---- loop_screens.c: terminal and window ----------------------------------------------------- */

unsigned loop_screens(const Loop *loop); /* those that are open: a mask of 1u << Screen */
bool loop_open_terminal(Loop *loop, Err *err);
void loop_fit_terminal(Loop *loop);
void loop_read_keys(Loop *loop);
void loop_open_window(Loop *loop);
void loop_read_window(Loop *loop);

/* Draws what has changed, no screen more often than anybody sees. */
void loop_draw(Loop *loop);

/* Milliseconds until a screen wants to be drawn; INFINITY: nothing has changed. */
double loop_draw_in_ms(const Loop *loop);

/* ---- loop_plain.c: lines where there is no screen -------------------------------------------- */

void loop_read_lines(Loop *loop);
void loop_plain_step(Loop *loop);
void loop_print_plain(const Loop *loop);

/* ---- loop_pictures.c: snapshots and recordings ----------------------------------------------- */

void loop_snapshot(Loop *loop);
void loop_recording(Loop *loop); /* it was switched on or off */
void loop_record_frame(Loop *loop);
void loop_take_messages(Loop *loop); /* of what was written */

#endif
