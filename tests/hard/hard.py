"""Attacks the live display on a terminal of its own, many times.

    hard.py PART BEVSCOPE [--times N | --seconds S] [--seed N] [--window] [--device cuda]

PART: signals (each signal that ends a process, N times in all, at random moments), sizes (N sizes
from 1 x 1 to 32768 x 32768), slow (a terminal that reads N bytes at a time, or stops reading), keys
(N random keys of all controls, lessons and undo among them, with pauses in which the background works,
and after every twentieth how long the page of help takes; with --window, which needs a display, in a
window as well), words (N random control words on plain lines, in many runs, some of them written before
the first picture: every scene and kernel, lessons and undo, with pauses too). Keys and words take seconds
in place of a number; with AddressSanitizer they print its reports. For half an hour each, from the root of the project:

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
# What is typed while a lesson is open, in the palette or as words.
IN_LESSONS = ["undo", "undo all", "next", "back", "skip", "lesson off", "lesson", "explain 1", "slow A",
              "snapshot"]


def controls(program):
    """The keys of each control, by the manual page; F keys have a twin, which is typed. Control is for
    the window."""
    page = subprocess.run([program, "--man"], stdout=subprocess.PIPE, check=True).stdout.decode()
    for written, meant in (("\\-", "-"), ("\\(aq", "'"), ("\\(em", "\u2014"), ("\\e", "\\")):
        page = page.replace(written, meant)
    found = []
    for keys, name in re.findall("^\\\\fB(.*)\\\\fR \u2014 (.*)$", page, re.MULTILINE):
        names = re.sub(r"(S-)(\w+)/", r"\1\2 \1", keys).split()
        if name not in NOT_TYPED:
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

    def row(self):
        print("| %s | %d | %d | %s |" % (self.part, self.cases, self.wrong, self.note))
        return 1 if self.wrong or not self.cases else 0


def end_problem(terminal, status, wanted):
    if status is None:
        return "still runs after %d s" % PATIENCE_S
    if status != wanted:
        return "ends with %d, not %d" % (status, wanted)
    return terminal.restored()


# ---- signals ---------------------------------------------------------------------------------


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


# ---- sizes -----------------------------------------------------------------------------------


def run_sizes(args, count):
    """Changes of size while it runs, and a start at each size."""
    edges = [1, 2, 3, 7, 24, 39, 40, 80, 100, 110, 132, 200, 255, 256, 500, 1000, 4096, 32767, 32768]
    for i in range(args.times):
        columns, rows = random.choice(edges), random.choice(edges)
        starts = i % 2 == 0
        terminal = Terminal(args.program, "toy", *((columns, rows) if starts else (100, 30)))
        if not starts:
            terminal.wait_text(READY)
            terminal.resize(columns, rows)
        terminal.read(0.3)
        for key in "?\x1b\t/x":
            terminal.type(key)
            terminal.read(0.02)
        terminal.resize(80, 24)
        terminal.read(0.2)
        alive = terminal.process.poll() is None
        terminal.type("\x1b")
        terminal.read(0.2)
        terminal.type("q")
        status = terminal.wait(PATIENCE_S)
        count.check("%d x %d" % (columns, rows),
                    end_problem(terminal, status, 0) if alive else "ended with %s" % status)
        terminal.close()
    count.note = "1 to 32,768 columns and rows, at the start or later"


# ---- slow terminals --------------------------------------------------------------------------


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
        begun = time.monotonic()
        os.kill(terminal.process.pid, number)
        status = terminal.wait(PATIENCE_S, reads=False)
        took = time.monotonic() - begun
        worst = max(worst, took)
        terminal.read(0.3)
        problem = end_problem(terminal, status, -number)
        count.check("signal %d, read %s" % (number, "slowly" if i % 2 else "never"),
                    problem or ("took %.1f s" % took if took > 5 else ""))
        terminal.close()
    count.note = "at most %.1f s from the signal to the end" % worst


# ---- keys ------------------------------------------------------------------------------------


def resident_mb(pid, field):
    for line in open("/proc/%d/status" % pid):
        if line.startswith(field):
            return int(line.split()[1]) // 1024
    return 0


def help_ms(terminal):
    """From "?" to its page on the terminal, whatever was open before; PATIENCE_S: it did not come."""
    terminal.type("\x1b\x1b")
    terminal.read(0.3)
    terminal.output = b""
    begun = time.monotonic()
    terminal.type("?")
    drawn = begun
    while HELP not in terminal.output and time.monotonic() - begun < PATIENCE_S:
        terminal.read(0.002)
        if time.monotonic() - drawn > 2: # a page that was there already is not sent again
            terminal.type("\x0c")
            drawn = time.monotonic()
    took = (time.monotonic() - begun) * 1e3
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


def goes_on(args, begun, cases):
    return time.monotonic() - begun < args.seconds if args.seconds else cases < args.times


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
    begun, typed, light, lesson, last = time.monotonic(), 0, [], iter(()), []
    while goes_on(args, begun, typed) and terminal.process.poll() is None:
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
            light.append(help_ms(terminal))
    alive = terminal.process.poll() is None
    peak, last_mb = (resident_mb(terminal.process.pid, field) if alive else 0 for field in ("VmHWM", "VmRSS"))
    seconds = time.monotonic() - begun
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


# ---- words -----------------------------------------------------------------------------------


def values(program):
    """Values that a walk of steps seldom comes to; they decide which jobs the background has. The
    world mostly stands still: while it plays, there are few of these jobs."""
    table = subprocess.run([program, "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    scenes, kernels = table.split("\n\nKernels")
    return {"scene": re.findall(r"^  (\w+)", scenes, re.MULTILINE),
            "kernel": re.findall(r"^  (\w+) +cpu ", kernels, re.MULTILINE),
            "direction": ["forward", "backward"], "loss": ["cell", "box", "class", "all"],
            "dtype": ["fp32", "fp16", "bf16", "fp8", "nvfp4"], "align": ["nearest", "bilinear"],
            "compare": ["wipe", "off"], "play": ["on", "off", "off", "off"], "defect": ["none"]}


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
    begun = time.monotonic()
    while goes_on(args, begun, count.cases):
        words_once(args, count, special, steps)
    count.note = "%.0f s, all scenes and kernels of the CPU" % (time.monotonic() - begun)


def main():
    parts = {"signals": run_signals, "sizes": run_sizes, "slow": run_slow, "keys": run_keys,
             "words": run_words}
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=parts)
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("HARD_SECONDS", 0)))
    parser.add_argument("--ms", type=float, default=20, help="between two keys")
    parser.add_argument("--window", action="store_true", help="keys: a window beside the terminal")
    parser.add_argument("--device", default="cpu", help="keys: cpu or cuda")
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
