"""Breaking, stepping and looking around, forwards."""

import unittest

from harness import WALK, GdbTest, Stub, line_of, run_gdb


class Forward(GdbTest):
    def test_break_and_continue_to_the_end(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "bt", "print x", "delete", "continue"])
        self.assert_order(text, r"Breakpoint 1, square \(x=0\)", r"#1 .* in main", r"\$1 = 0",
                          r"No more reverse-execution history")  # fmt: skip

    def test_step_next_and_finish(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break main", "continue", "next", "next", "step", "finish", "stepi",
                            "next", "next", "print total"])  # fmt: skip
        self.assert_order(text, rf"\n{line_of('first line')}\t", r"\n\d+\t  for ", rf"\n{line_of('in loop')}\t",
                          r"square \(x=0\) at", r"Value returned is \$1 = 0",
                          rf"{line_of('after square')}\t")  # fmt: skip

    def test_next_is_one_range_step(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), f"break {line_of('after square')}", "continue", "set debug remote 1",
                            "next", "set debug remote 0"])  # fmt: skip
        resumes = text.count("Sending packet: $vCont;")
        self.assertIn("Sending packet: $vCont;r", text)
        self.assertLessEqual(resumes, 2, text)

    def test_steps_need_no_register_packet(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "stepi", "set debug remote 1", "stepi",
                            "set debug remote 0"])  # fmt: skip
        self.assert_order(text, r"Sending packet: \$vCont;s", r"Packet received: T05thread:.*10:")

    def test_until_advance_and_temporary(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), f"advance {line_of('after square')}", f"until {line_of('call sum_to')}",
                            "tbreak sum_to if n == 0", "continue", "bt"])  # fmt: skip
        self.assert_order(text, rf"{line_of('after square')}\t", rf"{line_of('call sum_to')}\t",
                          r"sum_to \(n=0\)", r"#4 .*sum_to \(n=4\)", r"#5 .* main")  # fmt: skip

    def test_threads(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "info threads", "thread 2", "stepi",
                            "thread 1", "stepi"])  # fmt: skip
        self.assert_order(text, r"\* 1 +Thread .*toy_walk", r"2 +Thread .*parked & <idle>.*never runs",
                          r"Switching to thread 2", r"the parked thread never runs", r"Switching to thread 1",
                          r"0x")  # fmt: skip

    def test_signal_of_the_guests_own_int3(self):
        with Stub(program=[WALK, "trap"]) as stub:
            text = run_gdb([stub.connect(), "continue", "print $_siginfo.si_signo", "continue"])
        self.assert_order(text, r"received signal SIGTRAP", r"\$1 = 5", r"No more reverse-execution history")

    def test_breakpoint_on_the_guests_own_int3(self):
        with Stub(program=[WALK, "trap"]) as stub:
            place = run_gdb([f"info line {line_of('own trap')}", "disassemble /s main"])
            address = next(line.split()[0] for line in place.splitlines() if line.rstrip().endswith("int3"))
            text = run_gdb([stub.connect(), f"break *{address}", "continue", "continue", "continue"])
        self.assert_order(text, r"Breakpoint 1, ", r"received signal SIGTRAP",
                          r"No more reverse-execution history")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
