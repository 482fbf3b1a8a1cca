#!/usr/bin/env python3
"""Programs at a terminal: they behave while they are recorded as they do without, and replay without one.

    terminal.py --detrec build/bin/detrec
"""

import argparse
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time

import common
from common import harness

SECONDS = 20


class Terminal:
    """A command in a session of its own at a pseudo terminal."""

    def __init__(self, argv, folder):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(argv[0], argv, {**common.ENVIRONMENT, "TERM": "xterm", "HOME": folder, "PS1": "$ "})
        self.resize(24, 80)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, text):
        os.write(self.fd, text)

    def expect(self, pattern):
        """Reads until what came after the last match matches; raises when it does not come."""
        deadline = time.monotonic() + SECONDS
        while True:
            match = re.search(pattern, self.seen)
            if match:
                self.seen = self.seen[match.end():]
                return match
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"waiting for {pattern!r}, got {self.seen[-300:]!r}")
            try:
                data = os.read(self.fd, 10000)
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"ended before {pattern!r} came: {self.seen[-300:]!r}")
            self.seen += data

    def finish(self):
        """The exit status, once the command has ended."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self.fd], [], [], 0.05)
            if ready:
                try:
                    self.seen += os.read(self.fd, 10000)
                except OSError:
                    pass
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("the command does not end")


class Test:
    def __init__(self, recorder):
        self.recorder = recorder
        self.trace = os.path.join(recorder.work, "terminal.detrec")

    def start(self, *command):
        self.folder = self.recorder.fresh("terminal")
        argv = [self.recorder.detrec, "record", "-q", "-o", self.trace, "--", *command]
        return Terminal(argv, self.folder)

    def replay(self, status, *parts):
        """The replay's output must have the parts in this order."""
        replayed = self.recorder.replay(self.trace, 60)
        assert replayed.status == status, f"replay: {replayed.status}, {replayed.stderr[-1500:]!r}"
        output = replayed.stdout + replayed.stderr
        for part in parts:
            assert part in output, f"replay lacks {part!r}: {output[-500:]!r}"

    def python_prompt(self):
        t = self.start("/usr/bin/python3", "-q")
        t.expect(b">>> ")
        t.send(b"6 * 7\r")
        t.expect(rb"\b42\b")
        t.send(b"import os, time; os.get_terminal_size()\r")
        t.expect(rb"columns=80, lines=24")
        t.resize(33, 101)
        t.send(b"os.get_terminal_size()\r")
        t.expect(rb"columns=101, lines=33")
        t.send(b"while True: pass\r\r")
        time.sleep(0.5)
        t.send(b"\x03")
        t.expect(b"KeyboardInterrupt")
        t.send(b"time.sleep(100)\r")
        time.sleep(0.3)
        t.send(b"\x03")
        t.expect(b"KeyboardInterrupt")
        t.send(b"exit(9)\r")
        assert t.finish() == 9
        self.replay(9, b"42", b"columns=101, lines=33", b"KeyboardInterrupt")

    def bash_read(self):
        t = self.start("/bin/bash", "-c", 'read -p "name? " n; echo "hello $n"; read -s p; echo "got ${#p}"; exit 3')
        t.expect(rb"name\? ")
        t.send(b"world\r")
        t.expect(rb"hello world")
        t.send(b"secret\r")
        t.expect(rb"got 6")
        assert t.finish() == 3
        self.replay(3, b"hello world", b"got 6")

    def vim(self):
        t = self.start("/usr/bin/vim", "-u", "NONE", "-n", "file.txt")
        t.expect(rb"file\.txt")
        t.send(b"ihello from vim\x1b")
        t.expect(b"vim")
        t.resize(40, 60)
        columns = 0
        for _ in range(SECONDS):  # until it has noticed
            t.send(b":set columns?\r")
            columns = int(t.expect(rb"columns=(\d+)").group(1))
            if columns == 60:
                break
            time.sleep(1)
        assert columns == 60, columns
        t.send(b":wq\r")
        assert t.finish() == 0
        with open(os.path.join(self.folder, "file.txt")) as file:
            assert file.read() == "hello from vim\n"
        self.replay(0, b"columns=60")

    def stop_and_continue(self):
        # A shell with job control runs the recording as its job.
        self.folder = self.recorder.fresh("terminal")
        t = Terminal(["/bin/bash", "--norc", "--noprofile", "-i"], self.folder)
        t.expect(rb"\$ ")
        script = "import time\nfor i in range(6): print('count', i, flush=True); time.sleep(0.3)"
        command = f'{self.recorder.detrec} record -q -o {self.trace} -- /usr/bin/python3 -c "{script}"'
        with open(os.path.join(self.folder, "job"), "w") as file:
            file.write(command)
        t.send(b"eval \"$(cat job)\"\r")
        t.expect(b"count 1")
        t.send(b"\x1a")
        t.expect(b"Stopped")
        t.send(b"jobs\r")
        t.expect(b"Stopped")
        t.send(b"fg\r")
        t.expect(b"count 5")
        t.expect(rb"\$ ")
        t.send(b"exit 4\r")
        assert t.finish() == 4
        self.replay(0, b"count 0", b"count 5")

    def interrupt_kills(self):
        t = self.start("/bin/sh", "-c", "echo ready; exec sleep 100")
        t.expect(b"ready")
        t.send(b"\x03")
        assert t.finish() in (130, -2)
        self.replay(130)

    def interrupted_replay(self):
        t = self.start("/usr/bin/python3", "-c", "print('ready', flush=True)\nfor i in range(20_000_000): pass")
        t.expect(b"ready")
        assert t.finish() == 0
        t = Terminal([self.recorder.detrec, "replay", "-a", self.trace], self.folder)
        t.expect(b"ready")
        t.send(b"\x03")
        status = t.finish()
        assert status == 130, status
        assert b"the replay was interrupted" in t.seen and b"recorded end" not in t.seen, t.seen

    def hang_up(self):
        t = self.start("/bin/sh", "-c", "echo ready; exec sleep 100")
        t.expect(b"ready")
        os.close(t.fd)
        _, status = os.waitpid(t.pid, 0)
        assert os.waitstatus_to_exitcode(status) in (129, -1), status
        self.replay(129)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--detrec", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    failed = passed = 0
    with tempfile.TemporaryDirectory(prefix="terminal-") as work:
        test = Test(common.Recorder(options.detrec, work))
        for name in ("python_prompt", "bash_read", "vim", "stop_and_continue", "interrupt_kills", "interrupted_replay", "hang_up"):
            if options.names and name not in options.names:
                continue
            try:
                getattr(test, name)()
                print(f"ok      {name}", flush=True)
                passed += 1
            except AssertionError as error:
                print(f"FAILED  {name}: {error}", flush=True)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
