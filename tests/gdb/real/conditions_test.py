"""Conditions, evaluated by the stub."""

import re
import unittest

from harness import GdbTest, Stub, run_gdb


class Conditions(GdbTest):
    def test_they_are_evaluated_by_the_stub(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square if x * 2 == 14", "set debug remote 1", "continue",
                            "set debug remote 0", "print x"])  # fmt: skip
        self.assertRegex(text, r"Sending packet: \$Z0,\w+,1;X")
        self.assertEqual(text.count("Sending packet: $vCont;"), 1 + text.count("$vCont;s"), text)
        self.assert_order(text, r"\$1 = 7")

    def test_backwards(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "continue", "break square if x == 4 || x == 2", "reverse-continue",
                            "print x", "reverse-continue", "print x"])  # fmt: skip
        self.assert_order(text, r"\$1 = 4", r"\$2 = 2")

    def test_memory_types_and_operators(self):
        conditions = ["total == 5 && squares[2] == 4", "(char)squares[9] == 81", "total / 5 == 28 && x % 10 == 8",
                      "(x << 2) == 20 && x - 6 < 0", "!(x - 6)", "*(short*)&squares[3] == 9 && x >= 4",
                      "(unsigned char)(x | 0x30) == 0x37", "~x == -4 && (x ^ 1) == 2"]  # fmt: skip
        expected = [3, None, 8, 5, 6, 4, 7, 3]
        commands = []
        for condition in conditions:
            commands += [f"break square if {condition}", "continue", "echo found\\n", "output x", "delete",
                         "reverse-continue"]  # fmt: skip
        with Stub() as stub:
            text = run_gdb([stub.connect(), *commands])
        results = [part.splitlines()[0] for part in text.split("found\n")[1:]]
        wanted = ["No symbol" if x is None else str(x) for x in expected]
        for condition, result, want in zip(conditions, results, wanted):
            with self.subTest(condition=condition):
                self.assertTrue(result.startswith(want), f"{result} instead of {want}\n{text}")

    def test_ignore_count_and_commands(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "ignore 1 4", "continue", "print x"])
        self.assert_order(text, r"\$1 = 4")

    def test_unchanged_breakpoints_cost_the_target_nothing(self):
        # gdb takes them out and puts them back at each stop.
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break square", "continue", "monitor when", "continue", "continue",
                            "continue", "monitor when"])  # fmt: skip
        changes = re.findall(r"breakpoint changes (\d+)", text)
        self.assertEqual(len(changes), 2, text)
        # Stepping off a breakpoint removes it for one step.
        self.assertLessEqual(int(changes[1]) - int(changes[0]), 3 * 12, text)


if __name__ == "__main__":
    unittest.main()
