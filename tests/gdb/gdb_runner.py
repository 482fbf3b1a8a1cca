"""Runs the system's gdb and says what it printed; for the harnesses of the folders below."""

import os
import re
import signal
import subprocess
import time
import unittest

GDB = os.environ.get("GDB", "gdb")

# Nothing of the user's, no questions.
GDB_OPTIONS = ["-nx", "-batch", "-iex", "set confirm off", "-iex", "set width 0",
               "-iex", "set debug-file-directory /nonexistent", "-iex", "set debuginfod enabled off"]  # fmt: skip


def line_of(source, comment):
    """The number of the line in a program that ends with this comment."""
    with open(source, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.rstrip().endswith("// " + comment):
                return number
    raise LookupError(comment)


def gdb_command(options, commands, program):
    """The command line of a gdb that executes `commands`; `program`: may be empty."""
    line = [GDB, *GDB_OPTIONS, *options]
    for command in commands:
        line += ["-ex", command]
    return line + ([program] if program else [])


def run(command, limit, errors=None):
    """What gdb says within `limit` seconds, both streams in order."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          timeout=limit, check=False, errors=errors)  # fmt: skip
    return done.stdout


def run_interrupted(command, after, delay, limit):
    """As run, and each time one of `after` is printed, an interrupt (^C) follows `delay` seconds later."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               text=True)  # fmt: skip
    text = ""
    killer = time.monotonic() + limit
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
