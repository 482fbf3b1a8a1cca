"""Going back in a recording."""

import unittest

from harness import ReplayTest, debug, line_of, recording


def at(comment):
    """A place in steps.c."""
    return f"steps.c:{line_of('steps.c', comment)}"


def shown(comment):
    """gdb's line for it."""
    return rf"\n(0x\w+\t)?{line_of('steps.c', comment)}\t"


class Backward(ReplayTest):
    def setUp(self):
        self.trace = recording("steps.c", "-O0")[1]

    def test_breakpoints(self):
        text = debug(self.trace, ["tbreak " + at("puts"), "continue", "break square if x == 4 || x == 2",
                                  "reverse-continue", "print x", "reverse-continue", "print x", "continue", "print x",
                                  "delete", "reverse-continue", "monitor when", "continue"])  # fmt: skip
        self.assert_order(text, r"\$1 = 4", r"\$2 = 2", r"\$3 = 4", r"No more reverse-execution history", r"\d+:\d+:0x",
                          r"No more reverse-execution history")  # fmt: skip

    def test_steps(self):
        text = debug(self.trace, ["tbreak " + at("ratio"), "continue", "reverse-step", "reverse-next", "bt", "step",
                                  "reverse-finish", "reverse-stepi", "stepi", "info registers rip"])  # fmt: skip
        self.assert_order(text, r"ratio", r"fill \(rounds=10\)", r"#1 .*main", r"call fill")  # fmt: skip

    def test_reverse_next_over_recursion(self):
        text = debug(self.trace, ["tbreak " + at("before pipe"), "tbreak " + at("call factorial"), "continue", "next",
                                  "reverse-next"])  # fmt: skip
        self.assert_order(text, shown("call factorial"), r"pipe", shown("call factorial"))

    def test_the_end_and_the_beginning(self):
        text = debug(self.trace, ["continue", "stepi", "reverse-stepi", "reverse-continue", "reverse-stepi",
                                  "monitor when", "stepi", "reverse-stepi", "monitor when"])  # fmt: skip
        self.assert_order(text, *[r"No more reverse-execution history"] * 4)
        whens = [line for line in text.splitlines() if line.count(":0x") == 1 and line[0].isdigit()]
        self.assertEqual(whens[0], whens[1], text)

    def test_watch(self):
        text = debug(self.trace, ["tbreak " + at("end"), "continue", "watch counter", "watch table[3]",
                                  "reverse-continue", "reverse-continue", "reverse-continue"])  # fmt: skip
        self.assert_order(text, r"Old value = 120", r"New value = 286", shown("last write"), r"Old value = 286",
                          r"New value = 205", shown("add"), r"New value = 141")  # fmt: skip

    def test_read_and_access_watch(self):
        text = debug(self.trace, ["tbreak " + at("ratio"), "continue", "rwatch ratio", "continue", "delete",
                                  "awatch product" , "awatch counter", "reverse-continue", "continue"])  # fmt: skip
        self.assert_order(text, r"Hardware read watchpoint 2: ratio", r"Value = 1.5", r"Hardware access .*counter")

    def test_what_a_call_writes(self):
        text = debug(self.trace, ["tbreak " + at("puts"), "continue", "watch text[3]", "reverse-continue", "x/i $pc",
                                  "print text[3]", "continue", "print text[3]", "reverse-continue"],
                     libraries=True)  # fmt: skip
        self.assert_order(text, r"Old value = 109 'm'", r"New value = 0", r"syscall", r"= 0 '", r"New value = 109 'm'",
                          r"= 109 'm'", r"New value = 0")  # fmt: skip

    def test_long_range_and_strings(self):
        text = debug(self.trace, ["tbreak " + at("puts"), "continue", "watch *(char(*)[64])(text + 64)",
                                  "reverse-continue", "bt"], libraries=True)  # fmt: skip
        self.assert_order(text, r"New value = '\\000'", r"memset|#0 ")

    def test_local(self):
        text = debug(self.trace, ["tbreak " + at("square returns") + " if x == 5", "continue", "watch result", "reverse-continue",
                                  "continue"])  # fmt: skip
        self.assert_order(text, r"Old value = 25", shown("in square"), r"New value = 25")

    def test_seek(self):
        text = debug(self.trace, ["tbreak square", "continue", "python w = gdb.execute('monitor when', to_string=True)",
                                  "tbreak " + at("puts"), "continue",
                                  "python gdb.execute('monitor seek ' + w.strip().splitlines()[-1])",
                                  "maintenance flush register-cache", "bt", "monitor help", "monitor seek nonsense",
                                  "monitor checkpoint", "monitor seek 1:0:0", "monitor when"])  # fmt: skip
        self.assert_order(text, r"#0 .*square \(x=0\)", r"#1 .*fill", r"monitor seek POSITION",
                          r"\d+:\d+:0x\w+ \(\d+\.\d ms\)", r"\d+:0:0x")  # fmt: skip

    def test_signals(self):
        trace = recording("signals.c", args=["crash"])[1]
        text = debug(trace, ["break on_fault", "continue", "print $_siginfo.si_signo", "print $_siginfo._sifields._sigfault.si_addr",
                             "continue", "bt", "delete", "handle SIGALRM nostop", "continue", "continue", "x/i $pc", "print $pc",
                             "continue", "reverse-stepi", "print $pc"])  # fmt: skip
        self.assert_order(text, r"received signal SIGSEGV", r"\$1 = 11", r"\$2 = \(void \*\) 0x10", r"Breakpoint 1, on_fault",
                          r"signal handler called", r"SIGUSR1", r"SIGSEGV", r"movl.*0x2", r"No more reverse")  # fmt: skip
        crash = text.rsplit("\n", 3)
        self.assertEqual(text.count("internal-error"), 0, crash)

    def test_threads(self):
        trace = recording("threads.c")[1]
        add = line_of("threads.c", "add")
        text = debug(trace, [f"break threads.c:{add}", "continue", "info threads", "continue", "thread apply all bt 1",
                             "print shared", "next", "print shared", "reverse-next", "reverse-continue", "print shared",
                             "delete", f"tbreak threads.c:{line_of('threads.c', 'done')}", "continue", "watch shared",
                             "reverse-continue", "info threads", "reverse-continue", "print me"])  # fmt: skip
        self.assert_order(text, r"player", r"\d +Thread", r"player", r"main", r"Old value = 15", r"New value = 13",
                          r"player", r"New value = 12")  # fmt: skip
        self.assert_none(text, "received signal")


if __name__ == "__main__":
    unittest.main()
