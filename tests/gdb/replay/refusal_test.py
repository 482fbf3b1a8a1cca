"""What a recording does not allow, and what goes wrong: gdb is told, and the session goes on."""

import os
import subprocess
import unittest

from client import Client
from harness import DETREC, ReplayTest, debug, line_of, recording, run_gdb, scratch

RESEAL = os.environ.get("RESEAL", "reseal")


class Changes(ReplayTest):
    """Nothing of a recording can be changed."""

    def test_refused(self):
        trace = recording("steps.c", "-O0")[1]
        attempts = ["print square(3)", "call (int)puts(text)", "set var counter = 5", "print counter = 7", "set $rax = 1",
                    "jump main", "return", "print $xmm0.v4_float[0] = 1.5", "print (long)malloc(3)"]  # fmt: skip
        commands = [f"tbreak steps.c:{line_of('steps.c', 'store')}", "continue", "print counter"]
        for attempt in attempts:
            commands += [attempt, "monitor when"]
        commands += ["bt", "print counter", "print value", "next", "reverse-next", "tbreak factorial", "continue", "bt"]
        text = run_gdb([f"target remote | exec {DETREC} replay --stdio {trace}", *commands])
        where = [line for line in text.splitlines() if line.count(":0x") == 1 and line[0].isdigit()]
        self.assertEqual(len(where), len(attempts), text)
        self.assertEqual(len(set(where)), 1, text)  # it has not moved
        self.assertGreaterEqual(text.count("detrec: a recording cannot be changed"), len(attempts), text)
        self.assertEqual(text.count("Cannot access memory at address") + text.count("Could not write register"), len(attempts))
        self.assert_order(text, r"\$1 = 1\n", r"cannot be changed", r"#0 .*fill", r"= 1\n", r"= 0\n",
                          r"factorial \(n=5\)", r"#1 .*main")  # fmt: skip
        self.assert_none(text, "internal-error", "Remote connection closed", "The program being debugged was signaled")


class Divergence(ReplayTest):
    """A recording that says something else than the program does."""

    def setUp(self):
        whole = recording("steps.c", "-O0")[1]
        self.trace = scratch("differs.detrec")
        dump = subprocess.run([DETREC, "dump", whole], capture_output=True, text=True, check=True).stdout
        lines = [line for line in dump.splitlines() if " write(1, " in line]
        self.write = int(lines[-1].split(":")[0])
        subprocess.run([RESEAL, whole, self.trace, "hash", str(self.write), "77"], check=True)

    def test_told_and_survived(self):
        text = debug(self.trace, ["tbreak factorial", "continue", "continue", "monitor when", "info registers rip", "bt 1",
                                  "reverse-stepi", "monitor when", "break square if x == 3", "reverse-continue", "print x",
                                  "delete", "continue", "tbreak main", "reverse-continue", "bt"])  # fmt: skip
        told = (rf"differs from the recording at {self.write - 1}:\d+:0x", r"other data in memory than recorded",
                rf"recorded next: {self.write}:.* write\(", r"last events of thread 1", r"registers:", r"code at 0x")  # fmt: skip
        self.assert_order(text, r"factorial \(n=5\)", *told, rf"{self.write - 1}:\d+:0x", r"rip ", r"#0 ", r"\d+:\d+:0x",
                          r"Breakpoint 2, square \(x=3\)", r"= 3\n", *told, r"main")  # fmt: skip
        self.assert_none(text, "internal-error", "Remote connection closed", "Remote communication error")

    def test_seeking_beyond(self):
        with Client(self.trace) as client:
            begin = client.when()
            client.ask("vCont;c")
            there = client.when()
            self.assertEqual(there[0], self.write - 1)
            said = client.monitor("seek %d:0:0x0" % (self.write + 3))
            self.assertIn("differs from the recording", said)
            self.assertEqual(client.seek(begin), begin)
            client.ask("vCont;s")
            self.assertIn("replaylog:begin", client.ask("bc"))


if __name__ == "__main__":
    unittest.main()
