"""Runs the toy stub and the system's gdb against each other.

The places of the programs come from the environment: TOY_STUB and TOY_WALK (set by ctest).
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import gdb_runner  # noqa: E402  (tests/gdb)
from gdb_runner import GdbTest  # noqa: E402,F401  (for the tests)

STUB = os.environ.get("TOY_STUB", "")
WALK = os.environ.get("TOY_WALK", "")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs", "walk.c")
LIMIT = 15  # seconds for one gdb; a hang fails the test

# This machine's libraries, without their symbols: they are not what is tested.
QUIET_LIBRARIES = ["-iex", "set auto-solib-add off", "-iex", "set sysroot /"]


def line_of(comment):
    """The number of the line in walk.c that ends with this comment."""
    return gdb_runner.line_of(SOURCE, comment)


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


def receive_until(connection, mark):
    """What a stub sends, up to and with `mark` and what came along; less when it closes the connection first."""
    text = b""
    while mark not in text and (more := connection.recv(1000)):
        text += more
    return text


def gdb_command(commands, program=WALK, libraries=False):
    """The command line of a gdb that executes `commands`; `libraries`: it gets them from the stub, with symbols."""
    return gdb_runner.gdb_command([] if libraries else QUIET_LIBRARIES, commands, program)


def run_gdb(commands, **options):
    """What gdb says, both streams in order."""
    return gdb_runner.run(gdb_command(commands, **options), LIMIT)


def run_gdb_interrupted(commands, after, delay=0.5):
    """As run_gdb, and each time one of `after` is printed, an interrupt (^C) follows `delay` seconds later."""
    return gdb_runner.run_interrupted(gdb_command(commands), after, delay, LIMIT)
