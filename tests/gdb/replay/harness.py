"""Records small programs and runs the system's gdb on the recordings.

The places of the programs come from the environment: DETREC, CC and CXX (set by ctest).
"""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

import gdb_runner  # noqa: E402  (tests/gdb)

DETREC = os.environ.get("DETREC", "detrec")
CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "c++")
PROGRAMS = os.path.join(HERE, "programs")
LIMIT = 60  # seconds for one gdb; a hang fails the test

# The libraries' symbols cost most of the time, and are wanted by few tests.
QUIET_LIBRARIES = ["-iex", "set auto-solib-add off"]
NO_PAGER = ["-iex", "set height 0"]

_folder = tempfile.mkdtemp(prefix="detrec-gdb-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
_built = {}


def scratch(name):
    """A path in a folder that goes when the test ends."""
    return os.path.join(_folder, name)


def line_of(source, comment):
    """The number of the line in a program that ends with this comment."""
    return gdb_runner.line_of(os.path.join(PROGRAMS, source), comment)


def build(source, *flags):
    """Compiles a program once; its path."""
    key = (source, flags)
    if key not in _built:
        path = scratch(f"{os.path.splitext(os.path.basename(source))[0]}-{len(_built)}")
        compiler = CXX if source.endswith(".cc") else CC
        subprocess.run([compiler, "-g", *(flags or ("-O0",)), os.path.join(PROGRAMS, source), "-o", path, "-pthread"],
                       check=True, timeout=LIMIT)  # fmt: skip
        _built[key] = path
    return _built[key]


def record(command, name=None, options=(), **run):
    """Records a command line; the trace's path."""
    trace = scratch(f"{name or os.path.basename(command[0])}-{time.monotonic_ns()}.detrec")
    subprocess.run([DETREC, "record", *options, "-o", trace, *command], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT, check=False, **run)  # fmt: skip
    if not os.path.exists(trace):
        raise RuntimeError(f"nothing was recorded: {command}")
    return trace


_traces = {}


def recording(source, *flags, args=()):
    """(program, trace) of one of the programs, made once for each test file."""
    key = (source, flags, tuple(args))
    if key not in _traces:
        program = build(source, *flags)
        _traces[key] = (program, record([program, *args]))
    return _traces[key]


class Replay:
    """`detrec replay` that serves over TCP; a context manager."""

    def __init__(self, trace, *options):
        self.process = subprocess.Popen([DETREC, "replay", "--port", "0", *options, trace], stdin=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)  # fmt: skip
        text = ""
        while "extended-remote" not in text:
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError(f"detrec does not serve: {text}")
            text += line
        self.port = int(re.search(r":(\d+)'", text).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def connect(self, extended=True):
        """gdb's command to connect to it."""
        return f"target {'extended-remote' if extended else 'remote'} 127.0.0.1:{self.port}"


def pipe_to(trace):
    """gdb's command to start a replay of its own."""
    return f"target remote | exec {DETREC} replay --stdio {trace} 2>/dev/null"


def gdb_command(commands, program=None, libraries=False):
    """The command line of a gdb that executes `commands`."""
    return gdb_runner.gdb_command(NO_PAGER + ([] if libraries else QUIET_LIBRARIES), commands, program)


def run_gdb(commands, limit=LIMIT, **options):
    """What gdb says, both streams in order."""
    return gdb_runner.run(gdb_command(commands, **options), limit, errors="replace")


def debug(trace, commands, **options):
    """gdb on a trace, through a pipe."""
    return run_gdb([pipe_to(trace), *commands], **options)


def run_gdb_interrupted(commands, after, delay=1.0, limit=LIMIT, **options):
    """As run_gdb, and each time one of `after` is printed, an interrupt (^C) follows `delay` seconds later."""
    return gdb_runner.run_interrupted(gdb_command(commands, **options), after, delay, limit)


class ReplayTest(gdb_runner.GdbTest):
    """Assertions over gdb's output, differences in full."""

    maxDiff = None
