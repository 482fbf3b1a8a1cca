"""Signals of a recording, in both directions, as gdb's `handle` says."""

import os
import unittest

from client import Client
from harness import PROGRAMS, ReplayTest, debug, line_of, recording

SIGINFO = "print $_siginfo.si_signo"


class Signals(ReplayTest):
    def setUp(self):
        self.trace = recording("signals.c", args=["crash"])[1]

    def test_backward_as_forward(self):
        forward = ["continue", SIGINFO] * 3  # SIGSEGV, SIGUSR1, SIGSEGV: SIGALRM does not stop by default
        text = debug(self.trace, [*forward, "continue", *["reverse-continue", SIGINFO] * 3, "print faults",
                                  "print $_siginfo._sifields._sigfault.si_addr", "reverse-continue"])  # fmt: skip
        signals = [rf"received signal {name}[^$]*\${{}} = {number}\n" for name, number in
                   (("SIGSEGV", 11), ("SIGUSR1", 10), ("SIGSEGV", 11))]  # fmt: skip
        forwards = [pattern.format(i + 1) for i, pattern in enumerate(signals)]
        backwards = [pattern.format(i + 4) for i, pattern in enumerate(reversed(signals))]
        self.assert_order(text, *forwards, r"No more reverse-execution history", *backwards, r"\$7 = 0",
                          r"\$8 = \(void \*\) 0x10", r"No more reverse-execution history")  # fmt: skip

    def test_handle(self):
        text = debug(self.trace, ["info signals SIGUSR1", "handle SIGUSR1 nostop noprint pass", "handle SIGALRM stop print",
                                  f"tbreak {line_of('signals.c', 'crash')}", "continue", "continue", "continue", "continue", "continue",
                                  *["reverse-continue", "print alarms"] * 4])  # fmt: skip
        self.assert_order(text, r"SIGUSR1 +Yes\s+Yes\s+Yes", r"received signal SIGSEGV",
                          *[r"received signal SIGALRM"] * 3, r"Temporary breakpoint 1",
                          *[rf"received signal SIGALRM[^$]*\$\d = {n}" for n in (2, 1, 0)],
                          r"received signal SIGSEGV[^$]*\$4 = 0")  # fmt: skip
        self.assert_none(text, "received signal SIGUSR1")

    def test_from_a_signal_into_its_handler(self):
        text = debug(self.trace, ["handle SIGSEGV nostop noprint pass", "tbreak on_alarm", "continue",
                                  "continue", "reverse-continue", "print asked", "tbreak on_asked", "continue", "bt 3",
                                  "reverse-continue", "stepi", "x/i $pc", "reverse-stepi", SIGINFO, "monitor when",
                                  "reverse-stepi", "monitor when"])  # fmt: skip
        self.assert_order(text, r"received signal SIGUSR1", r"on_alarm", r"received signal SIGUSR1", r"\$1 = 0", r"on_asked", r"<signal handler called>",
                          r"received signal SIGUSR1", r"=> 0x\w+ <on_asked", r"\d+:\d+:0x", r"\d+:\d+:0x")  # fmt: skip

    def test_conditions_do_not_hide_signals(self):
        text = debug(self.trace, ["tbreak on_alarm", "handle SIGSEGV nostop noprint", "continue", "continue",
                                  "break on_asked if asked > 5", "reverse-continue"])  # fmt: skip
        self.assert_order(text, r"received signal SIGUSR1", r"on_alarm", r"received signal SIGUSR1")

    def test_packets(self):
        with Client(self.trace) as client:
            self.assertEqual(client.ask("QPassSignals:e"), "OK")  # SIGALRM
            there = []
            while "replaylog" not in (reply := client.ask("vCont;c")):
                there.append((reply[:3], client.state()))
            self.assertEqual([reply for reply, _ in there], ["T0b", "T1e", "T0b"])
            for reply, state in reversed(there):
                self.assertEqual(client.ask("bc")[:3], reply)
                self.assertEqual(client.state(), state)
            self.assertIn("replaylog:begin", client.ask("bc"))
            # The next signal is met by stepping, too.
            client.seek(there[1][1][0])
            self.assertEqual(client.ask("vCont;s")[:3], "T1e")

    def test_many_signals(self):
        """Timers beside threads: every delivery is found again, in the same state."""
        trace = recording(os.path.join(PROGRAMS, "..", "..", "..", "replay", "programs", "timer.c"), "-O1")[1]
        with Client(trace) as client:
            forward = []
            for _ in range(40):
                reply = client.ask("vCont;c")
                self.assertNotIn("replaylog", reply)
                forward.append((reply[:3], client.state()))
            for expected in reversed(forward[:-1]):
                self.assertEqual((client.ask("bc")[:3], client.state()), expected)


if __name__ == "__main__":
    unittest.main()
