"""Registers and memory, and what is refused of them."""

import unittest

from harness import GdbTest, Stub, line_of, run_gdb


class State(GdbTest):
    def test_registers_of_every_vector_level(self):
        for level, has, has_not in (("sse", "xmm3", "ymm3"), ("avx", "ymm3", "zmm3"), ("avx512", "zmm3", "zmm99")):
            with self.subTest(level=level), Stub("--vectors", level) as stub:
                text = run_gdb([stub.connect(), "info registers rip eflags fs_base", f"print ${has}",
                                f"print ${has_not}", "info registers mxcsr", "print $st0", "print $ftag",
                                "print $orig_rax"])  # fmt: skip
                self.assert_order(text, r"rip +0x40\w+ .*<main", r"eflags +0x\w+ +\[.* IF ", r"fs_base +0x7\w+",
                                  r"\$1 = \{", r"\$2 = void", r"mxcsr +0x1f80", r"\$3 = 0",
                                  r"\$4 = 65535", r"\$5 = -1")  # fmt: skip
                self.assert_none(text, "Truncated|too (long|short)|[Mm]alformed|bfloat16 is not")

    def test_floating_point_changes(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), f"break {line_of('call sum_to')}", "continue", "print ratio",
                            "print $xmm0.v2_double[0]"])  # fmt: skip
        self.assert_order(text, r"\$1 = 57\.66", r"\$2 = 57\.66")

    def test_unmapped_breakpoint_is_explained(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break *0", "continue", "delete", "break square", "continue"])
        self.assert_order(text, r"Cannot (insert|access)", r"Breakpoint 2, square")
        with Stub() as stub:
            text = run_gdb([stub.connect(), "break *0xffffffffff600000", "continue"])
        self.assert_order(text, r"No more reverse-execution history")

    def test_memory_is_read_only(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "set var total = 5", "set var $rax = 5", "print total", "print square(3)",
                            "continue"])  # fmt: skip
            self.assertTrue(stub.is_alive())
        self.assert_order(text, r"(Cannot access memory|cannot be changed)", r"cannot be changed|Could not write",
                          r"\$1 = 0", r"No more reverse-execution history")  # fmt: skip
        self.assert_none(text, "internal-error")

    def test_find(self):
        with Stub() as stub:
            text = run_gdb([stub.connect(), "find /b 0x400000, 0x400fff, 'E', 'L', 'F'",
                            "find /b 0x400000, 0x400fff, 1,2,3,4,5,6,7,9"])  # fmt: skip
        self.assert_order(text, r"0x400001", r"1 pattern found", r"Pattern not found")


if __name__ == "__main__":
    unittest.main()
