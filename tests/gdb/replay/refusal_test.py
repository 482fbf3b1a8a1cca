"""What goes wrong: gdb is told, and the session goes on."""

import os
import subprocess
import unittest

from client import Client
from harness import DETREC, ReplayTest, debug, recording, scratch

RESEAL = os.environ.get("RESEAL", "reseal")


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
