"""Watchpoints."""

import re
import unittest

from harness import GdbTest, Stub, line_of, run_gdb


class Watchpoints(GdbTest):
    def test_forward_after_the_store_and_backward_before_it(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "watch squares[3]", "continue", "print squares[3]", "reverse-continue",
                            "print squares[3]", "continue", "continue"])  # fmt: skip
        self.assert_order(text, r"Old value = 0\s+New value = 9", r"\$1 = 9", r"Old value = 9\s+New value = 0",
                          r"\$2 = 0", r"Old value = 0\s+New value = 9",
                          r"No more reverse-execution history")  # fmt: skip

    def test_last_write_from_the_end(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "continue", "watch total", "reverse-continue", "print total"])
        self.assert_order(text, r"No more reverse-execution history", rf"{line_of('last write')}\t", r"\$1 = 1795")

    def test_long_and_many(self):
        # More and longer than any processor has registers for.
        with Stub() as stub:
            text = run_gdb([stub.connect(), "watch squares"] + [f"watch squares[{i}]" for i in range(1, 9)] +
                           ["watch ratio", "delete 2-10", "continue", "continue"])  # fmt: skip
        self.assert_none(text, "[Tt]oo many|Could not insert|Software|\nWatchpoint")
        self.assert_order(text, r"Hardware watchpoint 1: squares", r"Hardware watchpoint", r"hit Hardware watchpoint")

    def test_many_at_once(self):
        with Stub() as stub:
            text = run_gdb([stub.connect()] + [f"watch squares[{i}]" for i in range(10)] + ["continue"] * 3)
        self.assertEqual(len(re.findall(r"hit Hardware watchpoint", text)), 3, text)

    def test_access_watchpoint(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "awatch squares[2]", "continue"])
        self.assert_order(text, r"hit Hardware access \(read/write\) watchpoint 1", r"New value = 4")

    def test_conditional_watchpoint(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "watch total if total > 50", "continue"])
        self.assert_order(text, r"Old value = 30\s+New value = 55")


if __name__ == "__main__":
    unittest.main()
