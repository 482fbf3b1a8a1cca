"""Breaking, stepping and looking around in a recording, forwards."""

import os
import shutil
import unittest

from harness import ReplayTest, build, debug, line_of, record, recording, scratch


class Forward(ReplayTest):
    def setUp(self):
        self.program, self.trace = recording("steps.c", "-O0")

    def line(self, comment):
        """A place in steps.c."""
        return f"steps.c:{line_of('steps.c', comment)}"

    def test_breakpoints(self):
        text = debug(self.trace, ["tbreak main", "continue", "break square if x == 7", "break puts", "info breakpoints",
                                  "continue", "print x", "bt", "continue", "bt 1", "delete", "continue"])  # fmt: skip
        self.assert_order(text, r"Temporary breakpoint 1, main", r"stop only if x == 7", r"Breakpoint 2, square \(x=7\)",
                          r"\$1 = 7", r"#0 .*square \(x=7\)", r"#1 .*fill \(rounds=10\)", r"#2 .*main",
                          r"Breakpoint 3, .*puts", r"No more reverse-execution history")  # fmt: skip

    def test_pending_breakpoint(self):
        text = debug(self.trace, ["set breakpoint pending on", "break write", "continue", "bt"], libraries=True)
        self.assert_order(text, r"Breakpoint 1, .*write", r"#\d .* main")

    def test_steps(self):
        text = debug(self.trace, ["break fill", "continue", "next", "next", "step", "finish", "advance "
                                  + self.line("recursion"), "until " + self.line("recursion"), "stepi", "nexti",
                                  "x/2i $pc"])  # fmt: skip
        self.assert_order(text, rf"\n{line_of('steps.c', 'call square')}\t", rf"\n{line_of('steps.c', 'store')}\t",
                          rf"\n{line_of('steps.c', 'add')}\t", r"main \(\)", r"factorial \(n=5\)", r"factorial \(n=4\)|main",
                          r"=> 0x\w+ <factorial|=> 0x\w+ <main")  # fmt: skip
        self.assert_none(text, "Cannot", "error", "SIG", "No more")

    def test_step_into_and_finish(self):
        text = debug(self.trace, ["tbreak " + self.line("call square"), "continue", "step", "finish", "next", "next",
                                  "print counter"])  # fmt: skip
        self.assert_order(text, r"square \(x=0\)", r"Value returned is \$1 = 0",
                          rf"\n{line_of('steps.c', 'store')}\t", rf"\n{line_of('steps.c', 'add')}\t",
                          r"\$2 = 1")  # fmt: skip

    def test_next_over_recursion(self):
        text = debug(self.trace, ["tbreak " + self.line("call factorial"), "continue", "next", "print product",
                                  "tbreak " + self.line("bottom"), "continue"])  # fmt: skip
        self.assert_order(text, rf"{line_of('steps.c', 'before pipe')}|pipe\(", r"\$1 = 120")

    def test_looking(self):
        text = debug(self.trace, ["tbreak " + self.line("puts"), "continue", "print text", "x/s text", "print ratio",
                                  "print table[9]", "info registers rip rsp eflags", "info registers xmm0 ymm1",
                                  "info all-registers", "print $_siginfo", "info threads", "info signals SIGSEGV",
                                  "info sharedlibrary", "info proc mappings", "info proc cmdline",
                                  "find text, +64, 'p', 'i', 'p', 'e'", "info auxv"])  # fmt: skip
        self.assert_order(text, r'\$1 = "from the pipe', r'"from the pipe"', r"= 289", r"= 81", r"rip .*main",
                          r"xmm0 .*v4_float", r"ymm1 .*v8_float", r"st0 ", r"\* 1 +Thread", r"SIGSEGV.*Yes",
                          r"libc\.so", r"\[stack\]", r"cmdline = '.*steps", r"<text\+9>", r"AT_ENTRY")  # fmt: skip

    def test_the_program_is_not_there_any_more(self):
        folder = scratch("gone")
        os.makedirs(folder, exist_ok=True)
        program = os.path.join(folder, "steps")
        shutil.copy(self.program, program)
        trace = record([program])
        shutil.rmtree(folder)
        text = debug(trace, ["break square", "continue", "bt", "info sharedlibrary"])
        self.assert_order(text, r"Breakpoint 1, square \(x=0\)", r"#2 .*main", r"libc\.so")

    def test_optimised(self):
        trace = recording("steps.c", "-O1")[1]
        text = debug(trace, ["break square", "continue", "finish", "next", "next", "next", "print counter"])
        self.assert_order(text, r"Breakpoint 1, square", r"\$\d = ")

    def test_exceptions(self):
        trace = recording("throws.cc", "-O0")[1]
        text = debug(trace, ["catch throw", "catch catch", "continue", "continue", "bt 8", "continue", "up 2", "info locals",
                             "reverse-continue", "reverse-continue", "bt 8"], libraries=True)  # fmt: skip
        self.assert_none(text, "Could not open")
        self.assert_order(text, r"exception thrown", r"exception caught", r"#1 .*main", r"No more", r"exception caught",
                          r"exception thrown", r"Square::area \(this=", r"#\d .*main")  # fmt: skip

    def test_exec(self):
        trace = recording("executes.c", "-O0")[1]
        text = debug(trace, ["tbreak main", "continue", "print argc", "delete", "break puts", "continue", "delete",
                             f"tbreak {line_of('executes.c', 'second')}", "reverse-continue", "monitor when",
                             "continue"])  # fmt: skip
        self.assert_order(text, r"main \(argc=1", r"\$1 = 1", r"No more|Breakpoint \d")
        self.assert_none(text, "differs from the recording", "internal-error")


if __name__ == "__main__":
    build("steps.c", "-O0")
    unittest.main()
