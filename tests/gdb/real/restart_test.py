"""Starting again: run, start and starti of an extended-remote gdb."""

import unittest

from harness import GdbTest, Stub, run_gdb


class StartingAgain(GdbTest):
    def test_run(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(extended=True), "break square if x == 2", "continue", "stepi", "run",
                            "print x", "monitor when"])  # fmt: skip
        self.assert_order(text, r"square \(x=2\)", r"square \(x=2\)", r"\$1 = 2", r"position 72 of")

    def test_from_the_end(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(extended=True), "continue", "starti", "monitor when", "info threads",
                            "run", "monitor when", "start"])  # fmt: skip
        self.assert_order(text, r"No more reverse-execution history", r"position 0 of", r"\* 1 ",
                          r"No more reverse-execution history", r"position (\d+) of \1", r"Temporary breakpoint",
                          r"main \(")  # fmt: skip

    def test_extended_detach_and_kill(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(extended=True), "kill", "info threads", "run", "break square", "run",
                            "detach", "info inferiors"])  # fmt: skip
        self.assert_order(text, r"killed", r"No threads", r"No more reverse-execution history", r"square \(x=0\)",
                          r"detached")


if __name__ == "__main__":
    unittest.main()
