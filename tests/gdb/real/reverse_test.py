"""The same backwards."""

import re
import unittest

from harness import GdbTest, Stub, line_of, run_gdb


class Reverse(GdbTest):
    def test_reverse_continue_to_a_breakpoint_and_the_beginning(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "continue", "break square", "reverse-continue", "reverse-continue",
                            "delete", "reverse-continue", "monitor when", "reverse-stepi", "stepi"])  # fmt: skip
        self.assert_order(text, r"No more reverse-execution history", r"Breakpoint 1, square \(x=9\)",
                          r"Breakpoint 1, square \(x=8\)", r"No more reverse-execution history", r"position 0 of",
                          r"No more reverse-execution history", r"0x0+40")  # fmt: skip

    def test_stepi_and_back_is_the_same_state(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "info registers", "stepi 7",
                            "reverse-stepi 7", "info registers", "monitor when"])  # fmt: skip
        values = re.findall(r"^((?:r\w\w?|eflags|[fg]s_base) +0x\w+)", text, re.MULTILINE)
        self.assertEqual(len(values), 2 * 18, text)
        self.assertEqual(values[:18], values[18:])

    def test_reverse_step_and_next(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), f"break {line_of('after square')}", "continue", "delete", "reverse-next",
                            "next", "reverse-step", "reverse-step", "info frame"])  # fmt: skip
        self.assert_order(text, rf"\n{line_of('after square')}\t|, main .*walk.c:{line_of('after square')}",
                          rf"\n{line_of('in loop')}\t", rf"\n{line_of('after square')}\t",
                          r"square \(x=0\)", r"called by frame")  # fmt: skip

    def test_reverse_finish(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), f"break {line_of('in square')} if x == 3", "continue", "delete",
                            "reverse-finish"])  # fmt: skip
        self.assert_order(text, r"square \(x=3\)", rf"in main .*walk.c:{line_of('in loop')}")

    def test_reverse_out_of_recursion(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break sum_to if n == 0", "continue", "bt", "reverse-continue",
                            "delete", "break sum_to if n == 2", "continue", "bt 1"])  # fmt: skip
        self.assert_order(text, r"sum_to \(n=0\)", r"#4", r"No more reverse-execution history", r"sum_to \(n=2\)")

    def test_execution_direction(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "continue", "continue",
                            "set exec-direction reverse", "continue",
                            "set exec-direction forward", "continue"])  # fmt: skip
        self.assert_order(text, r"square \(x=2\)", r"square \(x=1\)", r"square \(x=2\)")

    def test_thread_choice_after_each_direction(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "continue", "thread 2",
                            "reverse-continue", "thread", "print x", "thread 2", "continue", "thread", "print x"])  # fmt: skip
        self.assert_order(text, r"Switching to thread 2", r"Current thread is 1", r"\$1 = 0",
                          r"Current thread is 1", r"\$2 = 1")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
