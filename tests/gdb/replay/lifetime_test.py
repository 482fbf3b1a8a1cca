"""Connections that come and go, interrupts, damaged traces, and that nothing is left behind."""

import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import time
import unittest

from client import Client
from harness import DETREC, Replay, ReplayTest, build, debug, gdb_command, line_of, pipe_to, recording, run_gdb, \
    run_gdb_interrupted, scratch


def replayed_processes(trace_server):
    """The processes below a detrec that are still there."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == trace_server:
            found.append((int(pid), fields[0]))
    return found


def wait_until(condition, seconds=10):
    """Whether it came true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


class AtTerminal:
    """A command in a session of its own at a pseudo terminal; a context manager."""

    def __init__(self, argv):
        self.seen = ""
        home = scratch("home")
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(home, ".gdbinit"), "w", encoding="utf-8") as commands:
            commands.write("set height 0\nset width 0\nset confirm off\nset auto-solib-add off\n")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(argv[0], argv, {**os.environ, "TERM": "dumb", "HOME": home, "INPUTRC": "/dev/null"})

    def __enter__(self):
        self.expect(r"\(gdb\) ")
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)

    def send(self, keys):
        os.write(self.fd, keys)

    def expect(self, pattern, seconds=30):
        """What came up to the end of the match."""
        end = time.monotonic() + seconds
        while not (match := re.search(pattern, self.seen, re.S)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"{pattern!r} does not come: {self.seen[-1000:]}")
            try:
                self.seen += os.read(self.fd, 10000).decode("utf-8", "replace")
            except OSError as error:
                raise AssertionError(f"ended before {pattern!r}: {self.seen[-1000:]}") from error
        found, self.seen = self.seen[:match.end()], self.seen[match.end():]
        return found

    def ask(self, command, pattern):
        """The same, after a command line."""
        self.send(command.encode() + b"\r")
        return self.expect(pattern)


class Lifetime(ReplayTest):
    def setUp(self):
        self.program, self.trace = recording("steps.c", "-O0")

    def test_detach_and_reconnect(self):
        with Replay(self.trace) as replay:
            first = run_gdb([replay.connect(False), "tbreak square", "continue", "monitor when", "detach"])
            second = run_gdb([replay.connect(), "bt", "monitor when", "disconnect", replay.connect(), "bt"])
        self.assert_order(first, r"square \(x=0\)", r"\d+:\d+:0x")
        when = re.search(r"^\d+:\d+:0x\w+", first, re.M).group()
        self.assert_order(second, r"#0 .*square \(x=0\)", re.escape(when), r"#1 .*fill")

    def test_run_starts_again(self):
        with Replay(self.trace) as replay:
            text = run_gdb([replay.connect(), "break square", "continue", "continue", "print x", "run", "print x",
                            "starti", "monitor when", "kill", "quit"])  # fmt: skip
        self.assert_order(text, r"\$1 = 1", r"Breakpoint 1, square", r"\$2 = 0", r"\d+:0:0x")

    def test_interrupts(self):
        trace = recording("busy.c", "-O1", args=["200000"])[1]
        for direction in "continue", "reverse-continue":
            with Replay(trace) as replay:
                commands = [replay.connect(), f"tbreak busy.c:{line_of('busy.c', 'early write')}"]
                if direction == "reverse-continue":
                    # Nothing to be found, far back.
                    commands = [replay.connect(), "tbreak busy.c:" + str(line_of("busy.c", "end")), "continue",
                                "watch *(long *)&last if 0"]  # fmt: skip
                text = run_gdb_interrupted([*commands, "echo going\\n", direction, "print $pc", "monitor when", "stepi"],
                                           ["going"], delay=0.4)  # fmt: skip
                with self.subTest(direction=direction):
                    self.assert_none(text, "it hung", "internal-error", "Ignoring packet error")
                    self.assert_order(text, r"going", r"SIGINT|Temporary breakpoint|No more", r"\$\d+ = ", r"\d+:\d+:0x")

    def test_nothing_is_left(self):
        for how in "gdb killed", "detrec killed", "interrupted":
            with self.subTest(how=how), Replay(self.trace) as replay:
                commands = [replay.connect(), "tbreak puts", "continue", "reverse-stepi", "reverse-stepi",
                            "echo ready\\n", "shell sleep 30"]  # fmt: skip
                with subprocess.Popen(gdb_command(commands), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      stdin=subprocess.DEVNULL, text=True, start_new_session=True) as gdb:  # fmt: skip
                    for line in gdb.stdout:
                        if "ready" in line:
                            break
                    below = replayed_processes(replay.process.pid)
                    self.assertGreater(len(below), 2)
                    self.assertNotIn("Z", [state for _, state in below])
                    if how == "gdb killed":
                        os.killpg(gdb.pid, signal.SIGKILL)
                        gdb.wait()
                        # It goes on serving.
                        text = run_gdb([replay.connect(), "info registers rip"])
                        self.assert_order(text, r"rip ")
                        continue
                    replay.process.send_signal(signal.SIGKILL if how == "detrec killed" else signal.SIGINT)
                    replay.process.wait(timeout=10)
                    gone = lambda pids=below: not any(os.path.exists(f"/proc/{pid}") for pid, _ in pids)
                    self.assertTrue(wait_until(gone), f"left behind: {below}")
                    os.killpg(gdb.pid, signal.SIGKILL)

    def test_the_terminal_signals_are_gdbs(self):
        trace = recording("busy.c", "-O1", args=["300000"])[1]
        with AtTerminal([DETREC, "replay", "-g", trace]) as terminal:
            # Libraries are loaded before: gdb forgets a ^C that comes in the middle of that.
            terminal.ask("tbreak main", r"breakpoint 1.*\(gdb\) ")
            terminal.ask("continue", r"Temporary breakpoint 1.*\(gdb\) ")
            terminal.ask(f"tbreak busy.c:{line_of('busy.c', 'end')}", r"breakpoint 2.*\(gdb\) ")
            for key in b"\x03", b"\x1c":
                # At the prompt: nobody runs.
                terminal.send(key)
                terminal.ask("monitor when", r"\d+:\d+:0x\w+.*\(gdb\) ")
            terminal.ask("continue", r"Continuing")
            time.sleep(0.4)
            terminal.send(b"\x03")
            stopped = terminal.expect(r"(SIGINT|Temporary breakpoint 2).*\(gdb\) ")
            self.assertIn("SIGINT", stopped, "the program is too short")
            terminal.ask("stepi", r"\(gdb\) ")
            terminal.ask("monitor when", r"\d+:\d+:0x\w+.*\(gdb\) ")
            terminal.ask("break mix if x == 0", r"\(gdb\) ")
            terminal.ask("reverse-continue", r"\n")
            time.sleep(0.7)
            terminal.send(b"\x03")
            terminal.expect(r"SIGINT.*\(gdb\) ")
            terminal.ask("delete 3", r"\(gdb\) ")
            terminal.ask("reverse-continue", r"No more reverse-execution history.*\(gdb\) ")
            # gdb's caches follow by themselves.
            begin = terminal.ask("print $pc", r"\$\d+ = .*\(gdb\) ")
            terminal.ask("continue", r"Temporary breakpoint 2.*\(gdb\) ")
            terminal.ask("monitor seek 1", r"\d+:\d+:0x.*\(gdb\) ")
            now = terminal.ask("print $pc", r"\$\d+ = .*\(gdb\) ")
            self.assertEqual(*(re.search(r"= .*?(0x\w+)", text).group(1) for text in (begin, now)))
            below = replayed_processes(terminal.pid)
            self.assertGreater(len(below), 2)
            os.kill(terminal.pid, signal.SIGKILL)
            gone = lambda: not any(os.path.exists(f"/proc/{pid}") for pid, _ in below)
            self.assertTrue(wait_until(gone), f"left behind: {below}")

    def test_stdio_ends_with_gdb(self):
        with subprocess.Popen(gdb_command([pipe_to(self.trace), "echo ready\\n", "shell sleep 30"]), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              start_new_session=True) as gdb:  # fmt: skip
            for line in gdb.stdout:
                if "ready" in line:
                    break
            servers = [pid for pid, _ in replayed_processes(gdb.pid)]
            self.assertTrue(servers)
            gdb.kill()
            gdb.wait()
        marker = self.trace.encode()

        def serving():
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline", "rb") as command:
                        words = command.read().split(b"\0")
                except OSError:
                    continue
                if marker in words and b"--stdio" in words:
                    return True
            return False

        self.assertTrue(wait_until(lambda: not serving()))

    def test_steps_and_points_cost_few_packets(self):
        text = debug(self.trace, ["tbreak fill", "continue", "next", "next", "next", "set debug remote 1", "next",
                                  "set debug remote 0"])  # fmt: skip
        self.assertLessEqual(text.count("Sending packet: $vCont;"), 4, text)

    def test_odd_points(self):
        with Client(self.trace) as client:
            self.assertEqual(client.ask("Z0,10,1"), "OK")
            self.assertEqual(client.ask("Z0,ffffffffffffff00,1"), "OK")
            self.assertNotEqual(client.ask("Z2,10004000,0"), "OK")
            self.assertEqual(client.ask("Z2,10,100000"), "OK")
            self.assertIn("replaylog:end", client.ask("vCont;c"))
            self.assertIn("replaylog:begin", client.ask("bc"))
            # A motion that goes nowhere, and an interrupt at a standstill.
            self.assertIn("replaylog:begin", client.ask("bs"))
            client.process.stdin.write(b"\3")
            client.process.stdin.flush()
            self.assertTrue(client.ask("g"))

    def test_a_killed_program_ends_at_its_tick(self):
        trace = scratch("killed.detrec")
        command = [DETREC, "record", "-q", "-o", trace, build("busy.c", "-O1"), "1000000000"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as recorder:
            self.assertTrue(wait_until(lambda: replayed_processes(recorder.pid)))
            time.sleep(0.7)
            os.kill(replayed_processes(recorder.pid)[0][0], signal.SIGKILL)
            self.assertEqual(recorder.wait(timeout=20), 137)
        dump = subprocess.run([DETREC, "dump", "--json", trace], capture_output=True, check=True, timeout=60).stdout
        end = json.loads(dump.splitlines()[-1])
        self.assertEqual((end["kind"], end["cause"]), ("exit", "killed"))
        with Client(trace) as client:
            self.assertIn("replaylog:end", client.ask("vCont;c"))
            self.assertEqual(client.when()[1], end["ticks"])
            client.ask("bs")
            self.assertIn(client.when()[1], (end["ticks"] - 1, end["ticks"]))
            self.assertIn("replaylog:end", client.ask("vCont;c"))
            self.assertEqual(client.when()[1], end["ticks"])

    def test_divergence_is_told(self):
        trace = self.trace + ".damaged"
        with open(self.trace, "rb") as old, open(trace, "wb") as new:
            new.write(old.read())
        with sqlite3.connect(trace) as database:
            tables = [row[0] for row in database.execute("select name from sqlite_master where type = 'table'")]
            self.assertIn("chunk", tables)
            database.execute("update chunk set data = zeroblob(length(data))")
        database.close()
        done = subprocess.run([DETREC, "replay", "--stdio", trace], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=30, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 125, done)
        self.assertIn("detrec: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
