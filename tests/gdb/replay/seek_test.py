"""`monitor seek`: what it answers, and that gdb's view follows."""

import re
import time
import unittest

from client import Client
from harness import Replay, ReplayTest, debug, line_of, recording, run_gdb

# As docs/debugging.md and `monitor help` say.
FLUSH = ["maintenance flush dcache", "maintenance flush register-cache"]
POSITION = re.compile(r"^\d+:\d+:0x\w+", re.M)


class Seek(ReplayTest):
    def test_backtraces_follow(self):
        trace = recording("steps.c", "-O0")[1]
        deep = [f"tbreak steps.c:{line_of('steps.c', 'bottom')} if n <= 1", "continue", "bt"]
        there = POSITION.search(debug(trace, ["tbreak square", "continue", "monitor when"])).group()
        text = debug(trace, [*deep, f"monitor seek {there}", *FLUSH, "bt", "print x", "echo end\\n"])
        self.assert_order(text, r"#0 .*factorial \(n=1\)", r"#4 .*factorial \(n=5\)", r"#5 .*main", there,
                          r"#0 .*square \(x=0\)", r"#1 .*fill \(rounds=10\)", r"#2 .*main \(\)", r"= 0\n", "end")  # fmt: skip
        self.assert_none(text.split(there)[1], "factorial", r"#3 ")

    def test_help_says_how(self):
        with Client(recording("steps.c", "-O0")[1]) as client:
            text = client.monitor("help")
        self.assert_order(text, *FLUSH)

    def test_a_thread_that_does_not_exist_yet(self):
        trace = recording("threads.c")[1]
        text = debug(trace, ["break player if arg == 1", "continue", "monitor seek 1", *FLUSH, "echo there\\n",
                             "print $pc", "info threads", "thread 1", "stepi", "monitor when", "bt 1", "continue"])  # fmt: skip
        self.assert_order(text, r"hit Breakpoint 1, player", r"there", r"\$1 = ", r"Thread ", r"Switching to thread 1",
                          r"\d+:\d+:0x", r"#0 ", r"hit Breakpoint 1, player")  # fmt: skip
        self.assert_none(text, "failure reply", r"\bE03\b", "internal-error", "Couldn't get registers")

    def test_what_does_not_exist_is_said(self):
        with Client(recording("threads.c")[1]) as client:
            client.ask("vCont;c")
            end = client.when()
            for there in "9:0:0x1234", "9:5:0xffffffffffff", "9:999999999":
                with self.subTest(there=there):
                    self.assertIn("there is no position 9:", client.monitor("seek " + there))
            here = client.when()
            self.assertNotIn("there is no", client.monitor(f"seek {here[0]}"))
            self.assertNotIn("there is no", client.monitor("seek %d:%d" % here[:2]))
            self.assertNotIn("there is no", client.monitor("seek %d:%d:%#x" % here))
            self.assertIn("the recording ends here", client.monitor(f"seek {end[0] + 100}"))

    def test_threads_are_said(self):
        trace = recording("threads.c")[1]
        with Client(trace) as client:
            self.assertNotIn("thread", client.monitor("seek 1"))
            stop = client.move("vCont;c", [(0, client_address(trace, "player"), 1)])
            thread = int(re.search(r"thread:p\w+\.(\w+);", stop).group(1), 16)
            here = client.when()
            client.monitor("seek 1")
            self.assertIn(f"thread {thread} is about to run", client.monitor("seek %d:%d:%#x" % here))


def client_address(trace, function):
    """Of a function, as the replayed program has it."""
    text = debug(trace, [f"tbreak {function}", "continue", f"print/x (long)&{function}"])
    return int(re.search(r"\$1 = (0x\w+)", text).group(1), 16)


class Watch(ReplayTest):
    def test_reading_costs_nothing(self):
        """A watchpoint for writes on what a loop reads all the time: the loop must stay translated code."""
        trace = recording("polls.c", "-O0")[1]
        begin = time.monotonic()
        debug(trace, ["continue"])
        plain = time.monotonic() - begin
        text = debug(trace, ["tbreak main", "continue", "watch polled", "continue", "continue"])
        watched = time.monotonic() - begin - plain
        self.assert_order(text, r"Old value = 0", r"New value = 1", r"Old value = 1", r"New value = 2")
        # A stop of a microsecond at each of 20 million reads is more than this.
        self.assertLess(watched, 4 * plain + 3)

    def test_reads_are_still_found_beside_writes(self):
        trace = recording("polls.c", "-O0")[1]
        text = debug(trace, ["tbreak main", "continue", "watch other", "continue", "awatch polled", "continue", "continue"])
        self.assert_order(text, r"watchpoint 2: other", r"Hardware access \(read/write\) watchpoint 3: polled",
                          r"Value = ", r"watchpoint 3: polled")  # fmt: skip


class Server(ReplayTest):
    def test_a_second_debugger_is_told_of(self):
        with Replay(recording("steps.c", "-O0")[1]) as replay:
            text = run_gdb([replay.connect(), f"shell {' '.join(['gdb', '-nx', '-batch', '-ex'])} '{replay.connect()}'",
                            "info registers rip"])  # fmt: skip
            self.assert_order(text, r"rip ")
            replay.process.terminate()
            self.assertIn("detrec: turned another debugger away", replay.process.stderr.read())


if __name__ == "__main__":
    unittest.main()
