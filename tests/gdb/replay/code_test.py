"""Code that changes while it is debugged: made at run time, modified, replaced by another image."""

import re
import unittest

from client import Client
from harness import ReplayTest, debug, line_of, recording


class ChangingCode(ReplayTest):
    def setUp(self):
        self.trace = recording("changes_code.c", "-O0")[1]
        self.begin = [f"tbreak {line_of('changes_code.c', 'made')}", "continue", "set $c = (unsigned long)code"]

    def test_breakpoints_survive_the_change(self):
        shown = ["x/i $pc", "print $pc == $c"]
        text = debug(self.trace, [*self.begin, "break *$c", *["continue", *shown] * 4,
                                  *["reverse-continue", *shown] * 3])  # fmt: skip
        there = [rf"mov +\$0x{value:x},%eax\n\$\d+ = 1\b" for value in (10, 11, 12, 13, 12, 11, 10)]
        self.assert_order(text, *there)

    def test_before_and_after_the_change(self):
        # A breakpoint in code that is not there yet, the store that makes it, and back.
        text = debug(self.trace, [*self.begin, "watch *(int *)($c + 1)", "continue", "continue", "print *(int *)($c + 1)",
                                  "reverse-continue", "print *(int *)($c + 1)", "reverse-continue", "print *(int *)($c + 1)",
                                  "continue", "delete", "break *$c", "continue", "stepi", "print $eax",
                                  "reverse-stepi", "print $pc == $c"])  # fmt: skip
        self.assert_order(text, r"New value = 10", r"Old value = 10\n", r"New value = 11", r"\$1 = 11", r"\$2 = 10", r"\$3 = 0",
                          r"New value = 10", r"Breakpoint 3", r"\$4 = 10", r"\$5 = 1")  # fmt: skip

    def test_an_instruction_changes_the_next(self):
        code = ["x/i $c + 71", "print (long)$pc - (long)$c"]
        text = debug(self.trace, [*self.begin, "break *($c + 64)", "break *($c + 71)", "continue", *code, "continue", *code,
                                  "stepi", "print $eax", "reverse-continue", *code, "reverse-continue", *code, "stepi",
                                  *code, "reverse-stepi", *code])  # fmt: skip
        before, after = r"mov +\$0x1,%eax\n", r"mov +\$0x4d,%eax\n"
        self.assert_order(text, before + r"\$1 = 64", after + r"\$2 = 71", r"\$3 = 77", after + r"\$4 = 71",
                          before + r"\$5 = 64", after + r"\$6 = 71", before + r"\$7 = 64")  # fmt: skip

    def test_across_exec(self):
        trace = recording("executes.c", "-O0")[1]
        values = ["print argc", "print stage", "print argv[argc - 1][0] == 'a'"]
        text = debug(trace, [f"break {line_of('executes.c', 'stage')}", "continue", *values, "continue", *values, "next",
                             "print stage", "reverse-next", "print stage", "reverse-continue", *values, "next",
                             "print stage", "reverse-next", "print stage", "continue", *values])  # fmt: skip
        first, second = (1, 0, 0), (2, 0, 1)
        numbers = iter(range(1, 100))
        expected = []
        for group in (first, second, (2,), (0,), first, (1,), (0,), second):
            expected += [rf"\${next(numbers)} = {value}\n" for value in group]
        self.assert_order(text + "\n", *expected)
        self.assert_none(text, "differs from the recording", "internal-error")

    def test_watching_across_exec(self):
        # By packets: gdb itself passes over a change that leads to the value that it saw last, in another image.
        trace = recording("executes.c", "-O0")[1]
        text = debug(trace, ["tbreak main", "continue", "print &stage"])
        address = int(re.search(r"\$1 = .*0x(\w+) <stage>", text)[1], 16)
        with Client(trace) as client:
            client.ask("vCont;c")
            self.assertEqual(client.ask(f"Z2,{address:x},4"), "OK")
            changes = []
            while "watch:" in client.ask("bc"):
                before, there = client.memory(address, 4)[0], client.when()
                client.stepi()
                changes.append((before, client.memory(address, 4)[0]))
                self.assertEqual(client.seek(there), there)
            self.assertEqual(changes, [(0, 2), (0, 1)])
            while "watch:" in client.ask("vCont;c"):
                changes.append(client.memory(address, 4)[0])
            self.assertEqual(changes[2:], [1, 2])


if __name__ == "__main__":
    unittest.main()
