# SPDX-License-Identifier: MIT
"""Attacks the live display on a terminal of its own, many times.

    hard.py PART BEVSCOPE [--times N | --seconds S] [--seed N] [--window] [--device cuda]

PART: signals (each signal that ends a process, N times in all, at random moments), sizes (N sizes
from 1 x 1 to 32768 x 32768), storm (N sizes, 10 ms apart, after which nothing has grown), slow (a terminal
that reads N bytes at a time, or stops reading), keys (N random keys of all controls, lessons and undo among
them, with pauses in which the background works, and after every twentieth how long the page of help takes;
with --window, which needs a display, in a window as well), words (N random control words on plain lines, in
many runs, some of them written before the first picture: every scene and kernel, lessons and undo, with
pauses too). Keys and words take seconds in place of a number; with AddressSanitizer they print its reports.

Figures: pace (how fast canonical answers N keys and how many pictures it shows, on a terminal and in a window;
the program says both when it quits), heavy (N times the page of help among heavy scenes, and an end amid a slow
picture), rest (paused, it keeps no core busy), budget (the memory of the largest grids on every page, and N random
keys), soak (N random keys: memory, files and threads do not grow). PACE_STRICT=1 asks for the figures of two quiet
cores, else they are several times wider; PACE_FPS and PACE_MS are others for `pace`. A time that is missed while other
programs have more than a quarter of the cores is no failure: a line says so. For half an hour each, from the root:

    HARD_SEED=1 HARD_SECONDS=1800 python3 tests/hard/hard.py words build-sanitize/bevscope
    HARD_SEED=1 HARD_SECONDS=1800 python3 tests/hard/hard.py keys build-sanitize/bevscope

Prints a row of a Markdown table and, for what was wrong, a line on standard error. Exit 1: something
was."""
import argparse
import fcntl
import glob
import os
import random
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

PATIENCE_S = 30
ENTER, LEAVE, SHOW = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"
READY = b"kernel"
HELP = b"Esc close"  # at the top of the page of keys
# AddressSanitizer's handlers, which end with 1, would stand until the program's own are there.
OWN_SIGNALS = ":".join([os.environ.get("ASAN_OPTIONS", "")] + [
    "handle_%s=0" % name for name in ("abort", "segv", "sigbus", "sigfpe", "sigill", "sigtrap")])
# Keys by their names on the manual page, as xterm sends them.
NAMED = {"Space": " ", "Tab": "\t", "Enter": "\r", "Esc": "\x1b", "Backspace": "\x7f", "Up": "\x1bOA",
         "Down": "\x1bOB", "Right": "\x1bOC", "Left": "\x1bOD", "Home": "\x1bOH", "End": "\x1bOF",
         "PgUp": "\x1b[5~", "PgDn": "\x1b[6~", "Ins": "\x1b[2~", "Del": "\x1b[3~", "1-9": "5",
         "S-Tab": "\x1b[Z"}
NAMED.update(("S-" + name, "\x1b[1;2" + NAMED[name][-1])
             for name in ("Up", "Down", "Right", "Left", "Home", "End"))
# They leave, write files without end, or count with the hardware.
NOT_TYPED = {"quit", "record", "counters"}
LIVE_BUDGET_MB = 3000
STRICT = "PACE_STRICT" in os.environ
# What is typed while a lesson is open, in the palette or as words.
IN_LESSONS = ["undo", "undo all", "next", "back", "skip", "lesson off", "lesson", "explain 1", "slow A",
              "snapshot"]


def controls(program, but=(), only=None):
    """The keys of each control, or of some, by the manual page; F keys have another key, which is typed. Control is
    for the window."""
    page = subprocess.run([program, "--man"], stdout=subprocess.PIPE, check=True).stdout.decode()
    for written, meant in (("\\-", "-"), ("\\(aq", "'"), ("\\(em", "\u2014"), ("\\e", "\\")):
        page = page.replace(written, meant)
    found = []
    for keys, name in re.findall("^\\\\fB(.*)\\\\fR \u2014 (.*)$", page, re.MULTILINE):
        names = re.sub(r"(S-)(\w+)/", r"\1\2 \1", keys).split()
        if name not in NOT_TYPED and name not in but and (not only or name in only):
            found.append([key if len(key) == 1 else NAMED[key] for key in names
                          if not re.fullmatch(r"F\d+|C-.", key)])
    return [keys for keys in found if keys]


def begin_job():
    """In the child: its terminal, and signals that nohup or a background shell ignores."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in ending_signals():
        signal.signal(number, signal.SIG_DFL)


class Terminal:
    """The program on a terminal."""

    def __init__(self, program, scene="toy", columns=100, rows=30, window=False, device="cpu"):
        self.master, self.slave = os.openpty()
        self.output = b""
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.slave)
        env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8")
        self.process = subprocess.Popen(
            [program, scene, "--device", device] + ([] if window else ["--no-window"]), env=env,
            stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
            preexec_fn=begin_job)

    def resize(self, columns, rows):
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def read(self, seconds, most=65536):
        """What comes within so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.master], [], [], left)[0]:
                break
            self.output = (self.output + os.read(self.master, most))[-(4 << 20):]

    def wait_text(self, text):
        end = time.monotonic() + PATIENCE_S
        while text not in self.output and time.monotonic() < end and self.process.poll() is None:
            self.read(0.05)
        return text in self.output

    def type(self, keys):
        os.write(self.master, keys.encode())

    def wait(self, seconds, reads=True):
        """The exit status, negative for a signal; None: it still runs."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            if reads:
                self.read(0.02)
            else:
                time.sleep(0.02)
        self.read(0.1)
        return self.process.returncode

    def restored(self):
        """Why the terminal is not as it was; "": it is."""
        if termios.tcgetattr(self.slave) != self.modes:
            return "modes differ"
        entered = self.output.rfind(ENTER)
        if entered >= 0 and self.output.rfind(LEAVE) < entered:
            return "the other screen stays"
        if entered >= 0 and self.output.rfind(SHOW) < entered:
            return "the cursor stays hidden"
        return ""

    def close(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


class Count:
    """Cases and what was wrong."""

    def __init__(self, part):
        self.part, self.cases, self.wrong, self.note = part, 0, 0, ""

    def check(self, what, problem):
        self.cases += 1
        if problem:
            self.wrong += 1
            print("%s: %s: %s" % (self.part, what, problem), file=sys.stderr)
            for report in glob.glob("report*"):
                print(open(report, errors="replace").read()[:8000], file=sys.stderr)
                os.remove(report)

    def check_time(self, what, passed, before):
        """At the end of the programs that ran since `before`, a busy()."""
        wall, cores, own = (now - then for then, now in zip(before, busy()))
        share = (cores - own) / wall
        if not passed and share > 0.25:
            print("busy: %s: missed, but others had %.0f%% of the cores" % (what, 100 * share))
        else:
            self.check(what, "" if passed else "missed, and others had %.0f%% of the cores" % (100 * share))

    def row(self):
        print("| %s | %d | %d | %s |" % (self.part, self.cases, self.wrong, self.note))
        return 1 if self.wrong or not self.cases else 0


def busy():
    """Seconds that our cores had, worked, and worked for this process and the programs that it waited for."""
    cores = ["cpu%d" % core for core in os.sched_getaffinity(0)]
    with open("/proc/stat") as file:
        rows = [line.split() for line in file]
    worked = sum(int(row[i]) for row in rows if row[0] in cores for i in (1, 2, 3, 6, 7, 8))
    return time.monotonic() * len(cores), worked / os.sysconf("SC_CLK_TCK"), sum(os.times()[:4])


def sanitized(program):
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


def begun(args, scene, columns=130, rows=44, window=False):
    """The program with its first picture there."""
    terminal = Terminal(args.program, scene, columns, rows, window, args.device)
    terminal.wait_text(READY)
    terminal.read(2)
    return terminal


def quit_in_order(terminal, count, what):
    """Whatever pages and command lines are open, one above another."""
    for key in "\x1b\x1b\x1b\x1bq":
        if terminal.process.poll() is None:
            terminal.type(key)
            terminal.read(0.2)
    terminal.output = ENTER + terminal.output
    count.check(what, end_problem(terminal, terminal.wait(PATIENCE_S), 0))
    terminal.close()


def end_problem(terminal, status, wanted):
    if status is None:
        return "still runs after %d s" % PATIENCE_S
    if status != wanted:
        return "ends with %d, not %d" % (status, wanted)
    return terminal.restored()


def ending_signals():
    stay = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGCONT, signal.SIGTSTP,
            signal.SIGTTIN, signal.SIGTTOU, signal.SIGURG, signal.SIGWINCH}
    return sorted(number for number in signal.valid_signals() if number not in stay)


def run_signals(args, count):
    """At a random moment from the first instruction on, while keys are typed."""
    numbers, keys = ending_signals(), controls(args.program)
    for i in range(args.times):
        number = int(numbers[i % len(numbers)])
        terminal = Terminal(args.program)
        moment = random.choice([0.01, 0.05, 0.2, 1.5]) * random.random()
        end = time.monotonic() + moment
        while time.monotonic() < end:
            terminal.type(random.choice(random.choice(keys)))
            terminal.read(0.01)
        os.kill(terminal.process.pid, number)
        status = terminal.wait(PATIENCE_S)
        count.check("signal %d after %.3f s" % (number, moment), end_problem(terminal, status, -number))
        terminal.close()
    count.note = "%d signals, 0 to 1.5 s after the start, keys beside them" % len(numbers)


def run_sizes(args, count):
    """A start at each size, keys, and another size."""
    edges = [1, 2, 3, 7, 24, 39, 40, 80, 100, 110, 132, 200, 255, 256, 500, 1000, 4096, 32767, 32768]
    for _ in range(args.times):
        columns, rows = random.choice(edges), random.choice(edges)
        terminal = Terminal(args.program, "toy", columns, rows)
        terminal.read(0.3)
        for key in "?\x1b\t/x":
            terminal.type(key)
            terminal.read(0.02)
        terminal.resize(80, 24)
        terminal.read(0.2)
        quit_in_order(terminal, count, "%d x %d" % (columns, rows))
    count.note = "1 to 32,768 columns and rows, then 80 x 24"


def run_storm(args, count):
    """Some files and threads come and go: those of jobs in the background. Buffers first reach their largest size."""
    terminal = begun(args, "toy")
    for times in 100, args.times:
        before = held(terminal)
        for _ in range(times):
            terminal.resize(random.randint(1, 250), random.randint(1, 80))
            terminal.read(0.01)
    terminal.resize(100, 30)
    terminal.output = b""
    count.check("the last size", "" if terminal.wait_text(READY) else "is not drawn")
    terminal.read(0.5)
    kb, files, threads, _ = (now - then for then, now in zip(before, held(terminal)))
    count.check("files and threads", "" if max(files, threads) < 8 else "%d and %d more" % (files, threads))
    count.check("memory", "" if kb < 16384 or sanitized(args.program) else "%d kB more" % kb)
    quit_in_order(terminal, count, "quit")
    count.note = "%d sizes: %d kB more" % (args.times, kb)


def run_slow(args, count):
    """Reads little at a time, or nothing, and then ends it: within 2 s, and reset when it is read
    again. The machine may be busy: 5 s are allowed."""
    worst = 0
    for i in range(args.times):
        terminal = Terminal(args.program)
        terminal.wait_text(READY)
        number = int(random.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT]))
        for k in range(10):
            terminal.resize(200 + k % 2, 60)
            if i % 2:
                terminal.read(0.05, 16)
            else:
                time.sleep(0.05)
        sent = time.monotonic()
        os.kill(terminal.process.pid, number)
        status = terminal.wait(PATIENCE_S, reads=False)
        took = time.monotonic() - sent
        worst = max(worst, took)
        terminal.read(0.3)
        problem = end_problem(terminal, status, -number)
        count.check("signal %d, read %s" % (number, "slowly" if i % 2 else "never"),
                    problem or ("took %.1f s" % took if took > 5 else ""))
        terminal.close()
    count.note = "at most %.1f s from the signal to the end" % worst


def resident_mb(pid, field):
    for line in open("/proc/%d/status" % pid):
        if line.startswith(field):
            return int(line.split()[1]) // 1024
    return 0


def help_ms(terminal):
    """From "?" to its page on the terminal, which has no page open; PATIENCE_S: it did not come."""
    terminal.output = b""
    typed = drawn = time.monotonic()
    terminal.type("?")
    while HELP not in terminal.output and time.monotonic() - typed < PATIENCE_S:
        terminal.read(0.002)
        if time.monotonic() - drawn > 2: # a page that was there already is not sent again
            terminal.type("\x0c")
            drawn = time.monotonic()
    took = (time.monotonic() - typed) * 1e3
    terminal.type("\x1b\x1b")
    return took


def quantile(values, part):
    return sorted(values)[min(int(len(values) * part), len(values) - 1)] if values else float("nan")


def lesson_word():
    return "lesson %s" % random.choice([str(random.randint(1, 30)), "quiz"])


def keys_in_lesson():
    """A lesson or the quiz, answers, moves, changes and undo."""
    yield ":%s\r" % lesson_word()
    for _ in range(random.randint(1, 30)):
        yield random.choice(["u", "\r", "%d\r" % random.randint(0, 12), "\x7f", "d", "k", NAMED["Down"],
                             "\x1b", ":%s\r" % random.choice(IN_LESSONS)])


def goes_on(args, since, cases):
    return time.monotonic() - since < args.seconds if args.seconds else cases < args.times


def clear_pictures():
    for name in glob.glob("*.png"):
        os.remove(name)


def run_keys(args, count):
    """One key in eight is held down, which leads to all scenes; one in forty is followed by a pause,
    in which jobs of the background begin and end; one in twenty begins a lesson."""
    keys = controls(args.program)
    terminal = Terminal(args.program, window=args.window, device=args.device)
    terminal.wait_text(READY)
    terminal.read(2)
    first_mb = resident_mb(terminal.process.pid, "VmRSS")
    since, typed, light, lesson, last = time.monotonic(), 0, [], iter(()), []
    while goes_on(args, since, typed) and terminal.process.poll() is None:
        held = random.randint(2, 12) if random.random() < 1 / 8 else 1
        if random.random() < 1 / 20:
            lesson = keys_in_lesson()
        last = (last + [next(lesson, None) or random.choice(random.choice(keys)) * held])[-40:]
        terminal.type(last[-1])
        typed += 1
        if typed % 100 == 0:
            clear_pictures()
        terminal.read(random.uniform(0.3, 5) if random.random() < 1 / 40 else args.ms * 1e-3)
        if typed % 20 == 0 and terminal.process.poll() is None:
            terminal.type("\x1b\x1b")
            terminal.read(0.3)
            light.append(help_ms(terminal))
    alive = terminal.process.poll() is None
    peak, last_mb = (resident_mb(terminal.process.pid, field) if alive else 0 for field in ("VmHWM", "VmRSS"))
    seconds = time.monotonic() - since
    terminal.output = ENTER
    for key in "\x1b\x1bq":
        if alive:
            terminal.type(key)
            terminal.read(0.3)
    status = terminal.wait(PATIENCE_S)
    count.check("key %d" % typed, end_problem(terminal, status, 0) if alive else
                "ended with %s after %r" % (status, last))
    if args.times >= 20 and quantile(light, 1) >= PATIENCE_S * 1e3:
        count.check("help", "did not come within %d s" % PATIENCE_S)
    count.cases = typed
    told = re.search(rb"key to picture [^,]*, p99 [^(\r\n]*", terminal.output)
    count.note = "%.0f s, all scenes, %d MB at the start, %d at the end, at most %d; help %d times: " \
        "median %.0f ms, p99 %.0f; %s" % (seconds, first_mb, last_mb, peak, len(light), quantile(light, 0.5),
            quantile(light, 0.99), told.group().decode().strip() if told else "no key timed")
    terminal.close()


def values(program):
    """Values that a walk of steps seldom comes to; they decide which jobs the background has. The
    world mostly stands still: while it plays, there are few of these jobs."""
    table = subprocess.run([program, "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    scenes, kernels = table.split("\n\nKernels")
    return {"scene": re.findall(r"^  (\w+)", scenes, re.MULTILINE),
            "kernel": re.findall(r"^  (\w+) +cpu ", kernels, re.MULTILINE),
            "direction": ["forward", "backward"], "loss": ["cell", "box", "class", "all"],
            "dtype": ["fp32", "fp16", "bf16", "fp8", "nvfp4"], "align": ["nearest", "bilinear"],
            "compare": ["wipe", "off"], "play": ["on", "off", "off", "off"], "bug": ["none"]}


def random_word(special, steps):
    """Of six words one is of any control, and one is of a lesson."""
    kind = random.randint(0, 11)
    if kind < 2:
        return "%s %s" % (random.choice(steps), random.choice(["", "", "-", "on", "off", "1", "x"]))
    if kind < 4:
        return random.choice([lesson_word()] + IN_LESSONS)
    word = random.choice(list(special))
    return "%s %s" % (word, random.choice(special[word] + ["", "-"]))


def words_once(args, count, special, steps):
    """One run of the program; one in twelve words is followed by a pause, unless all come at once."""
    length, said = random.choice([1, 3, 12, 30]), []
    hurries = length < 30 and random.random() < 0.8
    process = subprocess.Popen([args.program, random.choice(["toy", "toy", "small", "canonical"]), "--plain",
                                "--device", "cpu"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    while len(said) < length and process.poll() is None:
        said.append(random_word(special, steps))
        try:
            process.stdin.write(said[-1].encode() + b"\n")
            process.stdin.flush()
            if not hurries:
                process.wait(random.uniform(0.5, 10) if random.random() < 1 / 12 else args.ms * 1e-3)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            pass
    try:
        process.communicate(b"quit\n", PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
    status = process.wait()
    # Sizes of an operator before the first picture of another scene are wrong usage, as the options are.
    refused = status == 2 and any(word.split()[0] in ("skew", "config") for word in said)
    count.check("%d words" % len(said),
                "ends with %d after %s" % (status, "; ".join(said)) if status and not refused else "")
    count.cases += len(said) - 1
    clear_pictures()


def run_words(args, count):
    special = values(args.program)
    page = subprocess.run([args.program, "toy", "--plain", "--device", "cpu"], input=b"help\nquit\n",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True).stdout
    steps = [word for word in re.findall(r"^  ([a-z0-9-]+) ", page.decode(), re.MULTILINE)
             if word not in NOT_TYPED]
    since = time.monotonic()
    while goes_on(args, since, count.cases):
        words_once(args, count, special, steps)
    count.note = "%.0f s, all scenes and kernels of the CPU" % (time.monotonic() - since)


def told_ms(said, label):
    found = re.search(label + r" ([\d.]+) (us|ms|s)\b", said)
    return float(found[1]) * {"us": 1e-3, "ms": 1, "s": 1e3}[found[2]] if found else float("nan")


def typed_at_pace(args, mode, keys, apart_ms):
    """The display at full size after these keys."""
    typed = controls(args.program, ("snapshot", "config", "scene", "channels", "play", "step", "lesson", "bug"))
    terminal = begun(args, args.scene or "canonical", 200, 60, True)
    terminal.read(2)
    if mode == "paused":
        terminal.type(" ")
    for _ in range(keys):
        terminal.type(random.choice(random.choice(typed)))
        terminal.read(apart_ms * 1e-3)
    terminal.read(1)
    return terminal


def run_pace(args, count):
    """Keys 100 ms apart while the world plays and while it is paused; held: 3,000, faster than any screen is
    drawn. If every drawing gave way to keys, the first answer of these would come after the last."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    first_ms, p99_ms, fps = (1500, 100, 20) if STRICT else (10000, 2000, 2)
    p99_ms, fps = float(os.environ.get("PACE_MS", p99_ms)), float(os.environ.get("PACE_FPS", fps))
    for mode, keys, apart_ms in (("untouched", 0, 0), ("playing", args.times, 100), ("paused", args.times, 100),
                                 ("held", 3000, 1)):
        before = busy()
        terminal = typed_at_pace(args, mode, keys, apart_ms)
        quit_in_order(terminal, count, mode)
        said = terminal.output[terminal.output.rfind(LEAVE):].decode(errors="replace")
        said = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]|\r", "", said).strip().split("\n")[-1]
        print("%s: %s" % (mode, said))
        count.check_time(mode + ": first picture", told_ms(said, "first picture after") <= first_ms, before)
        answered = int((re.search(r"\((\d+) ", said) or [0, 0])[1])
        if mode == "untouched":
            moments = re.search(r"([\d.]+) moments a second", said)
            count.check_time("pictures a second", moments and float(moments[1]) >= fps, before)
        elif mode == "held" and not sanitized(args.program):
            count.check_time("held: answers", answered and told_ms(said, "p99") < 1000, before)
        elif mode != "held":
            count.check_time(mode + ": answers", answered >= args.times // 2 and
                             0 < told_ms(said, "key to picture") <= told_ms(said, "p99") <= p99_ms, before)


def run_heavy(args, count):
    """Keys that need no new picture are answered at once whatever is computed, a slow picture says what it waits
    for, and quitting waits for nothing."""
    keys = controls(args.program, only=("config", "kernel", "dtype", "align", "error", "yaw", "compare", "view"))
    before, took = busy(), []
    terminal = begun(args, "canonical", 200, 60)
    for _ in range(args.times):
        terminal.read(0.3)
        for _ in range(random.randint(1, 3)):
            terminal.type(random.choice(random.choice(keys)))
            terminal.read(0.05 * random.randint(0, 3))
        took.append(help_ms(terminal))
    quit_in_order(terminal, count, "after heavy keys")
    count.check_time("help among heavy keys", quantile(took, 0.99) <= (50 if STRICT else 500), before)
    terminal = begun(args, "canonical", 200, 60)
    terminal.type("GGG")  # from the smallest size back: `occ` and `dense`
    count.check("a slow picture", "" if terminal.wait_text(b"computing dense") else "does not say so")
    before, typed = busy(), time.monotonic()
    terminal.type("q")
    terminal.wait_text(LEAVE)
    left_ms = (time.monotonic() - typed) * 1e3
    count.check("q", end_problem(terminal, terminal.wait(PATIENCE_S), 0))
    count.check_time("the end", left_ms <= (300 if STRICT else 1500), before)
    terminal.close()
    count.note = "help: median %.0f ms, p99 %.0f ms; terminal back after %.0f ms" % (
        quantile(took, 0.5), quantile(took, 0.99), left_ms)


def used_s(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_rest(args, count):
    """Untouched for a minute: the fan of a laptop stops."""
    terminal = begun(args, "canonical")
    terminal.type(" ")
    terminal.read(60)
    before = used_s(terminal.process.pid)
    terminal.read(20)
    share = (used_s(terminal.process.pid) - before) / 20
    count.check("a minute later", "" if share < 0.05 else "takes %.1f %% of a core" % (100 * share))
    quit_in_order(terminal, count, "quit")
    count.note = "%.1f %% of a core" % (100 * share)


# Errors, a comparison with every format, every chart, steps, help, glossary, a moving world, and the
# comparison's other forms.
PAGES = list("exddddd///////__??W\x1b ty xkkxxvvouu}")
# Bilinear and BEV Align maps have four points for each of nearest. Backward each kernel in FP32 is launched
# beside a picture, where memory allows; a loss is asked for.
ALIGNS = ["a", NAMED["PgDn"], NAMED["End"], "k", "d", "k", "a", NAMED["PgUp"], NAMED["S-Tab"], "/"]


def run_budget(args, count):
    """Scenes whose grids take 133 and 166 MB each. Random keys turn the direction, one in 16; of 256 channels,
    one FP32 grid of `fine` takes 531 MB."""
    if sanitized(args.program):
        return count.check("memory", "")
    for scene in [args.scene] if args.scene else ["xlarge_c256", "fine"]:
        keys = controls(args.program, ("snapshot", "lesson", "scene", "config") + ("channels",) * (scene == "fine"))
        terminal = begun(args, scene)
        turns = [NAMED["PgDn"], NAMED["PgUp"]]
        chosen = [turns[i // 16 % 2] if i % 16 == 15 else random.choice(random.choice(keys)) for i in range(args.times)]
        for of, typed, seconds in (("pages", [] if scene == "fine" else PAGES, 0.2), ("aligns", ALIGNS, 0.8),
                                   ("random keys", chosen, 0.15)):
            for key in typed:
                if terminal.process.poll() is None:
                    terminal.type(key)
                    terminal.read(seconds)
            peak_mb = resident_mb(terminal.process.pid, "VmHWM") if terminal.process.poll() is None else 0
            count.check("%s, %s" % (scene, of), "" if 0 < peak_mb <= LIVE_BUDGET_MB else "%d MB" % peak_mb)
            count.note += "%s, %s: %d MB; " % (scene, of, peak_mb)
            clear_pictures()
        quit_in_order(terminal, count, scene)


def threads_s(pid):
    """Seconds for which threads ran or waited for a core: those of less priority, and the others."""
    usual, sums = os.getpriority(os.PRIO_PROCESS, pid), [0, 0]
    for folder in glob.glob("/proc/%d/task/*" % pid):
        try:
            with open(folder + "/schedstat") as file:
                took = sum(map(int, file.read().split()[:2])) * 1e-9
            sums[os.getpriority(os.PRIO_PROCESS, int(os.path.basename(folder))) <= usual] += took
        except (OSError, ValueError):
            pass  # it has ended
    return sums


def settle(terminal, rest_s=2, step_s=0.1):
    """Until the background has done nothing for so long and the rest takes little; timings go on."""
    idle, breaths, before = 0, 0, threads_s(terminal.process.pid)
    for _ in range(3000):
        terminal.read(step_s)
        now = threads_s(terminal.process.pid)
        quiet = now[0] - before[0] < 1e-3
        idle = idle + step_s if quiet else 0
        breaths = 0 if not quiet else breaths + step_s * (now[1] - before[1] < step_s / 2)
        before = now
        if idle >= rest_s and breaths >= 0.8:
            return


def gpu_mb():
    try:
        return int(subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                                  stdout=subprocess.PIPE, check=True).stdout.split()[0])
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
        return 0


def go_home(terminal, count):
    """Takes back all changes since the last time, which are fewer than undo keeps, and pauses the world."""
    terminal.type("\x1b\x1b\x1b")
    terminal.read(0.5)
    for line, answer in ("undo all", b"undo"), ("undo all", b"nothing to undo"), ("play off", b""):
        terminal.output = b""
        terminal.type(":")
        terminal.read(0.2)
        terminal.type(line + "\r\x0c")
        if not terminal.wait_text(answer):
            count.check("the way home", "%s: is not answered" % line)


def held(terminal):
    """The least of two seconds: memory in kB, files, threads, MB on the GPU."""
    pid, least = terminal.process.pid, [float("inf")] * 4
    for _ in range(20):
        terminal.read(0.1)
        with open("/proc/%d/status" % pid) as file:
            fields = dict(line.split(":", 1) for line in file)
        now = [int(fields["VmRSS"].split()[0]), len(os.listdir("/proc/%d/fd" % pid)), int(fields["Threads"]), gpu_mb()]
        least = [min(pair) for pair in zip(least, now)]
    return least


def run_soak(args, count):
    """The lowest count of the first half of the rounds against that of the second: memory that is kept for a
    while raises single counts, a leak raises all. In the first minutes buffers still grow to their size, and
    some threads come and go."""
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    keys = controls(args.program, ("snapshot", "lesson", "commands", "undo"))
    terminal, halves = begun(args, args.scene or "toy", window=args.window), ([], [])
    for i in range(args.rounds):
        for k in range(args.times // args.rounds):
            terminal.type(random.choice(random.choice(keys)))
            terminal.read(args.ms * 1e-3)
            if k % 40 == 39:
                go_home(terminal, count)
        go_home(terminal, count)
        settle(terminal)
        halves[2 * i >= args.rounds].append(held(terminal))
        print("%d keys: %d kB, %d files, %d threads, GPU %d MB" % (
            (i + 1) * (args.times // args.rounds), *halves[2 * i >= args.rounds][-1]))
    (kb, files, threads, gpu), (kb2, files2, threads2, gpu2) = (list(map(min, zip(*half))) for half in halves)
    most_kb = 1024 if args.times >= 36000 else 32768
    if not sanitized(args.program):  # which keep what is freed
        count.check("memory", "grew by %d kB" % (kb2 - kb) if kb2 - kb >= most_kb else "")
    count.check("files", "%d, then %d" % (files, files2) if files != files2 else "")
    count.check("threads", "%d, then %d" % (threads, threads2) if abs(threads - threads2) > 1 else "")
    count.check("the GPU", "grew by %d MB" % (gpu2 - gpu) if gpu2 - gpu >= 64 else "")
    quit_in_order(terminal, count, "quit")
    count.note = "%d keys: %d kB more" % (args.times, kb2 - kb)


def main():
    parts = {"signals": run_signals, "sizes": run_sizes, "storm": run_storm, "slow": run_slow, "keys": run_keys,
             "words": run_words, "pace": run_pace, "heavy": run_heavy, "rest": run_rest,
             "budget": run_budget, "soak": run_soak}
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=parts)
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("HARD_SECONDS", 0)))
    parser.add_argument("--ms", type=float, default=20, help="between two keys")
    parser.add_argument("--window", action="store_true", help="keys, soak: a window beside the terminal")
    parser.add_argument("--device", default="cpu", help="cpu or cuda: keys and figures")
    parser.add_argument("--scene", help="pace, budget, soak: another scene")
    parser.add_argument("--rounds", type=int, default=2, help="soak: of keys and a count")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("HARD_SEED", 1)))
    args = parser.parse_args()
    random.seed(args.seed)
    count = Count(args.part + (", window" if args.window else ""))
    args.program = os.path.abspath(args.program)
    os.environ.setdefault("BEVSCOPE_DATA", os.getcwd())
    with tempfile.TemporaryDirectory() as folder: # snapshots, progress in lessons, reports
        os.chdir(folder)
        os.environ["XDG_STATE_HOME"] = folder
        os.environ["ASAN_OPTIONS"] = ":".join([OWN_SIGNALS, "log_path=%s/report" % folder])
        parts[args.part](args, count)
        os.chdir("/")
    return count.row()


sys.exit(main())
