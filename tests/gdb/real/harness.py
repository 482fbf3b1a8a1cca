"""Runs the toy stub and the system's gdb against each other.

The places of the programs come from the environment: TOY_STUB and TOY_WALK (set by ctest).
"""

import os
import re
import signal
import subprocess
import time
import unittest

STUB = os.environ.get("TOY_STUB", "")
WALK = os.environ.get("TOY_WALK", "")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "walk.c")
GDB = os.environ.get("GDB", "gdb")
LIMIT = 15  # seconds for one gdb; a hang fails the test

# Nothing of the user's, no questions, no symbols of libraries (which cost most of the time).
GDB_OPTIONS = ["-nx", "-batch", "-iex", "set confirm off", "-iex", "set width 0",
               "-iex", "set debug-file-directory /nonexistent", "-iex", "set debuginfod enabled off"]  # fmt: skip
# This machine's libraries, without their symbols: they are not what is tested.
QUIET_LIBRARIES = ["-iex", "set auto-solib-add off", "-iex", "set sysroot /"]


def line_of(comment):
    """The number of the line in walk.c that ends with this comment."""
    with open(SOURCE, encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            if line.rstrip().endswith("// " + comment):
                return number
    raise LookupError(comment)


class Stub:
    """A toy stub that serves over TCP; a context manager."""

    def __init__(self, *options, program=None):
        self.process = subprocess.Popen([STUB, *options, *(program or [WALK])], stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        if len(words) != 2 or words[0] != "port":
            raise RuntimeError(f"the stub does not serve: {words}")
        self.port = int(words[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def is_alive(self):
        """Has it survived?"""
        return self.process.poll() is None

    def connect(self, extended=False):
        """gdb's command to connect to it."""
        return f"target {'extended-remote' if extended else 'remote'} localhost:{self.port}"


def gdb_command(commands, program=WALK, libraries=False):
    """The command line of a gdb that executes `commands`; `libraries`: it gets them from the stub, with symbols."""
    line = [GDB, *GDB_OPTIONS, *([] if libraries else QUIET_LIBRARIES)]
    for command in commands:
        line += ["-ex", command]
    return line + ([program] if program else [])


def run_gdb(commands, **options):
    """What gdb says, both streams in order."""
    done = subprocess.run(gdb_command(commands, **options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, text=True, timeout=LIMIT, check=False)  # fmt: skip
    return done.stdout


def run_gdb_interrupted(commands, after, delay=0.5):
    """As run_gdb, and each time one of `after` is printed, an interrupt (^C) follows `delay` seconds later."""
    process = subprocess.Popen(gdb_command(commands), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, text=True)  # fmt: skip
    text = ""
    killer = time.monotonic() + LIMIT
    try:
        for line in process.stdout:
            text += line
            if any(word in line for word in after):
                time.sleep(delay)
                process.send_signal(signal.SIGINT)
            if time.monotonic() > killer:
                break
        process.wait(timeout=max(0.1, killer - time.monotonic()))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
            text += "\n(killed: it hung)"
        process.stdout.close()
    return text


class GdbTest(unittest.TestCase):
    """Assertions over gdb's output."""

    def assert_order(self, text, *patterns):
        """Regular expressions that must be found one after the other."""
        position = 0
        for pattern in patterns:
            found = re.compile(pattern).search(text, position)
            if not found:
                self.fail(f"not found (in this order): {pattern}\n{text}")
            position = found.end()

    def assert_none(self, text, *patterns):
        """Regular expressions that must not be found."""
        for pattern in patterns:
            if re.search(pattern, text):
                self.fail(f"found: {pattern}\n{text}")
