/* SPDX-License-Identifier: MIT */
/* The state of the live display: plain values. Only state_step() changes the state; it
 * uses no clock, no I/O and no heap. A State may be copied with `=`.
 *
 *     bits = state_step(&state, &event);
 *     if (bits & (STEP_RUN | STEP_LOOK))  hand the state to the engine
 *     if (bits & STEP_REDRAW)             draw again
 *
 * Every control adds one line to the log that says what it did. After a change of the job,
 * EVENT_FRAME brings the new figures, which complete that line: "FP8: footprint 10.2 to 6.1 MB,
 * latency 8.0 to 7.1 us, ...". */
#pragma once

#include "src/inputs/job.h"
#include "src/scene/slice.h"
#include "src/state/keys.h"
#include "src/cachesim/memory_model.h"

/* ---- what there is to choose from ------------------------------------------------------------ */

/* A list of names to choose from. The list is borrowed, and must outlive the state. */
typedef struct {
    const char *const *names;
    int count;
} Menu;

/* Names from tables in higher folders. The state may not include those folders, so its owner fills
 * in the names. Kernels, formats, aligns and GPUs are read from their own tables. */
typedef struct {
    Menu scenes;                     /* names that scene_load takes; the presets come first */
    const char *const *scene_titles; /* one for each scene; an unknown title is NULL or "" */
    const char *const *view_ideas, *const *lesson_ideas; /* a line about each view and lesson */
    int preset_count;                                    /* how many of `scenes` are presets */
    int operator_first;                                  /* first of `scenes` that is an operator */
    int operator_count;
    Menu views;                   /* src/view/bev/decode.h, in its order */
    int error_view, channel_view; /* positions in `views`; -1: none */
    int rgb_view, plain_view;     /* the view of three channels; a view that fits every scene */
    unsigned world_views;         /* bit i: views[i] needs features of a ray-cast world */
    Menu colormaps;     /* first "auto", each view's usual map; then colormaps[] in its order */
    Menu lessons;       /* the lessons of the course, by number */
    const char *scales; /* a file of ranges; NULL: none */
    unsigned where;     /* backends that can run here: 1u << BEV_CPU | ... */
    int gpu;            /* row of gpus[] that is predicted first */
} StateMenu;

/* ---- what a lesson shows: rows of text, each with its role ----------------------------------- */

/* The role of a row. Views choose ink and indent by the role. */
typedef enum {
    PANE_TEXT,
    PANE_TERM, /* an entry of the glossary */
    PANE_QUESTION,
    PANE_CHOICE, /* `marked`: the choice that Enter takes, or that the learner took */
    PANE_INPUT,  /* what was typed so far */
    PANE_RIGHT,  /* the verdict */
    PANE_WRONG,
    PANE_SHOW, /* what the run showed */
    PANE_WHY,
    PANE_HINT,
    PANE_SOURCE,  /* file and line numbers of the rows PANE_CODE below */
    PANE_CODE,    /* a line of source code; not wrapped */
    PANE_DRAWING, /* a line of a drawing in characters; not wrapped */
    PANE_NOTE,    /* says what is wrong, or what the lesson waits for */
    PANE_KEYS,    /* the keys that work now */
    PANE_KIND_COUNT
} PaneKind;

typedef struct {
    PaneKind kind;
    bool marked;
    uint16_t at; /* where the row's text begins in PaneText.text */
} PaneRow;

enum { PANE_ROWS = 64, PANE_BYTES = 6000 };

/* Rows of text in one block, so that a State can be copied with `=`. */
typedef struct {
    int count, used;
    PaneRow rows[PANE_ROWS];
    char text[PANE_BYTES];
} PaneText;

/* Adds a row by printf's rules. Text beyond the room of the pane is cut. */
void pane_add(PaneText *pane, PaneKind kind, bool marked, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *pane_row(const PaneText *pane, int row);
void pane_append(PaneText *pane, const PaneText *more);

/* The panels of the dashboard that a lesson can point at. Each row has the name of its PANEL_...,
 * and the word that lessons write after `point at` and `show`. */
#define LESSON_PANELS(ROW)                                                                         \
    ROW(NONE, "") ROW(HEADLINE, "headline") ROW(KERNELS, "kernels") ROW(MEMORY, "memory")          \
    ROW(INTERVALS, "intervals") ROW(ACCURACY, "accuracy") ROW(PIPELINE, "pipeline")                \
    ROW(MODEL, "model") ROW(BEV, "bev") ROW(STRIP, "strip") ROW(STEPS, "steps")                    \
    ROW(BITS, "bits") ROW(LOG, "log")
#define ID(id, word) PANEL_##id,
typedef enum { LESSON_PANELS(ID) PANEL_COUNT } LessonPanel;
#undef ID
extern const char *const lesson_panels[PANEL_COUNT]; /* the words */

/* The kind of answer that a question asks for. What a key does depends on this kind. */
typedef enum { ASKS_NOTHING, ASKS_CHOICE, ASKS_NUMBER, ASKS_ORDER } LessonAsks;

typedef struct {
    bool open; /* a lesson runs: the screens show it */
    char title[80];
    int step, steps;   /* the shown step, from 1, and the number of steps; 0: a page of text */
    int right, asked;  /* the right answers so far, and the questions so far */
    LessonPanel point; /* the panel that the step points at */
    LessonAsks asks;
    bool covers;             /* figures that the next question does not point at are covered */
    bool computing;          /* the lesson waits for figures */
    KernelSet model_kernels; /* kernels whose memory model the lesson needs */
    bool ended;
    int scroll; /* rows that the learner moved the text by */
    PaneText body;
} LessonPane;

/* Whether a question is open. Screens then hide the question's bug and its effect. */
static inline bool lesson_asks(const LessonPane *pane) {
    return pane->open && pane->asks != ASKS_NOTHING;
}

/* ---- what the engine is asked to do ---------------------------------------------------------- */

typedef enum { COMPARE_OFF, COMPARE_WIPE, COMPARE_DIFFERENCE, COMPARE_COUNT } Compare;
extern const char *const compare_names[COMPARE_COUNT]; /* "off", "wipe", "difference" */

/* Returns 1 + the position of the scene that the scales are calibrated on; 0: the scene itself. */
int scales_scene(const State *state);

/* Returns how scales are chosen: "ideal", "max", ..., or the name of the file. */
const char *scales_name(const State *state, int scales);

/* Compares the selection's scene with the scene at this position. */
void state_compare_with(State *state, int scene);

/* ---- the state ------------------------------------------------------------------------------- */

/* The three channels that the view "rgb" shows as red, green and blue, with their ranges. */
typedef struct {
    int64_t channel[3];
    double lo[3], hi[3]; /* lo == hi: the range of the channel's own values */
} RgbChoice;

/* Returns three channels from `first` on with their own ranges, continued from 0 after the last of
 * `channels` (0: unknown). */
RgbChoice rgb_from(int64_t first, int64_t channels);

/* Reads "0,1,2", or channels with ranges "0:0:1,1:0:1,2". Returns false for any other text. */
bool rgb_parse(const char *text, RgbChoice *rgb);

/* The page of the terminal: dashboard and BEV together, or one alone. While a window is open, the
 * terminal starts with the dashboard alone, because the window shows the BEV. */
typedef enum { PAGE_BOTH, PAGE_DASHBOARD, PAGE_BEV, PAGE_COUNT } Page;
/* Terminals narrower than PAGE_BOTH_COLUMNS show kernels and a small BEV on the page "both". Those
 * narrower than PAGE_SMALL_COLUMNS show the dashboard alone. */
enum { PAGE_BOTH_COLUMNS = 110, PAGE_SMALL_COLUMNS = 80 };
extern const char *const page_names[PAGE_COUNT]; /* "both", "dashboard", "bev" */

/* The figures that a log line compares before and after a change. */
typedef struct {
    uint64_t serial; /* the serial of the job that has these figures */
    Reading footprint_bytes, latency_us, max_abs;
    double swing_us[2]; /* latencies between these limits count as unchanged; 0, 0: unknown */
    bool estimate;      /* the latency is a first estimate of the model */
    char latency_of[160]; /* where the latency is from: "model of RTX A6000"; "": this machine */
    BevDtype dtype;
    char max_abs_of[48]; /* moment of max_abs: "at t 14.00 s"; "": the scene has one moment */
    double prune_change; /* the most that pruned points change an output; max_abs leaves it out */
    int step_count;      /* recorded steps: the larger of selection and baseline; 0: none */
    int64_t fullest_cell, fullest_points; /* the cell of the longest interval; 0 points: none */
} Headline;

/* How fast the display answers. Scripts have no clock, so all figures stay unknown there. */
typedef struct {
    int64_t keys;               /* the keys answered so far */
    Reading key_us, key_p99_us; /* from a key to its picture: median, 99th percentile */
    Reading first_us;           /* from the program's start to its first picture */
    Reading fps;                /* moments of the moving world that were shown in a second */
} Pace;

enum { LOG_LINES = 8, LOG_SAID = 256, LOG_LENGTH = 416 };

typedef struct {
    char text[LOG_LENGTH]; /* the complete line, with figures */
    char said[LOG_SAID];   /* the beginning of `text`, without figures */
    Action action;         /* the control that logged the line; ACTION_COUNT: a note */
    uint64_t open;         /* serial of the job whose figures the line waits for; 0: complete */
    Headline before;       /* the figures before the change */
    bool values_only;      /* the change moves neither footprint nor latency */
} LogLine;

typedef struct {
    LogLine lines[LOG_LINES]; /* [0] is the newest */
    int count;
    uint64_t said; /* lines logged so far, forgotten lines included */
} Log;

enum { MOST_SHOWN_WARPS = 128 }; /* the most warps whose steps are recorded */

/* The part of the grid that is in view, in cells. x grows forward and y to the left, as in the map.
 * The centre of a cell lies at +0.5. */
typedef struct {
    double center_x, center_y;
    double zoom; /* 1: the grid fills the view */
} Viewport;

/* The page of bits shows one number: an element of a tensor in the selected format. After a change
 * of the format, state_bits() returns the nearest number of the new format. */
typedef enum { BITS_FEATURES, BITS_DEPTH, BITS_OUTPUT, BITS_E5M2, BITS_COUNT } BitsOf;
extern const char *const bits_names[BITS_COUNT]; /* "features", ..., "e5m2" */
typedef struct {
    bool open;
    BitsOf of;
    BevDtype dtype; /* the format of `code` */
    uint32_t code;
    int at; /* the selected bit; 0: the lowest */
} BitsPage;

/* A page of the schedules of kernels (src/cachesim/schedule.h). */
typedef enum { RACE_OFF, RACE_GRIDS, RACE_STRAGGLER } RacePage;

/* The text typed into the command palette (palette.h), and the row that Enter takes. */
enum { PALETTE_TEXT = 64, PALETTE_RECENT = 5 };
typedef struct {
    bool open;
    char text[PALETTE_TEXT];
    int row;
    bool tries;                     /* a value is tried: Enter keeps the value, Esc drops it */
    Command recent[PALETTE_RECENT]; /* the newest first */
    int recent_count;
} Palette;

struct State {
    StateMenu menu;
    Job job;
    SceneFacts scene; /* zeroed until EVENT_FRAME brings them */
    Headline shown;   /* the newest figures */

    Compare compare;
    double wipe; /* 0..1 from the left edge: left of it the baseline, right of it the selection */

    int view, view_before_error; /* positions in menu.views */
    int64_t channel;             /* the channel of VIEW_CHANNEL */
    RgbChoice rgb;               /* the channels of VIEW_RGB */
    int colormap;                /* position in menu.colormaps */
    bool range_locked;           /* the colour bar keeps its range */
    bool fill;                   /* empty cells among others are interpolated, dimmer */
    Strip strip;
    bool lidar;          /* LiDAR points are drawn over the strip */
    unsigned truth;      /* true boxes and LiDAR on the picture: TRUTH_... */
    int light;           /* theme: 0 dark, 1 light */
    bool bare;           /* a snapshot: drawn without log and key bar */
    bool large;          /* for a projector: fewer panels, larger figures */
    bool all;            /* all figures as tables, in place of the three questions */
    double text_percent; /* size of the window's text */
    int gpu;             /* the predicted GPU: a row of gpus[] */
    GpuEdit edit;        /* the user's changes of that GPU */
    Chart chart;

    bool playing;
    double speed; /* seconds of the world in a second */

    int camera; /* the camera that controls act on */

    int64_t cursor_x, cursor_y; /* cell under cursor or mouse */
    bool cursor_shown;          /* false until the first move */
    int64_t pixel;              /* the feature pixel under the mouse, for gradients; -1: none */
    bool pinned;
    int64_t pin_x, pin_y;
    int step_at;       /* the recorded step that is shown, from 0 */
    int step_lane;     /* the lane that steps are shown of; -1: all lanes */
    double step_speed; /* steps a second; below 0: backwards; 0: still */
    double step_clock; /* the part of the next step that has passed, in steps */
    BitsPage bits;
    RacePage race;
    bool race_paused; /* `play` paused the race; a race that opens runs, even in a paused world */
    double race_s;    /* seconds since the race began; the world stands still meanwhile */
    Viewport viewport;

    bool help;
    bool glossary;    /* the help shows the glossary in the place of the keys */
    int help_first;   /* the entry at the top of the help */
    int glossary_row; /* the word that the glossary was opened at; -1: none */
    int undo_wish;    /* with STEP_UNDO: the number of changes to take back */

    Action lesson_wish; /* with STEP_LESSON: the control that asks; ACTION_ESCAPE: close it */
    char lesson_name[64];        /* ACTION_LESSON: which lesson; "": the next one */
    int finding;                 /* ACTION_EXPLAIN: which finding, from 0 */
    const BevKernel *before_bug; /* the kernel before a bug was injected; NULL: none */

    bool tours;       /* a tour is played: its pages are computed before they open */
    char waiting[96]; /* the stage of a slow picture: "computing dense: map, 1.2 s"; "": none */

    /* From here to the end: facts, counters and screens. A reset and an undo leave them. */
    uint64_t counts; /* how often hardware counters were asked for */
    int64_t frames;  /* ticks so far */
    bool has_window; /* a window is open */
    Page page;
    bool fullscreen;
    bool recording;
    int64_t snapshots, recorded_frames; /* numbers for file names */
    int columns, rows;                  /* the terminal's size */
    LessonPane lesson;                  /* what the open lesson shows */
    Palette palette;
    Pace pace;         /* the pace that the newest EVENT_FRAME brought */
    char caption[200]; /* text of a tour or a script in place of log and key bar; "": none */
    char tip[960];     /* what lies under the mouse in the terminal; "": nothing */
    Log log;
};

/* ---- events ---------------------------------------------------------------------------------- */

typedef enum {
    EVENT_COMMAND, /* a key or script word: `command` */
    EVENT_TICK,    /* `seconds` have passed; moves the world when playing */
    EVENT_PIXEL,  /* mouse over a camera view: feature pixel `x`, (camera * h + row) * w + column */
    EVENT_HOVER,  /* the mouse is at (x, y), or outside the grid. `on`: it was clicked, and the log
                     names the cell */
    EVENT_CLICK,  /* pins the cell at (x, y), or unpins it. `on`: the clicked cell has no points,
                     and (x, y) is the nearest cell with points */
    EVENT_FRAME,  /* the engine has a frame: `headline`, and `scene` if a scene was loaded */
    EVENT_DRAG,   /* the picture was dragged by (x, y) cells */
    EVENT_WHEEL,  /* `steps` up (+) or down (-): zooms about (x, y) */
    EVENT_WIPE,   /* the wipe was dragged to `x` in 0..1 */
    EVENT_RESIZE, /* the terminal has `columns` x `rows` */
    EVENT_WINDOW, /* a window was opened or closed: `on` */
    EVENT_SCROLL, /* the help goes on by `steps` entries, or a lesson's text by rows */
    EVENT_NOTE    /* something to log: `text` (a device error, a file written, stderr) */
} EventKind;

typedef struct {
    EventKind kind;
    Command command;
    double seconds;
    double x, y, steps; /* x, y in cells, fractions included */
    int columns, rows;
    bool on;
    const Headline *headline; /* the new figures of EVENT_FRAME; NULL: there are none */
    const SceneFacts *scene;
    const Pace *pace;
    const char *text;
} Event;

/* The bits that state_step() returns: what the caller must do next. */
enum {
    STEP_REDRAW = 1,
    STEP_RUN = 2, /* state.job changed */
    STEP_QUIT = 4,
    STEP_SNAPSHOT = 8,    /* write the picture: state_snapshot_name() */
    STEP_RECORD = 16,     /* recording began or ended */
    STEP_FULLSCREEN = 32, /* state.fullscreen changed */
    STEP_LOOK = 64,       /* same job, but the engine must draw again, or count a launch */
    STEP_LESSON = 128,    /* state.lesson_wish is to be fulfilled */
    STEP_UNDO = 256,      /* state.undo_wish changes are to be taken back */
    STEP_CHANGE = 512     /* a choice changed, which undo takes back */
};

/* Makes a new state: the default kernel of the first backend that runs here (CUDA before the CPU),
 * FP16, nearest. `scene` is a position in menu->scenes. */
void state_init(State *state, const StateMenu *menu, int scene);

/* Resets the state as state_init does, so that a lesson begins the same each time. Shows the scene
 * `scene` and stops the world. Menu, screens and lesson stay. */
void state_begin_lesson(State *state, int scene);

/* Restores the choices that the user had made in `before`. Facts, messages and counters stay. */
void state_restore(State *state, const State *before);

/* Changes the state by an event. Returns STEP_* bits. */
unsigned state_step(State *state, const Event *event);

/* ---- questions about a state ----------------------------------------------------------------- */

/* Writes the name of the next snapshot: scene, selection and moment of the shown job, and a
 * number, "intersection-v3-fp8-nearest-t003.20-001.png". "...-v2-by-v4-..." names a stand-in
 * that drew it. */
void state_snapshot_name(const State *state, const Job *shown, const BevKernel *drawn_by,
                         char *text, size_t size);

/* Writes the command that draws the picture alone, as a figure: "bevscope snapshot intersection
 * -t 14 --kernel v3 --dtype fp8 -o figure.png". Returns false where the job has changes that no
 * short command can express. */
bool state_figure_command(const State *state, const Job *shown, char *text, size_t size);

/* Returns x and y of a cell of the grid, and z where the scene's grid has slices. */
ShortText state_cell_place(const State *state, int64_t cell);

static inline bool state_races(const State *state) {
    return state->race && !state->race_paused;
}

/* Returns the slice of the scene's grid that the picture shows. */
Slice state_slice(const State *state);

/* Returns how many cameras give points. */
int state_seeing(const State *state);

/* Returns the pinned cell, else the one under the cursor, as y * nx + x of the picture; -1:
 * none. */
int64_t state_probe_cell(const State *state);

/* Returns the page of bits with its number in the selected format. */
BitsPage state_bits(const State *state);

/* Whether the picture shows errors against FP64, and not the difference of two kernels. */
bool state_shows_errors(const State *state);

/* Writes the control's value: "FP16", "on", "0.5 deg"; "" for controls without a value. */
ShortText state_value(const State *state, Action action);

/* Returns the size of the window's text and lines, as a multiple of the usual size. */
double state_text_scale(const State *state);

/* Returns the backend whose kernels are listed. For an injected bug: one that runs here. */
BevWhere state_where(const State *state);

/* Returns the GPU that is predicted, with the user's changes. */
Gpu state_gpu(const State *state);

/* Returns the position of a name in a menu, upper and lower case alike; -1: the menu lacks it. */
int menu_find(const Menu *menu, const char *name);

/* Returns the name at a position; "" outside the menu. */
const char *menu_name(const Menu *menu, int position);

/* ---- one code of a number format, for the page of bits --------------------------------------- */

/* Returns the title of a format: "FP8 E4M3", "INT8". */
ShortText bits_title(BevDtype element);

/* The parts of a code, from the top bit down. */
typedef enum { PART_SIGN, PART_EXPONENT, PART_FRACTION, PART_NUMBER, PART_COUNT } BitsPart;
extern const char *const bits_parts[PART_COUNT]; /* "sign", "exponent", "fraction", "number" */

/* Return the part that a bit belongs to, the value of a part's bits, and the number of its bits. */
BitsPart bits_part(BevDtype element, int bit);
uint32_t bits_field(BevDtype element, uint32_t code, BitsPart part);
int bits_width(BevDtype element, BitsPart part);

/* Returns "zero", "subnormal", "normal", "infinity", "NaN", "whole number" or "unused". */
const char *bits_class(BevDtype element, uint32_t code);

/* Writes the code of the next number above (step 1) or below (step -1). Infinity counts as a
 * number. Returns false, and leaves *next, where there is none. */
bool bits_next(BevDtype element, uint32_t code, int step, uint32_t *next);

/* Whether the next code, away from 0, is a NaN. `code` is then the largest number of its sign. */
bool bits_then_nan(BevDtype element, uint32_t code);

/* Returns a decoded value as text: "0.3125", "-inf", "NaN". */
ShortText bits_value(double value);

/* Returns how the value follows from the parts: "2^-2 x (1 + 2/8)", "-(64 + 1)". The text is ""
 * where the class alone says the value. */
ShortText bits_formula(BevDtype element, uint32_t code);

/* Returns the bits of the code with a blank between its parts: "0 0101 010". */
ShortText bits_digits(BevDtype element, uint32_t code);

ShortText state_bits_value(const State *state);
